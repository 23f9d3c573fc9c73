//! Entries that go through a queue, from one map into another, by transactions
//! that wait.

use crate::kernel::{config, settings};
use crate::recorded::{launched, layout};
use stm_core::algorithm::{Algorithm, Granule, Variant};
use stm_core::collections::{Map, OrderedMap, Queue};
use stm_core::host::Launch;
use stm_core::with_algorithm;
use verify::sim::Sim;

/// The entries.
const ENTRIES: u64 = 10;

/// Even transactions move an entry from the ordered map to the queue, the
/// smallest first, and odd ones from the queue into the hash map. Returns how many
/// attempts waited.
fn through<A: Algorithm>(k: u64) -> u64 {
    let config = config(k);
    let sim = Sim::new(config);
    let layout = layout::<A>();
    let entries = (0..ENTRIES as u32).map(|i| (i * 0x0101_0101, 100 + i));
    let mut from = OrderedMap::new(&sim, layout, ENTRIES, "from").unwrap();
    from.upload(entries.clone()).unwrap();
    let queue = Queue::new(&sim, layout, 2, "queue").unwrap();
    let to = Map::with_buckets(&sim, layout, ENTRIES + 16, 3, "to").unwrap();
    let launch = match A::GRANULE {
        Granule::Block => Launch::new(4, 2),
        _ => Launch::new(2, 4),
    };
    let (source, passage, target) = (from.view::<A>(), queue.view::<A>(), to.view::<A>());
    let statistics = launched::<A>(&sim, launch, settings(), |lane, stm| {
        stm.for_each(lane, 0..2 * ENTRIES, |tx, i| {
            if i % 2 == 0 {
                let (key, value) = source.pop_first(tx)?.expect("an entry for each");
                passage.push(tx, u64::from(key) << 32 | u64::from(value))?;
                return Ok(());
            }
            let entry: u64 = passage.pop(tx)?;
            let old = target.insert(tx, (entry >> 32) as u32, entry as u32)?;
            assert_eq!(old, None);
            Ok(())
        });
    });
    assert_eq!(to.download().unwrap(), entries.collect(), "{config}");
    assert!(from.download().unwrap().is_empty());
    assert!(queue.download().unwrap().is_empty());
    statistics.waits()
}

#[test]
fn entries_that_wait_in_a_queue_arrive_under_every_algorithm() {
    for &variant in Variant::ALL {
        with_algorithm!(variant, A => {
            let waits: u64 = (0..64).map(through::<A>).sum();
            assert_ne!(waits, 0, "{}", A::NAME);
        });
    }
}
