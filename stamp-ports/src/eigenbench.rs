//! `EigenBench`: the host's side.
//!
//! The host replays all transactions. Additions to the hot array commute, so
//! each of its words is known whatever the order: a lost, doubled or torn
//! addition changes a word and the sum. The mild and the cold array have a part
//! for each lane, and a lane runs its transactions in the order of their
//! numbers: so every word is known as well, and with them the checksum over all
//! that the lane has read of its own parts.

use crate::error::{Error, Result};
use crate::workload::{Launches, SET_WORDS_MAX, Workload, check_memory, words_of};
use std::cell::Cell;
use stm_core::algorithm::Algorithm;
use stm_core::host::{Buffer, Device, Shared};
use stm_core::logs::Capacity;
use stm_core::view::Layout;
use stm_core::word::WordAddress;
use stm_core::{Kernel, StmRef};
use stm_kernels::draw::draw;
use stm_kernels::eigenbench::{
    Accesses, BATCH, Eigenbench as EigenbenchKernel, EigenbenchParams, EigenbenchPlan, checksum,
};

/// The parameters: those of the plan, whose seed is replaced by the run's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Eigenbench {
    /// What the transactions do.
    pub plan: EigenbenchPlan,
}

/// The arrays on a device, and what they must become.
pub struct EigenbenchData<D: Device> {
    plan: EigenbenchPlan,
    /// Lanes that the parts were made for.
    lanes: u64,
    hot: Shared<D, u32>,
    mild: Shared<D, u32>,
    cold: Buffer<D, u32>,
    checksums: Buffer<D, u32>,
    /// The arrays after so many transactions, kept for repeated runs.
    expected: Option<(u64, Arrays)>,
}

impl<D: Device> std::fmt::Debug for EigenbenchData<D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EigenbenchData").finish_non_exhaustive()
    }
}

/// The arrays on the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrays {
    /// The words that all lanes share.
    pub hot: Vec<u32>,
    /// The parts of the lanes, one after the other.
    pub mild: Vec<u32>,
    /// The parts of the lanes, one after the other.
    pub cold: Vec<u32>,
    /// A checksum a lane.
    pub checksums: Vec<u32>,
}

/// Words of a lane's parts that transactions and the code around them access.
fn mild_words(plan: &EigenbenchPlan) -> u64 {
    if plan.mild.is_empty() {
        0
    } else {
        plan.mild_words.into()
    }
}

fn cold_words(plan: &EigenbenchPlan) -> u64 {
    if plan.cold_inside.is_empty() && plan.cold_outside.is_empty() {
        0
    } else {
        plan.cold_words.into()
    }
}

/// `n` words, each drawn: so a store to a wrong word shows. `stream` tells the
/// arrays apart.
fn drawn(seed: u64, n: u64, stream: u32) -> Vec<u32> {
    (0..n).map(|w| draw(seed, w, stream) as u32).collect()
}

impl Arrays {
    /// The arrays before a launch on so many lanes.
    pub(crate) fn initial(plan: &EigenbenchPlan, lanes: u64) -> Self {
        let seed = plan.seed;
        Self {
            hot: drawn(seed, plan.hot_words.into(), u32::MAX),
            mild: drawn(seed, lanes * mild_words(plan), u32::MAX - 1),
            cold: drawn(seed, lanes * cold_words(plan), u32::MAX - 2),
            checksums: vec![0; lanes as usize],
        }
    }

    /// The arrays after all of `transactions` on so many lanes.
    pub fn replay(plan: &EigenbenchPlan, lanes: u64, transactions: u64) -> Self {
        let mut arrays = Self::initial(plan, lanes);
        for i in 0..transactions {
            arrays.run(plan, i, (i % lanes) as usize);
        }
        arrays
    }

