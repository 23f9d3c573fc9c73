//! The command `faults`: faults are injected on a device, each in a process of its own, and what the user
//! sees of them is judged and logged.
//!
//! The process that the user starts runs this program again for each fault, with the hidden option `--case`,
//! and waits for it, or kills it in mid-launch. What only a driver can show (a watchdog, memory errors) is
//! tested by a stand-in for the driver in `stm-core`.

pub(crate) mod cases;
mod memory;

use crate::child::watch;
use crate::points::parse_names;
use crate::prelude::*;
pub(crate) use cases::{CASES, Case, Verdict};
use cases::{RUNNING, Treatment};
pub(crate) use memory::{Load, Memory, WORDS};

/// The time after that line at which the child is killed.
const KILL_AFTER: Duration = Duration::from_secs(1);

/// The time after which a child is taken for one that hangs.
const PATIENCE: Duration = Duration::from_mins(3);

#[derive(Serialize)]
pub(crate) struct Finding {
    pub name: &'static str,
    pub what: &'static str,
    pub passed: bool,
    pub seconds: f64,
    /// What the user saw, line by line; at the end what was wrong with it.
    pub seen: Vec<String>,
}

#[derive(Serialize)]
struct Findings {
    version: &'static str,
    device: String,
    device_name: String,
    faults: Vec<Finding>,
    skipped: Vec<&'static str>,
}

impl Findings {
    fn text(&self) -> String {
        let mut lines = vec![format!("{}: {}", self.device, self.device_name)];
        for fault in &self.faults {
            let verdict = ["WRONG", "ok"][usize::from(fault.passed)];
            let (name, seconds, what) = (fault.name, fault.seconds, fault.what);
            lines.push(format!("\n{verdict} {name} ({seconds:.1} s): {what}"));
            lines.extend(fault.seen.iter().map(|line| format!("    {line}")));
        }
        if !self.skipped.is_empty() {
            lines.push(format!("\nnot on this device: {}", self.skipped.join(", ")));
        }
        lines.join("\n") + "\n"
    }
}

#[derive(Args, Debug, Clone)]
pub(crate) struct FaultsSpec {
    /// auto, cpu, cuda or cuda:N
    #[arg(long, value_name = "NAME", value_parser = parse_choice, default_value = "auto")]
    pub device: Choice,
    /// Only these faults, separated by commas, or all
    #[arg(long, value_name = "NAME,...", default_value = "all",
          value_parser = |text: &str| parse_names(text, "fault", &CASES.map(|case| case.name)))]
    pub only: NameList,
    /// The folder of the log, made if it is not there
    #[arg(long, value_name = "DIR", required_unless_present = "case")]
    pub out: Option<PathBuf>,
    /// Inject this fault in this process
    #[arg(long, value_name = "NAME", hide = true)]
    pub case: Option<String>,
}

/// Injects faults. Returns whether the user saw what he is to see of each.
pub(crate) fn faults(plan: &FaultsSpec) -> Result<bool> {
    if let Some(case) = &plan.case {
        return run_case(case, plan.device);
    }
    let out = plan.out.as_deref();
    let out = out.ok_or_else(|| Error::Usage("give --out the folder of the log".into()))?;
    let (device, _) = AnyDevice::open(plan.device)?;
    make_folder(out)?;
    let kind = device.kind();
    let mut findings = Findings {
        version: env!("CARGO_PKG_VERSION"),
        device: device.id(),
        device_name: device.name(),
        faults: Vec::new(),
        skipped: Vec::new(),
    };
    // Closed before the first child opens it.
    drop(device);
    for case in CASES.iter().filter(|case| plan.only.contains(&case.name)) {
        if case.is_shown_by(kind) {
            let finding = inject(case, &findings.device);
            let verdict = ["WRONG", "ok"][usize::from(finding.passed)];
            let (name, seconds) = (finding.name, finding.seconds);
            writeln!(stdout(), "{verdict:5} {name} ({seconds:.1} s)")?;
            findings.faults.push(finding);
        } else {
            findings.skipped.push(case.name);
        }
        // After each fault, so that a log remains whatever comes next.
        write_log(out, "faults", &findings, &findings.text())?;
    }
    let right = findings.faults.iter().filter(|fault| fault.passed).count();
    let all = findings.faults.len();
    if all == 0 {
        let (device, skipped) = (findings.device, findings.skipped.join(", "));
        return refuse(format!(
            "no fault was injected, as {device} shows none of {skipped}"
        ));
    }
    let log = out.join("faults.txt");
    let summary = format!("{right} of {all} faults as they should be");
    writeln!(stdout(), "{summary}; {} says what was seen", log.display())?;
    Ok(right == all)
}

