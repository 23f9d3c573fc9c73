//! RA, random array: the host's side.
//!
//! What a transaction adds depends on the seed and its number only, and
//! additions commute: so the host replays all transactions in any order and
//! compares every word. A lost or doubled update changes a word; a torn or
//! stale one changes it too.

use crate::error::{Error, Result};
use crate::workload::{Launches, Workload, check_memory, words_of};
use stm_core::algorithm::Algorithm;
use stm_core::host::{Device, Shared};
use stm_core::logs::Capacity;
use stm_core::view::Layout;
use stm_core::word::WordAddress;
use stm_core::{Kernel, StmRef};
use stm_kernels::draw::draw;
use stm_kernels::ra::{RaParams, RaPlan, RandomArray};

/// The random array's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ra {
    /// Words of the array.
    pub words: u32,
    /// Words that a transaction reads.
    pub reads: u32,
    /// How many of those it writes.
    pub writes: u32,
}

/// The array, and what it must become.
pub struct RaData<D: Device> {
    seed: u64,
    plan: RaPlan,
    array: Shared<D, u32>,
    /// The array after so many transactions, kept for repeated runs.
    expected: Option<(u64, Vec<u32>)>,
}

impl Ra {
    /// What the transactions do; the parameters have been checked.
    pub(crate) fn plan(&self, seed: u64) -> RaPlan {
        RaPlan::new(seed, self.words, self.reads, self.writes)
    }

    /// The array before a launch: a number drawn for each word, so that a
    /// store to a wrong word shows.
    pub(crate) fn initial(&self, seed: u64) -> Vec<u32> {
        (0..u64::from(self.words))
            .map(|w| draw(seed, w, u32::MAX) as u32)
            .collect()
    }

    /// The array after all of `transactions`.
    pub fn replay(&self, seed: u64, transactions: u64) -> Vec<u32> {
        let mut array = self.initial(seed);
        let plan = self.plan(seed);
        for i in 0..transactions {
            let transaction = plan.transaction(i);
            for k in 0..self.writes {
                let word = &mut array[transaction.word(k) as usize];
                *word = word.wrapping_add(transaction.delta(k));
            }
        }
        array
    }
}

/// What is wrong with `found`, if anything.
pub fn difference(found: &[u32], expected: &[u32]) -> Option<String> {
    let sum = |words: &[u32]| words.iter().fold(0u32, |sum, w| sum.wrapping_add(*w));
    let mut wrong = found
        .iter()
        .zip(expected)
        .enumerate()
        .filter(|(_, (f, e))| f != e);
    let (first, (f, e)) = wrong.next()?;
    let more = wrong.count();
    let (sum_found, sum_expected) = (sum(found), sum(expected));
    let total = if sum_found == sum_expected {
        "the total is right".to_owned()
    } else {
        format!("the total is {sum_found}, not {sum_expected}")
    };
    Some(format!(
        "word {first} is {f}, not {e}, and {more} more words differ; {total}"
    ))
}

impl<D: Device> std::fmt::Debug for RaData<D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RaData").finish_non_exhaustive()
    }
}

impl Workload for Ra {
    type Data<D: Device> = RaData<D>;