    /// Transaction `i` on a lane.
    fn run(&mut self, plan: &EigenbenchPlan, i: u64, lane: usize) {
        let transaction = plan.transaction(i);
        let hot = transaction.hot();
        for k in 0..plan.hot.writes {
            let word = &mut self.hot[hot.word(k, plan.hot_words) as usize];
            *word = word.wrapping_add(hot.amount(k));
        }
        let mut found = 0u32;
        let mild = transaction.mild();
        let first = lane * mild_words(plan) as usize;
        for k in 0..plan.mild.words() {
            let word = &mut self.mild[first + mild.word(k, plan.mild_words) as usize];
            found = found.wrapping_add(*word);
            if k < plan.mild.writes {
                *word = word.wrapping_add(mild.amount(k));
            }
        }
        let words = cold_words(plan) as usize;
        let part = &mut self.cold[lane * words..][..words];
        let part = Cell::from_mut(part).as_slice_of_cells();
        let cold = |sequence: stm_kernels::eigenbench::Sequence, accesses, nops| {
            sequence.private_work(
                accesses,
                plan.cold_words,
                nops,
                |word, value| part[word as usize].set(value),
                |word| part[word as usize].get(),
            )
        };
        let inside = cold(
            transaction.cold_inside(),
            plan.cold_inside,
            plan.nops_inside,
        );
        let outside = cold(
            transaction.cold_outside(),
            plan.cold_outside,
            plan.nops_outside,
        );
        let sum = &mut self.checksums[lane];
        *sum = checksum(*sum, found.wrapping_add(inside), outside);
    }

    /// What is wrong with `self`, if anything.
    pub fn difference(&self, expected: &Self) -> Option<String> {
        let lanes = self.checksums.len().max(1);
        let of_lane = |words: &[u32]| (words.len() / lanes).max(1);
        differing("hot word", &self.hot, &expected.hot, usize::MAX)
            .or_else(|| differing("mild word", &self.mild, &expected.mild, of_lane(&self.mild)))
            .or_else(|| differing("cold word", &self.cold, &expected.cold, of_lane(&self.cold)))
            .or_else(|| {
                let what = "the checksum of what was read by lane";
                differing(what, &self.checksums, &expected.checksums, usize::MAX)
            })
    }
}

/// The first difference, how many more, and what became of the sum. Lanes have
/// parts of so many words.
fn differing(what: &str, found: &[u32], expected: &[u32], part: usize) -> Option<String> {
    if found.len() != expected.len() {
        let (n, right) = (found.len(), expected.len());
        return Some(format!("{what}s are {n}, not {right}"));
    }
    let mut wrong = found
        .iter()
        .zip(expected)
        .enumerate()
        .filter(|(_, (f, e))| f != e);
    let (first, (f, e)) = wrong.next()?;
    let more = wrong.count();
    let place = if part == usize::MAX {
        first.to_string()
    } else {
        format!("{} of lane {}", first % part, first / part)
    };
    let lost = found
        .iter()
        .zip(expected)
        .fold(0u32, |sum, (f, e)| sum.wrapping_add(e.wrapping_sub(*f)));
    let sums = match lost as i32 {
        0 => "the sum is right".to_owned(),
        lost if lost > 0 => format!("the sum lacks {lost}"),
        more => format!("the sum has {} too much", more.unsigned_abs()),
    };
    Some(format!(
        "{what} {place} is {f}, not {e}, and {more} more differ; {sums}"
    ))
}

/// Refuses accesses to an array without words.
fn check_array(array: &str, words: u32, accesses: &[(&str, u32)]) -> Result<()> {
    for (option, n) in accesses {
        if *n > 0 && words == 0 {
            return Err(Error::Usage(format!(
                "--{array}-words 0 leaves --{option} {n} nothing to access: give 1 or more"
            )));
        }
    }
    Ok(())
}

impl Workload for Eigenbench {
    type Data<D: Device> = EigenbenchData<D>;

