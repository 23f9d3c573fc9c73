//! Checks of a user's own kernels: the simulator, the recorder and the opacity checker behind one builder,
//! for a `#[test]`. [The crate](crate) begins with an example.
//!
//! [`Check::new`] takes a closure that makes arrays on the simulator, launches a kernel and says
//! what must hold afterwards. [`Check::run`] runs it in many cases, drawn at random:
//! algorithms, shapes of the launch, warp widths, schedules, memory models, bits of versions, sizes
//! of the table of locks, and whatever the closure draws for its input. In each of them
//!
//! 1. every attempt of every transaction must have seen a state that existed ([`crate::opacity`]);
//! 2. the arrays that the closure has named must hold what the commits have left;
//! 3. no lane may run for ever, and none may access memory wrongly;
//! 4. the closure must return without an error.
//!
//! A case that fails is made smaller, and the message ends with one line that replays it ([`Case`]).
//! Variables change what [`Check::run`] does: [`REPLAY`], [`CASES`] and [`PAGE`].

mod case;

pub use crate::failure::{Failure, FailureKind};
pub use crate::judged::{Checked, Launched, Report};
pub use case::Case;

use crate::judged::{Recorder, Subject, observed};
use crate::line::smallest;
use crate::prelude::*;
use case::Ranges;
use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};
use stm_core::host::{self, Capacity, Launch, Stm, StmConfig};
use stm_core::{Layout, View, with_algorithm};

/// The variable with the line of the one case to run, `STM_REPLAY`.
pub const REPLAY: &str = "STM_REPLAY";
/// The variable with the number of cases, `STM_CASES`.
pub const CASES: &str = "STM_CASES";
/// The variable with the file that shows a failure as a page, `STM_PAGE`.
pub const PAGE: &str = "STM_PAGE";

const RECORD_WORDS: Option<u64> = Some(512);
const TRIES: u64 = 40;
const SHRINK_TIME_MAX: Duration = Duration::from_secs(20);

/// A check of a kernel: see the [module](self).
#[derive(Clone, Debug)]
pub struct Check<F> {
    body: F,
    ranges: Ranges,
    capacity: Capacity,
    cases: u32,
    seed: Option<u64>,
    page: Option<PathBuf>,
}

impl<F: Fn(&Sim, &mut Run) -> Checked> Check<F> {
    /// Makes a check of what `body` launches on the device that it gets. It is called once for each run, and
    /// must do the same each time but for what [`Run`] says.
    pub fn new(body: F) -> Self {
        Self {
            body,
            ranges: Ranges::default(),
            capacity: Capacity::DEFAULT,
            cases: 256,
            seed: None,
            page: None,
        }
    }

    /// Sets the algorithms, of which the body runs [`Run::algorithm`]; `fast` by default.
    ///
    /// # Panics
    /// It panics if there are none.
    #[must_use]
    pub fn algorithms(mut self, algorithms: &[Variant]) -> Self {
        assert!(!algorithms.is_empty(), "a check needs an algorithm");
        self.ranges.algorithms = algorithms.to_vec();
        self
    }

    setters! {
        /// Sets how many cases are run, 256 if this is not called. `STM_CASES` goes before it.
        cases(cases: u32): cases = cases;
        /// Sets the seed from which cases are drawn. Without it they are others each time.
        seed(seed: u64): seed = Some(seed);
        /// Sets the sizes of runs ([`Run::transactions`]), 1 to 24 if this is not called.
        transactions(transactions: RangeInclusive<u64>): ranges.transactions = transactions;
        /// Sets the numbers of blocks, 1 to 3 if this is not called.
        blocks(blocks: RangeInclusive<u32>): ranges.blocks = blocks;
        /// Sets the numbers of threads of a block, 1 to 8 if this is not called.
        threads(threads: RangeInclusive<u32>): ranges.threads = threads;
        /// Sets the sizes of the transactions' sets.
        capacity(capacity: Capacity): capacity = capacity;
        /// Switches on a seeded defect of the library, to see whether the check would find it.
        defect(defect: Mutant): ranges.defect = Some(defect);
    }

    /// Sets the numbers of lanes of a warp, the simplest first; 1, 2, 4 and 8 by default.
    ///
    /// # Panics
    /// It panics if there are none.
    #[must_use]
    pub fn warp_widths(mut self, widths: &[u32]) -> Self {
        assert!(!widths.is_empty(), "a check needs a width of its warps");
        self.ranges.warp_widths = widths.to_vec();
        self
    }

    /// Says that transactions wait by `tx.retry`: memory is seldom stale then, as whoever asks whether all
    /// wait must see the marks of all, and a launch may take ten times as many operations.
    #[must_use]
    pub fn with_waiting(mut self) -> Self {
        self.ranges.stale_percents = vec![5, 10];
        self.ranges.steps_max = 10 * Case::STEPS_MAX;
        self
    }

    /// Sets the file that shows a failure as a page ([`crate::page`]). `STM_PAGE` goes before it.
    #[must_use]
    pub fn page(mut self, file: impl Into<PathBuf>) -> Self {
        self.page = Some(file.into());
        self
    }

