//! The peers: what libcu++ and cooperative groups have for the same purpose, in loops
//! written for this comparison (`stamp-ports/peers/*.cu`). `nvcc` compiles them where it is
//! found, and the host program that launches our kernels launches them.

use crate::devices::AnyDevice;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{PoisonError, RwLock};
use std::{env, fs};
use stm_core::host::{Cuda, Device, Error};
use stm_core::internal::kernel::{Build, ptx};
use stm_core::internal::observe::Observation;
use stm_core::{Kernel, Lane};

// Sections, entries and waits at the barrier of a grid are measured under these names.
pub(crate) const BINARY_SEMAPHORE: &str = "cuda::binary_semaphore";
pub(crate) const COUNTING_SEMAPHORE: &str = "cuda::counting_semaphore";
pub(crate) const GRID_SYNC: &str = "grid.sync";

struct Source {
    implementation: &'static str,
    name: &'static str,
    text: &'static str,
    load: fn(&Cuda) -> Result<(), Error>,
}

fn load<K: Kernel>(gpu: &Cuda) -> Result<(), Error> {
    gpu.prepare::<K>(Observation::Silent).map(|_| ())
}

/// All sources, which the program carries.
const SOURCES: [Source; 3] = [
    Source {
        implementation: BINARY_SEMAPHORE,
        name: "sections",
        text: include_str!("../../peers/sections.cu"),
        load: load::<SectionsPeer>,
    },
    Source {
        implementation: COUNTING_SEMAPHORE,
        name: "semaphore",
        text: include_str!("../../peers/semaphore.cu"),
        load: |gpu| load::<EntriesPeer>(gpu).and_then(|()| load::<CheckedEntriesPeer>(gpu)),
    },
    Source {
        implementation: GRID_SYNC,
        name: "barrier",
        text: include_str!("../../peers/barrier.cu"),
        load: |gpu| load::<MeetingsPeer>(gpu).and_then(|()| load::<CheckedMeetingsPeer>(gpu)),
    },
];

/// The PTX of the sources that were compiled and loaded, by their implementation. A kernel's PTX is
/// asked for by its type, so it is here.
static COMPILED: RwLock<BTreeMap<&'static str, String>> = RwLock::new(BTreeMap::new());

/// Has the peers compiled for a device by `nvcc`: by the one named, or by that of the
/// environment (`NVCC`), else by the one on the path or in `/usr/local/cuda/bin`. Returns why any
/// are missing, in one line. A device without CUDA has no peers, and needs no note.
pub(super) fn prepare(device: &AnyDevice, nvcc: Option<&Path>) -> Option<String> {
    let AnyDevice::Cuda(gpu) = device else {
        return None;
    };
    let capability = gpu.info().compute_capability;
    compiled(capability, &choices(nvcc), |source| (source.load)(gpu))
}

/// Compiles all sources with the first compiler that can be run. What cannot be loaded then is left
/// out, as the driver may be older than the compiler.
fn compiled(
    capability: (i32, i32),
    choices: &[PathBuf],
    load: impl Fn(&Source) -> Result<(), Error>,
) -> Option<String> {
    let Some(nvcc) = choices.iter().find(|nvcc| runs(nvcc)) else {
        let tried: Vec<String> = choices.iter().map(|n| n.display().to_string()).collect();
        return Some(format!(
            "no peers are measured, as no nvcc can be run (tried {}): name one by --nvcc",
            tried.join(" and ")
        ));
    };
    let there = || COMPILED.write().unwrap_or_else(PoisonError::into_inner);
    let mut missing = Vec::new();
    for source in &SOURCES {
        let name = source.implementation;
        let loaded = compile(nvcc, capability, source).and_then(|text| {
            there().insert(name, text);
            load(source).map_err(|error| crate::Error::Host(error).to_string())
        });
        if let Err(why) = loaded {
            there().remove(name);
            missing.push(format!("{name} is not measured: {why}"));
        }
    }
    (!missing.is_empty()).then(|| missing.join("; "))
}

/// Returns the compilers to try, in this order.
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

/// Compiles a source to PTX, or says in one line why that cannot be done.
fn compile(nvcc: &Path, (major, minor): (i32, i32), source: &Source) -> Result<String, String> {
    let folder = tempfile::tempdir().map_err(|error| format!("no temporary folder: {error}"))?;
    let [from, to] = ["cu", "ptx"].map(|end| folder.path().join(source.name).with_extension(end));
    fs::write(&from, source.text).map_err(|error| format!("{}: {error}", from.display()))?;
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
        return Err(format!(
            "{} failed: {}",
            nvcc.display(),
            line.unwrap_or("it does not say why")
        ));
    }
    fs::read_to_string(&to).map_err(|error| format!("{} left no PTX: {error}", nvcc.display()))
}

