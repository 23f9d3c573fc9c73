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

/// A command, by its words without those that all get, and the file of what it measures.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) file: &'static str,
    pub(super) kind: Kind,
    words: String,
}

const PAPER: &str = "bench paper --workload ra,ht,genome,labyrinth,kmeans,eigenbench,bank";

/// The file whose times of compilation a document shows.
pub(super) const COMPILED: &str = "fast.json";

const NARROW: &str = ",atomics=64";

/// All pieces, those first whose figures most documents show.
pub(super) fn pieces(quick: bool) -> Vec<Piece> {
    let piece = |file, kind, words: &str| Piece {
        file,
        kind,
        words: words.into(),
    };
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
    let floors = floors.map(|words| piece(COMPILED, Kind::Member, &format!("bench floor {words}")));
    let (sizes, locks, launches): (&[&str], _, &[&str]) = if quick {
        (&["64K"], "64K", &["2"])
    } else {
        (&["1M", "4M", "16M", "64M"], "64M", &["16", "132", "528"])
    };
    let eigenbench = sizes.iter().flat_map(|hot| {
        launches.iter().map(move |blocks| {
            let words = format!(
                "run eigenbench --hot-words {hot} --locks {locks} --blocks {blocks} --threads 64 \
                 --variant fast,hv-sorting --json"
            );
            piece("eigenbench.json", Kind::Runs, &words)
        })
    });
    // The CPU has no accesses of 128 bits anyway.
    let floors = (floors.into_iter()).filter(|piece| !(quick && piece.words.ends_with(NARROW)));
    let others = [
        piece("ra-ht.json", Kind::Whole, "tune ra,ht --locks 1M,16M"),
        piece("nw.json", Kind::Resumed, "bench nw"),
        piece("paper.json", Kind::Resumed, PAPER),
        piece("sync.json", Kind::Resumed, "bench sync"),
    ];
    floors.chain(eigenbench).chain(others).collect()
}

impl Piece {
    /// The command as it is shown and found again.
    pub(super) fn line(&self, quick: bool, device: &str) -> String {
        let words = self.words.trim_end_matches(NARROW).trim_end();
        let is_narrow = words != self.words && device.starts_with("cuda");
        let narrow = if is_narrow { NARROW } else { "" };
        let size = match (
            quick,
            words.starts_with("bench"),
            words.ends_with("--quick"),
        ) {
            (true, false, _) => " --transactions 4K",
            (true, true, false) => " --quick",
            _ => "",
        };
        format!("stamp {words} --device {device}{narrow}{size}")
    }
}
