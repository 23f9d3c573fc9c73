//! Host and PTX agree on the parameters of every kernel: each struct has the
//! layout of C, and the committed PTX declares the host's size and alignment.

use std::fs;
use std::path::{Path, PathBuf};
use stm_core::algorithm::{Algorithm, Fast, HvSorting};
use stm_core::host::Error;
use stm_core::internal::host::check_parameters;
use stm_core::internal::kernel::Build;
use stm_core::{Kernel, with_algorithm};
use stm_kernels::{bank, eigenbench, floor, genome, ht, kmeans, labyrinth, queue, ra, vacation};

fn check<K: Kernel>() {
    for wide in [false, true] {
        let build = Build {
            wide,
            ..Build::default()
        };
        let text = match K::ptx(build) {
            Err(Error::NoPtx { .. }) if wide => continue,
            found => found.expect("the PTX is committed"),
        };
        let entry = format!("{}{}", K::ENTRY, build.suffix());
        assert!(text.contains(&format!(".entry {entry}(")), "{entry}");
        check_parameters::<K>(&text, &entry).expect("the parameters agree");
    }
}

fn check_all<A: Algorithm>() {
    check::<ra::RandomArray<A>>();
    check::<ht::HashTable<A>>();
    check::<bank::Bank<A>>();
    check::<bank::BankAdds<A>>();
    check::<eigenbench::Eigenbench<A>>();
    check::<genome::Link<A>>();
    check::<kmeans::KMeans<A>>();
    check::<kmeans::KMeansAdds<A>>();
    check::<labyrinth::Labyrinth<A>>();
    check::<queue::Queue<A>>();
    check::<vacation::Vacation<A>>();
}

#[test]
fn committed_ptx_declares_the_parameters_that_the_host_passes() {
    for &variant in stm_core::algorithm::Variant::ALL {
        with_algorithm!(variant, A => check_all::<A>());
    }
    check::<labyrinth::LabyrinthByBlock<Fast>>();
    check::<floor::ra::CriticalSection>();
    check::<floor::ht::CriticalSection>();
    check::<floor::bank::CriticalSection>();
    check::<floor::eigenbench::CriticalSection>();
    check::<floor::genome::CriticalSection>();
    check::<floor::genome::LinkSection>();
    check::<floor::kmeans::CriticalSection>();
    check::<floor::kmeans::Floor>();
    check::<floor::kmeans::Additions>();
    check::<floor::kmeans::Privatised>();
    check::<floor::kmeans::WarpAPoint>();
    check::<floor::queue::CriticalSection>();
    check::<floor::labyrinth::CriticalSection>();
    check::<floor::vacation::CriticalSection>();
    check::<floor::pool::CriticalSection>();
    check::<floor::chain::Map>();
    check::<floor::chain::List>();
    check::<floor::chain::Ordered>();
}

#[test]
fn ptx_of_another_kernel_is_refused_for_its_parameters() {
    type K = ra::RandomArray<HvSorting>;
    let text = K::ptx(Build::default()).expect("the PTX is committed");
    let error = check_parameters::<bank::Bank<HvSorting>>(&text, K::ENTRY).unwrap_err();
    assert!(matches!(error, Error::StalePtx { .. }), "{error}");
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn every_struct_of_parameters_has_the_layout_of_c() {
    let mut paths = Vec::new();
    sources(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
        &mut paths,
    );
    let mut structs = 0;
    for path in paths {
        let text = fs::read_to_string(&path).expect("a source");
        let mut layout_of_c = false;
        for line in text.lines() {
            let name = line
                .strip_prefix("pub struct ")
                .and_then(|rest| rest.split([' ', '<']).next());
            if line.contains("#[repr(C)]") {
                layout_of_c = true;
            } else if let Some(name) = name {
                if name.ends_with("Params") {
                    assert!(layout_of_c, "{}: {name}", path.display());
                    structs += 1;
                }
                layout_of_c = false;
            }
        }
    }
    assert!(structs > 10, "{structs} found");
}
