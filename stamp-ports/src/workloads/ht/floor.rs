//! The hash table without transactions.

use super::check::{NODES, check, keys, preassigned};
use super::input::Ht;
use crate::workloads::exclusion::ParametersOf;
use crate::workloads::prelude::*;
use stm_kernels::ht::floor::{CasTable, CasTableParams, CriticalSection, Floor, FloorParams};
use stm_kernels::ht::locked::Table;
use stm_kernels::ht::{bucket_of_key, key_of_node};
use stm_sync::{
    Anderson, FetchAdd, Mcs, PerLane, TCombiners, TLocks, Tas, TasBackoff, Ticket, TicketHandoff,
    Ttas,
};

/// Slots of the hand-written table for each key: with one more for each bucket it takes the memory of the
/// chained table's links and keys.
const SLOTS_A_KEY: u64 = 2;

data! {
    Chains of Ht: |of, device, made_for| {
        let links = of.links(made_for);
        let bytes = links * 8 + u64::from(of.buckets) * 4;
        let fix = "use fewer --transactions, --keys-per-tx or --buckets";
        check_memory(device, "ht", bytes, bytes + links, fix)?;
    }
    keys_host: Vec<u32> = keys(made_for.seed, links);
    keys: Buffer<D, u32> = Buffer::from_slice(device, &keys_host, "the keys of ht")?;
    heads: Buffer<D, u32> = Buffer::zeroed(device, of.buckets as usize, "the buckets of ht")?, cleared;
    nexts: Buffer<D, u32> = Buffer::zeroed(device, links as usize, NODES)?, cleared;
}

fn chains<P: Copy + 'static, D: Device + 'static>(
    work: ParametersOf<Ht, Chains<D>, P>,
) -> Uses<Ht, Chains<D>, P, D> {
    Uses::plain(work, |of, data, transactions| {
        let (heads, nexts) = (data.heads.download()?, data.nexts.download()?);
        let there = (transactions * u64::from(of.keys_per_tx)) as usize;
        let (nexts, keys) = (&nexts[..there], &data.keys_host[..there]);
        Ok(check(&heads, keys, of.keys_per_tx, preassigned(nexts))?)
    })
}

data! {
    OpenTable of Ht: |of, device, made_for| {
        let links = of.links(made_for);
        let all = links * SLOTS_A_KEY + u64::from(of.buckets);
        refuse! {
            all > u64::from(u32::MAX) =>
                "a table for {links} keys has {all} slots, more than 32 bits number: use fewer \
                 --transactions or --keys-per-tx";
        }
        let bytes = (links + all) * 4;
        check_memory(device, "ht", bytes, bytes, "use fewer --transactions or --keys-per-tx")?;
    }
    keys_host: Vec<u32> = keys(made_for.seed, links);
    keys: Buffer<D, u32> = Buffer::from_slice(device, &keys_host, "the keys of ht")?;
    slots: Buffer<D, u32> = Buffer::zeroed(device, all as usize, "the slots of ht")?;
    /// Keys are a bijection of their nodes, and this is none.
    empty: u32 = key_of_node(made_for.seed, u32::MAX);
}

/// Checks that a table holds each of the keys once, sought as one would look it up.
fn check_slots(slots: &[u32], keys: &[u32], empty: u32) -> Result<()> {
    let taken = slots.iter().filter(|&&slot| slot != empty).count();
    wrong! {
        taken != keys.len() => "{taken} slots are taken, and there are {} keys", keys.len();
    }
    for &key in keys {
        let home = bucket_of_key(key, slots.len() as u32) as usize;
        let mut from_home = slots[home..].iter().chain(&slots[..home]);
        let found = from_home.find(|&&slot| slot == key || slot == empty);
        wrong! {
            found != Some(&key) => "key {key} is not found";
        }
    }
    Ok(())
}

fn slots<D: Device + 'static>() -> Uses<Ht, OpenTable<D>, CasTableParams, D> {
    Uses {
        reset: |_, data| {
            let slots = vec![data.empty; data.slots.len()];
            Ok(data.slots.upload(&slots)?)
        },
        ..Uses::plain(
            |of: &Ht, data: &OpenTable<_>, transactions| {
                views! { data => CasTableParams {
                    slots, keys; empty: data.empty, transactions, keys_per_tx: of.keys_per_tx
                } }
            },
            |_, data, _| check_slots(&data.slots.download()?, &data.keys_host, data.empty),
        )
    }
}

