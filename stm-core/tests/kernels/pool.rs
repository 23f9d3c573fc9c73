//! Slots that link to nodes of a pool, for tests on the CPU and on the simulator.

use std::collections::HashSet;
use stm_core::algorithm::Algorithm;
use stm_core::host::{Device, Nodes, Pool, TxArray};
use stm_core::{Lane, Node, TNodes, TPool, Tx, TxResult, View, record};

record! {
    /// What a slot links to: a wide field between two narrow ones.
    pub(crate) struct Item {
        pub(crate) key: u32,
        pub(crate) value: u64,
        pub(crate) next: u32,
    }
}

pub(crate) const fn value_of(key: u32) -> u64 {
    (key as u64) << 32 | !key as u64
}

const fn item(key: u32, next: u32) -> Item {
    Item {
        key,
        value: value_of(key),
        next,
    }
}

pub(crate) struct Views<A: Algorithm> {
    pub(crate) nodes: TNodes<A, Item>,
    pub(crate) pool: TPool,
    #[allow(dead_code)] // for what misuses the API
    pub(crate) other: TPool,
    pub(crate) slots: A::Array<u32>,
}

impl<A: Algorithm> Views<A> {
    /// Replaces the node of a slot by a new one with a key, and frees the old one, whose key the new
    /// one keeps.
    pub(crate) fn replace<L: Lane>(
        &self,
        tx: &mut Tx<'_, L, A>,
        slot: u64,
        new_key: u64,
    ) -> TxResult<()> {
        let slot = slot % self.slots.len();
        let old = Node::from_bits(tx.read(&self.slots, slot)?);
        let mut next = 0;
        if !old.is_nil() {
            let Item { key, value, .. } = tx.read_node(&self.nodes, old)?;
            if value != value_of(key) {
                // This is a fault: an attempt always sees a whole node.
                tx.read(&self.slots, u64::MAX)?;
            }
            next = key;
            tx.free(&self.pool, old)?;
        }
        let new = tx.alloc_record(&self.nodes, item(new_key as u32, next))?;
        tx.write(&self.slots, slot, new.bits())?;
        if u64::from(tx.get(&self.nodes, new, Item::key())?) != new_key {
            tx.read(&self.slots, u64::MAX)?;
        }
        Ok(())
    }

    pub(crate) fn publish<L: Lane>(&self, tx: &mut Tx<'_, L, A>, i: u64) -> TxResult<()> {
        let new = tx.alloc_record(&self.nodes, item(i as u32 + 1, 0))?;
        tx.write(&self.slots, i % self.slots.len(), new.bits())
    }
}

pub(crate) struct World<D: Device> {
    pub(crate) nodes: Nodes<D, Item>,
    pub(crate) other: Pool<D>,
    pub(crate) slots: TxArray<D, u32>,
}

impl<D: Device> World<D> {
    pub(crate) fn new<A: Algorithm>(device: &D, nodes: u64, slots: usize) -> Self {
        let layout = <A::Array<u32> as View<u32>>::LAYOUT;
        Self {
            nodes: Nodes::new(device, layout, nodes, "the items").unwrap(),
            other: Pool::new(device, 100, "the others").unwrap(),
            slots: TxArray::zeroed(device, layout, slots, "slots").unwrap(),
        }
    }

    pub(crate) fn views<A: Algorithm>(&self) -> Views<A> {
        let nodes = self.nodes.view::<A>();
        Views {
            pool: *nodes.pool(),
            nodes,
            other: self.other.view(),
            slots: self.slots.view::<A>(),
        }
    }

    /// Returns the records that the slots link to, or what is wrong: if two slots have one node, the
    /// pool has others, or a record was never written as a whole.
    pub(crate) fn linked(&self) -> Result<Vec<Item>, String> {
        let (pool, records) = (self.nodes.pool(), self.nodes.records().download().unwrap());
        let links = self.slots.download().unwrap().into_iter();
        let links: Vec<u32> = links.filter(|&link| link != 0).collect();
        let distinct: HashSet<u32> = links.iter().copied().collect();
        let taken = pool.taken().unwrap().into_iter();
        let taken: HashSet<u32> = taken.map(Node::bits).collect();
        if distinct.len() != links.len() || taken != distinct {
            return Err(format!("{taken:x?} are taken, and linked are {links:x?}"));
        }
        pool.check(links.len() as u64)
            .map_err(|error| error.to_string())?;
        let index = |link| pool.view().index(Node::from_bits(link)).unwrap() as usize;
        let items: Vec<Item> = links.into_iter().map(|link| records[index(link)]).collect();
        match items.iter().find(|item| item.value != value_of(item.key)) {
            Some(torn) => Err(format!("{torn:?} was never written as a whole")),
            None => Ok(items),
        }
    }
}
