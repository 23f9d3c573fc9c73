//! What a user sees when the driver fails, by a stand-in for the driver.

use crate::algorithm::Fast;
use crate::host::prelude::*;
use crate::host::{Cuda, InOrder, Stm, StmConfig, Sums, TxArray};
use crate::kernel::Build;
use cudarc::driver::sys::CUresult as R;
use std::borrow::Cow;
use stm_machine::Lane;
use stm_machine::host::stand_in::{StandIn, State};

struct Nothing;

impl Kernel for Nothing {
    const ENTRY: &'static str = "nothing";
    type Params = StmRef<Fast>;
    fn ptx(_build: Build) -> Result<Cow<'static, str>> {
        Ok(Cow::Borrowed(".version 7.0"))
    }
    fn run<L: Lane>(_lane: &L, _stm: &StmRef<Fast>) {}
}

/// Errors that end a context: a wild access, a trap, the watchdog, the memory.
const FATAL: [R; 5] = [
    R::CUDA_ERROR_ILLEGAL_ADDRESS,
    R::CUDA_ERROR_ILLEGAL_INSTRUCTION,
    R::CUDA_ERROR_LAUNCH_FAILED,
    R::CUDA_ERROR_LAUNCH_TIMEOUT,
    R::CUDA_ERROR_ECC_UNCORRECTABLE,
];

fn opened() -> (StandIn, Cuda) {
    let driver = StandIn::new();
    let cuda = driver.open().unwrap();
    (driver, cuda)
}

fn config() -> StmConfig {
    StmConfig {
        locks: 64,
        ..StmConfig::default()
    }
}

fn launch(stm: &mut Stm<Cuda>) -> Result {
    let handle = stm.handle();
    // SAFETY: the kernel does nothing.
    unsafe { stm.launch::<Nothing>(&handle) }.map(|_| ())
}

const SHAPE: Launch = Launch::new(2, 64);

fn enqueue(queue: &InOrder<'_, '_, Cuda>) -> Result {
    // SAFETY: the kernel does nothing.
    unsafe { queue.enqueue::<Fast, Nothing>(SHAPE, |_, stm| Ok(stm)) }
}

fn memory(cuda: &Cuda) -> Result<Stm<Cuda>> {
    Stm::new(cuda, Launch::new(1, 32), config())
}

/// Opens the device, makes a memory and arrays, launches twice and in order, and reads back.
fn session(driver: &StandIn) -> Result {
    let cuda = driver.open()?;
    let mut stm = Stm::new(&cuda, SHAPE, config())?;
    let mut array = TxArray::from_slice(&cuda, Layout::Cells, &[1u64, 2, 3], "an array")?;
    let sums = Sums::<_, u32>::zeroed(&cuda, 4, 2, "sums")?;
    stm.watch(&array);
    stm.watch_sums(&sums);
    stm.set_time_limit(None);
    launch(&mut stm)?;
    stm.set_time_limit(Some(Duration::from_secs(5)));
    launch(&mut stm)?;
    stm.in_order(enqueue)?;
    stm.check_in_full()?;
    assert_eq!(array.download()?, [1, 2, 3]);
    assert_eq!(sums.download()?, [0; 8]);
    let mut plain = TxArray::from_slice(&cuda, Layout::Plain, &[4u64, 5, 6], "a plain array")?;
    let mut buffer = Buffer::zeroed(&cuda, 3, "a buffer")?;
    let mut foreign = ForeignArray::of_buffer(&mut buffer)?;
    plain.copy_to(&mut foreign)?;
    array.copy_from(&foreign)?;
    array.copy_to(&mut foreign)?;
    assert_eq!(buffer.download()?, [4, 5, 6]);
    drop(buffer);
    let handle = stm.handle();
    let launches = [1, 2].map(|blocks| (Launch::new(blocks, 64), handle));
    // SAFETY: the kernel does nothing.
    let mut recorded = unsafe { cuda.record::<Nothing>(&launches) }?;
    recorded.replay()?;
    recorded.replay()?;
    Ok(())
}

/// Returns the calls of a session without errors, which gives everything back.
fn calls_of_session() -> Vec<&'static str> {
    let driver = StandIn::new();
    session(&driver).unwrap();
    let state = driver.state();
    assert_eq!((state.left(), state.free), ([0; 4], 1 << 30));
    assert!(state.calls.len() > 50, "{}", state.calls.len());
    state.calls.clone()
}

