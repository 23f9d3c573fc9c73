//! What `bench all` measures: the commands, and the file of each.

/// What becomes of what a command measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The command writes the file, whole.
    Whole,
    /// The command writes the file point by point, and goes on with it.
    Resumed,
    /// The command writes a document that is one of several in a list.
    Member,
    /// The command prints runs, which follow those of others behind a head.
    Runs,
}

/// A file, and the commands that measure what is in it, as they are shown and found again.
#[derive(Debug)]
pub(super) struct File {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) commands: Vec<String>,
}

const PAPER: &str = "bench paper --workload ra,ht,genome,labyrinth,kmeans,eigenbench,bank";

/// The file whose times of compilation a document shows.
pub(super) const COMPILED: &str = "fast.json";

const NARROW: &str = ",atomics=64";

/// All files, those first whose figures most documents show.
pub(super) fn files(quick: bool, device: &str) -> Vec<File> {
    let floors = [
        "--workload ra",
        "--workload ht",
        "--workload bank --audit-share 0",
        "--workload bank --audit-share 0 --accounts 10K",
        "--workload bank --audit-share 0 --zipf 0.9",
        "--workload bank --audit-share 50 --audit-range 1K",
        "--workload kmeans",
        "--workload genome",
        "--workload genome ,atomics=64",
        "--workload labyrinth --variant hv-sorting,fast --repeat 3",
        "--workload eigenbench",
        "--workload ra,ht --static --variant fast",
        "--workload bank --audit-share 0 --static --variant fast",
        // From all conflicting with each other to nearly none.
        "--workload bank --audit-share 0 --accounts 4 --variant cgl,fast --repeat 3",
        "--workload bank --audit-share 0 --accounts 64 --variant cgl,fast --repeat 3",
        "--workload bank --audit-share 0 --accounts 1K --variant cgl,fast --repeat 3",
        "--workload bank --audit-share 0 --accounts 16K --variant cgl,fast --repeat 3",
        "--workload bank --audit-share 0 --accounts 128K --variant cgl,fast --repeat 3",
        "--workload bank --audit-share 0 --accounts 1M --variant cgl,fast --repeat 3",
        "--workload ra,ht,bank,eigenbench,kmeans,queue,genome --variant cgl,fast --repeat 3 --quick",
        "--workload pool,list,map,ordered,vacation,counter --variant cgl,fast --repeat 3 --quick",
    ];
    // The CPU has no accesses of 128 bits anyway.
    let floors = floors
        .iter()
        .filter(|words| !(quick && words.ends_with(NARROW)));
    let (sizes, locks, launches): (&[&str], _, &[&str]) = if quick {
        (&["64K"], "64K", &["2"])
    } else {
        (&["1M", "4M", "16M", "64M"], "64M", &["16", "132", "528"])
    };
    let eigenbench = sizes.iter().flat_map(|hot| {
        launches.iter().map(move |blocks| {
            format!(
                "run eigenbench --hot-words {hot} --locks {locks} --blocks {blocks} --threads 64 \
                 --variant fast,hv-sorting --json"
            )
        })
    });
    let line = |words: String| line(&words, quick, device);
    let floors = floors.map(|words| line(format!("bench floor {words}")));
    let (floors, eigenbench) = (floors.collect(), eigenbench.map(line).collect());
    let one = |words: &str| vec![line(words.to_owned())];
    let all = [
        (COMPILED, Kind::Member, floors),
        ("eigenbench.json", Kind::Runs, eigenbench),
        ("ra-ht.json", Kind::Whole, one("tune ra,ht --locks 1M,16M")),
        ("nw.json", Kind::Resumed, one("bench nw")),
        ("paper.json", Kind::Resumed, one(PAPER)),
        ("sync.json", Kind::Resumed, one("bench sync")),
    ];
    let file = |(name, kind, commands)| File {
        name,
        kind,
        commands,
    };
    all.map(file).into()
}

/// The command of these words, to which it adds what all commands get.
fn line(command: &str, quick: bool, device: &str) -> String {
    let words = command.trim_end_matches(NARROW).trim_end();
    let is_narrow = words != command && device.starts_with("cuda");
    let narrow = if is_narrow { NARROW } else { "" };
    let is_bench = words.starts_with("bench");
    let size = match (quick, is_bench, words.ends_with("--quick")) {
        (true, false, _) => " --transactions 4K",
        (true, true, false) => " --quick",
        _ => "",
    };
    format!("stamp {words} --device {device}{narrow}{size}")
}
