//! The faults: each is a function that injects it and returns what was wrong with what the user saw.

use super::memory::{
    Absent, Endless, Load, Memory, Rubbish, Stale, Store, StoreParams, Trap, WORDS,
};
use crate::prelude::*;
use crate::workloads::workload::sets;
use Treatment::{HideGpus, Kill, Wait, WaitAndRetry};
use std::fmt::Debug;
use stm_core::host::Error;

/// The line by which a child says that it begins a launch without an end.
pub(super) const RUNNING: &str = "running";

/// What the parent does with the child process: it waits for it, and then for another one that must find the
/// device whole; hides all GPUs from it; or kills it while a kernel runs, and then tries another one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Treatment {
    Wait,
    WaitAndRetry,
    HideGpus,
    Kill,
}

pub(crate) type Verdict = Result<(), String>;

/// The error that the user saw, or what was wrong.
type Seen = Result<Error, String>;

pub(crate) struct Case {
    pub(super) name: &'static str,
    /// What is injected and what the user is to see.
    pub(super) what: &'static str,
    /// The only kind of device that shows it, if not every one does.
    on: Option<DeviceKind>,
    pub(super) treatment: Treatment,
    pub(super) run: fn(&AnyDevice) -> Verdict,
}

impl Case {
    pub(crate) fn is_shown_by(&self, kind: DeviceKind) -> bool {
        self.on.is_none_or(|on| on == kind)
    }
}

const ANY: Option<DeviceKind> = None;
const GPU: Option<DeviceKind> = Some(DeviceKind::Cuda);

#[rustfmt::skip]
pub(crate) const CASES: [Case; 14] = [
    Case { name: "none", on: ANY, treatment: Wait, run: works, what: "no fault: transactions run and the sum is right" },
    Case { name: "set-full", on: ANY, treatment: Wait, run: set_full, what: "a set of N entries takes N words; N + 1 are an error that names the set and N, and the memory stays usable" },
    Case { name: "out-of-range", on: ANY, treatment: Wait, run: |device| beyond_the_end(device, Variant::Fast, 2 * WORDS).map(seen), what: "an index past the end is an error that names index, length and transaction, and the memory stays usable" },
    Case { name: "timeout", on: ANY, treatment: Wait, run: |device| time_limit(device, Variant::Fast, A_COMMIT_FITS).map(seen), what: "at the time limit the stop flag ends the launch; the error counts commits, all locks are free, the sum is right" },
    Case { name: "memory-exhausted", on: ANY, treatment: Wait, run: memory_exhausted, what: "an allocation beyond the memory is an error that says for what; nothing leaks, and the device stays usable" },
    Case { name: "launch-too-large", on: ANY, treatment: Wait, run: launch_too_large, what: "a launch beyond the device's limits is refused before it begins, with the limit" },
    Case { name: "lock-held", on: ANY, treatment: Wait, run: lock_held, what: "a cell that stays owned is found after the launch and named; later launches are refused" },
    Case { name: "no-gpu", on: ANY, treatment: HideGpus, run: |_| no_gpu(), what: "without a GPU its use is an error, and the automatic choice is the CPU with a note" },
    Case { name: "bad-ptx", on: GPU, treatment: Wait, run: bad_ptx, what: "text that is no PTX, a missing entry point and other parameters are refused by name; the device stays usable" },
    Case { name: "illegal-address", on: GPU, treatment: WaitAndRetry, run: |device| stores(device, 0x1000, "CUDA_ERROR_ILLEGAL_ADDRESS"), what: "a store to a bad address loses the device; later calls refuse with the same error; a new process works" },
    Case { name: "misaligned-address", on: GPU, treatment: WaitAndRetry, run: misaligned_address, what: "a store to an odd address loses the device; later calls refuse; a new process works" },
    Case { name: "trap", on: GPU, treatment: WaitAndRetry, run: |device| loses::<Trap>(device, &(), &["CUDA_ERROR_LAUNCH_FAILED", "CUDA_ERROR_ILLEGAL_INSTRUCTION"]), what: "a trap loses the device; later calls refuse; a new process works" },
    Case { name: "killed", on: ANY, treatment: Kill, run: |device| endless(device, |memory| memory.run(light(1 << 50))), what: "the process is killed while transactions run; a new process works" },
    Case { name: "killed-endless", on: GPU, treatment: Kill, run: |device| endless(device, |memory| memory.launch::<Endless>(&())), what: "a kernel that never ends is killed with its process; a new process works" },
];

const fn light(transactions: u64) -> Load {
    Load {
        transactions,
        ..Load::LIGHT
    }
}

fn seen(what: impl Display) {
    // The parent notices a child whose output is lost by its missing lines.
    let _ = writeln!(stdout(), "{what}");
}

fn wrong(error: impl Display) -> String {
    format!("another error than expected: {error}")
}

/// Returns the error of a result, if it is right, or what is wrong.
fn expected<T: Debug>(result: Result<T, Error>, is_right: impl Fn(&Error) -> bool) -> Seen {
    match result {
        Ok(value) => Err(format!("no error, but {value:?}")),
        Err(error) if is_right(&error) => Ok(error),
        Err(error) => Err(wrong(error)),
    }
}

