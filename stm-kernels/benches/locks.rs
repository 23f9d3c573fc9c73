//! Measures critical sections a second on one lock, of every kind, with one thread in
//! each of several numbers of blocks, and how fair each kind is: the most sections
//! that a block has made over the fewest.
//!
//! It runs on the first GPU, else on the CPU, or where `--device` says. A time is the
//! device's for one launch, the median of five after one that does not count. Each
//! launch's counter is compared with the number of sections and with the sum over the
//! blocks. Where `nvcc` is found (`--nvcc PATH`, or on the path) the same sections are
//! made with `cuda::binary_semaphore` of libcu++, in the same run
//! (`benches/peers/sections.cu`).
//!
//!     cargo bench -p stm-kernels --bench locks
//!     cargo bench -p stm-kernels --bench locks -- --device cpu --sections 20000 --json

use std::process::Command;
use std::time::Duration;
use stm_core::host::{Buffer, Combiners, Cpu, Cuda, Device, Error, Launch, Locks};
use stm_core::kernel::{Build, Kernel, ptx};
use stm_core::sync::{
    Anderson, FetchAdd, LockKind, Mcs, Reserving, Ring, Tas, TasBackoff, Ticket, Ttas,
};
use stm_core::{Lane, TArray};
use stm_kernels::sections::{CombinedSections, CombinedSectionsParams, Sections, SectionsParams};

/// The timed launches of each point; one untimed launch comes before.
const REPEAT: usize = 5;

/// What is measured and how it is printed.
struct Settings {
    sections: u32,
    blocks: Vec<u32>,
    json: bool,
    nvcc: Option<String>,
}

/// One launch: its time, and the sections of each block.
struct Run {
    time: Duration,
    made: Vec<u32>,
}

/// Makes one launch, given what launches a kernel with a counter, a word for each
/// block, and the number of sections.
fn run<D: Device>(
    device: &D,
    settings: &Settings,
    blocks: u32,
    launch: impl FnOnce(TArray<u32>, TArray<u32>) -> Result<Duration, Error>,
) -> Result<Run, Error> {
    // A line for the counter alone.
    let counter = Buffer::<_, u32>::zeroed(device, 32, "the counter")?;
    let made = Buffer::<_, u32>::zeroed(device, blocks as usize, "the sections of each block")?;
    let time = launch(counter.tarray(), made.tarray())?;
    let made = made.download()?;
    let sum: u64 = made.iter().map(|&n| u64::from(n)).sum();
    assert_eq!(
        counter.download()?[0],
        settings.sections,
        "sections overlapped"
    );
    assert_eq!(sum, u64::from(settings.sections), "sections are missing");
    Ok(Run { time, made })
}

/// Measures one kind of lock.
fn kind<D: Device, K: LockKind>(device: &D, s: &Settings, blocks: u32) -> Result<Run, Error>
where
    Sections<K>: Kernel<Params = SectionsParams<K>>,
{
    let locks = Locks::<_, K>::new(device, 1, u64::from(blocks), "the lock")?;
    let run = run(device, s, blocks, |counter, made| {
        let params = SectionsParams {
            locks: locks.view(),
            counter,
            made,
            sections: s.sections,
        };
        // SAFETY: the locks and the buffers live until the launch has ended.
        unsafe { device.launch::<Sections<K>>(&Launch::new(blocks, 1), &params) }
    })?;
    locks.check()?;
    Ok(run)
}

/// Measures the combiner.
fn combined<D: Device>(device: &D, s: &Settings, blocks: u32) -> Result<Run, Error> {
    let combiners = Combiners::<_, 1>::new(device, 1, u64::from(blocks), "the combiner")?;
    let run = run(device, s, blocks, |counter, made| {
        let params = CombinedSectionsParams {
            combiners: combiners.view(),
            counter,
            made,
            sections: s.sections,
        };
        // SAFETY: as in `kind`.
        unsafe { device.launch::<CombinedSections>(&Launch::new(blocks, 1), &params) }
    })?;
    combiners.check()?;
    Ok(run)
}

