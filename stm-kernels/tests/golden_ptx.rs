//! The text of the committed PTX: each `Lane` operation is the instruction that it is named for, no shipped file has
//! what the rules forbid (`stm_core_build::rules`), and it declares the size and alignment of the host's parameters,
//! whose structs have the layout of C. Neither a GPU nor a compiler for one is needed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::LazyLock;
use stm_core::Kernel;
use stm_core::algorithm::{Fast, HvSorting};
use stm_core::host::Error;
use stm_core::internal::host::check_parameters;
use stm_core::internal::kernel::Build;
use stm_core_build::{files, rules};
use stm_core_tests::{of_each, sources, under_all};
use stm_kernels::{
    bank, chain, eigenbench, genome, ht, kmeans, labyrinth, pool, queue, ra, vacation,
};

/// A `Lane` method, the effects of its entry, and the bits of the result that it stores, or 0.
type Golden = (&'static str, Vec<&'static str>, u32);

fn table() -> impl Iterator<Item = Golden> {
    let lines = include_str!("lane_methods.txt").lines();
    let rows = lines.filter(|line| !line.is_empty() && !line.starts_with(['#', '!']));
    rows.map(|row| {
        let mut fields = row.splitn(3, ' ');
        let (name, width) = (fields.next().unwrap(), fields.next().unwrap());
        let effects = fields.next().map(|effects| effects.split("; ").collect());
        (name, effects.unwrap_or_default(), width.parse().unwrap())
    })
}

/// Returns the names and texts of the committed files, those that `stm-core` carries among them.
/// `cargo xtask ptx --check` names another directory when it has built with another compiler.
fn committed() -> &'static BTreeMap<String, String> {
    static TEXTS: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
        let texts = match std::env::var_os("STM_GOLDEN_PTX") {
            Some(dir) => files::read_ptx(dir.as_ref()),
            None => files::committed(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..")),
        };
        texts.unwrap()
    });
    &TEXTS
}

fn wrong_entry(text: &str, (method, instructions, result_bits): Golden) -> Option<String> {
    let entry = format!("lane_{method}");
    let Some(mut found) = rules::effects(text, &entry) else {
        return Some(format!("{entry} is missing"));
    };
    // Several words are stored one after the other.
    let word = if method.ends_with("_32x4") { 32 } else { 64 };
    let stores = result_bits.div_ceil(word);
    let store = format!("st.global.b{}", result_bits.min(word));
    if (0..stores).any(|_| found.pop().as_ref() != Some(&store)) {
        return Some(format!("{entry} does not end with the store of its result"));
    }
    found.sort();
    let mut expected = instructions;
    expected.sort_unstable();
    (found != expected).then(|| format!("{entry} is {found:?} and not {expected:?}"))
}

/// Returns the methods of the file for newer GPUs, or those of the other file.
fn methods(wide: bool) -> impl Iterator<Item = Golden> {
    let file = if wide { "lane/ops-wide" } else { "lane/ops" };
    table().filter(move |(method, ..)| stm_core_build::split::lane_file(method) == file)
}

fn wrong_entries(text: &str, wide: bool) -> Vec<String> {
    methods(wide)
        .filter_map(|golden| wrong_entry(text, golden))
        .collect()
}

/// Returns the names of the methods of `trait Lane` in its source.
fn trait_methods(source: &str) -> BTreeSet<&str> {
    let (_, body) = source.split_once("pub trait Lane {").unwrap();
    let body = &body[..body.find("\n}").unwrap()];
    let heads = body.lines().filter_map(|line| {
        let line = line.trim_start();
        line.strip_prefix("unsafe ")
            .unwrap_or(line)
            .strip_prefix("fn ")
    });
    heads
        .filter_map(|head| Some(head.split_once('(')?.0))
        .collect()
}

#[test]
fn each_lane_method_is_its_one_instruction_and_there_is_no_other_entry() {
    for (file, wide) in [("lane/ops", false), ("lane/ops-wide", true)] {
        let text = &committed()[file];
        let wrong = wrong_entries(text, wide);
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        let module = stm_core_build::split::Module::parse(text).unwrap();
        let expected: BTreeSet<String> = methods(wide).map(|m| format!("lane_{}", m.0)).collect();
        let found: BTreeSet<String> = module.entries().map(str::to_owned).collect();
        assert_eq!(found, expected);
    }
}

