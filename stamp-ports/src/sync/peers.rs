//! The peers: what libcu++ and cooperative groups have for the same purpose, in loops written for this
//! comparison (`stamp-ports/peers/peers.cu`), which `nvcc` compiles where it is found.

use crate::child::temporary;
use crate::points::prelude::*;
use std::ptr;
use std::sync::RwLock;
use stm_core::host::{Cuda, Error};
use stm_core::internal::kernel::ptx;

// Sections, entries and waits at the barrier of a grid are measured under these names.
pub(crate) const BINARY_SEMAPHORE: &str = "cuda::binary_semaphore";
pub(crate) const COUNTING_SEMAPHORE: &str = "cuda::counting_semaphore";
pub(crate) const GRID_SYNC: &str = "grid.sync";

pub(super) const NAMES: [&str; 3] = [BINARY_SEMAPHORE, COUNTING_SEMAPHORE, GRID_SYNC];

/// A kernel of the source, by its place in [`ENTRY_POINTS`].
pub(super) struct Peer<const PLACE: usize>;

pub(super) const SECTIONS: usize = 0;
pub(super) const TIMED_ENTRIES: usize = 1;
pub(super) const CHECKED_ENTRIES: usize = 2;
pub(super) const MEETINGS: usize = 3;
pub(super) const CHECKED_MEETINGS: usize = 4;

const ENTRY_POINTS: [&str; 5] = [
    "sections_binary_semaphore",
    "entries_counting_semaphore",
    "entries_counting_semaphore_checked",
    "meetings_grid_sync",
    "meetings_grid_sync_checked",
];

/// What all of them take; the source says what each does with it.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Params {
    /// 128 bytes for the semaphore.
    object: *mut u32,
    /// A word that is 0.
    ready: *mut u32,
    words: *mut u32,
    counter: *mut u32,
    count: u32,
    times: u32,
}

impl<const PLACE: usize> Kernel for Peer<PLACE> {
    const ENTRY: &'static str = ENTRY_POINTS[PLACE];
    type Params = Params;

    fn run<L: Lane>(_lane: &L, _params: &Params) {
        unreachable!("a peer runs on GPUs only (`why_missing`)");
    }

    /// Returns the PTX. There is one build for all devices, and it is silent.
    fn ptx(build: Build) -> Result<ptx::Text, Error> {
        let is_built = !build.wide && build.observation == Observation::Silent;
        let text = is_built.then(compiled).flatten();
        let entry = Self::ENTRY;
        text.map_or(Err(Error::NoPtx { entry }), |text| Ok(text.into()))
    }
}

/// Makes one launch of a peer on a semaphore made anew. Words and counter are as the source says, and 0.
pub(super) fn launch<const PLACE: usize>(
    device: &AnyDevice,
    shape: &Launch,
    [words, counter]: [Option<&Buffer<AnyDevice, u32>>; 2],
    (count, times): (u32, u32),
) -> Result<Duration, Error> {
    let object = Buffer::<_, u32>::zeroed(device, 64, "the semaphore")?;
    let first =
        |buffer: Option<&Buffer<_, u32>>| buffer.map_or(ptr::null_mut(), Buffer::as_mut_ptr);
    let params = Params {
        object: object.as_mut_ptr(),
        ready: object.as_mut_ptr().wrapping_add(32),
        words: first(words),
        counter: first(counter),
        count,
        times,
    };
    // SAFETY: the buffers live until the launch has ended.
    unsafe { device.launch::<Peer<PLACE>>(shape, &params) }
}

/// The PTX of the source, once it was compiled and loaded.
static COMPILED: RwLock<Option<String>> = RwLock::new(None);

fn compiled() -> Option<String> {
    let compiled = COMPILED.read();
    compiled.unwrap_or_else(PoisonError::into_inner).clone()
}

fn load<const PLACE: usize>(gpu: &Cuda) -> Result<(), Error> {
    gpu.prepare::<Peer<PLACE>>(Observation::Silent).map(|_| ())
}

const LOADS: [Load; 5] = [load::<0>, load::<1>, load::<2>, load::<3>, load::<4>];

type Load = fn(&Cuda) -> Result<(), Error>;

