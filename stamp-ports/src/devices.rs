//! The devices found, and the choice of one.

use crate::error::{Error, Result, refuse};
use crate::external_prelude::*;
use crate::variants::nearest;
use stm_core::host::{Cpu, Cuda};
use stm_core::internal::host::{Laps, Memory, Replay, StopAt};

/// What `--device` asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Choice {
    /// The first GPU that can be used, else the CPU.
    Auto,
    Cpu,
    Cuda(usize),
    /// The same as if it had no atomics of 128 bits, to compare with.
    CudaNarrow(usize),
}

/// Reads `auto`, `cpu`, `cuda` or `cuda:N`, and for GPUs `,atomics=64` behind it.
pub(crate) fn parse_choice(text: &str) -> Result<Choice> {
    if let Some(gpu) = text.strip_suffix(",atomics=64")
        && let Choice::Cuda(ordinal) = parse_choice(gpu)?
    {
        return Ok(Choice::CudaNarrow(ordinal));
    }
    match (text, text.strip_prefix("cuda:")) {
        ("auto", _) => Ok(Choice::Auto),
        ("cpu", _) => Ok(Choice::Cpu),
        ("cuda", _) => Ok(Choice::Cuda(0)),
        (_, Some(ordinal)) => ordinal.parse().map(Choice::Cuda).or_else(|_| {
            let why = "names no GPU: write cuda:0 for the first";
            refuse(format!("device {text:?} {why}"))
        }),
        (_, None) => {
            let meant = nearest(text, &["auto", "cpu", "cuda"]);
            let meant = meant.map_or_else(String::new, |name| format!("did you mean {name}? "));
            let known = "known are auto, cpu, cuda, cuda:N and cuda:N,atomics=64";
            refuse(format!("unknown device {text:?}: {meant}{known}"))
        }
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Cpu => f.write_str("cpu"),
            Self::Cuda(ordinal) => write!(f, "cuda:{ordinal}"),
            Self::CudaNarrow(ordinal) => write!(f, "cuda:{ordinal},atomics=64"),
        }
    }
}

/// The blocks of a launch, and the threads of each.
pub type Shape = (u32, u32);

/// A kind of device, for defaults.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DeviceKind {
    /// The processor of this machine.
    Cpu,
    /// A GPU.
    Cuda,
}

impl DeviceKind {
    /// Returns what is for this kind.
    pub(crate) fn either<T>(self, on_cpu: T, on_gpu: T) -> T {
        match self {
            Self::Cpu => on_cpu,
            Self::Cuda => on_gpu,
        }
    }
}

/// A device of either kind, for what runs on any device and is compiled once.
#[derive(Clone, Debug)]
pub enum AnyDevice {
    /// The processor of this machine.
    Cpu(Cpu),
    /// A GPU.
    Cuda(Cuda),
}

/// The memory of an [`AnyDevice`].
#[derive(Debug)]
pub enum AnyMemory {
    /// That of the CPU.
    Cpu(<Cpu as Device>::Memory),
    /// That of a GPU.
    Cuda(<Cuda as Device>::Memory),
}

macro_rules! either {
    ($of:ident, $any:expr, $x:ident => $body:expr) => {
        match $any {
            $of::Cpu($x) => $body,
            $of::Cuda($x) => $body,
        }
    };
}

/// Methods that the part in use answers.
macro_rules! forwards {
    ($of:ident: $(fn $name:ident$(<$k:ident>)?(&self $(, $x:ident: $type:ty)*) -> $result:ty;)*) => {
        $(
            fn $name$(<$k: Kernel>)?(&self $(, $x: $type)*) -> $result {
                either!($of, self, part => part.$name$(::<$k>)?($($x),*))
            }
        )*
    };
    ($of:ident: $(unsafe fn $name:ident$(<$k:ident>)?(&self $(, $x:ident: $type:ty)*) -> $result:ty;)*) => {
        $(
            unsafe fn $name$(<$k: Kernel>)?(&self $(, $x: $type)*) -> $result {
                // SAFETY: the caller's promise.
                either!($of, self, part => unsafe { part.$name$(::<$k>)?($($x),*) })
            }
        )*
    };
}

/// The nanoseconds of all copies to devices, and from them.
static COPIED: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];

