//! Sorted: all threads insert into one sorted list with entry points, by transactions or under locks.

use crate::workloads::prelude::*;
use stm_core::collections::List;
use stm_kernels::floor::plain::halves;
use stm_kernels::sorted::locked::{Coarse, Coupled, SortedList};
use stm_kernels::sorted::{Sorted as SortedKernel, SortedWork, value};
use stm_sync::{Mcs, Mcs2, PerLane, TLocks, Tas, Ticket, Ttas};

sizes! {
    /// By default as in Grote 2020, with the most entry points.
    Sorted, options of "sorted" {
        // All are below the next power of two.
        /// Keys that are inserted.
        keys: u32 = 262_000, json "keys", option
            /// Keys that are inserted [default: 262000]
            #[arg(long, value_name = "N", value_parser = parse_count_32)]
            list_keys,
            when Occasion::Quick | Occasion::Recording(_) => 4000;
        entry_points: u32 = 4096, count "Entry points of the list, a power of two: the fewer, the longer is \
                                each walk" ["4096"],
            when Occasion::Quick | Occasion::Recording(_) => 128;
    } takes []
}

/// The most keys: a step along a list without entry points reads two words of each.
const KEYS_MAX: u32 = 1 << 24;

impl Sorted {
    /// Returns the bits of a key that say where in its range it is.
    const fn range_bits(&self) -> u32 {
        let keys = self.keys.next_power_of_two();
        // `check` refuses 0 entry points.
        let entry_points = (self.entry_points | 1).ilog2();
        keys.ilog2().saturating_sub(entry_points)
    }

    fn keys(&self, seed: u64) -> Vec<u32> {
        let mut keys: Vec<u32> = (0..self.keys.next_power_of_two()).collect();
        // Fisher and Yates's shuffle.
        for last in (1..keys.len()).rev() {
            let chosen = below(draw(seed, last as u64, 0), last as u32 + 1);
            keys.swap(last, chosen as usize);
        }
        keys.truncate(self.keys as usize);
        keys
    }

    /// Checks a list: it must have every key once, in their order, with its value.
    fn judge(keys: &[u32], found: impl IntoIterator<Item = (u32, u32)>) -> Result<()> {
        let mut right: Vec<(u32, u32)> = keys.iter().copied().zip((0..).map(value)).collect();
        right.sort_unstable();
        let found: Vec<(u32, u32)> = found.into_iter().collect();
        let differs = first_difference(&found, &right);
        let (at, (key, value), (right_key, right_value), _) = differs.unwrap_or_default();
        let (n, right) = (found.len(), right.len());
        wrong! {
            differs.is_some() =>
                "entry {at} is key {key} with value {value}, not key {right_key} with value \
                 {right_value}";
            n < right => "the list has {n} entries and not {right}";
            n > right => "the list has more than {right} entries";
        }
        Ok(())
    }
}

impl Sizes for Sorted {
    fn facts(&self, _: u64) -> Facts {
        let (keys, entry_points) = (u64::from(self.keys), self.entry_points.into());
        Facts {
            summary: quantities([keys, entry_points], ["key", "entry point"]),
            // The entry point, and two words of each node of a range and of the keys between two random ones.
            capacity: sets(2 * self.keys.min(1 << self.range_bits()) + 4, 5, 1),
            transactions: Some(keys),
            shared_words: 3 * keys + entry_points,
            is_for_lanes: true,
            verifies: Covers::FinalState.that("the list has every key in order, and no other"),
            ..Facts::of(self.named())
        }
    }

    fn check(&self, _transactions: u64) -> Result<()> {
        refuse! {
            !(1..=KEYS_MAX).contains(&self.keys) =>
                "--list-keys {} does not suit a list: give from 1 to {KEYS_MAX}", self.keys;
        }
        let most = self.keys.next_power_of_two();
        refuse! {
            !self.entry_points.is_power_of_two() || self.entry_points > most =>
                "--entry-points {} does not suit {} keys: give a power of two up to {most}",
                self.entry_points, self.keys;
        }
        Ok(())
    }
}

data! {
    pub Data of Sorted: |of, device, made_for| {
        let keys = u64::from(of.keys);
        let bytes = keys * 20 + u64::from(of.entry_points) * 8;
        let fix = "use fewer --list-keys";
        check_memory(device, "sorted", bytes, bytes + keys * 48, fix)?;
        // A node for each key, and one more for each lane.
        let (nodes, layout) = (keys + made_for.lanes, made_for.layout);
        let (entries, bits) = (of.entry_points as usize, of.range_bits());
    }
    list: List<D, u32, u32> =
        List::with_entry_points(device, layout, nodes, entries, bits, "the list")?, accessed, cleared;
    keys_host: Vec<u32> = of.keys(made_for.seed);
    keys: Buffer<D, u32> = Buffer::from_slice(device, &keys_host, "the keys")?;
}

impl Workload for Sorted {
    type Data<D: Device> = Data<D>;

