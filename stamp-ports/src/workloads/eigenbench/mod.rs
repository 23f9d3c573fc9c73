//! `EigenBench`: every characteristic of a transaction, each set alone.
//!
//! Afterwards the host replays all transactions. Additions to the hot array commute, so each of its words is
//! known whatever the order. The mild and the cold array have a part for each lane, and a lane runs its
//! transactions in the order of their numbers: so every word is known as well, and with them the checksum
//! over all that the lane has read of its own parts.

use crate::workloads::prelude::*;
use crate::workloads::workload::Accesses as SharedAccesses;
use std::cell::Cell;
use stm_kernels::eigenbench::floor::{CriticalSection, Floor};
use stm_kernels::eigenbench::{
    Accesses, BATCH, Eigenbench as EigenbenchKernel, EigenbenchPlan, EigenbenchUpdates,
    EigenbenchWork, STATIC_WORDS, checksum,
};

sizes! {
    /// By default as in Table 1 of the paper, with the fewest of its 1 M to 64 M shared words. The options are
    /// named as in `EigenBench`'s paper: hot is shared, mild is a lane's own but transactional, cold is a
    /// lane's own and plain. The short help has one line for an option.
    Eigenbench, options of "eigenbench" {
        hot_words: u32 = 1 << 20, count "Words of the hot array (A1)" ["1M"],
            long "Words of the hot array, which all lanes share (A1)",
            when Occasion::Quick => 64 << 10;
        hot_reads: u32 = 32, count "Hot reads (R1)" ["32"],
            long "Hot words that a transaction reads (R1)";
        hot_writes: u32 = 32, count "Hot writes (W1)" ["32"],
            long "Hot words that it adds to: those read, then further ones (W1)";
        mild_words: u32 = 256, count "Words of a mild array (A2)" ["256"],
            long "Words of each lane's mild array (A2)";
        mild_reads: u32 = 0, count "Mild reads (R2)" ["0"],
            long "Mild words that a transaction reads (R2)";
        mild_writes: u32 = 0, count "Mild writes (W2)" ["0"],
            long "Mild words that it adds to: those read, then further ones (W2)";
        cold_words: u32 = 256, count "Words of a cold array (A3)" ["256"],
            long "Words of each lane's cold array, accessed plainly (A3)";
        cold_reads: u32 = 0, count "Cold reads inside (R3i)" ["0"],
            long "Cold reads inside a transaction (R3i)";
        cold_writes: u32 = 0, count "Cold writes inside (W3i)" ["0"],
            long "Cold writes inside a transaction (W3i)";
        cold_reads_outside: u32 = 0, count "Cold reads between (R3o)" ["0"],
            long "Cold reads between two transactions (R3o)";
        cold_writes_outside: u32 = 0, count "Cold writes between (W3o)" ["0"],
            long "Cold writes between two transactions (W3o)";
        nops: u32 = 0, count "Arithmetic steps inside" ["0"],
            long "Steps of arithmetic inside a transaction";
        nops_outside: u32 = 0, count "Arithmetic steps between" ["0"],
            long "Steps of arithmetic between two transactions";
        /// How many accesses in a hundred repeat an earlier address of the transaction.
        locality_percent: u32 = 0, json "locality_percent", option
            /// Repeated addresses in % (lct) [default: 0]
            ///
            /// Accesses that repeat an earlier address of the transaction, in per cent (lct) [default: 0]
            #[arg(long, value_name = "P", value_parser = parse_percent::<0>)]
            locality;
        form: Form = Form::Dynamic, by |_, shared| Form::given(shared);
    } takes [transactions, is_static]
}

impl Eigenbench {
    const fn plan(&self, seed: u64) -> EigenbenchPlan {
        const fn accesses(reads: u32, writes: u32) -> Accesses {
            Accesses { reads, writes }
        }
        EigenbenchPlan {
            seed,
            hot_words: self.hot_words,
            mild_words: self.mild_words,
            cold_words: self.cold_words,
            hot: accesses(self.hot_reads, self.hot_writes),
            mild: accesses(self.mild_reads, self.mild_writes),
            cold_inside: accesses(self.cold_reads, self.cold_writes),
            cold_outside: accesses(self.cold_reads_outside, self.cold_writes_outside),
            nops_inside: self.nops,
            nops_outside: self.nops_outside,
            locality_percent: self.locality_percent,
        }
    }

