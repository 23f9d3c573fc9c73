//! Moves entries to and fro, and checks that each is in one map in the end.

use stm_core::Layout;
use stm_core::collections::Map;
use stm_core::host::Error;
use stm_core::prelude::*;
use two_maps::{NOWHERE, move_entries};

const KEYS: u32 = 1_000;
const MOVES: usize = 20_000;

fn run<D: Device>(device: &D) -> Result<(), Error> {
    let mut stm = Stm::on(device)?;
    let shape = Launch::new(4, 8);
    // Room for all entries in either map, and for one more in each lane's hands.
    let nodes = u64::from(KEYS + shape.blocks * shape.threads);
    let mut left = Map::new(device, Layout::Cells, nodes, "left")?;
    let right: Map<D, u32, u32> = Map::new(device, Layout::Cells, nodes, "right")?;
    left.upload((0..KEYS).map(|key| (key, key + 1)))?;
    // Every tenth key is in neither map.
    let keys: Vec<u32> = (0..MOVES as u32)
        .map(|i| i.wrapping_mul(2_654_435_761) % (KEYS + KEYS / 10))
        .collect();
    let input = Buffer::from_slice(device, &keys, "keys")?;
    let mut moved = Buffer::zeroed(device, MOVES, "moved")?;

    let done = move_entries::launch(&mut stm, shape, &left, &right, &input, &mut moved)?;

    let mut moves = vec![0; (KEYS + KEYS / 10) as usize];
    for (key, value) in keys.iter().zip(moved.download()?) {
        assert_eq!(value, if *key < KEYS { key + 1 } else { NOWHERE });
        moves[*key as usize] += 1;
    }
    let (left, right) = (left.download()?, right.download()?);
    for key in 0..KEYS {
        let place = [&left, &right][moves[key as usize] % 2];
        assert_eq!(place.get(&key), Some(&(key + 1)), "key {key}");
    }
    assert_eq!(left.len() + right.len(), KEYS as usize);
    let (name, moves, time) = (device.name(), done.commits, done.time);
    let (left, right) = (left.len(), right.len());
    println!("{name}: {moves} moves in {time:?}, {left} entries left, {right} right");
    Ok(())
}

fn main() -> Result<(), Error> {
    let gpu = Cuda::new(0).inspect_err(|why| println!("on the CPU, as {why}"));
    gpu.map_or_else(|_| run(&Cpu::new()), |gpu| run(&gpu))
}