/// Returns why a point of this implementation cannot be measured on a device, if it is a peer
/// that is not there.
pub(super) fn why_missing(device: &AnyDevice, implementation: &str) -> Option<String> {
    let source = SOURCES
        .iter()
        .find(|s| s.implementation == implementation)?;
    let name = source.implementation;
    if matches!(device, AnyDevice::Cpu(_)) {
        return Some(format!("{name} runs on GPUs only"));
    }
    let compiled = COMPILED.read().unwrap_or_else(PoisonError::into_inner);
    (!compiled.contains_key(name)).then(|| format!("{name} was not compiled: see --nvcc"))
}

/// Returns the PTX of a peer. There is one build for all devices, and it is silent.
fn text(
    implementation: &'static str,
    entry: &'static str,
    build: Build,
) -> Result<ptx::Text, Error> {
    let compiled = COMPILED.read().unwrap_or_else(PoisonError::into_inner);
    let text = compiled.get(implementation);
    let text = text.filter(|_| !build.wide && build.observation == Observation::Silent);
    text.map(|text| text.clone().into())
        .ok_or(Error::NoPtx { entry })
}

/// What `peers/sections.cu` takes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct SectionsParams {
    /// 128 bytes for the semaphore.
    pub(super) lock: *mut u32,
    /// A word that is 0.
    pub(super) ready: *mut u32,
    /// The counter, which is 0.
    pub(super) counter: *mut u32,
    /// A word for each block, for the number of its sections.
    pub(super) made: *mut u32,
    pub(super) sections: u32,
}

/// What `peers/semaphore.cu` takes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct SemaphoreParams {
    /// 128 bytes for the semaphore.
    pub(super) place: *mut u32,
    /// A word that is 0.
    pub(super) ready: *mut u32,
    /// Two words that are 0, for the checked loop.
    pub(super) found: *mut u32,
    /// How many threads may be inside.
    pub(super) count: u32,
    pub(super) times: u32,
}

/// What `peers/barrier.cu` takes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct BarrierParams {
    /// A word for each thread and one more, all 0, for the checked loop.
    pub(super) words: *mut u32,
    pub(super) waits: u32,
}