/// The chained table, into which each section inserts a key.
fn one_key<D: Device + 'static>() -> Uses<Ht, Chains<D>, Table, D> {
    Uses {
        prepare: |of, device, made_for| {
            refuse! {
                of.keys_per_tx != 1 =>
                    "--keys-per-tx {} does not suit a table under locks, which inserts each key by \
                     itself: give 1", of.keys_per_tx;
            }
            Chains::make(of, device, made_for)
        },
        ..chains(|_, data, transactions| {
            views! { data => Table { heads, nexts, keys; transactions } }
        })
    }
}

pub(super) fn contenders<D: Device + 'static>(of: &Ht) -> Vec<Contender<'_, D>> {
    let (keys, locked) = (("keys", of.keys_per_tx.into()), one_key::<D>());
    let locks = ("the buckets' locks", of.buckets.into());
    let chains = chains(|of, data: &Chains<D>, transactions| {
        views! { data => FloorParams {
            heads, nexts, keys; transactions, keys_per_tx: of.keys_per_tx
        } }
    });
    vec![
        chains.open::<Floor>(of, UNSYNCHRONISED, keys),
        // A compare-and-swap for each slot looked at, linear probing.
        slots().open::<CasTable>(of, (SpecialPurpose, "CAS table"), keys),
        chains.critical_section::<CriticalSection>(of, keys),
        locked.under::<TLocks<PerLane<Tas>>, ()>(of, "tas/lane", keys, locks),
        locked.under::<TLocks<PerLane<Ttas>>, ()>(of, "ttas/lane", keys, locks),
        locked.under::<TLocks<PerLane<Mcs>>, ()>(of, "mcs/lane", keys, locks),
        locked.under::<TLocks<Tas>, ()>(of, "tas", keys, locks),
        locked.under::<TLocks<Ttas>, ()>(of, "ttas", keys, locks),
        locked.under::<TLocks<TasBackoff>, ()>(of, "tas-backoff", keys, locks),
        locked.under::<TLocks<Ticket>, ()>(of, "ticket", keys, locks),
        locked.under::<TLocks<TicketHandoff>, ()>(of, "ticket-handoff", keys, locks),
        locked.under::<TLocks<FetchAdd>, ()>(of, "fetch-add", keys, locks),
        locked.under::<TLocks<Anderson>, ()>(of, "anderson", keys, locks),
        locked.under::<TLocks<Mcs>, ()>(of, "mcs", keys, locks),
        locked.under::<TCombiners<1>, ()>(of, "combining", keys, locks),
        locked.under::<(), ()>(of, "lock-free", keys, locks),
    ]
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
    fn a_right_table_is_accepted_and_one_that_lacks_or_hides_a_key_refused() {
        let (mut slots, keys) = table(500);
        check_slots(&slots, &keys, EMPTY).unwrap();
        let wrong = |slots: &[u32]| {
            let refused = check_slots(slots, &keys, EMPTY).unwrap_err();
            refused.to_string()
        };
        // A key that is not in its first slot is behind a gap if the one before it is moved away.
        let first = |key| bucket_of_key(key, slots.len() as u32) as usize;
        let displaced = keys.iter().map(|&key| (key, first(key)));
        let (_, gap) = { displaced }.find(|&(key, at)| slots[at] != key).unwrap();
        let free = slots.iter().position(|&slot| slot == EMPTY).unwrap();
        let mut hidden = slots.clone();
        hidden.swap(gap, free);
        has(&wrong(&hidden), "is not found");
        let at = slots.iter().position(|&slot| slot == keys[7]).unwrap();
        slots[at] = EMPTY;
        has(&wrong(&slots), "499 slots");
        // Another key in the lost one's place: the count is right again.
        slots[at] = keys[8];
        has(&wrong(&slots), &format!("key {}", keys[7]));
    }
}