    fn name(&self) -> &'static str {
        "eigenbench"
    }

    fn parameters(&self) -> Vec<(&'static str, u64)> {
        let p = &self.plan;
        vec![
            ("hot_words", p.hot_words.into()),
            ("hot_reads", p.hot.reads.into()),
            ("hot_writes", p.hot.writes.into()),
            ("mild_words", p.mild_words.into()),
            ("mild_reads", p.mild.reads.into()),
            ("mild_writes", p.mild.writes.into()),
            ("cold_words", p.cold_words.into()),
            ("cold_reads", p.cold_inside.reads.into()),
            ("cold_writes", p.cold_inside.writes.into()),
            ("cold_reads_outside", p.cold_outside.reads.into()),
            ("cold_writes_outside", p.cold_outside.writes.into()),
            ("nops", p.nops_inside.into()),
            ("nops_outside", p.nops_outside.into()),
            ("locality_percent", p.locality_percent.into()),
        ]
    }

    fn capacity(&self) -> Capacity {
        // Each array's last batch is filled up.
        let batches = |accesses: Accesses| {
            accesses
                .words()
                .checked_next_multiple_of(BATCH as u32)
                .unwrap_or(u32::MAX)
        };
        let (hot, mild) = (self.plan.hot, self.plan.mild);
        // A set without an entry is not accepted, even if none is used.
        Capacity {
            reads: batches(hot).saturating_add(batches(mild)).max(1),
            writes: hot.writes.saturating_add(mild.writes).max(1),
        }
    }

    /// Those of the hot array: the others belong to one lane each.
    fn shared_words(&self, _transactions: u64) -> u64 {
        self.plan.hot_words.into()
    }

    fn check(&self, _transactions: u64) -> Result<()> {
        let p = &self.plan;
        if p.hot.is_empty() && p.mild.is_empty() {
            return Err(Error::Usage(
                "without reads and writes a transaction has nothing to do: give --hot-reads, \
                 --hot-writes, --mild-reads or --mild-writes 1 or more"
                    .into(),
            ));
        }
        let capacity = self.capacity();
        if capacity.reads.max(capacity.writes) > SET_WORDS_MAX {
            let (hot, mild) = (p.hot.words(), p.mild.words());
            return Err(Error::Usage(format!(
                "{hot} words by --hot-reads or --hot-writes and {mild} by --mild-reads or \
                 --mild-writes are too many: a transaction accesses {SET_WORDS_MAX} at most"
            )));
        }
        check_array(
            "hot",
            p.hot_words,
            &[("hot-reads", p.hot.reads), ("hot-writes", p.hot.writes)],
        )?;
        check_array(
            "mild",
            p.mild_words,
            &[("mild-reads", p.mild.reads), ("mild-writes", p.mild.writes)],
        )?;
        check_array(
            "cold",
            p.cold_words,
            &[
                ("cold-reads", p.cold_inside.reads),
                ("cold-writes", p.cold_inside.writes),
                ("cold-reads-outside", p.cold_outside.reads),
                ("cold-writes-outside", p.cold_outside.writes),
            ],
        )?;
        if p.locality_percent > 100 {
            return Err(Error::Usage(format!(
                "--locality {} is no probability: give from 0 to 100 per cent",
                p.locality_percent
            )));
        }
        Ok(())
    }

    fn prepare<D: Device>(
        &self,
        device: &D,
        seed: u64,
        _transactions_max: u64,
    ) -> Result<EigenbenchData<D>> {
        let plan = EigenbenchPlan { seed, ..self.plan };
        let bytes = u64::from(plan.hot_words) * 4;
        let fix = "use fewer --hot-words";
        check_memory(device, "eigenbench", bytes, 2 * bytes, fix)?;
        let none = || Buffer::zeroed(device, 0, "nothing yet");
        Ok(EigenbenchData {
            plan,
            lanes: 0,
            hot: Shared::zeroed(
                device,
                Layout::Plain,
                plan.hot_words as usize,
                "the hot array",
            )?,
            mild: Shared::zeroed(device, Layout::Plain, 0, "nothing yet")?,
            cold: none()?,
            checksums: none()?,
            expected: None,
        })
    }

    fn fit<D: Device>(&self, device: &D, data: &mut EigenbenchData<D>, lanes: u64) -> Result<()> {
        if data.lanes == lanes {
            return Ok(());
        }
        // Given back before the next are made: memory.
        data.lanes = 0;
        data.expected = None;
        data.mild = Shared::zeroed(device, Layout::Plain, 0, "nothing yet")?;
        for part in [&mut data.cold, &mut data.checksums] {
            *part = Buffer::zeroed(device, 0, "nothing yet")?;
        }
        let (mild, cold) = (mild_words(&data.plan), cold_words(&data.plan));
        let bytes = lanes.saturating_mul((mild + cold + 1) * 4);
        check_memory(
            device,
            "eigenbench's lanes",
            bytes,
            bytes
                .saturating_add(u64::from(data.plan.hot_words) * 4)
                .saturating_mul(2),
            "use fewer --mild-words, --cold-words, --blocks or --threads",
        )?;
        data.mild = Shared::zeroed(
            device,
            Layout::Plain,
            (lanes * mild) as usize,
            "the mild array",
        )?;
        data.cold = Buffer::zeroed(device, (lanes * cold) as usize, "the cold array")?;
        data.checksums = Buffer::zeroed(device, lanes as usize, "the checksums")?;
        data.lanes = lanes;
        Ok(())
    }

    fn initial<D: Device>(&self, data: &EigenbenchData<D>) -> Result<Vec<(WordAddress, u64)>> {
        let mut words = words_of(&data.hot)?;
        words.extend(words_of(&data.mild)?);
        Ok(words)
    }

    fn arrange<D: Device, A: Algorithm>(&self, data: &mut EigenbenchData<D>) -> Result<()> {
        data.hot.arrange::<A>()?;
        Ok(data.mild.arrange::<A>()?)
    }

    fn clear<D: Device>(&self, _data: &mut EigenbenchData<D>) -> Result<()> {
        Ok(()) // what the words hold changes nothing in the work
    }

    fn reset<D: Device>(&self, data: &mut EigenbenchData<D>) -> Result<()> {
        let initial = Arrays::initial(&data.plan, data.lanes);
        data.hot.upload(&initial.hot)?;
        data.mild.upload(&initial.mild)?;
        data.cold.upload(&initial.cold)?;
        Ok(data.checksums.upload(&initial.checksums)?)
    }

    fn verify<D: Device>(
        &self,
        data: &mut EigenbenchData<D>,
        transactions: u64,
    ) -> Result<Option<String>> {
        if data.lanes == 0 {
            return Ok(Some("no lane has run any of the transactions".into()));
        }
        if data
            .expected
            .as_ref()
            .is_none_or(|(n, _)| *n != transactions)
        {
            data.expected = None; // before the next is made: memory
            let arrays = Arrays::replay(&data.plan, data.lanes, transactions);
            data.expected = Some((transactions, arrays));
        }
        let found = Arrays {
            hot: data.hot.download()?,
            mild: data.mild.download()?,
            cold: data.cold.download()?,
            checksums: data.checksums.download()?,
        };
        let expected = data.expected.as_ref();
        Ok(expected.and_then(|(_, expected)| found.difference(expected)))
    }
}

