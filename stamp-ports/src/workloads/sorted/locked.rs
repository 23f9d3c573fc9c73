//! The sorted list under locks: one for each entry point, or one for each node.

use super::input::Sorted;
use crate::devices::AnyDevice;
use crate::error::Result;
use crate::workloads::contender::ContenderKind::Excluding;
use crate::workloads::contender::{Contender, ContenderData, one_each};
use crate::workloads::exclusion::{Exclusion, Held, Joined};
use stm_core::host::Buffer;
use stm_kernels::locked::sorted::{
    CoarseMcs, CoarseMcsLane, CoarseParams, CoarseTasLane, CoarseTicket, CoarseTtas,
    CoarseTtasLane, CoupledMcs2, CoupledParams, CoupledTas, CoupledTicket, CoupledTtas, SortedList,
    node_parts,
};
use stm_sync::host::Locks;
use stm_sync::{LockKind, TLocks};

impl<K: LockKind> Joined<TLocks<K>, SortedList> for CoarseParams<K> {
    fn join(locks: TLocks<K>, list: SortedList) -> Self {
        Self { locks, list }
    }
}

impl<K: LockKind> Joined<TLocks<K>, SortedList> for CoupledParams<K> {
    fn join(locks: TLocks<K>, list: SortedList) -> Self {
        Self { locks, list }
    }
}

/// The list, and its locks; `P` are the parameters of the kernel.
struct Excluded<X, P> {
    of: Sorted,
    exclusion: Held<X>,
    nodes: Buffer<AnyDevice, u64>,
    values: Buffer<AnyDevice, u32>,
    keys: Buffer<AnyDevice, u32>,
    keys_host: Vec<u32>,
    parameters: std::marker::PhantomData<P>,
}

impl<X: Exclusion, P> Excluded<X, P> {
    /// Makes the list with a lock for each entry point.
    fn coarse(of: &Sorted, device: &AnyDevice, seed: u64, _transactions: u64) -> Result<Self> {
        Self::prepare(of, device, seed, of.entry_points.into())
    }

    /// Makes the list with a lock for each node, the entry points first.
    fn coupled(of: &Sorted, device: &AnyDevice, seed: u64, _transactions: u64) -> Result<Self> {
        let nodes = u64::from(of.entry_points) + u64::from(of.keys);
        Self::prepare(of, device, seed, nodes)
    }

    fn prepare(of: &Sorted, device: &AnyDevice, seed: u64, locks: u64) -> Result<Self> {
        let nodes = of.entry_points as usize + of.keys as usize;
        let keys_host = of.keys(seed);
        Ok(Self {
            of: *of,
            exclusion: Held::new(device, locks, "the list's locks")?,
            nodes: Buffer::zeroed(device, nodes, "the nodes")?,
            values: Buffer::zeroed(device, nodes, "the values")?,
            keys: Buffer::from_slice(device, &keys_host, "the keys")?,
            keys_host,
            parameters: std::marker::PhantomData,
        })
    }
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

impl<X: Exclusion, P> ContenderData for Excluded<X, P>
where
    P: Joined<X::View, SortedList> + Copy + Send + Sync + 'static,
{
    type Params = P;

    fn transactions(&self, _asked: u64) -> u64 {
        self.of.keys.into()
    }

    fn fit(&mut self, device: &AnyDevice, lanes: u64) -> Result<()> {
        self.exclusion.fit(device, lanes)
    }

    fn shared_bytes(&self) -> u32 {
        self.exclusion.shared_bytes()
    }

    fn reset(&mut self) -> Result<()> {
        self.values.clear()?;
        Ok(self.nodes.clear()?)
    }

    fn params(&self, transactions: u64) -> P {
        let list = SortedList {
            nodes: self.nodes.tarray(),
            values: self.values.tarray(),
            keys: self.keys.tarray(),
            transactions,
            entry_points: self.of.entry_points,
            shift: self.of.range_bits(),
        };
        P::join(self.exclusion.view(), list)
    }

    fn verify(&mut self, _transactions: u64) -> Result<Option<String>> {
        if let Some(wrong) = self.exclusion.wrong()? {
            return Ok(Some(wrong));
        }
        let (nodes, values) = (self.nodes.download()?, self.values.download()?);
        Ok(
            match entries(&nodes, &values, self.of.entry_points as usize) {
                Ok(found) => Sorted::wrong(&self.keys_host, found),
                Err(wrong) => Some(wrong),
            },
        )
    }
}

/// The contender with one lock of kind `K` for each entry point.
fn coarse<K: LockKind, Kernel>(name: &'static str) -> Contender<Sorted>
where
    Kernel: stm_core::Kernel<Params = CoarseParams<K>>,
{
    let prepare = Excluded::<Locks<AnyDevice, K>, CoarseParams<K>>::coarse;
    Contender::new::<Kernel, _>(Excluding, name, one_each(), prepare)
}

/// The contender with one lock of kind `K` for each node.
fn coupled<K: LockKind, Kernel>(name: &'static str) -> Contender<Sorted>
where
    Kernel: stm_core::Kernel<Params = CoupledParams<K>>,
{
    let prepare = Excluded::<Locks<AnyDevice, K>, CoupledParams<K>>::coupled;
    Contender::new::<Kernel, _>(Excluding, name, one_each(), prepare)
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
