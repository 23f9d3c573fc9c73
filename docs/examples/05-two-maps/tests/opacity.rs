//! Moves in hundreds of simulations: no entry is ever in both maps or in none.

use stm_core::collections::Map;
use stm_core::prelude::*;
use two_maps::move_entries;
use verify::Check;

const KEYS: u32 = 4;

#[test]
fn each_entry_is_in_one_map() {
    Check::new(|sim, run| {
        let shape = run.shape();
        let nodes = u64::from(KEYS + shape.blocks * shape.threads);
        let mut left = Map::with_buckets(sim, run.layout(), nodes, 2, "left")?;
        let right: Map<_, u32, u32> = Map::with_buckets(sim, run.layout(), nodes, 2, "right")?;
        left.upload((0..KEYS).map(|key| (key, key + 1)))?;
        let transactions = run.transactions() as u32;
        let keys: Vec<u32> = (0..transactions).map(|i| i * 7 % KEYS).collect();
        let input = Buffer::from_slice(sim, &keys, "keys")?;
        let mut moved = Buffer::zeroed(sim, keys.len(), "moved")?;
        let mut stm = run.stm(sim)?;
        move_entries::launch(&mut stm, shape, &left, &right, &input, &mut moved)?;
        for (key, value) in keys.iter().zip(moved.download()?) {
            run.holds("every move finds its entry", value == key + 1)?;
        }
        // `download` checks that no node is lost and none has leaked.
        let maps = [left.download()?, right.download()?];
        let is_in_one = |key| {
            let moves = keys.iter().filter(|&&k| k == key).count();
            let [here, there] = [moves, moves + 1].map(|n| &maps[n % 2]);
            here.get(&key) == Some(&(key + 1)) && !there.contains_key(&key)
        };
        run.holds("each entry is in one map", (0..KEYS).all(is_in_one))
    })
    .run();
}