#[test]
fn the_files_for_newer_gpus_are_those_that_need_them() {
    let files = committed();
    let wide = |text: &&String| rules::target_of(text) == rules::WIDE;
    let wide = files.iter().filter(|(_, text)| wide(text));
    let found: Vec<&str> = wide.map(|(stem, _)| stem.as_str()).collect();
    let expected = [
        "bank_static64/fast-wide",
        "cells64/fast-wide",
        "gn2/fast-wide",
        "hops/cluster-wide",
        "lane/ops-wide",
        "machine/random-wide",
        "ra_static64/fast-wide",
        "reduction/counted-barr-wide",
    ];
    assert_eq!(found, expected);
    // No fence is needed between a value and its version, in reads (F2) and commits (F5, F6).
    let fences = |stem: &str| files[stem].matches("fence.acq_rel").count();
    assert!(fences("cells64/fast-wide") < fences("cells64/fast"));
}

#[test]
fn a_copy_into_cells_and_back_has_four_words_in_flight_and_no_stack() {
    let files = committed();
    let copies = files.iter().filter(|(stem, _)| stem.starts_with("copy/"));
    assert_eq!(copies.clone().count(), 4);
    for (stem, text) in copies {
        let entry = stem.replace(['/', '-'], "_");
        let effects = rules::effects(text, &entry).unwrap();
        // Four loads with nothing but arithmetic between them.
        let ends = |effect: &&str| effect.starts_with("st.") || *effect == "bra";
        let stretches = effects.iter().map(String::as_str).collect::<Vec<_>>();
        let loads = stretches.split(ends).map(|stretch| {
            let is_load = |effect: &&&str| effect.starts_with("ld.relaxed.gpu.global");
            stretch.iter().filter(is_load).count()
        });
        assert_eq!(loads.max(), Some(4), "{stem}: {effects:?}");
        assert_eq!(rules::local_frames(text), [], "{stem}");
    }
}

#[test]
fn the_table_names_every_method_of_the_trait() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../stm-core/machine/src/lane/mod.rs");
    let source = std::fs::read_to_string(source).unwrap();
    let mut methods = trait_methods(&source);
    let lines = include_str!("lane_methods.txt").lines();
    for name in lines.filter_map(|line| line.strip_prefix("! ")) {
        assert!(methods.remove(name), "{name}");
    }
    let table: Vec<&str> = table().map(|method| method.0).collect();
    // A row that is not read would be missed here.
    assert_eq!(table.len(), 81);
    assert_eq!(methods, table.into_iter().collect());
}

#[test]
fn the_reader_of_the_trait_sees_a_new_method() {
    let source = "pub trait Lane {\n    /// The fn that (…).\n    fn a(&self);\n    unsafe fn b(\n        &self,\n    ) -> u32 {\n        self.c(1)\n    }\n}\nfn c() {}\n";
    assert_eq!(trait_methods(source), ["a", "b"].into());
}