/// Runs a session whose call of this number fails; returns its error and what it leaves.
fn session_failing(n: usize, code: R) -> (Option<Error>, [usize; 4]) {
    let driver = StandIn::new();
    driver.state().fail = Some((n, code));
    let ended = session(&driver).err();
    let left = driver.state().left();
    (ended, left)
}

#[test]
fn whichever_call_fails_the_error_is_typed_and_nothing_leaks() {
    let all = calls_of_session();
    for code in [R::CUDA_ERROR_OUT_OF_MEMORY, R::CUDA_ERROR_INVALID_VALUE] {
        let named = format!("{code:?}");
        for (n, call) in all.iter().enumerate() {
            let (ended, left) = session_failing(n, code);
            let mut stays = 0;
            match ended {
                Some(Error::DeviceLost { code, .. }) => {
                    // The kernel could still run, so its memory stays.
                    assert!(call.starts_with("cuEvent"), "{call}");
                    assert_eq!(code, named);
                    stays = left[0];
                }
                Some(Error::OutOfMemory { what, .. }) => {
                    assert!(*call == "cuMemAlloc" && !what.is_empty(), "{call}");
                }
                Some(Error::Driver { code, .. } | Error::BadPtx { log: code, .. }) => {
                    assert!(code.contains(&named), "{call}: {code}");
                }
                // What was given back was given back, whatever the call said.
                None => {
                    let silent = ["Destroy", "Free", "Release", "cuCtxSetCurrent"];
                    let is_silent = silent.iter().any(|end| call.ends_with(end));
                    assert!(is_silent, "{call} failed and nobody said so");
                    stays = left[0].min(usize::from(*call == "cuCtxSetCurrent"));
                }
                Some(other) => panic!("{call}: {other}"),
            }
            assert_eq!(left, [stays, 0, 0, 0], "{call} {n}");
        }
    }
}

#[test]
fn an_error_that_ends_the_context_is_a_lost_device_wherever_it_shows() {
    let calls = calls_of_session();
    let opened = calls.iter().position(|&call| call == "cuMemGetInfo");
    let given_back = calls.iter().rposition(|&call| call == "cuMemcpyDtoH");
    for lost in FATAL {
        for n in opened.unwrap()..=given_back.unwrap() {
            let (error, left) = session_failing(n, lost);
            // The destruction of an event only shows in the call after it.
            let Some(Error::DeviceLost { code, .. }) = error else {
                panic!("{} {n}: {error:?}", calls[n]);
            };
            assert_eq!((code, &left[1..]), (format!("{lost:?}"), &[0; 3][..]));
        }
    }
}

#[test]
fn after_a_lost_device_every_call_refuses_and_the_driver_is_left_alone() {
    for code in FATAL {
        let (driver, cuda) = opened();
        let mut stm = memory(&cuda).unwrap();
        let array = TxArray::from_slice(&cuda, Layout::Cells, &[7u32; 4], "an array").unwrap();
        let mut raw = cuda.allocate(64, "raw").unwrap();
        driver.state().always = Some(("cuEventQuery", code));
        let lost = launch(&mut stm).unwrap_err();
        let (during, code) = ("kernel nothing".into(), format!("{code:?}"));
        assert_eq!(lost, Error::DeviceLost { during, code });
        assert!(lost.to_string().contains("its memory is gone"), "{lost}");
        let calls = driver.state().calls.len();
        let same = |error: Error| assert_eq!(error, lost);
        same(launch(&mut stm).unwrap_err());
        same(stm.check_in_full().unwrap_err());
        same(array.download().unwrap_err());
        same(raw.write(0, &[1]).unwrap_err());
        same(raw.read(0, &mut [0]).unwrap_err());
        same(raw.clear().unwrap_err());
        same(cuda.allocate(1, "more").err().unwrap());
        same(cuda.available_bytes().unwrap_err());
        same(cuda.prepare::<Nothing>(Observation::default()).unwrap_err());
        same(cuda.without_wide_atomics().available_bytes().unwrap_err());
        same(memory(&cuda).err().unwrap());
        drop((raw, array, stm));
        assert_eq!(driver.state().calls.len(), calls);
        // The driver frees the memory with the context.
        drop(cuda);
        assert_eq!(driver.state().left()[1..], [0; 3]);
    }
}