fn counted<R>(i: usize, copy: impl FnOnce() -> R) -> R {
    let start = Instant::now();
    let result = copy();
    COPIED[i].fetch_add(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
    result
}

pub(crate) fn copied() -> [Duration; 2] {
    let ns = COPIED.each_ref().map(|ns| ns.load(Ordering::Relaxed));
    ns.map(Duration::from_nanos)
}

impl Memory for AnyMemory {
    forwards! { AnyMemory:
        fn address(&self) -> *mut u8;
        fn bytes(&self) -> usize;
        fn space(&self) -> u64;
    }
    fn write(&mut self, offset: usize, data: &[u8]) -> host::Result {
        counted(0, || either!(AnyMemory, self, m => m.write(offset, data)))
    }

    fn read(&self, offset: usize, data: &mut [u8]) -> host::Result {
        counted(1, || either!(AnyMemory, self, m => m.read(offset, data)))
    }

    fn clear(&mut self) -> host::Result {
        either!(AnyMemory, self, m => m.clear())
    }
}

impl Device for AnyDevice {
    type Memory = AnyMemory;

    forwards! { AnyDevice:
        fn name(&self) -> String;
        fn id(&self) -> String;
        fn space(&self) -> u64;
        fn limits(&self) -> Limits;
        fn atomics_bits(&self) -> u32;
        fn available_bytes(&self) -> host::Result<u64>;
        fn prepare<K>(&self, observation: Observation) -> host::Result<Duration>;
        fn resident_blocks<K>(&self, launch: &Launch) -> host::Result<u32>;
        fn wait(&self, stop: Option<StopAt>) -> host::Result;
    }

    fn allocate(&self, bytes: usize, what: &'static str) -> host::Result<AnyMemory> {
        Ok(match self {
            Self::Cpu(cpu) => AnyMemory::Cpu(cpu.allocate(bytes, what)?),
            Self::Cuda(gpu) => AnyMemory::Cuda(gpu.allocate(bytes, what)?),
        })
    }

    forwards! { AnyDevice:
        unsafe fn copy(&self, to: *mut u8, from: *const u8, bytes: usize) -> host::Result<Duration>;
        unsafe fn launch<K>(&self, launch: &Launch, params: &K::Params) -> host::Result<Duration>;
        unsafe fn enqueue<K>(&self, launch: &Launch, params: &K::Params) -> host::Result;
    }

    unsafe fn record<'d, K: Kernel>(
        &'d self,
        launches: &[(Launch, K::Params)],
    ) -> host::Result<Box<dyn Replay + 'd>> {
        // SAFETY: the caller's promise.
        either!(AnyDevice, self, d => unsafe { d.record::<K>(launches) })
    }

    fn laps(&self, most: usize) -> host::Result<Box<dyn Laps + '_>> {
        either!(AnyDevice, self, d => d.laps(most))
    }
}

impl AnyDevice {
    /// The CPU.
    pub fn cpu() -> Self {
        Self::Cpu(Cpu::new())
    }

    /// Opens the device asked for; with [`Choice::Auto`] and no usable GPU, the CPU, and the reason.
    pub(crate) fn open(choice: Choice) -> Result<(Self, Option<String>)> {
        let device = match choice {
            Choice::Cpu => Self::cpu(),
            Choice::Cuda(ordinal) => Self::Cuda(Cuda::new(ordinal)?),
            Choice::CudaNarrow(ordinal) => Self::Cuda(Cuda::new(ordinal)?.without_wide_atomics()),
            Choice::Auto => {
                let mut refused = None;
                for (_, gpu) in gpus() {
                    match gpu {
                        Ok(gpu) => return Ok((Self::Cuda(gpu), None)),
                        Err(error) => refused = refused.or(Some(why(&error))),
                    }
                }
                return Ok((Self::cpu(), refused));
            }
        };
        Ok((device, None))
    }

    /// Every device, and for what could not be used, its id and why.
    pub(crate) fn all() -> (Vec<Self>, Vec<Refused>) {
        let mut found = vec![Self::cpu()];
        let mut refused = Vec::new();
        for (id, gpu) in gpus() {
            match gpu.map_err(|error| why(&error)) {
                Ok(gpu) => found.push(Self::Cuda(gpu)),
                Err(why) => refused.push(Refused { id, why }),
            }
        }
        (found, refused)
    }

