//! HT's floor, and the hash table that one writes by hand.

use super::contender::{Contender, Kind};
use crate::error::{Error, Result};
use crate::ht::{Ht, difference};
use crate::workload::check_memory;
use stm_core::host::{Buffer, Device};
use stm_kernels::floor::ht::{CasTable as CasTableKernel, CasTableParams, Floor, FloorParams};
use stm_kernels::ht::{bucket_of_key, key_of_node};

/// Slots of the hand-written table for each key: with one more for each bucket
/// it takes the memory of the chained table's links and keys.
const SLOTS_A_KEY: u64 = 2;

fn keys(seed: u64, nodes: u64) -> Vec<u32> {
    (0..nodes as u32).map(|n| key_of_node(seed, n)).collect()
}

/// The accesses with nothing that synchronises.
#[derive(Debug)]
pub struct Plain;

/// The chained table.
pub struct Chains<D: Device> {
    keys_host: Vec<u32>,
    keys: Buffer<D, u32>,
    heads: Buffer<D, u32>,
    nexts: Buffer<D, u32>,
}

impl<D: Device> std::fmt::Debug for Chains<D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Chains").finish_non_exhaustive()
    }
}

impl Contender for Plain {
    type Of = Ht;
    type Data<D: Device> = Chains<D>;
    type Kernel = Floor;

    const NAME: &'static str = "plain accesses";
    const KIND: Kind = Kind::Floor;
    const OPERATIONS: &'static str = "keys";

    fn operations(of: &Ht) -> f64 {
        of.keys_per_tx.into()
    }

    fn prepare<D: Device>(of: &Ht, device: &D, seed: u64, transactions: u64) -> Result<Chains<D>> {
        let nodes = transactions * u64::from(of.keys_per_tx);
        let bytes = nodes * 8 + u64::from(of.buckets) * 4;
        let fix = "use fewer --transactions or --buckets";
        check_memory(device, "ht", bytes, bytes + nodes / 8, fix)?;
        let keys_host = keys(seed, nodes);
        Ok(Chains {
            keys: Buffer::from_slice(device, &keys_host, "the keys of ht")?,
            heads: Buffer::zeroed(device, of.buckets as usize, "the buckets of ht")?,
            nexts: Buffer::zeroed(device, nodes as usize, "the nodes of ht")?,
            keys_host,
        })
    }

    fn reset<D: Device>(_of: &Ht, data: &mut Chains<D>) -> Result<()> {
        data.nexts.clear()?;
        Ok(data.heads.clear()?)
    }

    fn params<D: Device>(of: &Ht, data: &Chains<D>, transactions: u64) -> FloorParams {
        FloorParams {
            heads: data.heads.tarray(),
            nexts: data.nexts.tarray(),
            keys: data.keys.tarray(),
            transactions,
            keys_per_tx: of.keys_per_tx,
        }
    }

    fn verify<D: Device>(
        of: &Ht,
        data: &mut Chains<D>,
        _transactions: u64,
    ) -> Result<Option<String>> {
        let (heads, nexts) = (data.heads.download()?, data.nexts.download()?);
        Ok(difference(&heads, &nexts, &data.keys_host, of.keys_per_tx))
    }
}

/// A compare-and-swap for each slot looked at, linear probing.
#[derive(Debug)]
pub struct CasTable;

/// The slots, and the keys that must be in them.
pub struct Slots<D: Device> {
    keys_host: Vec<u32>,
    keys: Buffer<D, u32>,
    table: Buffer<D, u32>,
    empty: u32,
}

impl<D: Device> std::fmt::Debug for Slots<D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Slots").finish_non_exhaustive()
    }
}

/// What is wrong with a table that must hold each of the keys once, if
/// anything: each is sought as one would look it up.
pub fn wrong_slots(slots: &[u32], keys: &[u32], empty: u32) -> Option<String> {
    let taken = slots.iter().filter(|&&slot| slot != empty).count();
    if taken != keys.len() {
        return Some(format!(
            "{taken} slots are taken, and there are {} keys",
            keys.len()
        ));
    }
    let lost = keys.iter().find(|&&key| {
        let mut slot = bucket_of_key(key, slots.len() as u32) as usize;
        let mut looks = 0;
        while slots[slot] != key && slots[slot] != empty && looks < slots.len() {
            slot = (slot + 1) % slots.len();
            looks += 1;
        }
        slots[slot] != key
    })?;
    Some(format!("key {lost} is not found"))
}

