//! What a soak has done: the file by which it is resumed.

use crate::out_file::write_log;
use crate::prelude::*;
use stm_core::host::Statistics;

/// The number of lines about what was wrong that are kept.
const WRONG_MAX: usize = 1000;

/// What a soak has done, in all its sessions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct State {
    pub version: String,
    pub device: String,
    pub device_name: String,
    pub seed: u64,
    pub sessions: u64,
    pub seconds: f64,
    /// The number of the next step; what a step does follows from it and the seed.
    pub next_step: u64,
    pub commits: u64,
    pub aborts: u64,
    /// Runs that were verified, by workload and variant.
    pub runs: BTreeMap<String, u64>,
    /// Faults that were injected and seen as they should be, by kind.
    pub faults: BTreeMap<String, u64>,
    pub histories: u64,
    /// Launches on the memories that live as long as a session.
    pub service_launches: u64,
    /// Runs that a device or a limit refused, and what it said last.
    pub refused: BTreeMap<String, u64>,
    /// What was wrong, with the step that repeats it.
    pub wrong: Vec<String>,
    pub wrong_count: u64,
    pub lines: Vec<String>,
}

impl State {
    pub(super) fn new(device: String, device_name: String, seed: u64) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").into(),
            device,
            device_name,
            seed,
            ..Self::default()
        }
    }

    pub(super) fn read(path: &Path) -> Result<Self> {
        let refused = |why: String| Error::Usage(format!("--resume {}: {why}", path.display()));
        let text = fs::read_to_string(path).map_err(|error| refused(error.to_string()))?;
        Self::parse(&text).map_err(refused)
    }

    fn parse(text: &str) -> Result<Self, String> {
        let state: Self = serde_json::from_str(text)
            .map_err(|error| format!("it is no state of a soak: {error}"))?;
        let seconds = state.seconds;
        if !seconds.is_finite() || seconds < 0.0 {
            return Err(format!("it says that {seconds} seconds have passed"));
        }
        Ok(state)
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

    pub(super) fn text(&self) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_the_bytes_are_the_reader_returns() {
        let mut state = State::new("cpu".into(), "CPU".into(), 3);
        state.runs.insert("ra fast".into(), 4);
        state.note_wrong(11, "a total");
        let text = serde_json::to_string(&state).unwrap();
        for at in 0..text.len() {
            for byte in [b'0', b'"', b'{', b'-', b' ', 0xFF] {
                let mut bytes = text.clone().into_bytes();
                bytes[at] = byte;
                // A change inside a name or a number may be another state.
                let _ = State::parse(&String::from_utf8_lossy(&bytes));
            }
            assert!(State::parse(&text[..at]).is_err());
        }
    }
}