/// The PTX of the peer, which `nvcc` has made.
static PEER: std::sync::OnceLock<String> = std::sync::OnceLock::new();

/// The same sections with `cuda::binary_semaphore`.
struct Peer;

/// What `benches/peers/sections.cu` takes.
#[repr(C)]
#[derive(Clone, Copy)]
struct PeerParams {
    lock: *mut u32,
    ready: *mut u32,
    counter: *mut u32,
    made: *mut u32,
    sections: u32,
}

// SAFETY: the pointers are only followed on the device.
unsafe impl Send for PeerParams {}
// SAFETY: as above.
unsafe impl Sync for PeerParams {}

impl Kernel for Peer {
    const ENTRY: &'static str = "sections_binary_semaphore";
    type Params = PeerParams;

    fn run<L: Lane>(_lane: &L, _params: &PeerParams) {
        unreachable!("the peer runs on GPUs only");
    }

    fn ptx(build: Build) -> Result<ptx::Text, Error> {
        // There is one build for all devices.
        let text = PEER.get().filter(|_| !build.wide);
        let text = text.ok_or(Error::NoPtx { entry: Self::ENTRY })?;
        Ok(text.clone().into())
    }
}

/// Has the peer compiled; returns whether it can run.
fn compile_peer(nvcc: &str) -> bool {
    let folder = std::env::temp_dir().join(format!("stm-peer-{}", std::process::id()));
    let (source, target) = (folder.join("sections.cu"), folder.join("sections.ptx"));
    let made = std::fs::create_dir_all(&folder)
        .and_then(|()| std::fs::write(&source, include_str!("peers/sections.cu")))
        .and_then(|()| {
            Command::new(nvcc)
                .args(["-std=c++17", "-arch=sm_90", "-O3", "-ptx", "-o"])
                .args([&target, &source])
                .output()
        });
    let text = match made {
        Ok(output) if output.status.success() => std::fs::read_to_string(&target).ok(),
        Ok(output) => {
            eprintln!("{nvcc}: {}", String::from_utf8_lossy(&output.stderr));
            None
        }
        Err(error) => {
            eprintln!("no peer is measured: {nvcc}: {error}");
            None
        }
    };
    // It is ours, in the folder for temporary files.
    let _ = std::fs::remove_dir_all(&folder);
    text.is_some_and(|text| PEER.set(text).is_ok())
}

/// Measures the peer.
fn peer<D: Device>(device: &D, s: &Settings, blocks: u32) -> Result<Run, Error> {
    let lock = Buffer::<_, u32>::zeroed(device, 64, "the semaphore")?;
    run(device, s, blocks, |counter, made| {
        let first = |words: TArray<u32>, i| words.get(i).expect("words");
        let params = PeerParams {
            lock: first(lock.tarray(), 0),
            ready: first(lock.tarray(), 32),
            counter: first(counter, 0),
            made: first(made, 0),
            sections: s.sections,
        };
        // SAFETY: as in `kind`.
        unsafe { device.launch::<Peer>(&Launch::new(blocks, 1), &params) }
    })
}