    /// Runs the check, or with the variable `STM_REPLAY` the one case that it has.
    ///
    /// # Panics
    /// It panics with what was found and the line that replays it, and if a variable cannot be used.
    pub fn run(&self) -> Report {
        let result = match std::env::var(REPLAY) {
            Ok(line) => self.replay(&line),
            Err(_) => self.find(),
        };
        result.unwrap_or_else(|found| panic!("{found}"))
    }

    /// Runs one case, from the line that a failure has printed. The error is what it finds.
    ///
    /// # Panics
    /// It panics if the line is no case.
    pub fn replay(&self, line: &str) -> Result<Report, Box<Found>> {
        let parsed = line.parse();
        let case: Case = parsed.unwrap_or_else(|error: Error| panic!("{error}"));
        self.once(&case).map_err(|found| self.shown(found, 1))
    }

    /// Runs the check; the error is the smallest case found that fails.
    pub fn find(&self) -> Result<Report, Box<Found>> {
        let cases = std::env::var(CASES).map_or(self.cases, |text| {
            text.parse()
                .unwrap_or_else(|_| panic!("{CASES}={text}: expected a number of cases"))
        });
        let other = || RandomState::new().build_hasher().finish();
        let mut rng = Rng::of_stream(self.seed.unwrap_or_else(other), 1);
        let mut report = Report::default();
        for n in 1..=u64::from(cases) {
            let case = self.ranges.draw(&mut rng);
            match self.once(&case) {
                Ok(done) => report.add(&done),
                Err(found) => return Err(self.shown(self.smaller(found), n)),
            }
        }
        if report.cases > 0 && (report.attempts == 0 || report.unfair == report.cases) {
            let case = Case::new(self.ranges.algorithms[0], 1, 1, 1);
            let why = if report.unfair == report.cases {
                "every case was given up"
            } else {
                "a check judges transactions, and the kernel ran none"
            };
            let text = format!("{why}: {report}");
            let failure = Failure::new(FailureKind::NothingJudged, text);
            return Err(Found::of(case, failure, None));
        }
        Ok(report)
    }

    /// Makes a case that fails smaller: only a failure of the same kind counts. In the end its input is left
    /// out, if it fails as well without.
    fn smaller(&self, found: Box<Found>) -> Box<Found> {
        let (kind, since) = (found.failure.kind, Instant::now());
        let fails = |case: &Case| {
            let in_time = since.elapsed() < SHRINK_TIME_MAX;
            let found = in_time.then(|| self.once(case).err()).flatten()?;
            (found.failure.kind == kind).then_some(found)
        };
        let simpler = |case: &Case| self.ranges.simpler(case);
        let first = (found.case.clone(), found);
        let (case, found) = smallest(first, TRIES, simpler, |c| &mut c.sim.seed, fails);
        match self.once(&Case { input: 0, ..case }) {
            Err(same) if same.failure == found.failure => same,
            _ => found,
        }
    }

    fn shown(&self, mut found: Box<Found>, after: u64) -> Box<Found> {
        found.after = after;
        let file = std::env::var_os(PAGE).map(PathBuf::from);
        if let Some(file) = file.or_else(|| self.page.clone()) {
            let written = found.write_page(&file).map(|()| file);
            found.page = Some(written.map_err(|error| error.to_string()));
        }
        found
    }

    fn once(&self, case: &Case) -> Result<Report, Box<Found>> {
        let simulation = case.sim.with_mutant(case.defect);
        let (report, found, judged) = observed(case, simulation, RECORD_WORDS, |sim, recorder| {
            let mut run = Run {
                capacity: self.capacity,
                recorder: Rc::clone(recorder),
                rng: Rng::of_stream(case.input, INPUT),
            };
            (self.body)(sim, &mut run)
        });
        found.map_or(Ok(report), |failure| {
            Err(Found::of(case.clone(), failure, judged))
        })
    }
}

/// What the case says about a launch, and the closure about the result.
#[derive(Debug)]
pub struct Run {
    capacity: Capacity,
    recorder: Rc<Recorder<Case>>,
    rng: Rng,
}

const INPUT: u32 = 7;

impl Run {
    /// Returns the case.
    pub fn case(&self) -> &Case {
        &self.recorder.subject
    }

    /// Returns the algorithm to run, one of [`Check::algorithms`].
    pub fn algorithm(&self) -> Variant {
        self.case().algorithm
    }

    /// Returns the layout that arrays must have for the algorithm.
    pub fn layout(&self) -> Layout {
        with_algorithm!(self.case().algorithm, A => {
            <<A as Algorithm>::Array<u32> as View<u32>>::LAYOUT
        })
    }

    /// Returns the shape of the launch.
    pub fn shape(&self) -> Launch {
        Launch::new(self.case().blocks, self.case().threads)
    }

    /// Returns the sizes and limits of the transactional memory, without a limit of time, as a simulation
    /// that does not end is found out otherwise.
    pub fn config(&self) -> StmConfig {
        StmConfig {
            locks: self.case().locks,
            stripe_bytes: self.case().stripe_bytes,
            capacity: self.capacity,
            retry_limits: self.case().retry_limits(),
            time_limit: None,
        }
    }