/// Has the peers compiled for a device by `nvcc`: by the one named, or by that of the environment (`NVCC`),
/// else by the one on the path or in `/usr/local/cuda/bin`. Returns why they are missing, in one line, on a
/// device with CUDA.
pub(super) fn prepare(device: &AnyDevice, nvcc: Option<&Path>) -> Option<String> {
    let AnyDevice::Cuda(gpu) = device else {
        return None;
    };
    let load = || LOADS.iter().try_for_each(|load| load(gpu));
    prepared(gpu.info().compute_capability, &choices(nvcc), load)
}

/// Compiles the source with the first compiler that can be run, and loads it, which an old driver may refuse.
fn prepared(
    capability: (i32, i32),
    choices: &[PathBuf],
    load: impl Fn() -> Result<(), Error>,
) -> Option<String> {
    let Some(nvcc) = choices.iter().find(|nvcc| runs(nvcc)) else {
        let tried = choices.iter().map(|nvcc| nvcc.display()).joined(" and ");
        let why = format!("as no nvcc can be run (tried {tried}): name one by --nvcc");
        return Some(format!("no peers are measured, {why}"));
    };
    let keep = |text| *COMPILED.write().unwrap_or_else(PoisonError::into_inner) = text;
    let loaded = compile(nvcc, capability).and_then(|text| {
        keep(Some(text));
        load().map_err(|error| crate::Error::Host(error).to_string())
    });
    let why = loaded.err()?;
    keep(None);
    Some(format!("{} are not measured: {why}", NAMES.join(", ")))
}

fn choices(named: Option<&Path>) -> Vec<PathBuf> {
    let of_environment = || env::var_os("NVCC").filter(|nvcc| !nvcc.is_empty());
    let named = named.map(Path::to_owned);
    match named.or_else(|| of_environment().map(PathBuf::from)) {
        Some(nvcc) => vec![nvcc],
        None => vec!["nvcc".into(), "/usr/local/cuda/bin/nvcc".into()],
    }
}

fn runs(nvcc: &Path) -> bool {
    let output = Command::new(nvcc).arg("--version").output();
    output.is_ok_and(|output| output.status.success())
}

/// Compiles the source to PTX, or says in one line why that cannot be done.
fn compile(nvcc: &Path, (major, minor): (i32, i32)) -> Result<String, String> {
    let folder = temporary(tempfile::tempdir()).map_err(|error| error.to_string())?;
    let [from, to] = ["peers.cu", "peers.ptx"].map(|name| folder.path().join(name));
    fs::write(&from, include_str!("../../peers/peers.cu"))
        .map_err(|error| format!("{}: {error}", from.display()))?;
    let output = Command::new(nvcc)
        .args(["-std=c++17", "-O3", "-ptx"])
        .arg(format!("-arch=sm_{major}{minor}"))
        .arg("-o")
        .args([&to, &from])
        .output()
        .map_err(|error| format!("{}: {error}", nvcc.display()))?;
    if !output.status.success() {
        // Some compilers say why on standard output.
        let said = [output.stderr, output.stdout].concat();
        let said = String::from_utf8_lossy(&said);
        let line = said.lines().map(str::trim).find(|line| !line.is_empty());
        let line = line.unwrap_or("it does not say why");
        return Err(format!("{} failed: {line}", nvcc.display()));
    }
    fs::read_to_string(&to).map_err(|error| format!("{} left no PTX: {error}", nvcc.display()))
}

