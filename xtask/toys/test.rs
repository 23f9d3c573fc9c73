//! What the toys do, once they have been added: each runs in the simulator, most of them on the CPU too, or as a
//! command of `stamp` names it.

use std::path::Path;
use std::process::Command;
use stm_core::algorithm::Variant;
use stm_core::collections::{TToy, Toy as Place};
use stm_core::host::{Buffer, Launch};
use stm_core::prelude::*;
use stm_core::with_algorithm;
use stm_kernels::toy::increments;
use stm_sync::host::Locks;
use stm_sync::LockKind;
use verify::Check;
use verify::sim::{Schedule, Sim, SimConfig};

fn stamp(arguments: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stamp"));
    let output = command.args(arguments.split(' ')).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_algorithm_is_right_in_simulations_and_on_the_cpu() {
    let check = Check::new(|sim, run| {
        let words = TxArray::zeroed(sim, run.layout(), 4, "words")?;
        let (mut stm, shape, times) = (run.stm(sim)?, run.shape(), run.transactions());
        with_algorithm!(run.algorithm(), A => {
            increments::launch_with::<A, _>(&mut stm, shape, &words, times, 4)?
        });
        let sum: u64 = words.download()?.iter().map(|&n| u64::from(n)).sum();
        run.holds("every increment counts", sum == run.transactions())
    });
    check.algorithms(&[Variant::Toy]).cases(64).run();
    assert!(stamp("list").contains("\n  toy "), "{}", stamp("list"));
    let run = stamp("run ra --variant cgl,toy --device cpu --transactions 1000 --json");
    let is_verified = !run.contains("\"verified\":false");
    assert!(run.contains("\"variant\":\"toy\"") && is_verified, "{run}");
}

#[test]
fn the_workload_is_run_under_every_algorithm() {
    let run = stamp("run toy --variant all --device cpu --transactions 1001 --json");
    let verified = run.matches("\"verified\":true").count();
    let is_verified = !run.contains("\"verified\":false");
    assert!(verified >= Variant::ALL.len() && is_verified, "{run}");
}

#[test]
fn the_lock_excludes_threads_and_is_among_the_kinds() {
    fn name<K: LockKind>(names: &mut Vec<&str>) {
        names.push(K::NAME);
    }
    let mut names = Vec::new();
    stm_sync::for_each_lock!(tries name(&mut names));
    assert!(names.contains(&"toy"), "{names:?}");
    let config = SimConfig::of(4, Schedule::Random).with_stale(40);
    for seed in 0..20 {
        let sim = Sim::new(config.with_seed(seed));
        let locks = Locks::<_, stm_sync::Toy>::new(&sim, 1, 8, "the lock").unwrap();
        let buffer = Buffer::<_, u32>::zeroed(&sim, 1, "the word").unwrap();
        let (view, word) = (locks.view(), buffer.as_mut_ptr());
        let ran = sim.run(&Launch::new(2, 4), |lane| {
            for _ in 0..50 {
                // SAFETY: a live word, which the lock protects.
                let adds = || unsafe { lane.store_relaxed_32(word, lane.load_relaxed_32(word) + 1) };
                assert_eq!(view.with(lane, 0, adds), Ok(()));
            }
        });
        ran.unwrap();
        locks.check().unwrap();
        assert_eq!(buffer.download().unwrap(), [400]);
    }
}

/// Each transaction takes the value, if there is one, and puts the next one.
#[kernel(all)]
fn exchange<L: Lane, A: Algorithm>(lane: &L, stm: &StmRef<A>, place: &TToy<A, u32>, times: u64) {
    stm.for_each(lane, 0..times, |tx, _| {
        let value = place.try_pop(tx)?.unwrap_or(0);
        place.try_push(tx, value + 1).map(|_| ())
    });
}

#[test]
fn the_container_keeps_its_value_in_simulations_and_on_the_cpu() {
    let check = Check::new(|sim, run| {
        let place = Place::new(sim, run.layout(), 1, "the place")?;
        let (mut stm, shape, times) = (run.stm(sim)?, run.shape(), run.transactions());
        with_algorithm!(run.algorithm(), A => {
            exchange::launch_with::<A, _>(&mut stm, shape, &place, times)?
        });
        let expected = run.transactions() as u32;
        run.holds("every exchange counts", place.download()? == [expected])
    });
    check.algorithms(Variant::ALL).cases(128).run();
    let cpu = Cpu::new();
    let place = Place::new(&cpu, stm_core::Layout::Plain, 1, "the place").unwrap();
    let mut stm = Stm::new(&cpu, Launch::new(4, 1), StmConfig::default()).unwrap();
    exchange::launch_with::<stm_core::algorithm::Toy, _>(&mut stm, Launch::new(4, 1), &place, 1000)
        .unwrap();
    assert_eq!(place.download().unwrap(), [1000]);
}

#[test]
fn the_scheme_is_measured_in_every_part_and_verified() {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("toys");
    let out = out.display();
    let options = "--quick --fresh --only tiles,affine";
    stamp(&format!("bench nw {options} --out {out}"));
    let text = std::fs::read_to_string(format!("{out}/nw.json")).unwrap();
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    let points = document["points"].as_array().unwrap();
    let toys = points.iter().filter(|p| p["implementation"] == "toy");
    let parts: Vec<&serde_json::Value> = toys
        .map(|point| {
            assert_eq!(point["verified"], true, "{point}");
            &point["part"]
        })
        .collect();
    assert_eq!(parts, ["tiles", "affine"]);
    assert!(stamp("bench nw --help").contains("  toy "));
}
