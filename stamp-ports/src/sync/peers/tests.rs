use super::*;
use std::sync::Mutex;
use stm_core::host::check_parameters;

/// Held by tests that compile the sources, as there is one place for what comes of it.
static COMPILING: Mutex<()> = Mutex::new(());

/// Returns the choices of a compiler that is not there.
fn nowhere() -> Vec<PathBuf> {
    choices(Some(Path::new("/nowhere/nvcc")))
}

#[test]
fn an_unknown_nvcc_leaves_no_peers_and_one_line_that_names_it() {
    let peers = Peers::compiled((9, 0), &nowhere());
    for source in &SOURCES {
        assert!(!peers.has(source.implementation));
    }
    let note = peers.note().expect("a note");
    assert!(
        note.contains("/nowhere/nvcc") && note.contains("--nvcc"),
        "{note}"
    );
    assert_eq!(note.lines().count(), 1);
}

#[test]
fn the_cpu_has_no_peers_and_says_nothing() {
    let peers = Peers::of(&AnyDevice::cpu(), Some(Path::new("/nowhere/nvcc")));
    assert_eq!(peers, Peers::default());
}

#[test]
fn a_named_nvcc_is_the_only_one_tried() {
    assert_eq!(nowhere(), [Path::new("/nowhere/nvcc")]);
}

/// Writes a program that stands in for `nvcc`.
#[cfg(unix)]
fn stand_in(folder: &Path, script: &str) -> PathBuf {
    let path = folder.join("nvcc");
    // Another process writes it. A file that this one has open for writing, or a child
    // that another test starts meanwhile, cannot be run.
    let written = Command::new("sh")
        .args(["-c", r#"printf '%s' "$2" > "$1" && chmod +x "$1""#, "sh"])
        .arg(&path)
        .arg(format!("#!/bin/sh\n{script}\n"))
        .status();
    assert!(written.expect("sh runs").success());
    path
}

/// Checks that a peer has the PTX that the stand-in has made of its source.
#[cfg(unix)]
fn has<K: Kernel>(peers: &Peers, implementation: &str) {
    assert!(peers.has(implementation));
    let ptx = K::ptx(Build::default()).expect("PTX");
    let entry = format!(".entry {}()", K::ENTRY);
    assert_eq!(ptx.matches(&entry).count(), 1, "{entry} in {ptx}");
    // The stand-in's entries have no parameters, which a launch would refuse.
    assert!(check_parameters::<K>(&ptx, K::ENTRY).is_err());
}

/// The stand-in makes PTX of the entries that it finds in the source, so what is
/// shown is that source, options and results go the right ways.
#[cfg(unix)]
#[test]
fn each_source_is_compiled_for_the_device_and_has_its_entries() {
    let _alone = COMPILING.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().expect("a folder");
    // $1 to $7: -std=c++17 -O3 -ptx -arch=sm_80 -o TO FROM
    let nvcc = stand_in(
        folder.path(),
        r#"[ "$1" = --version ] && exit 0
[ "$4" = -arch=sm_80 ] || { echo "wrong: $4" >&2; exit 1; }
sed -n 's/^extern "C" __global__ void \([a-z_]*\)(params.*/.visible .entry \1()/p' "$7" > "$6""#,
    );
    let peers = Peers::compiled((8, 0), &[PathBuf::from("/nowhere/nvcc"), nvcc]);
    assert_eq!(peers.note(), None);
    has::<SectionsPeer>(&peers, BINARY_SEMAPHORE);
    has::<EntriesPeer>(&peers, COUNTING_SEMAPHORE);
    has::<CheckedEntriesPeer>(&peers, COUNTING_SEMAPHORE);
    has::<MeetingsPeer>(&peers, GRID_SYNC);
    has::<CheckedMeetingsPeer>(&peers, GRID_SYNC);
    // There is no build with atomics of 128 bits, so a GPU takes the other one.
    let wide = Build {
        wide: true,
        ..Build::default()
    };
    assert!(matches!(SectionsPeer::ptx(wide), Err(Error::NoPtx { .. })));
}

#[test]
fn a_peer_that_the_driver_refuses_is_left_out_and_the_others_stay() {
    let all = Peers {
        there: SOURCES.iter().map(|s| s.implementation).collect(),
        note: None,
    };
    let peers = all.loaded(|source| match source.implementation {
        GRID_SYNC => Err(Error::BadPtx {
            entry: "meetings_grid_sync",
            log: "Unsupported .version 9.5".into(),
        }),
        _ => Ok(()),
    });
    assert!(peers.has(BINARY_SEMAPHORE) && peers.has(COUNTING_SEMAPHORE));
    assert!(!peers.has(GRID_SYNC));
    let note = peers.note().expect("a note");
    assert!(
        note.contains(GRID_SYNC) && note.contains(".version 9.5"),
        "{note}"
    );
    assert!(!note.contains(BINARY_SEMAPHORE), "{note}");
}

/// Checks a peer's PTX as a launch does.
fn is_right<K: Kernel>() {
    let ptx = K::ptx(Build::default()).expect("PTX");
    let entry = format!(".entry {}(", K::ENTRY);
    assert!(ptx.contains(&entry), "{entry}");
    check_parameters::<K>(&ptx, K::ENTRY).expect("the same parameters");
}

/// Compares the parameters with those of the sources.
#[test]
#[ignore = "needs nvcc, by its name in the environment: NVCC=… cargo test -- --ignored"]
fn a_real_nvcc_compiles_what_the_launches_pass() {
    let _alone = COMPILING.lock().unwrap_or_else(PoisonError::into_inner);
    let peers = Peers::compiled((9, 0), &choices(None));
    assert_eq!(peers.note(), None);
    is_right::<SectionsPeer>();
    is_right::<EntriesPeer>();
    is_right::<CheckedEntriesPeer>();
    is_right::<MeetingsPeer>();
    is_right::<CheckedMeetingsPeer>();
}

#[cfg(unix)]
#[test]
fn an_nvcc_that_fails_is_quoted_for_each_source() {
    let folder = tempfile::tempdir().expect("a folder");
    let nvcc = stand_in(
        folder.path(),
        "[ \"$1\" = --version ] && exit 0\necho 'no such arch' >&2\nexit 1",
    );
    let peers = Peers::compiled((9, 0), &[nvcc]);
    let note = peers.note().expect("a note");
    assert_eq!(
        note.matches("no such arch").count(),
        SOURCES.len(),
        "{note}"
    );
    assert_eq!(note.lines().count(), 1);
    assert!(!peers.has(GRID_SYNC));
}
