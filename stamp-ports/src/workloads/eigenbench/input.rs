//! The sizes of `EigenBench`.

use crate::workloads::input::parse_percent;
use crate::workloads::prelude::*;
use crate::workloads::workload::Accesses as SharedAccesses;
use crate::workloads::workload::SET_WORDS_MAX;
use stm_kernels::eigenbench::{Accesses, BATCH, EigenbenchPlan, STATIC_WORDS};

/// The parameters: those of the plan, whose seed is replaced by the run's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Eigenbench {
    pub plan: EigenbenchPlan,
    pub form: Form,
}

const NONE: Accesses = Accesses {
    reads: 0,
    writes: 0,
};

impl Default for Eigenbench {
    /// Table 1 of the paper, with the fewest of its shared words: it has from 1 M to 64 M.
    fn default() -> Self {
        Self {
            plan: EigenbenchPlan {
                seed: 0,
                hot_words: 1 << 20,
                mild_words: 256,
                cold_words: 256,
                hot: Accesses {
                    reads: 32,
                    writes: 32,
                },
                mild: NONE,
                cold_inside: NONE,
                cold_outside: NONE,
                nops_inside: 0,
                nops_outside: 0,
                locality_percent: 0,
            },
            form: Form::Dynamic,
        }
    }
}

/// Says each size once, in the order of JSON: its option and name in JSON, its place in the plan,
/// its default in words, and what the short and the long help say of it. The options are named as
/// in `EigenBench`'s paper: hot is shared, mild is a lane's own but transactional, cold is a lane's
/// own and plain.
macro_rules! sizes_of_plan {
    ($($option:ident: $($place:ident).+, $default:literal, $short:literal, $long:literal;)*) => {
        /// The options of `eigenbench`. The first line of each is what the short help shows, which
        /// has one line for an option.
        #[derive(Args, Debug, Clone, Copy, Default)]
        #[group(skip)]
        pub struct Options {
            $(
                #[arg(
                    long, value_name = "N", value_parser = parse_count_32,
                    help = concat!($short, " [default: ", $default, "]"),
                    long_help = concat!(
                        $short, " [default: ", $default, "]\n\n", $long, " [default: ", $default, "]",
                    ),
                )]
                $option: Option<u32>,
            )*
            /// Repeated addresses in % (lct) [default: 0]
            ///
            /// Accesses that repeat an earlier address of the transaction, in per cent
            /// (lct) [default: 0]
            #[arg(long, value_name = "P", value_parser = parse_percent)]
            locality: Option<u32>,
        }

        fn given(mut plan: EigenbenchPlan, options: &Options) -> EigenbenchPlan {
            $(plan.$($place).+ = options.$option.unwrap_or(plan.$($place).+);)*
            plan.locality_percent = options.locality.unwrap_or(plan.locality_percent);
            plan
        }

        fn named(plan: &EigenbenchPlan) -> Vec<(&'static str, Value)> {
            vec![
                $((stringify!($option), plan.$($place).+.into()),)*
                ("locality_percent", plan.locality_percent.into()),
            ]
        }
    };
}

sizes_of_plan! {
    hot_words: hot_words, "1M", "Words of the hot array (A1)",
        "Words of the hot array, which all lanes share (A1)";
    hot_reads: hot.reads, "32", "Hot reads (R1)", "Hot words that a transaction reads (R1)";
    hot_writes: hot.writes, "32", "Hot writes (W1)",
        "Hot words that it adds to: those read, then further ones (W1)";
    mild_words: mild_words, "256", "Words of a mild array (A2)",
        "Words of each lane's mild array (A2)";
    mild_reads: mild.reads, "0", "Mild reads (R2)", "Mild words that a transaction reads (R2)";
    mild_writes: mild.writes, "0", "Mild writes (W2)",
        "Mild words that it adds to: those read, then further ones (W2)";
    cold_words: cold_words, "256", "Words of a cold array (A3)",
        "Words of each lane's cold array, accessed plainly (A3)";
    cold_reads: cold_inside.reads, "0", "Cold reads inside (R3i)",
        "Cold reads inside a transaction (R3i)";
    cold_writes: cold_inside.writes, "0", "Cold writes inside (W3i)",
        "Cold writes inside a transaction (W3i)";
    cold_reads_outside: cold_outside.reads, "0", "Cold reads between (R3o)",
        "Cold reads between two transactions (R3o)";
    cold_writes_outside: cold_outside.writes, "0", "Cold writes between (W3o)",
        "Cold writes between two transactions (W3o)";
    nops: nops_inside, "0", "Arithmetic steps inside",
        "Steps of arithmetic inside a transaction";
    nops_outside: nops_outside, "0", "Arithmetic steps between",
        "Steps of arithmetic between two transactions";
}