/// Measures and prints one point.
fn point(
    name: &str,
    s: &Settings,
    blocks: u32,
    mut run: impl FnMut() -> Result<Run, Error>,
) -> Result<(), Error> {
    run()?;
    let mut runs = Vec::new();
    for _ in 0..REPEAT {
        runs.push(run()?);
    }
    runs.sort_by_key(|run| run.time);
    let rate = |run: &Run| f64::from(s.sections) / run.time.as_secs_f64() / 1e6;
    let median = &runs[REPEAT / 2];
    let (most, fewest) = (median.made.iter().max(), median.made.iter().min());
    let (most, fewest) = (most.copied().unwrap_or(0), fewest.copied().unwrap_or(0));
    let (slowest, fastest) = (rate(&runs[REPEAT - 1]), rate(&runs[0]));
    if s.json {
        println!(
            "{{\"lock\": \"{name}\", \"blocks\": {blocks}, \"sections\": {}, \
             \"million_per_s\": {:.4}, \"slowest\": {slowest:.4}, \"fastest\": {fastest:.4}, \
             \"most\": {most}, \"fewest\": {fewest}}}",
            s.sections,
            rate(median)
        );
    } else {
        let ratio = match fewest {
            0 => "none for some".to_owned(),
            _ => format!("{:.2}", f64::from(most) / f64::from(fewest)),
        };
        println!(
            "{name:<24}{blocks:>8}{:>12.3}{slowest:>10.3}{fastest:>10.3}{ratio:>16}",
            rate(median)
        );
    }
    Ok(())
}

fn all<D: Device>(device: &D, s: &Settings, gpu: bool) -> Result<(), Error> {
    if s.json {
        println!("{{\"device\": \"{}\"}}", device.name());
    } else {
        println!("{}, {} sections", device.name(), s.sections);
        println!(
            "{:<24}{:>8}{:>12}{:>10}{:>10}{:>16}",
            "lock", "blocks", "million/s", "slowest", "fastest", "most / fewest"
        );
    }
    let has_peer = gpu && compile_peer(s.nvcc.as_deref().unwrap_or("nvcc"));
    for &blocks in &s.blocks {
        macro_rules! kinds {
            ($($kind:ty, $name:expr;)*) => {
                $(point($name, s, blocks, || kind::<D, $kind>(device, s, blocks))?;)*
            };
        }
        kinds! {
            Tas, Tas::NAME;
            Ttas, Ttas::NAME;
            TasBackoff, TasBackoff::NAME;
            Ticket, Ticket::NAME;
            FetchAdd, FetchAdd::NAME;
            Ring, Ring::NAME;
            Anderson, Anderson::NAME;
            Mcs, Mcs::NAME;
            Reserving<16>, "reserving, 16";
            Reserving<64>, "reserving, 64";
        }
        point("combined", s, blocks, || combined(device, s, blocks))?;
        if has_peer {
            point("cuda::binary_semaphore", s, blocks, || {
                peer(device, s, blocks)
            })?;
        }
    }
    Ok(())
}

fn main() {
    let mut settings = Settings {
        sections: 1 << 18,
        blocks: vec![1, 8, 32, 132, 528],
        json: false,
        nvcc: None,
    };
    let mut device = None;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            // Cargo adds it.
            "--bench" => {}
            "--json" => settings.json = true,
            "--device" => device = arguments.next(),
            "--nvcc" => settings.nvcc = arguments.next(),
            "--sections" => {
                let number = arguments.next().and_then(|n| n.parse().ok());
                settings.sections = number.filter(|&n| n > 0).expect("--sections N");
            }
            "--blocks" => {
                let list = arguments.next().expect("--blocks A,B,…");
                let number = |n: &str| n.parse().ok().filter(|&n: &u32| n > 0);
                let list: Option<Vec<_>> = list.split(',').map(number).collect();
                settings.blocks = list.expect("--blocks A,B,…: numbers from 1 on");
            }
            other => panic!("no such option: {other}"),
        }
    }
    let gpu = match device.as_deref() {
        Some("cpu") => None,
        None | Some("cuda") => match Cuda::new(0) {
            Ok(gpu) => Some(gpu),
            Err(error) if device.is_none() => {
                eprintln!("no GPU can be used, so this runs on the CPU: {error}");
                None
            }
            Err(error) => panic!("{error}"),
        },
        Some(other) => panic!("--device cpu or cuda, not {other}"),
    };
    let measured = match gpu {
        Some(gpu) => all(&gpu, &settings, true),
        None => all(&Cpu::new(), &settings, false),
    };
    measured.expect("a measurement");
}
