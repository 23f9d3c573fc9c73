//! k-means with every algorithm on the simulator, through the driver that
//! ships: each pass is checked as on any device, and the history of every
//! attempt of a pass, recorded, is opaque. And with a defect seeded into the
//! transactional memory, the driver's checks notice.

use stamp_ports::Error;
use stamp_ports::kmeans::{Kmeans, Points, Source};
use stamp_ports::timed::Timed;
use stamp_ports::workload::{Launches, Workload};
use stm_core::algorithm::{
    Algorithm, Cgl, Egpgv, Fast, FastTable, HvBackoff, HvSorting, TbvSorting, Vbv,
};
use stm_core::host::{Buffer, Cpu, Device, Launch, Stm, StmConfig};
use stm_core::kernel::Kernel;
use stm_core::mutant::Mutant;
use stm_core::stm_ref::Patience;
use stm_kernels::kmeans::{KMeans, KMeansAdds, KMeansAddsParams, KMeansParams};
use verify::history::recorder::decode;
use verify::history::{Header, History, InitialMemory};
use verify::opacity;
use verify::sim::{MemoryModel, Schedule, Sim, SimConfig};

const LAUNCH: (u32, u32) = (2, 6);
/// Words of a lane's recording buffer.
const RECORD_WORDS: u64 = 1 << 14;

/// More points than a lane takes at a time, and rows longer than a batch.
fn kmeans(points: u32, passes_max: u32) -> Kmeans {
    let mut points = Points::generate(2, points, 9, 3);
    points.normalise();
    Kmeans {
        points,
        source: Source::Generated(3),
        normalised: true,
        clusters_min: 3,
        clusters_max: 3,
        threshold: 0.0,
        passes_max,
        adds: false,
    }
}

/// What a run came to.
struct Run {
    aborted: u64,
    /// What the driver found wrong with the result.
    wrong: Option<String>,
    history: History,
}

/// Runs k-means once, recorded.
fn run<A, D>(kmeans: &Kmeans, device: &D, seed: u64) -> Result<Run, Error>
where
    A: Algorithm,
    D: Device,
    KMeans<A>: Kernel<Params = KMeansParams<A>>,
    KMeansAdds<A>: Kernel<Params = KMeansAddsParams<A>>,
{
    let n = kmeans.points.len() as u64;
    kmeans.check(n)?;
    let mut data = kmeans.prepare(device, seed, n)?;
    kmeans.arrange::<_, A>(&mut data)?;
    kmeans.reset(&mut data)?;
    let sizes = StmConfig {
        locks: 16,
        stripe_bytes: 4 << (seed % 3),
        capacity: kmeans.capacity(),
        patience: Patience {
            read_polls: 8,
            acquire_tries: 4,
            retries_max: 0,
            ..Patience::DEFAULT
        },
        time_limit: None,
    };
    let (blocks, threads) = LAUNCH;
    let mut stm = Stm::new(device, Launch::new(blocks, threads), sizes)?;
    let lanes = blocks * threads;
    let words = u64::from(lanes) * RECORD_WORDS;
    let records = Buffer::<_, u64>::zeroed(device, words as usize, "records")?;
    // SAFETY: that many words a lane, zero, which nothing else uses.
    let recorder = unsafe { Recorder::new(records.as_mut_ptr(), RECORD_WORDS) };
    let mut timed = Timed::new(device, &mut stm, recorder, None);
    Launches::<A>::run(kmeans, &mut data, &mut timed, n)?;
    let statistics = timed.finish().statistics;
    let history = decode(
        &records.download()?,
        lanes,
        RECORD_WORDS,
        Header::default(),
        InitialMemory::ZERO,
    )
    .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(history.len() as u64, statistics.attempts);
    Ok(Run {
        aborted: statistics.aborted(),
        wrong: kmeans.verify(&mut data, n)?,
        history,
    })
}

fn is_opaque(history: &History) -> bool {
    opacity::check(history).is_ok_and(|verdict| verdict.is_opaque())
}

fn configs(seeds: u64) -> impl Iterator<Item = SimConfig> {
    let schedules = [
        Schedule::Lockstep,
        Schedule::Stack,
        Schedule::Its {
            bound: 64,
            starve: false,
        },
        Schedule::Random,
    ];
    schedules.into_iter().flat_map(move |schedule| {
        (0..seeds).map(move |seed| SimConfig {
            warp_width: 4,
            schedule,
            memory: MemoryModel::Weak { stale_percent: 30 },
            votes_order: seed % 2 == 0,
            seed,
            ..SimConfig::default()
        })
    })
}

/// Runs under each schedule and on the CPU, and returns how many attempts
/// aborted on the simulator.
fn all_right<A>() -> u64
where
    A: Algorithm,
    KMeans<A>: Kernel<Params = KMeansParams<A>>,
    KMeansAdds<A>: Kernel<Params = KMeansAddsParams<A>>,
{
    let mut aborted = 0;
    // Between two launches the host clears the sums, of which a history says
    // nothing: so one launch.
    let pass = kmeans(130, 1);
    for config in configs(3) {
        let what = format!("{} on {config}", A::NAME);
        let run = run::<A, _>(&pass, &Sim::new(config), config.seed)
            .unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(run.wrong, None, "{what}");
        assert!(is_opaque(&run.history), "{what} is not opaque");
        aborted += run.aborted;
    }
    for seed in 0..20 {
        let run = run::<A, _>(&pass, &Cpu::new(), seed).expect("a run on the CPU");
        assert_eq!(run.wrong, None, "{} on the CPU, seed {seed}", A::NAME);
        assert!(is_opaque(&run.history), "{} on the CPU", A::NAME);
    }
    for config in configs(1) {
        let run = run::<A, _>(&kmeans(40, 4), &Sim::new(config), config.seed);
        assert_eq!(run.expect("a run").wrong, None, "{} on {config}", A::NAME);
    }
    aborted
}

macro_rules! all_right {
    ($($test:ident: $algorithm:ident, $aborts:literal;)*) => {
        $(
            #[test]
            fn $test() {
                // Without conflicts this would test little.
                assert_eq!(all_right::<$algorithm>() > 0, $aborts);
            }
        )*
    };
}

all_right! {
    cgl_is_verified_and_opaque: Cgl, false;
    egpgv_is_verified_and_opaque: Egpgv, true;
    vbv_is_verified_and_opaque: Vbv, true;
    tbv_sorting_is_verified_and_opaque: TbvSorting, true;
    hv_sorting_is_verified_and_opaque: HvSorting, true;
    hv_backoff_is_verified_and_opaque: HvBackoff, true;
    fast_is_verified_and_opaque: Fast, true;
    fast_table_is_verified_and_opaque: FastTable, true;
}

#[test]
fn the_driver_notices_a_memory_that_loses_updates() {
    let pass = kmeans(130, 1);
    let wrong = configs(30).find_map(|config| {
        let config = SimConfig {
            mutant: Some(Mutant::VersionBeforeLocking as u32),
            ..config
        };
        let sim = Sim::new(config);
        run::<HvSorting, _>(&pass, &sim, config.seed)
            .ok()?
            .wrong
    });
    let wrong = wrong.expect("the driver does not notice");
    assert!(
        ["counts", "saw a count", "sum"]
            .iter()
            .any(|part| wrong.contains(part)),
        "{wrong}"
    );
}
