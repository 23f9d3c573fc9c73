//! The sizes of `EigenBench`.

use crate::workloads::prelude::*;
use crate::workloads::workload::Accesses as SharedAccesses;
use stm_kernels::eigenbench::{Accesses, BATCH, EigenbenchPlan, STATIC_WORDS};

sizes! {
    /// By default as in Table 1 of the paper, with the fewest of its 1 M to 64 M shared words. The options are
    /// named as in `EigenBench`'s paper: hot is shared, mild is a lane's own but transactional, cold is a
    /// lane's own and plain. The short help has one line for an option.
    Eigenbench, options of "eigenbench" {
        hot_words: u32 = 1 << 20, json "hot_words", count hot_words "Words of the hot array (A1)" ["1M"],
            long "Words of the hot array, which all lanes share (A1)",
            when Occasion::Quick => 64 << 10;
        hot_reads: u32 = 32, json "hot_reads", count hot_reads "Hot reads (R1)" ["32"],
            long "Hot words that a transaction reads (R1)";
        hot_writes: u32 = 32, json "hot_writes", count hot_writes "Hot writes (W1)" ["32"],
            long "Hot words that it adds to: those read, then further ones (W1)";
        mild_words: u32 = 256, json "mild_words",
            count mild_words "Words of a mild array (A2)" ["256"],
            long "Words of each lane's mild array (A2)";
        mild_reads: u32 = 0, json "mild_reads", count mild_reads "Mild reads (R2)" ["0"],
            long "Mild words that a transaction reads (R2)";
        mild_writes: u32 = 0, json "mild_writes", count mild_writes "Mild writes (W2)" ["0"],
            long "Mild words that it adds to: those read, then further ones (W2)";
        cold_words: u32 = 256, json "cold_words",
            count cold_words "Words of a cold array (A3)" ["256"],
            long "Words of each lane's cold array, accessed plainly (A3)";
        cold_reads: u32 = 0, json "cold_reads", count cold_reads "Cold reads inside (R3i)" ["0"],
            long "Cold reads inside a transaction (R3i)";
        cold_writes: u32 = 0, json "cold_writes", count cold_writes "Cold writes inside (W3i)" ["0"],
            long "Cold writes inside a transaction (W3i)";
        cold_reads_outside: u32 = 0, json "cold_reads_outside",
            count cold_reads_outside "Cold reads between (R3o)" ["0"],
            long "Cold reads between two transactions (R3o)";
        cold_writes_outside: u32 = 0, json "cold_writes_outside",
            count cold_writes_outside "Cold writes between (W3o)" ["0"],
            long "Cold writes between two transactions (W3o)";
        nops: u32 = 0, json "nops", count nops "Arithmetic steps inside" ["0"],
            long "Steps of arithmetic inside a transaction";
        nops_outside: u32 = 0, json "nops_outside",
            count nops_outside "Arithmetic steps between" ["0"],
            long "Steps of arithmetic between two transactions";
        /// How many accesses in a hundred repeat an earlier address of the transaction.
        locality_percent: u32 = 0, json "locality_percent", option
            /// Repeated addresses in % (lct) [default: 0]
            ///
            /// Accesses that repeat an earlier address of the transaction, in per cent (lct) [default: 0]
            #[arg(long, value_name = "P", value_parser = parse_percent)]
            locality;
        form: Form = Form::Dynamic, by |_, shared| Form::given(shared);
    } takes [transactions, is_static]
}

impl Eigenbench {
    pub(super) const fn plan(&self, seed: u64) -> EigenbenchPlan {
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
        // A set without an entry is not accepted, even if none is used.
        sets(
            reads.max(1),
            hot.writes.saturating_add(mild.writes).max(1),
            0,
        )
    }
}

impl Sizes for Eigenbench {
    fn facts(&self, _: u64) -> Facts {
        let p = self.plan(0);
        let (words, writes) = (f64::from(p.hot.words()), f64::from(p.hot.writes));
        Facts {
            parameters: self.named(),
            summary: format!(
                "{}, {}, {} a transaction",
                of(p.hot_words.into(), "hot word"),
                of(p.hot.reads.into(), "read"),
                of(p.hot.writes.into(), "write")
            ),
            form: self.form,
            capacity: self.sets(),
            shared_words: p.hot_words.into(),
            verifies: Covers::FinalState.that(
                "every hot word is the sum of all additions to it, which commute; words of a \
                 lane's own and what it read of them",
            ),
            accesses: (self.is_hot_alone() && p.locality_percent == 0).then(|| SharedAccesses {
                reads: words,
                writes,
                validated: if writes > 0.0 { words - writes } else { 0.0 },
                words: p.hot_words.into(),
            }),
            ..Facts::default()
        }
    }

    fn check(&self, _transactions: u64) -> Result<()> {
        let p = self.plan(0);
        refuse! {
            p.hot.is_empty() && p.mild.is_empty() =>
                "without reads and writes a transaction has nothing to do: give --hot-reads, \
                 --hot-writes, --mild-reads or --mild-writes 1 or more";
        }
        let words = STATIC_WORDS as u32;
        let is_static = self.is_hot_alone() && (p.hot.reads, p.hot.writes) == (words, words);
        refuse! {
            self.form.is_static() && !(is_static && p.nops_inside == 0 && p.nops_outside == 0) =>
                "--static has {STATIC_WORDS} hot reads and writes, nothing else: leave --static out, \
                 or the options that ask for other accesses or arithmetic";
        }
        let capacity = self.sets();
        refuse! {
            capacity.reads.max(capacity.writes) > SET_WORDS_MAX =>
                "{} words by --hot-reads or --hot-writes and {} by --mild-reads or --mild-writes \
                 are too many: a transaction accesses {SET_WORDS_MAX} at most",
                p.hot.words(), p.mild.words();
        }
        let outside = p.cold_outside;
        for (array, words, option, n) in [
            ("hot", p.hot_words, "hot-reads", p.hot.reads),
            ("hot", p.hot_words, "hot-writes", p.hot.writes),
            ("mild", p.mild_words, "mild-reads", p.mild.reads),
            ("mild", p.mild_words, "mild-writes", p.mild.writes),
            ("cold", p.cold_words, "cold-reads", p.cold_inside.reads),
            ("cold", p.cold_words, "cold-writes", p.cold_inside.writes),
            ("cold", p.cold_words, "cold-reads-outside", outside.reads),
            ("cold", p.cold_words, "cold-writes-outside", outside.writes),
        ] {
            refuse! {
                n > 0 && words == 0 =>
                    "--{array}-words 0 leaves --{option} {n} nothing to access: give 1 or more";
            }
        }
        refuse! {
            p.locality_percent > 100 =>
                "--locality {} is no probability: give from 0 to 100 per cent", p.locality_percent;
        }
        Ok(())
    }
}