/// Does the same as [`expected`], and prints the error.
fn expect<T: Debug>(result: Result<T, Error>, is_right: impl Fn(&Error) -> bool) -> Verdict {
    expected(result, is_right).map(seen)
}

/// Sets that hold what every load has.
pub(crate) const ROOMY: Capacity = Capacity::DEFAULT;

fn memory_of(device: &AnyDevice, algorithm: Variant, capacity: Capacity) -> Result<Memory, String> {
    let shape = (2, 2 * device.limits().warp_width);
    Memory::with_shape(device, algorithm, capacity, shape).map_err(wrong)
}

fn memory(device: &AnyDevice) -> Result<Memory, String> {
    memory_of(device, Variant::Fast, ROOMY)
}

/// Runs transactions; every other case ends with it or begins with it.
pub(super) fn works(device: &AnyDevice) -> Verdict {
    memory(device)?.is_whole()?;
    seen("transactions run");
    Ok(())
}

/// A launch that may take so long commits something, however busy the machine is.
const A_COMMIT_FITS: Duration = Duration::from_millis(100);

/// Runs a load that a memory cannot carry, and returns the error, or what is wrong thereafter.
fn recovers(mut memory: Memory, load: Load, is_right: impl Fn(&Error) -> bool) -> Seen {
    let seen = expected(memory.run(load), is_right)?;
    memory.is_whole()?;
    Ok(seen)
}

/// Makes a launch without an end, which its time limit stops.
pub(crate) fn time_limit(device: &AnyDevice, algorithm: Variant, limit: Duration) -> Seen {
    let mut memory = memory_of(device, algorithm, ROOMY)?;
    memory.stm.set_time_limit(Some(limit));
    recovers(memory, light(1 << 40), |error| {
        matches!(error, Error::Timeout { limit: asked, committed, .. }
            if *asked == limit && (*committed > 0 || limit < A_COMMIT_FITS))
    })
}

/// Makes transactions with one entry more than the write set or the read set has.
pub(crate) fn full_set(
    device: &AnyDevice,
    algorithm: Variant,
    entries: u32,
    of_writes: bool,
) -> Seen {
    let (set, capacity) = if of_writes {
        ("write set", sets(64, entries, 32))
    } else {
        ("read set", sets(entries, 64, 32))
    };
    let load = |entries| Load {
        reads: entries,
        writes: if of_writes { entries } else { 1 },
        transactions: 500,
        ..Load::LIGHT
    };
    let mut memory = memory_of(device, algorithm, capacity)?;
    // As many as there are entries fit.
    memory.run(load(entries)).map_err(wrong)?;
    recovers(memory, load(entries + 1), |error| {
        matches!(error, Error::CapacityExceeded { set: named, limit, .. }
            if (*named, *limit) == (set, entries))
    })
}

/// Makes indices below this number of words, of which there are only [`WORDS`].
pub(crate) fn beyond_the_end(device: &AnyDevice, algorithm: Variant, words: u32) -> Seen {
    // So many that one of them has an index that does not exist.
    let load = Load {
        words,
        ..light(1 << 20)
    };
    let memory = memory_of(device, algorithm, ROOMY)?;
    recovers(memory, load, |error| {
        matches!(error, Error::OutOfRange { index, len, .. }
            if *len == u64::from(WORDS) && index >= len)
    })
}

fn set_full(device: &AnyDevice) -> Verdict {
    for algorithm in [Variant::Fast, Variant::FastTable, Variant::HvSorting] {
        // Below and above the entries that `fast` keeps in registers.
        for entries in [5, 40] {
            for of_writes in [false, true] {
                seen(full_set(device, algorithm, entries, of_writes)?);
            }
        }
    }
    Ok(())
}

fn memory_exhausted(device: &AnyDevice) -> Verdict {
    let is_exhausted = |error: &Error| matches!(error, Error::OutOfMemory { .. });
    let available = || device.available_bytes().map_err(wrong);
    let before = available()?;
    let bytes = usize::try_from(before).unwrap_or(usize::MAX / 2) / 8 * 9;
    expect(device.allocate(bytes, "a large array"), |error| {
        matches!(error, Error::OutOfMemory { what: "a large array", needed, .. }
            if *needed == bytes as u64)
    })?;
    // Sets that are larger than any memory.
    let config = StmConfig {
        capacity: sets(1 << 20, 1 << 20, 32),
        ..StmConfig::default()
    };
    let launch = Launch::new(1 << 20, 1024);
    expect(Stm::new(device, launch, config).map(|_| ()), is_exhausted)?;
    if device.kind() == DeviceKind::Cuda {
        // Until the driver itself refuses, with a memory beside.
        let mut kept = Vec::new();
        let refused = loop {
            match device.allocate((before / 16) as usize, "another part") {
                Ok(part) if kept.len() < 64 => kept.push(part),
                refused => break refused,
            }
        };
        expect(refused, is_exhausted)?;
        seen(format!("{} parts of a sixteenth fitted", kept.len()));
        drop(kept);
        let after = available()?;
        if after.abs_diff(before) > 64 << 20 {
            let before = format!("{before} bytes were available before");
            return Err(format!("{before}, {after} after"));
        }
    }
    works(device)
}