    fn is_hot_alone(&self) -> bool {
        let p = self.plan(0);
        let others = [p.mild, p.cold_inside, p.cold_outside];
        others.iter().all(|accesses| accesses.is_empty())
    }

    fn sets(&self) -> Capacity {
        // Each array's last batch is filled up.
        let batches = |accesses: Accesses| {
            let words = accesses.words().checked_next_multiple_of(BATCH as u32);
            words.unwrap_or(u32::MAX)
        };
        let EigenbenchPlan { hot, mild, .. } = self.plan(0);
        let reads = batches(hot).saturating_add(batches(mild));
        let writes = hot.writes.saturating_add(mild.writes);
        // A set without an entry is not accepted, even if none is used.
        sets(reads.max(1), writes.max(1), 0)
    }
}

impl Sizes for Eigenbench {
    fn facts(&self, _: u64) -> Facts {
        let p = self.plan(0);
        let (words, writes) = (f64::from(p.hot.words()), f64::from(p.hot.writes));
        let sizes = [p.hot_words, p.hot.reads, p.hot.writes];
        Facts {
            summary: quantities(sizes, ["hot word", "read", "write"]) + " a transaction",
            form: self.form,
            capacity: self.sets(),
            shared_words: p.hot_words.into(),
            is_for_lanes: true,
            verifies: Covers::FinalState.that(
                "every hot word is the sum of all additions to it, which commute; words of a \
                 lane's own and what it read of them",
            ),
            accesses: (self.is_hot_alone() && p.locality_percent == 0)
                .then(|| SharedAccesses::of(words, writes, p.hot_words)),
            ..Facts::of(self.named())
        }
    }

    fn check(&self, _transactions: u64) -> Result<()> {
        let (p, capacity, words) = (self.plan(0), self.sets(), STATIC_WORDS as u32);
        let is_static = self.is_hot_alone() && (p.hot.reads, p.hot.writes) == (words, words);
        refuse! {
            p.hot.is_empty() && p.mild.is_empty() =>
                "without reads and writes a transaction has nothing to do: give --hot-reads, \
                 --hot-writes, --mild-reads or --mild-writes 1 or more";
            self.form.is_static() && !(is_static && p.nops_inside == 0 && p.nops_outside == 0) =>
                "--static has {STATIC_WORDS} hot reads and writes, nothing else: leave --static out, \
                 or the options that ask for other accesses or arithmetic";
            capacity.reads.max(capacity.writes) > SET_WORDS_MAX =>
                "{} words by --hot-reads or --hot-writes and {} by --mild-reads or --mild-writes \
                 are too many: a transaction accesses {SET_WORDS_MAX} at most",
                p.hot.words(), p.mild.words();
        }
        for (array, words, at, Accesses { reads, writes }) in [
            ("hot", p.hot_words, "", p.hot),
            ("mild", p.mild_words, "", p.mild),
            ("cold", p.cold_words, "", p.cold_inside),
            ("cold", p.cold_words, "-outside", p.cold_outside),
        ] {
            for (what, n) in [("reads", reads), ("writes", writes)] {
                refuse! {
                    n > 0 && words == 0 =>
                        "--{array}-words 0 leaves --{array}-{what}{at} {n} nothing to access: give 1 or more";
                }
            }
        }
        Ok(())
    }
}

data! {
    pub Data of Eigenbench: |of, device, MadeFor { seed, lanes, .. }| {
        let plan = of.plan(seed);
        let hot = u64::from(plan.hot_words);
        let (of_mild, of_cold) = own_words(&plan);
        let each = 4 * (of_mild + of_cold + 1);
        let bytes = lanes.saturating_mul(each).saturating_add(4 * hot);
        let fix = "use fewer --hot-words, --mild-words, --cold-words, --blocks or --threads";
        check_memory(device, "eigenbench", bytes, bytes.saturating_mul(2), fix)?;
    }
    plan: EigenbenchPlan = plan;
    lanes: u64 = lanes;
    hot: TxArray<D, u32> = zeros(device, hot, "the hot array")?, accessed;
    mild: TxArray<D, u32> = zeros(device, lanes * of_mild, "the mild array")?, accessed;
    cold: Buffer<D, u32> = Buffer::zeroed(device, (lanes * of_cold) as usize, "the cold array")?;
    checksums: Buffer<D, u32> = Buffer::zeroed(device, lanes as usize, "the checksums")?, cleared;
    expected: Expectation<Arrays> = None;
}