#[test]
fn exhausted_memory_is_named_with_what_it_was_for_and_the_device_stays_usable() {
    let (driver, cuda) = opened();
    let what = "a large array";
    let error = cuda.allocate(1 << 31, what).err().unwrap();
    assert_eq!(error, Error::out_of(what, 1 << 31, 1 << 30));
    // The driver may refuse what it said it had, as others use the device too.
    let before = driver.state().left();
    driver.state().always = Some(("cuMemAlloc", R::CUDA_ERROR_OUT_OF_MEMORY));
    let error = memory(&cuda).err().unwrap();
    assert!(matches!(error, Error::OutOfMemory { .. }), "{error}");
    driver.state().always = None;
    assert_eq!(driver.state().left(), before);
    launch(&mut memory(&cuda).unwrap()).unwrap();
}

#[test]
fn bad_ptx_is_named_with_the_compilers_words_and_the_device_stays_usable() {
    let (driver, cuda) = opened();
    let mut stm = memory(&cuda).unwrap();
    driver.state().log = "ptxas fatal:\n  unknown instruction";
    driver.state().always = Some(("cuLibraryLoadData", R::CUDA_ERROR_INVALID_PTX));
    let error = launch(&mut stm).unwrap_err();
    let log = "CUDA_ERROR_INVALID_PTX: ptxas fatal: unknown instruction".into();
    let entry = "nothing";
    assert_eq!(error, Error::BadPtx { entry, log });
    driver.state().always = Some(("cuModuleGetFunction", R::CUDA_ERROR_NOT_FOUND));
    let error = launch(&mut stm).unwrap_err().to_string();
    assert!(error.contains("CUDA_ERROR_NOT_FOUND"), "{error}");
    driver.state().always = None;
    launch(&mut stm).unwrap();
}

#[test]
fn no_driver_no_device_and_an_old_device_are_told_apart() {
    let error = |set: fn(&mut State)| {
        let driver = StandIn::new();
        set(&mut driver.state());
        let error = driver.open().err().unwrap();
        assert_eq!(driver.state().left(), [0; 4]);
        error
    };
    assert_eq!(error(|s| s.absent = true), Error::NoDriver);
    let (ordinal, count) = (0, 0);
    let none = Error::NoGpu { ordinal, count };
    assert_eq!(error(|s| s.devices = 0), none);
    let no_device = error(|s| s.always = Some(("cuInit", R::CUDA_ERROR_NO_DEVICE)));
    assert_eq!(no_device, none);
    let old = error(|s| s.major = 6);
    let text = "a stand-in has compute capability 6.0: 7.0 (sm_70) or later is needed; use the CPU";
    assert_eq!(old.to_string(), text);
    let oldest = StandIn::new();
    oldest.state().major = 7;
    oldest.open().unwrap();
    let stub = error(|s| s.always = Some(("cuInit", R::CUDA_ERROR_STUB_LIBRARY)));
    assert!(stub.to_string().contains("CUDA_ERROR_STUB_LIBRARY"));
}

#[test]
fn a_launch_that_is_too_large_is_refused_before_the_driver_sees_it() {
    let (driver, cuda) = opened();
    let (mut shared, mut together) = (Launch::new(1, 32), Launch::new(9, 32));
    shared.shared_bytes = 1 << 20;
    together.cooperative = true;
    // The registers of the kernel allow 512 threads, and four processors two blocks each.
    for shape in [Launch::new(1, 1025), Launch::new(1, 513), shared, together] {
        let launched = Stm::new(&cuda, shape, config()).and_then(|mut stm| launch(&mut stm));
        let Err(Error::LaunchTooLarge { asked, limit, .. }) = launched else {
            panic!("{launched:?}");
        };
        assert!(asked > limit);
        assert!(!driver.state().calls.contains(&"cuLaunchKernel"));
    }
}

#[test]
fn blocks_that_are_resident_together_are_counted_over_all_processors() {
    let (driver, cuda) = opened();
    let of = |threads| cuda.resident_blocks::<Nothing>(&Launch::new(1 << 20, threads));
    assert_eq!(of(512), Ok(8));
    let error = of(513).unwrap_err();
    assert!(matches!(error, Error::LaunchTooLarge { limit: 512, .. }));
    assert!(!driver.state().calls.contains(&"cuLaunchKernel"));
}