/// Injects one fault in this process. Returns whether the user saw what he is to see.
fn run_case(name: &str, choice: Choice) -> Result<bool> {
    let case = CASES.iter().find(|case| case.name == name);
    let case = case.ok_or_else(|| Error::Usage(format!("there is no fault {name:?}")))?;
    let (device, _) = match case.treatment {
        // What is opened is what the case is about.
        Treatment::HideGpus => (AnyDevice::cpu(), None),
        _ => AnyDevice::open(choice)?,
    };
    let verdict = (case.run)(&device);
    if let Err(wrong) = &verdict {
        writeln!(stdout(), "WRONG: {wrong}")?;
    }
    Ok(verdict.is_ok())
}

/// Runs a case in a process of its own, and judges its end.
pub(crate) fn inject(case: &'static Case, device: &str) -> Finding {
    let start = Instant::now();
    let mut seen = Vec::new();
    let mut verdict = in_child(case.name, device, case.treatment, &mut seen);
    let again = matches!(case.treatment, Treatment::WaitAndRetry | Treatment::Kill);
    if verdict.is_ok() && again {
        seen.push("in a new process:".into());
        verdict = in_child("none", device, Treatment::Wait, &mut seen);
    }
    if let Err(wrong) = &verdict {
        seen.push(wrong.clone());
    }
    Finding {
        name: case.name,
        what: case.what,
        passed: verdict.is_ok(),
        seconds: start.elapsed().as_secs_f64(),
        seen,
    }
}

fn in_child(name: &str, device: &str, treatment: Treatment, seen: &mut Vec<String>) -> Verdict {
    let program = std::env::current_exe();
    let program = program.map_err(|error| format!("the process could not be run: {error}"))?;
    let mut command = Command::new(program);
    command.args(["faults", "--device", device, "--case", name]);
    if treatment == Treatment::HideGpus {
        command.env("CUDA_VISIBLE_DEVICES", "");
    }
    judge(&mut command, treatment == Treatment::Kill, seen)
}

/// Collects the lines of a child, kills it when it runs if it is to be killed, and judges its end.
fn judge(command: &mut Command, kill: bool, seen: &mut Vec<String>) -> Verdict {
    let is_running = |line: &str| kill && line == RUNNING;
    let runs = |out: &Path| {
        let text = fs::read_to_string(out).unwrap_or_default();
        text.lines().any(is_running)
    };
    let mut running_at = None;
    let ended = watch(command, |time, out| {
        if kill && running_at.is_none() && runs(out) {
            running_at = Some(time);
        }
        time >= PATIENCE || running_at.is_some_and(|at| time >= at + KILL_AFTER)
    });
    let ended = ended.map_err(|error| format!("the process could not be run: {error}"))?;
    let lines = ended.out.lines().filter(|line| !is_running(line));
    seen.extend(lines.chain(ended.errors.lines()).map(str::to_owned));
    match (ended.status, running_at) {
        (None, None) => Err(format!("it did not end within {PATIENCE:?}")),
        (None, Some(_)) => {
            seen.push("killed".into());
            Ok(())
        }
        (Some(status), Some(_)) => {
            Err(format!("it ended by itself before it was killed: {status}"))
        }
        (Some(status), None) if kill => Err(format!("it ended before it ran: {status}")),
        (Some(status), None) if status.success() => Ok(()),
        (Some(status), None) => Err(format!("it ended with {status}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_judged_by_how_it_ends() {
        for (line, kill, verdict, seen) in [
            ("echo one; echo two", false, None, "one two"),
            ("exit 3", false, Some("ended with"), ""),
            // It is killed in mid-launch, and not before or after.
            ("echo running; exec sleep 100", true, None, "killed"),
            ("echo running", true, Some("ended"), ""),
            ("true", true, Some("before it ran"), ""),
        ] {
            let mut lines = Vec::new();
            let found = judge(Command::new("sh").args(["-c", line]), kill, &mut lines).err();
            assert_eq!(found.is_some(), verdict.is_some(), "{line}: {found:?}");
            has(&found.unwrap_or_default(), verdict.unwrap_or_default());
            assert_eq!(lines.join(" "), seen, "{line}");
        }
    }

    #[test]
    fn a_wrong_fault_shows_in_the_log() {
        let finding = |passed| Finding {
            name: "a-fault",
            what: "it is injected",
            passed,
            seconds: 0.5,
            seen: vec!["a line".into()],
        };
        let mut findings = Findings {
            version: "1",
            device: "cpu".into(),
            device_name: "CPU".into(),
            faults: vec![finding(true)],
            skipped: vec!["trap"],
        };
        assert!(!findings.text().contains("WRONG"));
        findings.faults.push(finding(false));
        let parts = "WRONG a-fault (0.5 s) |     a line | not on this device: trap";
        has(&findings.text(), parts);
    }
}
