//! The sorted list under locks: one for each entry point, or one for each node.

use super::Sorted;
use crate::workloads::exclusion::{excluding, joins};
use crate::workloads::prelude::*;
use stm_kernels::locked::sorted::{
    CoarseMcs, CoarseMcsLane, CoarseParams, CoarseTasLane, CoarseTicket, CoarseTtas,
    CoarseTtasLane, CoupledMcs2, CoupledParams, CoupledTas, CoupledTicket, CoupledTtas, SortedList,
    node_parts,
};
use stm_sync::host::Locks;
use stm_sync::{LockKind, TLocks};

joins! {
    [K] CoarseParams<K>: locks: TLocks<K>, list: SortedList;
    [K] CoupledParams<K>: locks: TLocks<K>, list: SortedList;
}

/// The list under locks.
struct Locked {
    of: Sorted,
    nodes: Buffer<AnyDevice, u64>,
    values: Buffer<AnyDevice, u32>,
    keys: Buffer<AnyDevice, u32>,
    keys_host: Vec<u32>,
}

impl Locked {
    fn prepare(of: &Sorted, device: &AnyDevice, seed: u64, _: u64) -> Result<Self> {
        let nodes = nodes_of(of) as usize;
        let keys_host = of.keys(seed);
        Ok(Self {
            of: *of,
            nodes: Buffer::zeroed(device, nodes, "the nodes")?,
            values: Buffer::zeroed(device, nodes, "the values")?,
            keys: Buffer::from_slice(device, &keys_host, "the keys")?,
            keys_host,
        })
    }
}

/// Returns the nodes that there are: the entry points, and one for each key.
fn nodes_of(of: &Sorted) -> u64 {
    u64::from(of.entry_points) + u64::from(of.keys)
}

/// Returns the entries of a list in the order of its links, or what is wrong with
/// them.
fn entries(
    nodes: &[u64],
    values: &[u32],
    entry_points: usize,
) -> std::result::Result<Vec<(u32, u32)>, String> {
    let mut found = Vec::new();
    for entry_point in 0..entry_points {
        let (_, mut next) = node_parts(nodes[entry_point]);
        while next != 0 {
            let node = next as usize;
            let (Some(&word), Some(&value)) = (nodes.get(node), values.get(node)) else {
                return Err(format!("a link leads to node {node}, which is none"));
            };
            if found.len() == nodes.len() {
                return Err("the links lead in a circle".into());
            }
            let (key, after) = node_parts(word);
            found.push((key, value));
            next = after;
        }
    }
    Ok(found)
}

impl ContenderData for Locked {
    type Params = SortedList;

    fn transactions(&self, _asked: u64) -> u64 {
        self.of.keys.into()
    }

    fn reset(&mut self) -> Result<()> {
        self.values.clear()?;
        Ok(self.nodes.clear()?)
    }

    fn params(&self, transactions: u64) -> SortedList {
        SortedList {
            nodes: self.nodes.tarray(),
            values: self.values.tarray(),
            keys: self.keys.tarray(),
            transactions,
            entry_points: self.of.entry_points,
            shift: self.of.range_bits(),
        }
    }

    fn verify(&mut self, _: u64) -> Verdict {
        let (nodes, values) = (self.nodes.download()?, self.values.download()?);
        Ok(
            match entries(&nodes, &values, self.of.entry_points as usize) {
                Ok(found) => Sorted::wrong(&self.keys_host, found),
                Err(wrong) => Some(wrong),
            },
        )
    }
}

/// What errors call the locks.
const LOCKS: &str = "the list's locks";

/// The contender with a lock of kind `L` for each entry point.
fn coarse<L: LockKind, K>(name: &'static str) -> Contender<Sorted>
where
    K: Kernel<Params = CoarseParams<L>>,
{
    let locks: (_, fn(&Sorted) -> u64) = (LOCKS, |of| of.entry_points.into());
    excluding::<K, Locks<AnyDevice, L>, _, _>(name, one_each(), locks, Locked::prepare)
}

/// The contender with a lock of kind `L` for each node, of which a thread holds two at a time.
fn coupled<L: LockKind, K>(name: &'static str) -> Contender<Sorted>
where
    K: Kernel<Params = CoupledParams<L>>,
{
    excluding::<K, Locks<AnyDevice, L>, _, _>(name, one_each(), (LOCKS, nodes_of), Locked::prepare)
}

/// The contenders of the sorted list.
pub(super) fn contenders() -> Vec<Contender<Sorted>> {
    vec![
        coupled::<_, CoupledTas>("coupled:tas"),
        coupled::<_, CoupledTtas>("coupled:ttas"),
        coupled::<_, CoupledTicket>("coupled:ticket"),
        coupled::<_, CoupledMcs2>("coupled:mcs2"),
        coarse::<_, CoarseTasLane>("coarse:tas/lane"),
        coarse::<_, CoarseTtasLane>("coarse:ttas/lane"),
        coarse::<_, CoarseTicket>("coarse:ticket"),
        coarse::<_, CoarseMcsLane>("coarse:mcs/lane"),
        coarse::<_, CoarseTtas>("coarse:ttas"),
        coarse::<_, CoarseMcs>("coarse:mcs"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use stm_kernels::locked::sorted::node_word;

    #[test]
    fn links_that_lead_nowhere_or_in_a_circle_are_told() {
        // Two entry points, and nodes 2 and 3 behind the first.
        let mut nodes = [node_word(0, 2), 0, node_word(5, 3), node_word(8, 0)];
        let values = [0, 0, 50, 80];
        assert_eq!(entries(&nodes, &values, 2), Ok(vec![(5, 50), (8, 80)]));
        nodes[3] = node_word(8, 2);
        assert!(entries(&nodes, &values, 2).unwrap_err().contains("circle"));
        nodes[3] = node_word(8, 9);
        assert!(entries(&nodes, &values, 2).unwrap_err().contains("node 9"));
    }
}
