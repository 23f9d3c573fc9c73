//! RA, random array: each transaction reads random words and adds to some of them.
//!
//! What a transaction adds depends on the seed and its number only, and additions commute: so the host
//! replays all transactions in any order and compares every word, which a lost, doubled, torn or stale update
//! changes.

use crate::workloads::prelude::*;
use stm_kernels::ra::floor::{Additions, CellsFloor, CriticalSection, Floor};
use stm_kernels::ra::{BATCH, RaParams, RaPlan, RaUpdates, RaWideUpdates, RaWork, RandomArray};

sizes! {
    /// By default, as in the paper's Table 1.
    Ra, options of "ra" {
        words: u32 = 8 << 20, count "Words of the array" ["8M"],
            when Occasion::Quick => 64 << 10, Occasion::Recording(_) => 1 << 20;
        reads: u32 = 16, count "Words that a transaction reads" ["16"];
        writes: u32 = 16, count "How many of those it writes" ["16"];
        form: Form = Form::Dynamic;
    } takes [transactions, is_static, wide] then complete
}

impl Sizes for Ra {
    fn facts(&self, _: u64) -> Facts {
        let (reads, writes) = (f64::from(self.reads), f64::from(self.writes));
        let sizes = [self.words, self.reads, self.writes];
        Facts {
            summary: quantities(sizes, ["word", "read", "write"]) + " a transaction",
            form: self.form,
            // A set without an entry is not accepted; none is used.
            capacity: sets(self.reads, self.writes.max(1), 0),
            shared_words: self.words.into(),
            verifies: Covers::FinalState
                .that("every word is the sum of all additions to it, which commute"),
            accesses: Some(Accesses::of(reads, writes, self.words)),
            ..Facts::of(self.named())
        }
    }

    fn check(&self, _transactions: u64) -> Result<()> {
        let (words, reads, writes, form) = (self.words, self.reads, self.writes, self.form);
        refuse! {
            reads == 0 => "--reads 0 leaves a transaction nothing to do: give 1 or more";
            writes > reads =>
                "--writes {writes} is more than --reads {reads}: a transaction writes words that \
                 it has read";
            words < reads =>
                "--words {words} is too few for --reads {reads}: a transaction reads distinct \
                 words";
        }
        for (option, given) in [("--reads", reads), ("--writes", writes)] {
            refuse! {
                form.is_static() && given != BATCH as u32 =>
                    "{option} {given} has no static form, which has {BATCH} reads and {BATCH} \
                     writes: leave --static or {option} out";
            }
        }
        Ok(())
    }
}

data! {
    pub Data of Ra: |of, device, MadeFor { seed, .. }| {
        let words = u64::from(of.words);
        let bytes = words * of.form.bytes();
        check_memory(device, "ra", bytes, 8 * words + bytes, "use fewer --words")?;
    }
    seed: u64 = seed;
    plan: RaPlan = of.plan(seed);
    words: Elements<D, u32> =
        Elements::new(device, (of.form, None), &of.initial(seed), "the array of ra")?, accessed;
    expected: Expectation<Vec<u32>> = None;
}

impl<D: Device> Data<D> {
    pub(crate) fn params<A: Algorithm>(&self, run: Run<A>) -> RaParams<A> {
        views! { self => RaParams {
            words by A; stm: run.stm, transactions: run.transactions, plan: self.plan
        } }
    }

    fn work<W>(&self, words: W, transactions: u64) -> RaWork<W> {
        RaWork {
            words,
            transactions,
            plan: self.plan,
        }
    }
}

impl Workload for Ra {
    type Data<D: Device> = Data<D>;

    fn contenders<D: Device + 'static>(&self) -> Vec<Contender<'_, D>> {
        let accesses = f64::from(self.reads) + f64::from(self.writes);
        let accesses = ("reads and writes", accesses);
        vec![
            words().open::<Floor>(self, UNSYNCHRONISED, accesses),
            // As wide as cells are.
            wide_words().open::<CellsFloor>(
                self,
                (Unsynchronised, "plain, 64-bit words"),
                accesses,
            ),
            words().open::<Additions>(self, (SpecialPurpose, "atomic adds"), accesses),
            words().critical_section::<CriticalSection>(self, accesses),
        ]
    }

    fn clear<D: Device>(&self, _data: &mut Data<D>) -> Result<()> {
        Ok(()) // what the words hold changes nothing in the work
    }

    fn reset<D: Device>(&self, data: &mut Data<D>) -> Result<()> {
        data.words.upload(&self.initial(data.seed))
    }

