//! What a soak is asked for, and what it has done in all its sessions.

use crate::points::parse_names;
use crate::prelude::*;

const STEPS: [&str; 5] = ["memories", "transfers", "runs", "faults", "histories"];

#[derive(Parser, Clone, Debug)]
pub(crate) struct SoakSpec {
    /// How long this session takes, in minutes
    #[arg(long, value_name = "M", value_parser = parse_minutes)]
    pub minutes: Duration,
    /// Seed of everything that is drawn [default: 1, or that of --resume]
    #[arg(long, value_name = "S", value_parser = parse_count)]
    pub seed: Option<u64>,
    /// auto, cpu, cuda or cuda:N
    #[arg(long, value_name = "NAME", value_parser = parse_choice, default_value = "auto")]
    pub device: Choice,
    /// Go on with the soak whose state this file is
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
    /// Only these steps, separated by commas, or all
    #[arg(long, value_name = "STEP,...", default_value = "all",
          value_parser = |text: &str| parse_names(text, "step", &STEPS))]
    pub only: NameList,
    /// Transactions of a launch of transfers [default: drawn]
    #[arg(long, value_name = "N", value_parser = parse_chunk)]
    pub chunk: Option<u64>,
    /// Record and judge no histories
    #[arg(long)]
    pub no_histories: bool,
    /// The folder of soak.json and soak.txt, made if it is not there
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
}

fn parse_chunk(text: &str) -> Result<u64, String> {
    let all = parse_count(text)?;
    let some = (all > 0).then_some(all);
    some.ok_or_else(|| "a launch of no transactions tests nothing: give 1 or more".to_owned())
}

fn parse_minutes(text: &str) -> Result<Duration, String> {
    let minutes = text.parse().ok().filter(|minutes: &f64| *minutes > 0.0);
    let time = minutes.and_then(|minutes| Duration::try_from_secs_f64(60.0 * minutes).ok());
    time.ok_or_else(|| format!("{text:?} is no time: give minutes above 0, such as 10"))
}

/// The number of lines about what was wrong that are kept.
const WRONG_MAX: usize = 1000;

/// What a soak has done, in all its sessions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct State {
    pub(super) version: String,
    pub(super) device: String,
    pub(super) device_name: String,
    pub(super) seed: u64,
    pub(super) sessions: u64,
    pub(super) seconds: f64,
    /// The number of the next step; what a step does follows from it and the seed.
    pub(super) next_step: u64,
    pub(super) commits: u64,
    pub(super) aborts: u64,
    /// Runs that were verified, by workload and variant.
    pub(super) runs: BTreeMap<String, u64>,
    /// Faults that were injected and seen as they should be, by kind.
    pub(super) faults: BTreeMap<String, u64>,
    pub(super) histories: u64,
    /// Launches on the memories that live as long as a session.
    pub(super) service_launches: u64,
    /// Runs that a device or a limit refused, and what it said last.
    pub(super) refused: BTreeMap<String, u64>,
    /// What was wrong, with the step that repeats it.
    pub(super) wrong: Vec<String>,
    pub(super) wrong_count: u64,
    pub(super) lines: Vec<String>,
}

impl State {
    pub(super) fn read(path: &Path) -> Result<Self> {
        let fix = "give the soak.json that a soak wrote";
        let refused =
            |why: String| Error::Usage(format!("--resume {}: {why}: {fix}", path.display()));
        let text = fs::read_to_string(path).map_err(|error| refused(error.to_string()))?;
        let state: Self = serde_json::from_str(&text)
            .map_err(|error| refused(format!("it is no state of a soak: {error}")))?;
        match state.seconds {
            0.0.. => Ok(state),
            other => Err(refused(format!("it says that {other} seconds have passed"))),
        }
    }

    pub(super) fn write(&self, folder: &Path) -> Result<()> {
        write_log(folder, "soak", self, &self.text())
    }

    pub(super) fn note_service(&mut self, done: &Statistics) {
        self.service_launches += 1;
        self.commits += done.commits;
        self.aborts += done.aborted();
    }

    pub(super) fn note_wrong(&mut self, step: u64, what: &str) {
        self.wrong_count += 1;
        if self.wrong.len() < WRONG_MAX {
            self.wrong.push(format!("step {step}: {what}"));
        }
    }

    pub(super) fn line(&self) -> String {
        let sum = |of: &BTreeMap<String, u64>| of.values().sum::<u64>();
        format!(
            "{:.0} s: {} steps, {} commits, {} aborts, {} runs, {} faults, {} recordings, {} \
             service launches, {} refused, {} wrong",
            self.seconds,
            self.next_step,
            count(self.commits),
            count(self.aborts),
            sum(&self.runs),
            sum(&self.faults),
            self.histories,
            self.service_launches,
            sum(&self.refused),
            self.wrong_count
        )
    }

    fn text(&self) -> String {
        let mut lines = vec![format!(
            "{}: {}, seed {}, {} sessions",
            self.device, self.device_name, self.seed, self.sessions
        )];
        lines.extend_from_slice(&self.lines);
        lines.push(String::new());
        for (title, of) in [
            ("verified runs", &self.runs),
            ("faults seen as they should be", &self.faults),
            ("refused", &self.refused),
        ] {
            lines.push(format!("{title}:"));
            lines.extend(of.iter().map(|(name, n)| format!("    {n:>8}  {name}")));
        }
        lines.push(format!("wrong: {}", self.wrong_count));
        lines.extend(self.wrong.iter().map(|line| format!("    {line}")));
        lines.push(String::new());
        lines.join("\n")
    }
}