    pub(crate) const fn kind(&self) -> DeviceKind {
        match self {
            Self::Cpu(_) => DeviceKind::Cpu,
            Self::Cuda(_) => DeviceKind::Cuda,
        }
    }

    const fn gpu(&self) -> Option<&Cuda> {
        match self {
            Self::Cpu(_) => None,
            Self::Cuda(gpu) => Some(gpu),
        }
    }

    /// Threads that a GPU holds at a time; 0 on the CPU, which has no such limit.
    pub(crate) fn resident_threads(&self) -> u64 {
        let of_each = self.gpu().map_or(0, |gpu| gpu.info().resident_threads);
        u64::from(of_each) * u64::from(self.limits().processors)
    }

    /// The newest CUDA version that its driver speaks, or `none`.
    pub(crate) fn driver(&self) -> String {
        let version = self.gpu().map(|gpu| gpu.info().driver_version);
        let version = version.map(|n| format!("{}.{}", n / 1000, n % 1000 / 10));
        version.unwrap_or_else(|| "none".into())
    }

    pub(crate) fn describe(&self) -> Result<Description> {
        let limits = self.limits();
        let gpu = self.gpu().map(|gpu| {
            let info = gpu.info();
            let (major, minor) = info.compute_capability;
            Gpu {
                compute_capability: format!("{major}.{minor}"),
                driver_cuda_version: self.driver(),
                memory_bytes: info.memory_bytes,
                l2_bytes: info.l2_bytes,
                resident_threads_per_processor: info.resident_threads,
            }
        });
        Ok(Description {
            id: self.id(),
            name: self.name(),
            processors: limits.processors,
            warp_width: limits.warp_width,
            threads_max: limits.threads_max,
            blocks_max: limits.blocks_max,
            shared_bytes_max: limits.shared_bytes_max,
            available_bytes: self.available_bytes()?,
            gpu,
        })
    }
}

/// Every GPU with its id, or `cuda` with why there is none.
fn gpus() -> impl Iterator<Item = (String, host::Result<Cuda>)> {
    let count = Cuda::count().unwrap_or(0);
    (0..count.max(1)).map(move |ordinal| match count {
        // It tells a driver without a GPU from one that fails.
        0 => ("cuda".to_owned(), Cuda::new(ordinal)),
        _ => (format!("cuda:{ordinal}"), Cuda::new(ordinal)),
    })
}

fn why(error: &host::Error) -> String {
    let text = Error::Host(error.clone()).to_string();
    // The advice to use the CPU is idle where it is already used.
    let text = text.trim_end_matches(", or use --device cpu");
    text.trim_end_matches("; use --device cpu").to_owned()
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Refused {
    /// Its id, or `cuda` if there is no driver at all.
    pub(crate) id: String,
    pub(crate) why: String,
}

/// A device's properties, as `stamp device --json` prints them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Description {
    pub(crate) id: String,
    /// What it is, for a person.
    pub name: String,
    /// Cores, or streaming multiprocessors.
    pub(crate) processors: u32,
    pub(crate) warp_width: u32,
    pub(crate) threads_max: u32,
    pub(crate) blocks_max: u32,
    pub(crate) shared_bytes_max: u32,
    pub(crate) available_bytes: u64,
    #[serde(flatten)]
    pub(crate) gpu: Option<Gpu>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Gpu {
    pub(crate) compute_capability: String,
    pub(crate) driver_cuda_version: String,
    pub(crate) memory_bytes: u64,
    pub(crate) l2_bytes: u64,
    pub(crate) resident_threads_per_processor: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_names_are_read() {
        let read = |text| parse_choice(text).unwrap();
        assert_eq!(["auto", "cpu"].map(read), [Choice::Auto, Choice::Cpu]);
        let gpus = ["cuda", "cuda:3"].map(read);
        assert_eq!(gpus, [0, 3].map(Choice::Cuda));
        let narrow = ["cuda,atomics=64", "cuda:3,atomics=64"].map(read);
        assert_eq!(narrow, [0, 3].map(Choice::CudaNarrow));
    }
}