impl Contender for CasTable {
    type Of = Ht;
    type Data<D: Device> = Slots<D>;
    type Kernel = CasTableKernel;

    const NAME: &'static str = "CAS table";
    const KIND: Kind = Kind::SpecialPurpose;
    const OPERATIONS: &'static str = "keys";

    fn operations(of: &Ht) -> f64 {
        of.keys_per_tx.into()
    }

    fn prepare<D: Device>(of: &Ht, device: &D, seed: u64, transactions: u64) -> Result<Slots<D>> {
        let nodes = transactions * u64::from(of.keys_per_tx);
        let slots = nodes * SLOTS_A_KEY + u64::from(of.buckets);
        if slots > u64::from(u32::MAX) {
            return Err(Error::Usage(format!(
                "a table for {nodes} keys has {slots} slots, more than 32 bits number: \
                 use fewer --transactions"
            )));
        }
        let bytes = nodes * 4 + slots * 4;
        check_memory(device, "ht", bytes, bytes, "use fewer --transactions")?;
        let keys_host = keys(seed, nodes);
        Ok(Slots {
            keys: Buffer::from_slice(device, &keys_host, "the keys of ht")?,
            table: Buffer::zeroed(device, slots as usize, "the slots of ht")?,
            keys_host,
            // Keys are a bijection of their nodes, and this is none.
            empty: key_of_node(seed, u32::MAX),
        })
    }

    fn reset<D: Device>(_of: &Ht, data: &mut Slots<D>) -> Result<()> {
        let slots = vec![data.empty; data.table.len()];
        Ok(data.table.upload(&slots)?)
    }

    fn params<D: Device>(of: &Ht, data: &Slots<D>, transactions: u64) -> CasTableParams {
        CasTableParams {
            slots: data.table.tarray(),
            keys: data.keys.tarray(),
            empty: data.empty,
            transactions,
            keys_per_tx: of.keys_per_tx,
        }
    }

    fn verify<D: Device>(
        _of: &Ht,
        data: &mut Slots<D>,
        _transactions: u64,
    ) -> Result<Option<String>> {
        Ok(wrong_slots(
            &data.table.download()?,
            &data.keys_host,
            data.empty,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMPTY: u32 = key_of_node(3, u32::MAX);

    /// A right table of `n` keys, and the keys.
    fn table(n: u64) -> (Vec<u32>, Vec<u32>) {
        let keys = keys(3, n);
        let mut slots = vec![EMPTY; 2 * n as usize];
        for &key in &keys {
            let mut slot = bucket_of_key(key, slots.len() as u32) as usize;
            while slots[slot] != EMPTY {
                slot = (slot + 1) % slots.len();
            }
            slots[slot] = key;
        }
        (slots, keys)
    }

    #[test]
    fn a_right_table_is_accepted() {
        let (slots, keys) = table(500);
        assert_eq!(wrong_slots(&slots, &keys, EMPTY), None);
    }

    #[test]
    fn a_lost_key_and_one_that_is_there_twice_are_refused() {
        let (mut slots, keys) = table(500);
        let at = slots.iter().position(|&slot| slot == keys[7]).unwrap();
        slots[at] = EMPTY;
        let what = wrong_slots(&slots, &keys, EMPTY).unwrap();
        assert!(what.contains("499 slots"), "{what}");
        // Another key in the lost one's place: the count is right again.
        slots[at] = keys[8];
        let what = wrong_slots(&slots, &keys, EMPTY).unwrap();
        assert!(what.contains(&format!("key {}", keys[7])), "{what}");
    }

    #[test]
    fn a_key_behind_a_gap_is_refused() {
        let (mut slots, keys) = table(500);
        let len = slots.len();
        // A key that is not in its first slot: move the one before it away.
        let key = *keys
            .iter()
            .find(|&&key| slots[bucket_of_key(key, len as u32) as usize] != key)
            .unwrap();
        let first = bucket_of_key(key, len as u32) as usize;
        let free = (0..len).find(|&s| slots[s] == EMPTY && s != first).unwrap();
        slots.swap(first, free);
        assert!(wrong_slots(&slots, &keys, EMPTY).is_some());
    }
}