/// Returns why an implementation cannot be measured on a device, if it is a peer that is not there.
pub(super) fn why_missing(device: &AnyDevice, implementation: &str) -> Option<String> {
    let name = NAMES.into_iter().find(|name| *name == implementation)?;
    match device {
        AnyDevice::Cpu(_) => Some(format!("{name} runs on GPUs only")),
        AnyDevice::Cuda(_) if compiled().is_some() => None,
        AnyDevice::Cuda(_) => Some(format!("{name} was not compiled: see --nvcc")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stm_core::internal::host::check_parameters;

    /// Held by tests that compile the source, as there is one place for what comes of it.
    static COMPILING: Mutex<()> = Mutex::new(());

    #[test]
    fn an_unknown_nvcc_leaves_no_peers_and_one_line_that_names_it_and_the_cpu_has_none() {
        let nowhere = Path::new("/nowhere/nvcc");
        // It is named, so no other one is tried.
        assert_eq!(choices(Some(nowhere)), [nowhere]);
        let note = prepared((9, 0), &choices(Some(nowhere)), || Ok(())).expect("a note");
        has(&note, "/nowhere/nvcc | --nvcc");
        assert_eq!(note.lines().count(), 1);
        assert_eq!(prepare(&AnyDevice::cpu(), Some(nowhere)), None);
    }

    /// Writes a program that stands in for `nvcc`, with a script that follows the answer to
    /// `--version`, and compiles the source with it.
    #[cfg(unix)]
    fn stand_in(script: &str, load: impl Fn() -> Result<(), Error>) -> Option<String> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("nvcc");
        // Another process writes it. A file that this one has open for writing, or a child
        // that another test starts meanwhile, cannot be run.
        let script = format!("#!/bin/sh\n[ \"$1\" = --version ] && exit 0\n{script}\n");
        let written = Command::new("sh")
            .args(["-c", r#"printf '%s' "$2" > "$1" && chmod +x "$1""#, "sh"])
            .args([path.as_os_str(), script.as_ref()])
            .status();
        assert!(written.expect("sh runs").success());
        prepared((8, 0), &["/nowhere/nvcc".into(), path], load)
    }

    /// Checks the PTX of each kernel as a launch does: whether it has the entry, and the parameters
    /// that are passed.
    fn check(parameters_are_right: bool) {
        fn of<const PLACE: usize>() -> bool {
            let (ptx, name) = (Peer::<PLACE>::ptx(Build::default()), ENTRY_POINTS[PLACE]);
            let (ptx, entry) = (ptx.expect("PTX"), format!(".entry {name}("));
            assert_eq!(ptx.matches(&entry).count(), 1, "{entry} in {ptx}");
            check_parameters::<Peer<PLACE>>(&ptx, name).is_ok()
        }
        let are_right = [of::<0>(), of::<1>(), of::<2>(), of::<3>(), of::<4>()];
        assert_eq!(are_right, [parameters_are_right; 5]);
    }

    /// Makes PTX of the entries that it finds in the source, so what is shown is that source, options
    /// and results go the right ways. `$1` to `$7` are `-std=c++17 -O3 -ptx -arch=sm_80 -o TO FROM`.
    #[cfg(unix)]
    const SCRIPT: &str = r#"[ "$4" = -arch=sm_80 ] || { echo "wrong: $4" >&2; exit 1; }
    sed -n 's/^extern "C" __global__ void \([a-z_]*\)(params.*/.visible .entry \1()/p' "$7" > "$6""#;

    #[cfg(unix)]
    #[test]
    fn the_source_is_compiled_for_the_device_and_has_its_entries_or_is_left_out() {
        let _alone = COMPILING.lock().unwrap_or_else(PoisonError::into_inner);
        assert_eq!(stand_in(SCRIPT, || Ok(())), None);
        // The stand-in's entries have no parameters, which a launch would refuse.
        check(false);
        // There is no build with atomics of 128 bits, so a GPU takes the other one.
        let (wide, observation) = (true, Observation::Silent);
        let refused = Peer::<SECTIONS>::ptx(Build { wide, observation });
        assert!(matches!(refused, Err(Error::NoPtx { .. })));
        // The driver may refuse it, and a compiler that fails is quoted.
        let refused = Error::BadPtx {
            entry: "meetings_grid_sync",
            log: "Unsupported .version 9.5".into(),
        };
        let load = || Err(refused.clone());
        let failing = "echo 'no such arch' >&2\nexit 1";
        for (note, part) in [
            (stand_in(SCRIPT, load), ".version 9.5"),
            (stand_in(failing, || Ok(())), "no such arch"),
        ] {
            let note = note.expect("a note");
            has(&note, &format!("{GRID_SYNC} | {part}"));
            assert_eq!(note.lines().count(), 1, "{note}");
            assert_eq!(compiled(), None);
        }
    }

    /// Compares the parameters with those of the source.
    #[test]
    #[ignore = "needs nvcc, by its name in the environment: NVCC=… cargo test -- --ignored"]
    fn a_real_nvcc_compiles_what_the_launches_pass() {
        let _alone = COMPILING.lock().unwrap_or_else(PoisonError::into_inner);
        assert_eq!(prepared((9, 0), &choices(None), || Ok(())), None);
        check(true);
    }
}
