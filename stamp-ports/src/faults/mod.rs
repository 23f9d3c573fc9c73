//! The command `faults`: faults are injected on a device, each in a process of its own, and what the user
//! sees of them is judged and logged.
//!
//! The process that the user starts runs this program again for each fault, with the hidden option `--case`,
//! and waits for it, or kills it in mid-launch. What only a driver can show (a watchdog, memory errors) is
//! tested by a stand-in for the driver in `stm-core`. Kernels misbehave on purpose, by a few lines of PTX; on the CPU
//! only [`Store`] does anything. With them is a small transactional memory, which faults are injected into.

pub(crate) mod cases;

use crate::child::watch;
use crate::points::parse_names;
use crate::prelude::*;
use cases::Treatment;
pub(crate) use cases::{CASES, Case, Verdict};
use stm_kernels::ra::{RaParams, RaPlan, RandomArray};

/// The line by which a child says that it begins a launch without an end.
const RUNNING: &str = "running";

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

#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct StoreParams {
    pub(crate) address: u64,
    pub(crate) value: u64,
}

/// Kernels: each with its parameters and its entry point, that of its text and what this has in brackets and
/// between its braces, and what it does on the CPU. The text is for every GPU, and the only build there is.
macro_rules! kernels {
    ($($(#[$about:meta])* $name:ident($params:ty) $entry:literal: $in_text:literal($declared:literal)
       $code:literal |$lane:pat_param, $given:pat_param| $run:expr;)*) => {
        $(
            $(#[$about])*
            pub(crate) struct $name;

            impl Kernel for $name {
                const ENTRY: &'static str = $entry;
                type Params = $params;

                fn ptx(build: Build) -> host::Result<Cow<'static, str>> {
                    let text = concat!(
                        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry ",
                        $in_text, "(", $declared, ")\n{\n", $code, "}\n",
                    );
                    let is_there = build == Build::default();
                    let missing = host::Error::NoPtx { entry: Self::ENTRY };
                    is_there.then_some(text.into()).ok_or(missing)
                }

                fn run<L: Lane>($lane: &L, $given: &$params) {
                    $run
                }
            }
        )*
    };
}

kernels! {
    /// Stores 64 bits at an address, whatever is there.
    Store(StoreParams) "fault_store": "fault_store"(".param .align 8 .b8 fault_store_param_0[16]") "\
  .reg .b64 %rd<3>;
  ld.param.b64 %rd1, [fault_store_param_0];
  ld.param.b64 %rd2, [fault_store_param_0+8];
  st.global.b64 [%rd1], %rd2;
  ret;
" |lane, params| {
        // SAFETY: on the CPU the address is always a live word.
        unsafe { lane.store_relaxed_64(params.address as *mut u64, params.value) };
    };
    /// Traps.
    Trap(()) "fault_trap": "fault_trap"("") "  trap;\n  ret;\n" |_, ()| ();
    /// Never ends, and asks for no stop flag.
    Endless(()) "fault_endless": "fault_endless"("") "\
  .reg .b32 %r<2>;
  mov.u32 %r1, 1000;
$again:
  nanosleep.u32 %r1;
  bra.uni $again;
" |_, ()| ();
    /// Has text that is no PTX.
    Rubbish(()) "fault_rubbish": "fault_rubbish"("") "  this is no instruction;\n" |_, ()| ();
    /// Has PTX of another entry point.
    Absent(()) "fault_absent": "fault_present"("") "  ret;\n" |_, ()| ();
    /// Has PTX with parameters that the host does not pass.
    Stale(()) "fault_stale": "fault_stale"(".param .u64 fault_stale_param_0") "  ret;\n" |_, ()| ();
}

pub(crate) const WORDS: u32 = 4096;

/// What transactions do, beside their number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    /// The words among which they choose; above [`WORDS`] some do not exist.
    pub(crate) words: u32,
    pub(crate) reads: u32,
    pub(crate) writes: u32,
    pub(crate) transactions: u64,
}

impl Load {
    /// A load that every memory here carries.
    pub(crate) const LIGHT: Self = Self {
        words: WORDS,
        reads: 4,
        writes: 4,
        transactions: 10_000,
    };
}

/// A transactional memory of an algorithm, with an array that it watches.
pub(crate) struct Memory {
    pub(crate) stm: Stm<AnyDevice>,
    pub(crate) array: TxArray<AnyDevice, u32>,
    algorithm: Variant,
}

impl Memory {
    /// Makes one for launches of so many blocks and threads a block.
    pub(crate) fn with_shape(
        device: &AnyDevice,
        algorithm: Variant,
        capacity: Capacity,
        (blocks, threads): Shape,
    ) -> host::Result<Self> {
        let config = StmConfig {
            locks: 1 << 12,
            capacity,
            ..StmConfig::default()
        };
        let mut stm = Stm::new(device, Launch::new(blocks, threads), config)?;
        let layout =
            with_algorithm!(algorithm, A => <<A as Algorithm>::Array<u32> as View<u32>>::LAYOUT);
        let array = TxArray::zeroed(device, layout, WORDS as usize, "the words")?;
        stm.watch(&array);
        Ok(Self {
            stm,
            array,
            algorithm,
        })
    }

    pub(crate) fn run(&mut self, load: Load) -> host::Result<Statistics> {
        let plan = RaPlan::new(17, load.words, load.reads, load.writes);
        with_algorithm!(self.algorithm, A => {
            let params = RaParams::<A> {
                stm: self.stm.handle(),
                words: self.array.try_view::<A>()?,
                transactions: load.transactions,
                plan,
            };
            self.launch::<RandomArray<A>>(&params)
        })
    }

    pub(crate) fn launch<K: Kernel>(&mut self, params: &K::Params) -> host::Result<Statistics> {
        // SAFETY: the parameters hold the handle of this memory, for the one algorithm, and a view of its
        // array; kernels that misbehave are launched where the child process ends soon.
        unsafe { self.stm.launch::<K>(params) }.map(|(_, statistics)| statistics)
    }

    /// Returns an error unless nothing is locked, the words add up to zero, and transactions run.
    pub(crate) fn is_whole(&mut self) -> Result<(), String> {
        let text = |error: host::Error| format!("the memory is not whole: {error}");
        self.stm.check_in_full().map_err(text)?;
        self.sum_is_zero()?;
        self.stm.set_time_limit(Some(StmConfig::TIME_LIMIT));
        let statistics = self.run(Load::LIGHT).map_err(text)?;
        let (commits, all) = (statistics.commits, Load::LIGHT.transactions);
        if commits != all {
            return Err(format!("{commits} of {all} transactions committed"));
        }
        self.sum_is_zero()
    }

    /// Returns an error unless the words add up to zero, as they did at first.
    pub(crate) fn sum_is_zero(&self) -> Result<(), String> {
        let words = self.array.download().map_err(|error| error.to_string())?;
        match words.iter().fold(0u32, |sum, word| sum.wrapping_add(*word)) {
            0 => Ok(()),
            sum => Err(format!("the words add up to {sum}, and not to 0")),
        }
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