#[test]
fn the_time_limit_raises_the_flag_and_the_launch_ends() {
    let (driver, cuda) = opened();
    let mut stm = memory(&cuda).unwrap();
    let flag = stm.stop_flag() as u64;
    driver.state().runs_until = Some(flag);
    stm.set_time_limit(Some(Duration::from_millis(20)));
    let start = std::time::Instant::now();
    launch(&mut stm).unwrap();
    assert!(start.elapsed() >= Duration::from_millis(20));
    // The flag cannot be raised: the kernel runs on, and the device is lost.
    assert!(driver.state().calls.contains(&"cuStreamSynchronize"));
    driver.state().always = Some(("cuStreamSynchronize", R::CUDA_ERROR_LAUNCH_TIMEOUT));
    let error = launch(&mut stm).unwrap_err();
    assert!(matches!(error, Error::DeviceLost { .. }), "{error}");
}

#[test]
fn a_launch_in_order_waits_for_nothing() {
    let (driver, cuda) = opened();
    let mut stm = Stm::new(&cuda, SHAPE, config()).unwrap();
    // The first one loads the module.
    launch(&mut stm).unwrap();
    let calls = stm.in_order(|queue| {
        let before = driver.state().calls.len();
        (0..3).try_for_each(|_| enqueue(queue))?;
        Ok(driver.state().calls[before..].to_vec())
    });
    let (calls, _) = calls.unwrap();
    let launches = calls.iter().filter(|&&call| call == "cuLaunchKernel");
    assert_eq!(launches.count(), 3);
    for waits in ["Synchronize", "Query", "DtoH", "Event"] {
        let waits = calls.iter().any(|call| call.contains(waits));
        assert!(!waits, "{calls:?}");
    }
    // What the host does for one is a few calls, and no copy.
    assert_eq!(calls.len() % 3, 0, "{calls:?}");
    assert!(calls.len() / 3 <= 3, "{calls:?}");
}

#[test]
fn laps_are_taken_without_a_wait_and_their_events_given_back() {
    let (driver, cuda) = opened();
    let mut laps = cuda.laps(2).unwrap();
    let before = driver.state().calls.len();
    for _ in 0..3 {
        laps.lap().unwrap();
    }
    // One more than was asked for.
    let calls = driver.state().calls[before..].to_vec();
    let [record, create] = ["cuEventRecord", "cuEventCreate"];
    assert_eq!(calls, [record, record, create, record]);
    let second = Duration::from_millis(1);
    assert_eq!(laps.read().unwrap(), [second; 2]);
    drop(laps);
    assert_eq!(driver.state().left()[2], 0);
}

#[test]
fn the_library_carries_the_ptx_of_its_copies_which_takes_what_they_pass() {
    fn copies<T: Pod + Element>(cuda: &Cuda) -> Result {
        let mut array = TxArray::<_, T>::zeroed(cuda, Layout::Cells, 3, "an array")?;
        let mut buffer = Buffer::zeroed(cuda, 3, "a buffer")?;
        let mut foreign = ForeignArray::of_buffer(&mut buffer)?;
        array.copy_from(&foreign)?;
        array.copy_to(&mut foreign).map(|_| ())
    }
    let (driver, cuda) = opened();
    // The parameters in the text are compared before the module is loaded.
    copies::<f32>(&cuda).unwrap();
    copies::<i64>(&cuda).unwrap();
    let count = |name| {
        let state = driver.state();
        state.calls.iter().filter(|&&call| call == name).count()
    };
    assert_eq!(count("cuLibraryLoadData"), 4);
    assert_eq!(count("cuLaunchKernel"), 4);
    // Elements of one width have one kernel.
    copies::<u32>(&cuda).unwrap();
    copies::<f64>(&cuda).unwrap();
    assert_eq!(count("cuLibraryLoadData"), 4);
    // No element goes through the host: eight bytes of each copy back do.
    assert_eq!(count("cuMemcpyHtoDAsync"), 0);
    assert_eq!(count("cuMemcpyDtoH"), 4);
}