impl Input for Eigenbench {
    type Options = Options;

    const TAKES: &'static [&'static str] = &["transactions", "is_static"];

    fn new(occasion: Occasion, options: &Options, shared: &SharedOptions) -> Result<Self> {
        let sized = match occasion {
            Occasion::Quick => Self::of_hot_words(64 << 10),
            _ => Self::default(),
        };
        Ok(Self {
            plan: given(sized.plan, options),
            form: Form::given(shared).unwrap_or_default(),
        })
    }
}

impl Eigenbench {
    /// The default, with so many shared words.
    #[must_use]
    pub fn of_hot_words(hot_words: u32) -> Self {
        let plan = Self::default().plan;
        Self {
            plan: EigenbenchPlan { hot_words, ..plan },
            form: Form::Dynamic,
        }
    }

    fn sets(&self) -> Capacity {
        // Each array's last batch is filled up.
        let batches = |accesses: Accesses| {
            let words = accesses.words().checked_next_multiple_of(BATCH as u32);
            words.unwrap_or(u32::MAX)
        };
        let (hot, mild) = (self.plan.hot, self.plan.mild);
        // A set without an entry is not accepted, even if none is used.
        sets(
            batches(hot).saturating_add(batches(mild)).max(1),
            hot.writes.saturating_add(mild.writes).max(1),
            0,
        )
    }
}

impl Sizes for Eigenbench {
    fn facts(&self, _: u64) -> Facts {
        let (p, form) = (&self.plan, self.form);
        let others = [p.mild, p.cold_inside, p.cold_outside];
        let hot_alone = others.iter().all(|accesses| accesses.is_empty());
        let (words, writes) = (f64::from(p.hot.words()), f64::from(p.hot.writes));
        Facts {
            parameters: named(p),
            summary: format!(
                "{}, {}, {} a transaction",
                of(p.hot_words.into(), "hot word"),
                of(p.hot.reads.into(), "read"),
                of(p.hot.writes.into(), "write")
            ),
            form,
            capacity: self.sets(),
            // The words of the hot array: those of the others belong to one lane each.
            shared_words: p.hot_words.into(),
            verifies: Verifies::final_state(
                "every hot word is the sum of all additions to it, which commute; words of a \
                 lane's own and what it read of them",
            ),
            accesses: (hot_alone && p.locality_percent == 0).then(|| SharedAccesses {
                reads: words,
                writes,
                validated: if p.hot.writes > 0 {
                    words - writes
                } else {
                    0.0
                },
                words: p.hot_words.into(),
            }),
            ..Facts::default()
        }
    }

    fn check(&self, _transactions: u64) -> Result<()> {
        let p = &self.plan;
        refuse! {
            p.hot.is_empty() && p.mild.is_empty() =>
                "without reads and writes a transaction has nothing to do: give --hot-reads, \
                 --hot-writes, --mild-reads or --mild-writes 1 or more";
        }
        let hot_alone = EigenbenchPlan {
            hot: Accesses {
                reads: STATIC_WORDS as u32,
                writes: STATIC_WORDS as u32,
            },
            mild: NONE,
            cold_inside: NONE,
            cold_outside: NONE,
            nops_inside: 0,
            nops_outside: 0,
            ..*p
        };
        refuse! {
            self.form.is_static() && *p != hot_alone =>
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

    fn gpu_shape(&self, algorithm: Variant, processors: u32) -> Option<(u32, u32)> {
        match algorithm {
            // More threads only stand in line for the sequence lock.
            Variant::Vbv => Some((16, 64)),
            // Without values, every old stamp aborts: fewer transactions at a time.
            Variant::TbvSorting => Some((2 * processors, 32)),
            Variant::HvSorting | Variant::HvBackoff => Some((4 * processors, 64)),
            // As many as its registers allow.
            Variant::Fast if self.form.is_static() => Some((processors, 256)),
            _ => None,
        }
    }
}