    fn name(&self) -> &'static str {
        "ra"
    }

    fn parameters(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("words", self.words.into()),
            ("reads", self.reads.into()),
            ("writes", self.writes.into()),
        ]
    }

    fn capacity(&self) -> Capacity {
        Capacity {
            reads: self.reads,
            // A set without an entry is not accepted; none is used.
            writes: self.writes.max(1),
        }
    }

    fn shared_words(&self, _transactions: u64) -> u64 {
        self.words.into()
    }

    fn check(&self, _transactions: u64) -> Result<()> {
        let Self {
            words,
            reads,
            writes,
        } = *self;
        if reads == 0 {
            return Err(Error::Usage(
                "--reads 0 leaves a transaction nothing to do: give 1 or more".into(),
            ));
        }
        if writes > reads {
            return Err(Error::Usage(format!(
                "--writes {writes} is more than --reads {reads}: a transaction writes words that it has read"
            )));
        }
        if words < reads {
            return Err(Error::Usage(format!(
                "--words {words} is too few for --reads {reads}: a transaction reads distinct words"
            )));
        }
        Ok(())
    }

    fn prepare<D: Device>(
        &self,
        device: &D,
        seed: u64,
        _transactions_max: u64,
    ) -> Result<RaData<D>> {
        let bytes = u64::from(self.words) * 4;
        check_memory(device, "ra", bytes, 2 * bytes, "use fewer --words")?;
        Ok(RaData {
            seed,
            plan: self.plan(seed),
            array: Shared::zeroed(
                device,
                Layout::Plain,
                self.words as usize,
                "the array of ra",
            )?,
            expected: None,
        })
    }

    fn initial<D: Device>(&self, data: &RaData<D>) -> Result<Vec<(WordAddress, u64)>> {
        words_of(&data.array)
    }

    fn arrange<D: Device, A: Algorithm>(&self, data: &mut RaData<D>) -> Result<()> {
        Ok(data.array.arrange::<A>()?)
    }

    fn clear<D: Device>(&self, _data: &mut RaData<D>) -> Result<()> {
        Ok(()) // what the words hold changes nothing in the work
    }

    fn reset<D: Device>(&self, data: &mut RaData<D>) -> Result<()> {
        Ok(data.array.upload(&self.initial(data.seed))?)
    }

    fn verify<D: Device>(&self, data: &mut RaData<D>, transactions: u64) -> Result<Option<String>> {
        if data
            .expected
            .as_ref()
            .is_none_or(|(n, _)| *n != transactions)
        {
            data.expected = None; // before the next is made: memory
            data.expected = Some((transactions, self.replay(data.seed, transactions)));
        }
        let found = data.array.download()?;
        let expected = data.expected.as_ref().map_or(&[][..], |(_, e)| e);
        Ok(difference(&found, expected))
    }
}

impl<A: Algorithm> Launches<A> for Ra
where
    RandomArray<A>: Kernel<Params = RaParams<A>>,
{
    type Kernel = RandomArray<A>;

    fn params<D: Device>(
        &self,
        data: &RaData<D>,
        stm: StmRef<A>,
        transactions: u64,
    ) -> RaParams<A> {
        RaParams {
            stm,
            words: data.array.view::<A>(),
            transactions,
            plan: data.plan,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stm_core::host::Cpu;

    const RA: Ra = Ra {
        words: 1000,
        reads: 8,
        writes: 6,
    };

    /// Data as a right run of 50 transactions leaves it.
    fn data_after(transactions: u64) -> RaData<Cpu> {
        let mut data = RA.prepare(&Cpu::new(), 7, transactions).unwrap();
        data.array
            .upload(&RA.replay(data.seed, transactions))
            .unwrap();
        data
    }

    #[test]
    fn a_right_result_is_accepted_and_conserves_the_total() {
        let mut data = data_after(50);
        assert_eq!(RA.verify(&mut data, 50).unwrap(), None);
        let sum = |a: &[u32]| a.iter().fold(0u32, |s, w| s.wrapping_add(*w));
        let after = RA.replay(data.seed, 50);
        assert_eq!(sum(&RA.initial(data.seed)), sum(&after));
        assert_ne!(RA.initial(data.seed), after);
    }

    #[test]
    fn one_word_off_by_one_is_refused() {
        let mut data = data_after(50);
        let mut array = data.array.download().unwrap();
        array[999] = array[999].wrapping_add(1);
        data.array.upload(&array).unwrap();
        let what = RA.verify(&mut data, 50).unwrap().unwrap();
        assert!(
            what.contains("word 999 is") && what.contains("0 more"),
            "{what}"
        );
        assert!(what.contains("the total is"), "{what}");
    }

    #[test]
    fn an_amount_moved_between_two_words_is_refused_though_the_total_is_right() {
        let mut data = data_after(50);
        let mut array = data.array.download().unwrap();
        array[1] = array[1].wrapping_add(5);
        array[2] = array[2].wrapping_sub(5);
        data.array.upload(&array).unwrap();
        let what = RA.verify(&mut data, 50).unwrap().unwrap();
        assert!(what.contains("the total is right"), "{what}");
    }

    #[test]
    fn one_transaction_too_few_is_refused() {
        let mut data = data_after(49);
        assert!(RA.verify(&mut data, 50).unwrap().is_some());
        // And the other way about, which also replaces the kept expectation.
        assert_eq!(RA.verify(&mut data, 49).unwrap(), None);
    }
}
