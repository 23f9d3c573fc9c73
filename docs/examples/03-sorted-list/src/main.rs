//! Runs insertions and removals, and checks the list, the results and the pool.

use sorted_list::{DONE, Item, insert_and_remove};
use stm_core::Layout;
use stm_core::host::{Error, Nodes};
use stm_core::prelude::*;

const KEYS: u32 = 64;
const OPERATIONS: u32 = 4_000;

fn run<D: Device>(device: &D) -> Result<(), Error> {
    // A traversal reads two words of each node.
    let mut config = StmConfig::default();
    config.capacity.reads = 2 * KEYS + 2;
    let mut stm = Stm::with(device, config)?;
    let shape = Launch::new(4, 8);
    let head = stm.array("the head", &[0u32])?;
    // One for each key, and one for each lane that has allocated and not yet committed.
    let nodes = u64::from(KEYS + shape.blocks * shape.threads);
    let items: Nodes<D, Item> = Nodes::new(device, Layout::Cells, nodes, "the items")?;
    let keys: Vec<u32> = (0..OPERATIONS)
        .map(|i| i.wrapping_mul(2_654_435_761) % KEYS)
        .collect();
    let input = Buffer::from_slice(device, &keys, "keys")?;
    let mut results = Buffer::zeroed(device, keys.len(), "results")?;

    let done = insert_and_remove::launch(&mut stm, shape, &head, &items, &input, &mut results)?;

    // A key is there if it was inserted once more often than removed.
    let mut there = vec![0_i32; KEYS as usize];
    for (i, result) in results.download()?.into_iter().enumerate() {
        let sign = if i % 2 == 0 { 1 } else { -1 };
        there[keys[i] as usize] += sign * i32::from(result == DONE);
    }
    let expected: Vec<u32> = (0..KEYS).filter(|&key| there[key as usize] == 1).collect();
    let (mut found, mut link) = (Vec::new(), head.download()?[0]);
    let records = items.records().download()?;
    while let Some(index) = items.pool().view().index(Node::from_bits(link)) {
        let item = records[index as usize];
        found.push(item.key);
        link = item.next;
    }
    assert_eq!(found, expected);
    items.pool().check(found.len() as u64)?; // no node is lost, none has leaked
    let (name, operations, time) = (device.name(), done.commits, done.time);
    let left = found.len();
    println!("{name}: {operations} operations, {left} keys left in order, in {time:?}");
    Ok(())
}

fn main() -> Result<(), Error> {
    let gpu = Cuda::new(0).inspect_err(|why| println!("on the CPU, as {why}"));
    gpu.map_or_else(|_| run(&Cpu::new()), |gpu| run(&gpu))
}