    /// Makes the memory of the case: [`Stm::new`] with [`Self::shape`] and [`Self::config`].
    pub fn stm(&self, sim: &Sim) -> Result<Stm<Sim>, host::Error> {
        Stm::new(sim, self.shape(), self.config())
    }

    /// Returns the size of the run, one of [`Check::transactions`]: the
    /// number of transactions, or whatever makes it larger.
    pub fn transactions(&self) -> u64 {
        self.case().transactions
    }

    /// Returns 64 bits of the run's input, other ones at each call.
    pub fn bits(&mut self) -> u64 {
        self.rng.bits()
    }

    /// Returns a number of the run's input, from 0 to below `n`; it panics if `n` is 0.
    pub fn below(&mut self, n: u32) -> u32 {
        assert_ne!(n, 0, "no number is below 0");
        self.rng.below(n)
    }

    /// Returns `len` numbers of the run's input, each as [`Self::below`] returns it.
    pub fn numbers(&mut self, len: usize, n: u32) -> Vec<u32> {
        (0..len).map(|_| self.below(n)).collect()
    }

    /// Names the words of an array in what is found, and has them compared after each launch with what the
    /// commits have left. Words without a name are judged too; what they held at first is inferred.
    pub fn name(&self, array: &impl Named) -> Result<(), host::Error> {
        let array = array.describe()?;
        self.recorder.state.borrow_mut().names.add(array);
        Ok(())
    }

    /// Returns the failure that `what` does not hold, for the closure to return, unless `holds` is true.
    pub fn holds(&self, what: &str, holds: bool) -> Result<(), Box<dyn std::error::Error>> {
        let text = || format!("it does not hold that {what}");
        let broken = || Failure::new(FailureKind::Invariant, text()).into();
        holds.then_some(()).ok_or_else(broken)
    }
}

impl Subject for Case {
    fn header(&self, device: String) -> Header {
        let test = test_name().unwrap_or_default();
        let mut header = Header::new(self.algorithm.name(), test, device);
        header.seed = self.to_string();
        header
    }

    fn is_unfair(&self, livelock: SimErrorKind, threads: u32) -> bool {
        // Those that wait while they hold a lock, or undo each other while neither gets ahead.
        let may_undo = matches!(self.algorithm, Variant::Egpgv | Variant::HvBackoff);
        let alone = self.sim.warp_width == 1 || threads == 1;
        match self.sim.schedule {
            // The highest priority runs for as long as it likes.
            Schedule::Pct { .. } => true,
            // A lane that loops on its own waits for one that is masked off, or meets it in each round.
            Schedule::Lockstep | Schedule::Stack => may_undo || !alone,
            Schedule::Its { .. } => may_undo && livelock == SimErrorKind::NoneEnded,
            Schedule::Random => false,
        }
    }
}

/// Returns the test that runs on this thread, which has its name if there are several.
fn test_name() -> Option<String> {
    let thread = std::thread::current();
    let name = thread.name().filter(|&name| name != "main")?;
    Some(name.to_owned())
}

/// A case that fails.
#[derive(Clone, Debug)]
pub struct Found {
    /// The case; its text replays it.
    pub case: Case,
    /// What it finds.
    pub failure: Failure,
    /// The launch in which it was found, or the last one; none if that was cut short.
    pub judged: Option<Launched>,
    /// The number of the case that failed first, from 1; 0 if all of them together are wrong.
    pub after: u64,
    /// The page that shows it, if one was asked for, or why there is none.
    pub page: Option<Result<PathBuf, String>>,
}

impl Found {
    fn of(case: Case, failure: Failure, judged: Option<Launched>) -> Box<Self> {
        Box::new(Self {
            case,
            failure,
            judged,
            after: 0,
            page: None,
        })
    }

    /// Returns the line that replays the case by the test that found it.
    pub fn replay(&self) -> String {
        let test = test_name().map_or_else(String::new, |name| format!(" {name} -- --exact"));
        format!("{REPLAY}='{}' cargo test{test}", self.case)
    }

    /// Writes a page of the history and what is wrong with it, or returns [`Error::Io`], or [`Error::Usage`]
    /// if nothing was recorded.
    pub fn write_page(&self, file: &Path) -> Result<(), Error> {
        let Some(judged) = &self.judged else {
            let why = "a launch that is cut short leaves no whole history";
            return Err(Error::Usage(why.into()));
        };
        let finding = Some(self.failure.to_string());
        judged.page(finding, self.replay()).write(file)
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.failure)?;
        if self.failure.text.contains("`StmConfig::capacity`") {
            write!(f, ", which a check sets by `Check::capacity`")?;
        }
        match &self.page {
            Some(Ok(file)) => write!(f, "\npage: {}", file.display())?,
            Some(Err(error)) => write!(f, "\nno page: {error}")?,
            None => {}
        }
        if self.after != 0 {
            let (case, replay) = (self.after, self.replay());
            write!(f, "\nfound by case {case}; replay: {replay}")?;
        }
        Ok(())
    }
}