    fn contenders<D: Device + 'static>(&self) -> Vec<Contender<'_, D>> {
        // One lock for each entry point, or for each node, of which a thread holds two at a time.
        let locks = [self.entry_points.into(), nodes_of(self)];
        let [coarse, coupled] = locks.map(|count| ("the list's locks", count));
        let each = ONE_EACH;
        let locked = Uses::plain(
            |of: &Self, data: &Locked<D>, transactions| {
                views! { data => SortedList {
                    nodes, values, keys;
                    transactions, entry_points: of.entry_points, shift: of.range_bits()
                } }
            },
            |of, data, _| {
                let (nodes, values) = (data.nodes.download()?, data.values.download()?);
                let found = entries(&nodes, &values, of.entry_points as usize)?;
                Self::judge(&data.keys_host, found)
            },
        );
        vec![
            locked.under::<TLocks<Tas>, Coupled>(self, "coupled:tas", each, coupled),
            locked.under::<TLocks<Ttas>, Coupled>(self, "coupled:ttas", each, coupled),
            locked.under::<TLocks<Ticket>, Coupled>(self, "coupled:ticket", each, coupled),
            locked.under::<TLocks<Mcs2>, Coupled>(self, "coupled:mcs2", each, coupled),
            locked.under::<TLocks<PerLane<Tas>>, Coarse>(self, "coarse:tas/lane", each, coarse),
            locked.under::<TLocks<PerLane<Ttas>>, Coarse>(self, "coarse:ttas/lane", each, coarse),
            locked.under::<TLocks<Ticket>, Coarse>(self, "coarse:ticket", each, coarse),
            locked.under::<TLocks<PerLane<Mcs>>, Coarse>(self, "coarse:mcs/lane", each, coarse),
            locked.under::<TLocks<Ttas>, Coarse>(self, "coarse:ttas", each, coarse),
            locked.under::<TLocks<Mcs>, Coarse>(self, "coarse:mcs", each, coarse),
        ]
    }

    fn verify<D: Device>(&self, data: &mut Data<D>, _: u64) -> Result<Observed> {
        Self::judge(&data.keys_host, whole(data.list.download())?)?;
        Ok(Observed::new())
    }

    kernels! {
        _, data, run => SortedKernel<A>, run.on(views! { data => SortedWork {
            keys; entries: data.list.view::<A>(), transactions: run.transactions
        } })
    }
}

data! {
    Locked of Sorted: |of, device, made_for| {
        let all = nodes_of(of) as usize;
    }
    nodes: Buffer<D, u64> = Buffer::zeroed(device, all, "the nodes")?, cleared;
    values: Buffer<D, u32> = Buffer::zeroed(device, all, "the values")?, cleared;
    keys_host: Vec<u32> = of.keys(made_for.seed);
    keys: Buffer<D, u32> = Buffer::from_slice(device, &keys_host, "the keys")?;
}

/// Returns the nodes that there are: the entry points, and one for each key.
fn nodes_of(of: &Sorted) -> u64 {
    u64::from(of.entry_points) + u64::from(of.keys)
}

/// Returns the entries of a list in the order of its links.
fn entries(nodes: &[u64], values: &[u32], entry_points: usize) -> Result<Vec<(u32, u32)>> {
    let mut found = Vec::new();
    for entry_point in 0..entry_points {
        let (_, mut next) = halves(nodes[entry_point]);
        while next != 0 {
            let node = next as usize;
            wrong! {
                node >= nodes.len() => "a link leads to node {node}, which is none";
                found.len() == nodes.len() => "the links lead in a circle";
            }
            let (key, after) = halves(nodes[node]);
            found.push((key, values[node]));
            next = after;
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stm_kernels::floor::plain::word_of;

    #[test]
    fn a_list_with_a_key_missing_twice_or_with_another_value_is_refused() {
        let of = Sorted {
            keys: 100,
            entry_points: 4,
        };
        let keys = of.keys(7);
        let mut list: Vec<(u32, u32)> = keys.iter().copied().zip((0..).map(value)).collect();
        list.sort_unstable();
        Sorted::judge(&keys, list.clone()).unwrap();
        let judge = |list: Vec<(u32, u32)>| Sorted::judge(&keys, list);
        let wrong = |list| judge(list).unwrap_err().to_string();
        let short = wrong(list[..99].to_vec());
        assert_eq!(short, "the list has 99 entries and not 100");
        let long = wrong([&list[..], &[(200, 0)]].concat());
        assert_eq!(long, "the list has more than 100 entries");
        list[5].1 ^= 1;
        assert!(wrong(list).starts_with("entry 5 is key"));
    }

    #[test]
    fn ranges_have_all_keys() {
        for (keys, entry_points, bits) in [(262_000, 16, 14), (4000, 128, 5), (4, 4, 0)] {
            let of = Sorted { keys, entry_points };
            assert_eq!(of.range_bits(), bits);
            of.check(keys.into()).unwrap();
        }
    }

    #[test]
    fn links_that_lead_nowhere_or_in_a_circle_are_reported() {
        // Two entry points, and nodes 2 and 3 behind the first.
        let mut nodes = [word_of(0, 2), 0, word_of(5, 3), word_of(8, 0)];
        let values = [0, 0, 50, 80];
        assert_eq!(entries(&nodes, &values, 2).unwrap(), [(5, 50), (8, 80)]);
        for (next, said) in [(2, "circle"), (9, "node 9")] {
            nodes[3] = word_of(8, next);
            let error = entries(&nodes, &values, 2).unwrap_err();
            assert!(error.to_string().contains(said));
        }
    }
}