impl<D: Device> Data<D> {
    fn work<A: Algorithm>(&self, transactions: u64) -> EigenbenchWork<A> {
        views! { self => EigenbenchWork {
            hot by A, mild by A, cold, checksums; transactions, plan: self.plan
        } }
    }
}

impl Workload for Eigenbench {
    type Data<D: Device> = Data<D>;

    fn contenders<D: Device + 'static>(&self) -> Vec<Contender<'_, D>> {
        let uses = Uses::own(|_: &Self, data: &Data<D>, n| data.work::<Cgl>(n));
        let both = |a: Accesses| f64::from(a.reads) + f64::from(a.writes);
        let plan = self.plan(0);
        let all = [plan.hot, plan.mild, plan.cold_inside, plan.cold_outside];
        let accesses = ("reads and writes", all.map(both).iter().sum());
        vec![
            uses.open::<Floor>(self, UNSYNCHRONISED, accesses),
            uses.critical_section::<CriticalSection>(self, accesses),
        ]
    }

    fn clear<D: Device>(&self, _data: &mut Data<D>) -> Result<()> {
        Ok(()) // what the words hold changes nothing in the work
    }

    fn reset<D: Device>(&self, data: &mut Data<D>) -> Result<()> {
        let initial = Arrays::initial(&data.plan, data.lanes);
        data.hot.upload(&initial.hot)?;
        data.mild.upload(&initial.mild)?;
        data.cold.upload(&initial.cold)?;
        data.clear()
    }

    fn verify<D: Device>(&self, data: &mut Data<D>, transactions: u64) -> Result<Observed> {
        let (plan, lanes) = (data.plan, data.lanes);
        let replay = || Arrays::replay(&plan, lanes, transactions);
        let expected = expected(&mut data.expected, transactions, replay);
        let found = Arrays {
            hot: data.hot.download()?,
            mild: data.mild.download()?,
            cold: data.cold.download()?,
            checksums: data.checksums.download()?,
        };
        found.check(expected)?;
        Ok(Observed::new())
    }

