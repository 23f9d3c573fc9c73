//! The command `faults`: faults are injected on a device, each in a process of
//! its own, and what the user sees of them is judged and logged.
//!
//! | file | contains |
//! | --- | --- |
//! | `cases` | the faults |
//! | `kernels` | kernels that misbehave on purpose, and the memory into which faults are injected |
//!
//! The process that the user starts runs this program again for each fault, with the hidden option
//! `--case`, and waits for it, or kills it in mid-launch. What only a driver can show (a watchdog,
//! memory errors) is tested by a stand-in for the driver in `stm-core`.

pub(crate) mod cases;
pub(crate) mod kernels;

use crate::devices::{AnyDevice, Choice, DeviceKind, parse_choice};
use crate::error::{Error, Result};
use crate::out_file::{make_folder, write_all};
use cases::{CASES, Case, On, Treatment};
use clap::Args;
use serde::Serialize;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write, stdout};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};
use stm_core::host::Device;

/// The line by which a child says that it begins a launch without an end.
const RUNNING: &str = "running";

/// The time after that line at which the child is killed.
const KILL_AFTER: Duration = Duration::from_secs(1);

/// The time after which a child is taken for one that hangs.
const PATIENCE: Duration = Duration::from_mins(3);

/// What was seen of one fault.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Finding {
    /// The fault's name.
    pub name: &'static str,
    /// What was injected and what the user is to see.
    pub what: &'static str,
    /// Whether the user saw it.
    pub passed: bool,
    /// The time that it took, in seconds.
    pub seconds: f64,
    /// What the user saw, line by line; at the end what was wrong with it.
    pub seen: Vec<String>,
}

/// What was seen of all faults.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Findings {
    /// The program's version.
    pub version: &'static str,
    /// The device.
    pub device: String,
    /// Its name.
    pub device_name: String,
    /// The faults.
    pub faults: Vec<Finding>,
    /// Faults that this device cannot show.
    pub skipped: Vec<&'static str>,
}

impl Findings {
    /// Returns whether the user saw what he is to see of every fault.
    pub(crate) fn passed(&self) -> bool {
        self.faults.iter().all(|fault| fault.passed)
    }

    /// Returns the log for a person.
    pub(crate) fn text(&self) -> String {
        let mut text = format!("{}: {}\n", self.device, self.device_name);
        for fault in &self.faults {
            let verdict = if fault.passed { "ok" } else { "WRONG" };
            // Writing to a string does not fail.
            let _ = writeln!(
                text,
                "\n{verdict} {} ({:.1} s): {}",
                fault.name, fault.seconds, fault.what
            );
            for line in &fault.seen {
                let _ = writeln!(text, "    {line}");
            }
        }
        if !self.skipped.is_empty() {
            let _ = writeln!(text, "\nnot on this device: {}", self.skipped.join(", "));
        }
        text
    }
}

/// What `faults` is asked for.
#[derive(Args, Debug, Clone)]
pub(crate) struct Plan {
    /// auto, cpu, cuda or cuda:N
    #[arg(long, value_name = "NAME", value_parser = parse_choice, default_value = "auto")]
    pub device: Choice,
    /// Only these faults, separated by commas
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub only: Vec<String>,
    /// The folder of the log, made if it is not there
    #[arg(long, value_name = "DIR", required_unless_present = "case")]
    pub out: Option<PathBuf>,
    /// Inject this fault in this process
    #[arg(long, value_name = "NAME", hide = true)]
    pub case: Option<String>,
}

/// Injects faults. Returns whether the user saw what he is to see of each.
pub(crate) fn faults(plan: &Plan) -> Result<bool> {
    if let Some(case) = &plan.case {
        return run_case(case, plan.device);
    }
    let out = plan.out.as_deref();
    let out = out.ok_or_else(|| Error::Usage("give --out the folder of the log".into()))?;
    let findings = run_all(plan.device, &plan.only, out)?;
    let right = findings.faults.iter().filter(|fault| fault.passed).count();
    writeln!(
        stdout(),
        "{right} of {} faults as they should be; {} says what was seen",
        findings.faults.len(),
        out.join("faults.txt").display()
    )?;
    Ok(findings.passed())
}

/// Returns the faults that a kind of device can show.
pub(crate) fn shown_by(kind: DeviceKind) -> impl Iterator<Item = &'static Case> {
    let cases = CASES.iter();
    cases.filter(move |case| case.on == On::Any || kind == DeviceKind::Cuda)
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