/// Makes kernels of the entries of the sources.
macro_rules! peers {
    ($($(#[$doc:meta])* $kernel:ident, $params:ident, $entry:literal, $implementation:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub(super) struct $kernel;

        impl Kernel for $kernel {
            const ENTRY: &'static str = $entry;
            type Params = $params;

            fn run<L: Lane>(_lane: &L, _params: &$params) {
                unreachable!("a peer runs on GPUs only (`why_missing`)");
            }

            fn ptx(build: Build) -> Result<ptx::Text, Error> {
                text($implementation, Self::ENTRY, build)
            }
        }
    )*};
}

peers! {
    /// Sections on one lock, as `stm_kernels::sections::Sections`.
    SectionsPeer, SectionsParams, "sections_binary_semaphore", BINARY_SEMAPHORE;
    /// Entries into a semaphore, as `stm_kernels::machine::Entries`.
    EntriesPeer, SemaphoreParams, "entries_counting_semaphore", COUNTING_SEMAPHORE;
    /// The same with a check, as `stm_kernels::checked::CheckedEntries`.
    CheckedEntriesPeer, SemaphoreParams, "entries_counting_semaphore_checked", COUNTING_SEMAPHORE;
    /// Waits at a barrier, as `stm_kernels::machine::Meetings`.
    MeetingsPeer, BarrierParams, "meetings_grid_sync", GRID_SYNC;
    /// The same with a check, as `stm_kernels::checked::CheckedMeetings`.
    CheckedMeetingsPeer, BarrierParams, "meetings_grid_sync_checked", GRID_SYNC;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::has;
    use std::sync::Mutex;
    use stm_core::internal::host::check_parameters;

    /// Held by tests that compile the sources, as there is one place for what comes of it.
    static COMPILING: Mutex<()> = Mutex::new(());

    #[test]
    fn an_unknown_nvcc_leaves_no_peers_and_one_line_that_names_it_and_the_cpu_has_none() {
        let nowhere = Path::new("/nowhere/nvcc");
        // It is named, so no other one is tried.
        assert_eq!(choices(Some(nowhere)), [nowhere]);
        let note = compiled((9, 0), &choices(Some(nowhere)), |_| Ok(())).expect("a note");
        has(&note, "/nowhere/nvcc | --nvcc");
        assert_eq!(note.lines().count(), 1);
        assert_eq!(prepare(&AnyDevice::cpu(), Some(nowhere)), None);
    }

    /// Writes a program that stands in for `nvcc`, with a script that follows the answer to
    /// `--version`, and compiles all sources with it.
    #[cfg(unix)]
    fn stand_in(script: &str, load: impl Fn(&Source) -> Result<(), Error>) -> Option<String> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("nvcc");
        // Another process writes it. A file that this one has open for writing, or a child
        // that another test starts meanwhile, cannot be run.
        let written = Command::new("sh")
            .args(["-c", r#"printf '%s' "$2" > "$1" && chmod +x "$1""#, "sh"])
            .arg(&path)
            .arg(format!(
                "#!/bin/sh\n[ \"$1\" = --version ] && exit 0\n{script}\n"
            ))
            .status();
        assert!(written.expect("sh runs").success());
        compiled((8, 0), &["/nowhere/nvcc".into(), path], load)
    }

    /// The kernels of the sources. Checks the PTX that was made of each as a launch does: whether it
    /// has the entry, and the parameters that are passed.
    fn check(parameters_are_right: bool) {
        fn of<K: Kernel>(parameters_are_right: bool) {
            let ptx = K::ptx(Build::default()).expect("PTX");
            let entry = format!(".entry {}(", K::ENTRY);
            assert_eq!(ptx.matches(&entry).count(), 1, "{entry} in {ptx}");
            let checked = check_parameters::<K>(&ptx, K::ENTRY);
            assert_eq!(checked.is_ok(), parameters_are_right, "{checked:?}");
        }
        for of in [
            of::<SectionsPeer>,
            of::<EntriesPeer>,
            of::<CheckedEntriesPeer>,
            of::<MeetingsPeer>,
            of::<CheckedMeetingsPeer>,
        ] {
            of(parameters_are_right);
        }
    }

    /// Makes PTX of the entries that it finds in the source, so what is shown is that source, options
    /// and results go the right ways. `$1` to `$7` are `-std=c++17 -O3 -ptx -arch=sm_80 -o TO FROM`.
    #[cfg(unix)]
    const SCRIPT: &str = r#"[ "$4" = -arch=sm_80 ] || { echo "wrong: $4" >&2; exit 1; }
    sed -n 's/^extern "C" __global__ void \([a-z_]*\)(params.*/.visible .entry \1()/p' "$7" > "$6""#;

    #[cfg(unix)]
    #[test]
    fn each_source_is_compiled_for_the_device_and_has_its_entries_or_is_left_out() {
        let _alone = COMPILING.lock().unwrap_or_else(PoisonError::into_inner);
        assert_eq!(stand_in(SCRIPT, |_| Ok(())), None);
        // The stand-in's entries have no parameters, which a launch would refuse.
        check(false);
        // There is no build with atomics of 128 bits, so a GPU takes the other one.
        let wide = Build {
            wide: true,
            ..Build::default()
        };
        assert!(matches!(SectionsPeer::ptx(wide), Err(Error::NoPtx { .. })));
        let is_there = |name| {
            let compiled = COMPILED.read().unwrap_or_else(PoisonError::into_inner);
            compiled.contains_key(name)
        };
        // The driver may refuse one, and the others stay.
        let load = |source: &Source| match source.implementation {
            GRID_SYNC => Err(Error::BadPtx {
                entry: "meetings_grid_sync",
                log: "Unsupported .version 9.5".into(),
            }),
            _ => Ok(()),
        };
        let note = stand_in(SCRIPT, load).expect("a note");
        has(&note, &format!("{GRID_SYNC} | .version 9.5"));
        assert!(!note.contains(BINARY_SEMAPHORE), "{note}");
        let there = SOURCES.map(|source| is_there(source.implementation));
        assert_eq!(there, [true, true, false]);
        // A compiler that fails is quoted for each source.
        let note = stand_in("echo 'no such arch' >&2\nexit 1", |_| Ok(())).expect("a note");
        assert_eq!(note.matches("no such arch").count(), SOURCES.len());
        assert_eq!(note.lines().count(), 1, "{note}");
        assert!(!SOURCES.iter().any(|source| is_there(source.implementation)));
    }

    /// Compares the parameters with those of the sources.
    #[test]
    #[ignore = "needs nvcc, by its name in the environment: NVCC=… cargo test -- --ignored"]
    fn a_real_nvcc_compiles_what_the_launches_pass() {
        let _alone = COMPILING.lock().unwrap_or_else(PoisonError::into_inner);
        assert_eq!(compiled((9, 0), &choices(None), |_| Ok(())), None);
        check(true);
    }
}