    kernels! {
        of, data, run: match of.form;
        Form::Dynamic => EigenbenchKernel<A>, run.on(data.work(run.transactions));
        Form::Static | Form::Wide => EigenbenchUpdates<A>, run.on(data.work(run.transactions));
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Arrays {
    hot: Vec<u32>,
    mild: Vec<u32>,
    cold: Vec<u32>,
    checksums: Vec<u32>,
}

/// Words of a lane's mild and cold part that are accessed.
fn own_words(plan: &EigenbenchPlan) -> (u64, u64) {
    let some = |of: &[Accesses], words: u32| {
        let none = of.iter().all(|accesses| accesses.is_empty());
        if none { 0 } else { words.into() }
    };
    let cold = [plan.cold_inside, plan.cold_outside];
    let mild = some(&[plan.mild], plan.mild_words);
    (mild, some(&cold, plan.cold_words))
}

impl Arrays {
    fn initial(plan: &EigenbenchPlan, lanes: u64) -> Self {
        let (seed, (mild, cold)) = (plan.seed, own_words(plan));
        Self {
            hot: drawn(seed, plan.hot_words.into(), u32::MAX),
            mild: drawn(seed, lanes * mild, u32::MAX - 1),
            cold: drawn(seed, lanes * cold, u32::MAX - 2),
            checksums: vec![0; lanes as usize],
        }
    }

    fn replay(plan: &EigenbenchPlan, lanes: u64, transactions: u64) -> Self {
        let mut arrays = Self::initial(plan, lanes);
        let hot = SharedWords::new(std::mem::take(&mut arrays.hot));
        in_ranges(transactions, |range| {
            for i in range {
                let sequence = plan.transaction(i).hot();
                for k in 0..plan.hot.writes {
                    hot.add(sequence.word(k, plan.hot_words), sequence.amount(k));
                }
            }
        });
        arrays.hot = hot.into_words();
        for i in 0..transactions {
            arrays.run_own(plan, i, (i % lanes) as usize);
        }
        arrays
    }

    fn run_own(&mut self, plan: &EigenbenchPlan, i: u64, lane: usize) {
        let transaction = plan.transaction(i);
        let mut found = 0u32;
        let mild = transaction.mild();
        let (mild_words, cold_words) = own_words(plan);
        let first = lane * mild_words as usize;
        for k in 0..plan.mild.words() {
            let word = &mut self.mild[first + mild.word(k, plan.mild_words) as usize];
            found = found.wrapping_add(*word);
            if k < plan.mild.writes {
                *word = word.wrapping_add(mild.amount(k));
            }
        }
        let words = cold_words as usize;
        let part = &mut self.cold[lane * words..][..words];
        let part = Cell::from_mut(part).as_slice_of_cells();
        let store = |word: u32, value| part[word as usize].set(value);
        let load = |word: u32| part[word as usize].get();
        let cold = |sequence: stm_kernels::eigenbench::Sequence, accesses, nops| {
            sequence.private_work(accesses, plan.cold_words, nops, store, load)
        };
        let (inside, outside) = (transaction.cold_inside(), transaction.cold_outside());
        let inside = cold(inside, plan.cold_inside, plan.nops_inside);
        let outside = cold(outside, plan.cold_outside, plan.nops_outside);
        let of_lane = &mut self.checksums[lane];
        *of_lane = checksum(*of_lane, found.wrapping_add(inside), outside);
    }

    fn check(&self, expected: &Self) -> Result<()> {
        let lanes = self.checksums.len();
        wrong! {
            lanes != expected.checksums.len() =>
                "there are {lanes} lanes, not {}", expected.checksums.len();
        }
        let of_lane = |what: &'static str, words: &[u32]| {
            let part = (words.len() / lanes.max(1)).max(1);
            move |at, word| format!("{what} word {} of lane {} is {word}", at % part, at / part)
        };
        let hot = |at, word| format!("hot word {at} is {word}");
        let read = |lane, sum| format!("the checksum of what was read by lane {lane} is {sum}");
        same(hot, &self.hot, &expected.hot, sum)?;
        same(of_lane("mild", &self.mild), &self.mild, &expected.mild, sum)?;
        same(of_lane("cold", &self.cold), &self.cold, &expected.cold, sum)?;
        same(read, &self.checksums, &expected.checksums, sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::test_prelude::*;

    const EIGENBENCH: Eigenbench = Eigenbench {
        hot_words: 100,
        hot_reads: 6,
        hot_writes: 4,
        mild_words: 10,
        mild_reads: 3,
        mild_writes: 5,
        cold_words: 12,
        cold_reads: 2,
        cold_writes: 1,
        cold_reads_outside: 1,
        cold_writes_outside: 3,
        nops: 2,
        nops_outside: 1,
        locality_percent: 25,
        form: Form::Dynamic,
    };
    const PLAN: EigenbenchPlan = EIGENBENCH.plan(7);
    const LANES: u64 = 3;
    const TRANSACTIONS: u64 = 50;

    fn right() -> Arrays {
        Arrays::replay(&PLAN, LANES, TRANSACTIONS)
    }

    #[test]
    fn any_wrong_word_is_refused_also_if_the_sum_is_right_and_other_lanes() {
        let spoils: Spoils<Data<Cpu>, 6> = spoils! {
            |data| change!(data.hot, |hot| hot[99] = hot[99].wrapping_sub(3)) =>
                "hot word 99 is | 0 more differ; the total is";
            |data| change!(data.mild, |mild| mild[29] = mild[29].wrapping_sub(3)) =>
                "mild word 9 of lane 2 is";
            |data| {
                change!(data.hot, |hot| {
                    hot[1] = hot[1].wrapping_add(5);
                    hot[2] = hot[2].wrapping_sub(5);
                });
            } => "1 more differ; the total is right";
            |data| change!(data.cold, |cold| cold[13] ^= 1) => "cold word 1 of lane 1 is";
            |data| change!(data.checksums, |sums| sums[2] ^= 1) => "read by lane 2 is";
            |data| *data = left(&EIGENBENCH, 7, ((1, 3), TRANSACTIONS - 1)) => "hot word";
        };
        spoilt(&EIGENBENCH, 7, ((1, 3), TRANSACTIONS), spoils);
        let other = Arrays::replay(&PLAN, LANES + 1, TRANSACTIONS);
        assert!(other.check(&right()).is_err());
    }
}