fn launch_too_large(device: &AnyDevice) -> Verdict {
    let limits = device.limits();
    let made = |launch| Stm::new(device, launch, StmConfig::default()).map(|_| ());
    for launch in [
        Launch::new(1, limits.threads_max + 1),
        Launch::new(u32::MAX, 1),
        Launch {
            shared_bytes: limits.shared_bytes_max + 1,
            ..Launch::new(1, 1)
        },
    ] {
        let is_right = |error: &Error| matches!(error, Error::LaunchTooLarge { asked, limit, .. } if asked > limit);
        expect(made(launch), is_right)?;
    }
    let is_right = |error: &Error| matches!(error, Error::ZeroLaunch { .. });
    expect(made(Launch::new(0, 1)), is_right)?;
    works(device)
}

fn lock_held(device: &AnyDevice) -> Verdict {
    let mut memory = memory(device)?;
    let params = StoreParams {
        address: memory.array.word(7).bits(),
        value: 1 << 32,
    };
    let is_right = |error: &Error| matches!(error, Error::Corrupt { what } if what.contains("cell 7 of the words"));
    expect(memory.launch::<Store>(&params), is_right)?;
    expect(memory.run(Load::LIGHT), is_right)?;
    works(device)
}

fn no_gpu() -> Verdict {
    match AnyDevice::open(Choice::Cuda(0)) {
        Err(crate::error::Error::Host(
            error @ (Error::NoGpu { count: 0, .. } | Error::NoDriver),
        )) => seen(error),
        Err(other) => return Err(wrong(other)),
        Ok(_) => return Err("a GPU was opened, and none should be visible".into()),
    }
    let (device, note) = AnyDevice::open(Choice::Auto).map_err(|error| error.to_string())?;
    match (device, note) {
        (device @ AnyDevice::Cpu(_), Some(note)) => {
            seen(note);
            works(&device)
        }
        (device, note) => {
            let id = device.id();
            Err(format!("{id} was opened, with the note {note:?}"))
        }
    }
}

fn bad_ptx(device: &AnyDevice) -> Verdict {
    let mut memory = memory(device)?;
    let refused = |result: Result<Statistics, Error>, kernel: &str, part: &str| {
        expect(result, |error| {
            matches!(error, Error::BadPtx { entry, log }
                if *entry == kernel && log.contains(part))
        })
    };
    let rubbish = memory.launch::<Rubbish>(&());
    refused(rubbish, Rubbish::ENTRY, "CUDA_ERROR_INVALID_PTX")?;
    let absent = memory.launch::<Absent>(&());
    refused(absent, Absent::ENTRY, "CUDA_ERROR_NOT_FOUND")?;
    let is_stale = |error: &Error| {
        matches!(error, Error::StalePtx { declared, passed, .. }
            if (*declared, *passed) == (8, 0))
    };
    expect(memory.launch::<Stale>(&()), is_stale)?;
    memory.is_whole()
}

/// Launches a kernel that loses the device with one of these codes; nothing works thereafter.
fn loses<K: Kernel>(device: &AnyDevice, params: &K::Params, codes: &[&str]) -> Verdict {
    let mut memory = memory(device)?;
    memory.is_whole()?;
    let lost = expected(
        memory.launch::<K>(params),
        |error| matches!(error, Error::DeviceLost { code, .. } if codes.contains(&code.as_str())),
    )?;
    seen(&lost);
    let same = |error: &Error| *error == lost;
    expect(memory.run(Load::LIGHT), same)?;
    expect(memory.stm.check_in_full(), same)?;
    expect(memory.array.download().map(|_| ()), same)?;
    expect(device.allocate(64, "more"), same)?;
    expect(device.available_bytes(), same)
}

fn stores(device: &AnyDevice, address: u64, code: &str) -> Verdict {
    loses::<Store>(device, &StoreParams { address, value: 1 }, &[code])
}

fn misaligned_address(device: &AnyDevice) -> Verdict {
    let place = device.allocate(64, "a place").map_err(wrong)?;
    let address = stm_core::internal::host::Memory::address(&place) as u64 + 1;
    stores(device, address, "CUDA_ERROR_MISALIGNED_ADDRESS")
}

/// Makes a launch without an end, in which the process is to be killed.
fn endless(
    device: &AnyDevice,
    launch: impl FnOnce(&mut Memory) -> host::Result<Statistics>,
) -> Verdict {
    let mut memory = memory(device)?;
    memory.is_whole()?;
    memory.stm.set_time_limit(None);
    seen(RUNNING);
    let ended = launch(&mut memory).map_err(wrong)?;
    Err(format!("the launch ended, with {} commits", ended.commits))
}