impl<A: Algorithm> Launches<A> for Eigenbench
where
    EigenbenchKernel<A>: Kernel<Params = EigenbenchParams<A>>,
{
    type Kernel = EigenbenchKernel<A>;

    fn params<D: Device>(
        &self,
        data: &EigenbenchData<D>,
        stm: StmRef<A>,
        transactions: u64,
    ) -> EigenbenchParams<A> {
        EigenbenchParams {
            stm,
            hot: data.hot.view::<A>(),
            mild: data.mild.view::<A>(),
            cold: data.cold.tarray(),
            checksums: data.checksums.tarray(),
            transactions,
            plan: data.plan,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stm_core::host::Cpu;

    const fn accesses(reads: u32, writes: u32) -> Accesses {
        Accesses { reads, writes }
    }

    const EIGENBENCH: Eigenbench = Eigenbench {
        plan: EigenbenchPlan {
            seed: 0,
            hot_words: 100,
            mild_words: 10,
            cold_words: 12,
            hot: accesses(6, 4),
            mild: accesses(3, 5),
            cold_inside: accesses(2, 1),
            cold_outside: accesses(1, 3),
            nops_inside: 2,
            nops_outside: 1,
            locality_percent: 25,
        },
    };
    const LANES: u64 = 3;
    const TRANSACTIONS: u64 = 50;

    /// Data as a right run leaves it, but for what `spoil` does.
    fn data_after(spoil: impl FnOnce(&mut Arrays)) -> EigenbenchData<Cpu> {
        let cpu = Cpu::new();
        let mut data = EIGENBENCH.prepare(&cpu, 7, TRANSACTIONS).unwrap();
        EIGENBENCH.fit(&cpu, &mut data, LANES).unwrap();
        let mut arrays = Arrays::replay(&data.plan, LANES, TRANSACTIONS);
        spoil(&mut arrays);
        data.hot.upload(&arrays.hot).unwrap();
        data.mild.upload(&arrays.mild).unwrap();
        data.cold.upload(&arrays.cold).unwrap();
        data.checksums.upload(&arrays.checksums).unwrap();
        data
    }

    fn verdict(spoil: impl FnOnce(&mut Arrays)) -> Option<String> {
        let mut data = data_after(spoil);
        EIGENBENCH.verify(&mut data, TRANSACTIONS).unwrap()
    }

    fn refusal(spoil: impl FnOnce(&mut Arrays)) -> String {
        verdict(spoil).expect("a refusal")
    }

    #[test]
    fn a_right_result_is_accepted_and_each_addition_counts() {
        assert_eq!(verdict(|_| ()), None);
        let plan = EigenbenchPlan {
            seed: 7,
            ..EIGENBENCH.plan
        };
        let sum = |words: &[u32]| words.iter().fold(0u32, |s, w| s.wrapping_add(*w));
        let (before, after) = (
            Arrays::initial(&plan, LANES),
            Arrays::replay(&plan, LANES, TRANSACTIONS),
        );
        let added = (0..TRANSACTIONS)
            .flat_map(|i| (0..4).map(move |k| plan.transaction(i).hot().amount(k)))
            .sum::<u32>();
        assert_eq!(sum(&after.hot), sum(&before.hot).wrapping_add(added));
        assert!(before.mild != after.mild && before.cold != after.cold);
    }

    #[test]
    fn a_lost_addition_is_refused_in_either_array() {
        let what = refusal(|arrays| arrays.hot[99] = arrays.hot[99].wrapping_sub(3));
        assert!(
            what.contains("hot word 99 is") && what.contains("lacks 3"),
            "{what}"
        );
        let what = refusal(|arrays| arrays.mild[29] = arrays.mild[29].wrapping_sub(3));
        assert!(what.contains("mild word 9 of lane 2 is"), "{what}");
    }

    #[test]
    fn an_addition_to_a_wrong_word_is_refused_though_the_sum_is_right() {
        let what = refusal(|arrays| {
            arrays.hot[1] = arrays.hot[1].wrapping_add(5);
            arrays.hot[2] = arrays.hot[2].wrapping_sub(5);
        });
        assert!(what.contains("1 more differ; the sum is right"), "{what}");
    }

    #[test]
    fn a_wrong_cold_word_and_a_wrong_read_are_refused() {
        let what = refusal(|arrays| arrays.cold[13] ^= 1);
        assert!(what.contains("cold word 1 of lane 1 is"), "{what}");
        let what = refusal(|arrays| arrays.checksums[2] ^= 1);
        assert!(what.contains("read by lane 2 is"), "{what}");
    }

    #[test]
    fn one_transaction_too_few_and_other_lanes_are_refused() {
        let mut data = data_after(|_| ());
        let verify = |data: &mut _, n| EIGENBENCH.verify(data, n).unwrap();
        assert!(verify(&mut data, TRANSACTIONS - 1).is_some());
        assert_eq!(verify(&mut data, TRANSACTIONS), None);
        let plan = data.plan;
        let other = Arrays::replay(&plan, LANES + 1, TRANSACTIONS);
        assert!(other.difference(&data.expected.unwrap().1).is_some());
    }

    #[test]
    fn data_that_was_made_for_no_lanes_is_refused() {
        let mut data = EIGENBENCH.prepare(&Cpu::new(), 7, 1).unwrap();
        assert!(EIGENBENCH.verify(&mut data, 1).unwrap().is_some());
    }
}