    fn verify<D: Device>(&self, data: &mut Data<D>, transactions: u64) -> Result<Observed> {
        self.compare(data, transactions, Elements::download)?;
        Ok(Observed::new())
    }

    kernels! {
        of, data, run: match of.form;
        Form::Dynamic => RandomArray<A>, data.params(run);
        Form::Static => RaUpdates<A>, run.on(data.work(data.words.view::<A>(), run.transactions));
        Form::Wide => RaWideUpdates<A>, run.on(data.work(data.words.wide::<A>(), run.transactions));
    }
}

impl Ra {
    fn complete(self, options: &Options, shared: &SharedOptions) -> Result<Self> {
        Ok(Self {
            // A transaction writes words that it has read.
            writes: options.writes.unwrap_or(self.writes.min(self.reads)),
            form: Form::of_width(shared)?,
            ..self
        })
    }

    fn plan(&self, seed: u64) -> RaPlan {
        RaPlan::new(seed, self.words, self.reads, self.writes)
    }

    /// The array before a launch.
    fn initial(&self, seed: u64) -> Vec<u32> {
        drawn(seed, self.words.into(), u32::MAX)
    }

    fn compare<D: Device>(
        &self,
        data: &mut Data<D>,
        transactions: u64,
        download: fn(&Elements<D, u32>) -> Result<Vec<u32>>,
    ) -> Result<()> {
        let (seed, found) = (data.seed, download(&data.words)?);
        let replay = || self.replay(seed, transactions);
        let expected = expected(&mut data.expected, transactions, replay);
        let word = |at, value| format!("word {at} is {value}");
        same(word, &found, expected, sum)
    }

    pub fn replay(&self, seed: u64, transactions: u64) -> Vec<u32> {
        let array = SharedWords::new(self.initial(seed));
        let plan = self.plan(seed);
        in_ranges(transactions, |range| {
            for i in range {
                let transaction = plan.transaction(i);
                for k in 0..self.writes {
                    array.add(transaction.word(k), transaction.delta(k));
                }
            }
        });
        array.into_words()
    }
}

/// The workload's own data in words of 32 bits.
fn words<D: Device + 'static>() -> Uses<Ra, Data<D>, RaWork<TArray<u32>>, D> {
    Uses {
        of: |of| Ra {
            form: Form::Dynamic,
            ..*of
        },
        ..Uses::own(|_: &Ra, data: &Data<_>, n| data.work(data.words.view::<Cgl>(), n))
    }
}

/// The same in words of 64 bits, to the low half of which amounts are added.
fn wide_words<D: Device + 'static>() -> Uses<Ra, Data<D>, RaWork<TArray<u64>>, D> {
    Uses {
        of: |of| Ra {
            form: Form::Wide,
            ..*of
        },
        verify: |of, data, transactions| of.compare(data, transactions, Elements::low_halves),
        ..Uses::own(|_: &Ra, data: &Data<_>, n| data.work(data.words.wide::<Cgl>(), n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::test_prelude::*;

    const RA: Ra = Ra {
        words: 1000,
        reads: 8,
        writes: 6,
        form: Form::Dynamic,
    };
    const SEED: u64 = 7;

    #[test]
    fn a_right_array_is_accepted_and_a_wrong_one_refused_also_if_the_total_is_right() {
        assert_eq!(sum(&RA.initial(SEED)), sum(&RA.replay(SEED, 50)));
        let spoils: Spoils<Data<Cpu>, 3> = spoils! {
            |data| change!(data.words, |words| words[999] = words[999].wrapping_add(1)) =>
                "word 999 is | 0 more | the total is";
            |data| {
                change!(data.words, |words| {
                    words[1] = words[1].wrapping_add(5);
                    words[2] = words[2].wrapping_sub(5);
                });
            } => "the total is right";
            |data| data.words.upload(&RA.replay(SEED, 49)).unwrap() => "more differ";
        };
        spoilt(&RA, SEED, ((2, 3), 50), spoils);
    }

    #[test]
    fn checks_after_launches_cover_the_array() {
        let cpu = Cpu::new();
        let mut data = RA.prepare(&cpu, MadeFor::new(SEED, 1)).unwrap();
        let mut stm = Stm::new(&cpu, Launch::new(1, 1), StmConfig::default()).unwrap();
        for _ in 0..2 {
            for accessed in data.accessed() {
                accessed.watch(&mut stm);
            }
        }
        assert_eq!(stm.watched(), 1);
        drop(data);
        assert_eq!(stm.watched(), 0);
    }
}