#[test]
fn shipped_files_keep_every_rule() {
    let files = committed();
    let what = "no kernel is committed: run `cargo xtask ptx`";
    assert!(files.len() > 1, "{what}");
    let mut wrong = Vec::new();
    for (stem, text) in files {
        let most = rules::LOCAL_BYTES_MAX;
        for (line, bytes) in rules::local_frames(text) {
            println!("{stem}.ptx:{line}: {bytes} bytes of local memory, at most {most}");
        }
        let findings = rules::shipped(text).into_iter();
        wrong.extend(findings.map(|finding| format!("{stem}.ptx: {finding}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn all_files_are_of_one_compiler() {
    let files = committed();
    let all = files.values().map(|text| rules::recorded_version(text));
    let versions: BTreeSet<_> = all.collect();
    let what = "run `cargo xtask ptx` and commit all of it";
    assert_eq!(versions.len(), 1, "{versions:?}: {what}");
}

#[test]
fn the_rules_find_what_is_put_into_a_shipped_file() {
    let bad = [
        "atom.global.add.u32 %r1, [%rd1], 1;",
        "membar.gl;",
        "trap;",
        "ld.acquire.sys.global.b32 %r1, [%rd1];",
    ];
    let files = committed();
    assert!(files.len() > 10 * bad.len());
    // One in every tenth file, by turns; all keep the rules without (`shipped_files_keep_every_rule`).
    for ((stem, text), bad) in files.iter().step_by(10).zip(bad.iter().cycle()) {
        let at = text.rfind("\tret;").unwrap();
        let broken = format!("{}\t{bad}\n{}", &text[..at], &text[at..]);
        assert_eq!(rules::shipped(&broken).len(), 1, "{stem}: {bad}");
    }
}

#[test]
fn a_changed_lane_entry_is_found() {
    let text = &committed()["lane/ops"];
    // An order is lost, a scope widened, an atomic turned into a load and a store, an extra fence
    // added, a barrier lost: each change breaks exactly one entry.
    let fence = "fence.acq_rel.gpu;";
    let changes = [
        ("acquire.gpu.global.cas.b32", "relaxed.gpu.global.cas.b32"),
        (
            "red.relaxed.gpu.global.add.u64",
            "red.relaxed.sys.global.add.u64",
        ),
        ("ld.relaxed.gpu.global.b64", "ld.global.b64"),
        (fence, &format!("{fence}\n\t{fence}")),
        ("bar.warp.sync", "// bar.warp.sync"),
        ("bar.red.or.pred", "bar.red.and.pred"),
        ("%clock64", "%globaltimer"),
        ("%nctaid.x;\n\tst", "%ctaid.x;\n\tst"),
    ];
    for (old, new) in changes {
        assert!(text.contains(old), "{old}");
        let wrong = wrong_entries(&text.replacen(old, new, 1), false);
        assert_eq!(wrong.len(), 1, "{old} to {new}");
    }
}

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

#[test]
fn committed_ptx_declares_the_parameters_that_the_host_passes() {
    under_all!(A => { of_each!(
        check():
        ra::RandomArray<A>, ht::HashTable<A>, bank::Bank<A>, bank::BankAdds<A>,
        eigenbench::Eigenbench<A>, genome::Link<A>, kmeans::KMeans<A>, kmeans::KMeansAdds<A>,
        labyrinth::Labyrinth<A>, queue::Queue<A>, vacation::Vacation<A>
    ); });
    check::<labyrinth::LabyrinthByBlock<Fast>>();
    of_each!(
        check():
        ra::floor::CriticalSection, ht::floor::CriticalSection, bank::floor::CriticalSection,
        eigenbench::floor::CriticalSection, genome::floor::CriticalSection,
        genome::floor::LinkSection, kmeans::floor::CriticalSection, kmeans::floor::Floor,
        kmeans::floor::Additions, kmeans::floor::Privatised, kmeans::floor::WarpAPoint,
        queue::floor::CriticalSection, labyrinth::floor::CriticalSection,
        vacation::floor::CriticalSection, pool::floor::CriticalSection, chain::floor::Map,
        chain::floor::List, chain::floor::Ordered
    );
}

#[test]
fn ptx_of_another_kernel_is_refused_for_its_parameters() {
    type K = ra::RandomArray<HvSorting>;
    let text = K::ptx(Build::default()).expect("the PTX is committed");
    let error = check_parameters::<bank::Bank<HvSorting>>(&text, K::ENTRY).unwrap_err();
    assert!(matches!(error, Error::StalePtx { .. }), "{error}");
}

#[test]
fn every_struct_of_parameters_has_the_layout_of_c() {
    let mut structs = 0;
    for (path, text) in sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src")) {
        for (at, head) in text.match_indices("\npub struct ") {
            let name = text[at + head.len()..].split([' ', '<', '(']).next();
            let name = name.unwrap_or_default();
            if name.ends_with("Params") || name.ends_with("Work") || name == "Transactional" {
                let item = text[..at].rsplit("\n\n").next().unwrap_or_default();
                let what = format!("{}: {name}", path.display());
                assert!(item.contains("#[repr(C)]"), "{what}");
                structs += 1;
            }
        }
    }
    assert!(structs > 10, "{structs} found");
}