/// Injects all faults that the device can show, and writes `faults.json` and
/// `faults.txt` into a folder.
fn run_all(choice: Choice, only: &[String], out: &Path) -> Result<Findings> {
    if let Some(unknown) = only.iter().find(|n| CASES.iter().all(|c| c.name != **n)) {
        let known: Vec<&str> = CASES.iter().map(|case| case.name).collect();
        return Err(Error::Usage(format!(
            "there is no fault {unknown:?}: known are {}",
            known.join(", ")
        )));
    }
    make_folder(out)?;
    let (id, device_name, kind) = {
        // Closed before the first child opens it.
        let (device, _) = AnyDevice::open(choice)?;
        (device.id(), device.name(), device.kind())
    };
    let mut findings = Findings {
        version: env!("CARGO_PKG_VERSION"),
        device: id,
        device_name,
        faults: Vec::new(),
        skipped: Vec::new(),
    };
    for case in CASES {
        if !only.is_empty() && !only.iter().any(|name| name == case.name) {
            continue;
        }
        if case.on == On::Gpu && kind == DeviceKind::Cpu {
            findings.skipped.push(case.name);
            continue;
        }
        let finding = inject(case, &findings.device);
        writeln!(
            stdout(),
            "{:5} {} ({:.1} s)",
            if finding.passed { "ok" } else { "WRONG" },
            finding.name,
            finding.seconds
        )?;
        findings.faults.push(finding);
        // After each fault, so that a log remains whatever comes next.
        write_log(out, &findings)?;
    }
    write_log(out, &findings)?;
    Ok(findings)
}

fn write_log(out: &Path, findings: &Findings) -> Result<()> {
    let json = serde_json::to_string_pretty(findings).map_err(std::io::Error::from)? + "\n";
    write_all(
        out,
        [("faults.txt", &findings.text()), ("faults.json", &json)],
    )
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

fn in_child(
    name: &str,
    device: &str,
    treatment: Treatment,
    seen: &mut Vec<String>,
) -> std::result::Result<(), String> {
    let text = |error: std::io::Error| format!("the process could not be run: {error}");
    let program = std::env::current_exe().map_err(text)?;
    let mut command = Command::new(program);
    command
        .args(["faults", "--device", device, "--case", name])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    if treatment == Treatment::HideGpus {
        command.env("CUDA_VISIBLE_DEVICES", "");
    }
    let mut child = command.spawn().map_err(text)?;
    let status = watch(&mut child, treatment == Treatment::Kill, seen);
    if let Some(mut errors) = child.stderr.take() {
        let mut lines = String::new();
        let _ = errors.read_to_string(&mut lines);
        seen.extend(lines.lines().map(ToOwned::to_owned));
    }
    status
}

/// Collects the lines of a child until it ends, kills it when it runs if it is
/// to be killed, and judges its end.
fn watch(child: &mut Child, kill: bool, seen: &mut Vec<String>) -> std::result::Result<(), String> {
    let text = |error: std::io::Error| format!("the process was lost: {error}");
    let (sender, lines) = channel();
    let output = child.stdout.take();
    let reader = thread::spawn(move || {
        let lines = output.map(|output| BufReader::new(output).lines());
        for line in lines.into_iter().flatten().map_while(std::io::Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    let start = Instant::now();
    let mut killed = false;
    while let Ok(line) = lines.recv_timeout(PATIENCE.saturating_sub(start.elapsed())) {
        if kill && line == RUNNING {
            thread::sleep(KILL_AFTER);
            if let Some(status) = child.try_wait().map_err(text)? {
                return Err(format!("it ended by itself before it was killed: {status}"));
            }
            child.kill().map_err(text)?;
            killed = true;
            seen.push("killed".into());
        } else {
            seen.push(line);
        }
    }
    let hangs = start.elapsed() >= PATIENCE;
    if hangs {
        child.kill().map_err(text)?;
    }
    let status = child.wait().map_err(text)?;
    // The pipe is closed, so the reader has ended.
    let _ = reader.join();
    if hangs {
        Err(format!("it did not end within {PATIENCE:?}"))
    } else if kill != killed {
        Err(format!("it ended before it ran: {status}"))
    } else if killed || status.success() {
        Ok(())
    } else {
        Err(format!("it ended with {status}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(line: &str, kill: bool) -> (std::result::Result<(), String>, Vec<String>) {
        let mut child = Command::new("sh")
            .args(["-c", line])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut seen = Vec::new();
        let verdict = watch(&mut child, kill, &mut seen);
        (verdict, seen)
    }

    #[test]
    fn a_child_is_judged_by_how_it_ends() {
        let (verdict, seen) = shell("echo one; echo two", false);
        assert_eq!((verdict, seen.join(" ").as_str()), (Ok(()), "one two"));
        let (verdict, _) = shell("exit 3", false);
        assert!(verdict.unwrap_err().contains('3'));
        // It is killed in mid-launch, and not before or after.
        let (verdict, seen) = shell("echo running; exec sleep 100", true);
        assert_eq!((verdict, seen.join(" ").as_str()), (Ok(()), "killed"));
        assert!(shell("echo running", true).0.is_err());
        assert!(shell("true", true).0.is_err());
    }

    #[test]
    fn one_wrong_fault_makes_all_of_them_wrong_and_shows_in_the_log() {
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
        assert!(findings.passed() && !findings.text().contains("WRONG"));
        findings.faults.push(finding(false));
        assert!(!findings.passed());
        let text = findings.text();
        assert!(text.contains("WRONG a-fault (0.5 s)") && text.contains("    a line"));
        assert!(text.contains("not on this device: trap"));
    }
}
