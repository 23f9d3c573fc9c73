//! The list in hundreds of simulations: its order, its results and its nodes.

use sorted_list::{DONE, Item, insert_and_remove};
use stm_core::host::Nodes;
use stm_core::prelude::*;
use verify::Check;

const KEYS: u32 = 6;

#[test]
fn the_list_stays_in_order_and_no_node_is_lost() {
    Check::new(|sim, run| {
        let shape = run.shape();
        let head = TxArray::from_slice(sim, run.layout(), &[0u32], "the head")?;
        let nodes = u64::from(KEYS + shape.blocks * shape.threads);
        let items: Nodes<_, Item> = Nodes::new(sim, run.layout(), nodes, "the items")?;
        run.name(&head)?;
        let transactions = run.transactions() as u32;
        let keys: Vec<u32> = (0..transactions).map(|i| i * i % KEYS).collect();
        let input = Buffer::from_slice(sim, &keys, "keys")?;
        let mut results = Buffer::zeroed(sim, keys.len(), "results")?;
        let mut stm = run.stm(sim)?;
        insert_and_remove::launch(&mut stm, shape, &head, &items, &input, &mut results)?;

        let mut there = vec![0; KEYS as usize];
        for (i, result) in results.download()?.into_iter().enumerate() {
            let sign = if i % 2 == 0 { 1 } else { -1 };
            there[keys[i] as usize] += sign * i32::from(result == DONE);
        }
        let expected: Vec<u32> = (0..KEYS).filter(|&key| there[key as usize] == 1).collect();
        let (mut found, mut link) = (Vec::new(), head.download()?[0]);
        let records = items.records().download()?;
        while let Some(index) = items.pool().view().index(Node::from_bits(link)) {
            found.push(records[index as usize].key);
            link = records[index as usize].next;
        }
        items.pool().check(found.len() as u64)?;
        let what = "the list has the keys that were inserted and not removed";
        run.holds(what, found == expected)
    })
    .run();
}
