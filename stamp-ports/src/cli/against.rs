//! The command `bench against`.

use crate::against::child::Program;
use crate::against::{self, Spec, measure, points};
use crate::cli::prelude::*;

const REPEAT: u32 = 5;
const QUICK_REPEAT: u32 = 3;

pub(super) fn help() -> String {
    let rows = points::rows(false).iter().map(|row| (row.name, row.about));
    format!("{}\n{HELP}", described("Points", &rows.collect::<Vec<_>>()))
}

const HELP: &str = "\
Each point runs at the launch that a program chooses; those of ra and bank,
except -static and zipf, run at 16x32, 132x96, 264x128 and 528x256 too.
--only takes a point (ra-16k@16x32, ra-16k@default), a name from above, or a
workload for all of its points. All are of the variant fast, with five launches
after a first that is not timed.

The points run in both programs in turn, each run in a process of its own; each
program compiles a kernel once, into a cache of the command's own. A point that
is below R while launches of both overlap runs three times in each, and of each
the run with the middle rate counts. A point that OTHER does not know, or does
not finish, is named and not judged. A point that OTHER finishes and this
program does not, or whose run crashes or has a wrong result here, is a failure.
The list is made to take at most four minutes on an H100 or H200. --quick takes
seconds, on the CPU too, and shows that the command works; its ratios are noise
where the machine is busy.

Exit status: 0 if every point that was judged is at R or above, 1 if one is not
or failed or none was judged, 2 if the command cannot be carried out, for
example if OTHER is no `stamp`.

Examples:
  git worktree add ../parent HEAD~1   # later: git -C ../parent checkout HEAD~1
  (cd ../parent && cargo build --release -p stamp-ports)
  stamp bench against ../parent/target/release/stamp --out against.json
  stamp bench against ../parent/target/release/stamp --only ra,zipf
  stamp bench against ../parent/target/release/stamp --quick --device cpu";

#[derive(Args, Debug, Clone)]
pub(crate) struct AgainstArgs {
    /// The other program: a `stamp` that was built from an earlier commit
    #[arg(value_name = "OTHER")]
    pub other: PathBuf,
    /// auto, cpu, cuda or cuda:N; on the CPU only with --quick
    #[arg(long, value_name = "NAME", value_parser = parse_choice, default_value = "auto")]
    pub device: Choice,
    /// Few small points, three launches
    #[arg(long)]
    pub quick: bool,
    /// Only these points, separated by commas [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub only: Vec<String>,
    /// The least ratio of this program's rate to OTHER's that holds, 0 to 2
    #[arg(long, value_name = "R", value_parser = parse_ratio, default_value = "0.97")]
    pub at_least: f64,
    /// Kill a run of a point after so many seconds; its launches end at half of that
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, default_value = "20")]
    pub time_limit: Duration,
    #[command(flatten)]
    pub document: DocumentArgs,
    /// The program that is measured as this one, for tests [default: this one]
    #[arg(long, value_name = "PATH", hide = true)]
    pub this: Option<PathBuf>,
}

fn parse_ratio(text: &str) -> Result<f64, String> {
    let ratio = text.parse().ok();
    let ratio = ratio.filter(|ratio| (0.0..=2.0).contains(ratio));
    let fix = "give this program's rate over OTHER's, from 0 to 2, such as 0.97";
    ratio.ok_or_else(|| format!("{text:?} is no such ratio: {fix}"))
}

/// Refuses to replace a file that is no document of this command, above all OTHER itself.
fn check_replaced(out: &Path, other: &Path) -> Result<()> {
    if !out.is_file() {
        return Ok(());
    }
    let what = if fs::canonicalize(out)? == fs::canonicalize(other)? {
        "it is OTHER, the program to compare with"
    } else {
        let there = fs::read(out)?;
        let document: Value = serde_json::from_slice(&there).unwrap_or_default();
        if there.is_empty() || document["format"] == against::FORMAT {
            return Ok(());
        }
        "it is there, and no document of `stamp bench against`"
    };
    let out = out.display();
    refuse(format!("--out {out}: {what}: name another file"))
}

pub(super) fn against(args: &AgainstArgs, command: &str) -> Result<bool> {
    let points = points::select(args.quick, &args.only)?;
    let other = Program::at(&args.other)?;
    if let Some(out) = &args.document.out {
        check_replaced(out, &args.other)?;
    }
    let this = args.this.clone().map_or_else(std::env::current_exe, Ok)?;
    let this = Program::at(&this)?;
    let command = published(command, &args.other);
    let of = (args.quick, SEED);
    let (device, begun) = (args.document).begin(against::FORMAT, args.device, &command, of)?;
    if device.kind() == DeviceKind::Cpu && !args.quick {
        let why = "the points are made for a GPU, and would take hours on the CPU: give --quick";
        return refuse(why);
    }
    let (id, name) = (device.id(), device.name());
    // Closed before the first child opens it.
    drop(device);
    let spec = Spec {
        points,
        repeat: if args.quick { QUICK_REPEAT } else { REPEAT },
        limit: args.time_limit,
        at_least: args.at_least,
        device: id,
    };
    let found = measure(&spec, &this, &other)?;
    begun.end(
        found.holds(),
        (against::ORDER, against::sections(&spec, &found)),
        |out, _| against::print(out, &format!("{}: {name}", spec.device), &spec, &found),
    )
}
