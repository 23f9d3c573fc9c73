//! Alternatives on the CPU: random transactions with nested `or_else`s agree
//! with a model, operation by operation, under every algorithm; and those that
//! wait are woken by a change of what either alternative has read.
#![cfg(feature = "host")]

mod common;

use common::{CpuTx, array, capacity, config, under_all};
use std::time::Duration;
use stm_core::algorithm::Algorithm;
use stm_core::host::{Buffer, Cpu, Error, Launch, Statistics, Stm, StmConfig, Sums};
use stm_core::internal::algorithm::{Cells, Table, Versioned};
use stm_core::internal::lane::cpu::CpuLane;
use stm_core::{Action, Lane, StmRef, TArray, TSums, Tx, TxResult, View};

const WORDS: u64 = 30;
const ROWS: u64 = 5;
const COLUMNS: u32 = 3;

/// The steps of a `SplitMix64` generator.
struct Chance(u64);

impl Chance {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % n
    }
}

/// What memory should hold, as the transaction sees it.
#[derive(Clone, PartialEq, Debug)]
struct Model {
    words: [u64; WORDS as usize],
    sums: [u32; (ROWS * COLUMNS as u64) as usize],
    /// Actions deferred until the commit, and executed after an undone alternative.
    commits: u64,
    aborts: u64,
}

struct P<A: Algorithm> {
    stm: StmRef<A>,
    words: A::Array<u64>,
    sums: TSums<u32>,
    counts: TArray<u64>,
    seed: u64,
}

impl<A: Algorithm> P<A> {
    /// Makes some random operations, and checks what each finds.
    fn some<L: Lane>(
        &self,
        tx: &mut Tx<'_, L, A>,
        chance: &mut Chance,
        model: &mut Model,
        depth: u32,
    ) -> TxResult<()> {
        for _ in 0..=chance.below(8) {
            let i = chance.below(WORDS);
            let (row, column) = (chance.below(ROWS), chance.below(COLUMNS.into()) as u32);
            let sum = (row * u64::from(COLUMNS)) as usize + column as usize;
            match chance.below(if depth < 3 { 11 } else { 9 }) {
                0..3 => {
                    assert_eq!(tx.read(&self.words, i)?, model.words[i as usize]);
                }
                3..5 => {
                    let value = chance.below(1 << 40);
                    tx.write(&self.words, i, value)?;
                    model.words[i as usize] = value;
                }
                5 => {
                    let k = (i + 1) % WORDS;
                    let found = tx.read_many(&self.words, [i, k])?;
                    assert_eq!(found, [model.words[i as usize], model.words[k as usize]]);
                    tx.write_many(&self.words, [i, k], [found[1], found[0] + 1], 2)?;
                    model.words[i as usize] = found[1];
                    model.words[k as usize] = found[0] + 1;
                }
                6 => {
                    tx.add(&self.sums, row, column, 3)?;
                    model.sums[sum] += 3;
                }
                7 => assert_eq!(tx.read_sum(&self.sums, row, column)?, model.sums[sum]),
                8 => {
                    tx.at_commit(Action::add(&self.counts, 0, 1))?;
                    model.commits += 1;
                }
                _ => self.either(tx, chance, model, depth + 1)?,
            }
        }
        Ok(())
    }

    /// Makes two alternatives, of which the first may retry at its end.
    fn either<L: Lane>(
        &self,
        tx: &mut Tx<'_, L, A>,
        chance: &mut Chance,
        model: &mut Model,
        depth: u32,
    ) -> TxResult<()> {
        let before = model.clone();
        let shared = std::cell::RefCell::new((chance, model));
        tx.or_else(
            |tx| {
                let (chance, model) = &mut *shared.borrow_mut();
                tx.at_abort(Action::add(&self.counts, 1, 1))?;
                self.some(tx, chance, model, depth)?;
                tx.read(&self.words, 0)?;
                match chance.below(2) {
                    0 => tx.retry(),
                    _ => Ok(()),
                }
            },
            |tx| {
                let (chance, model) = &mut *shared.borrow_mut();
                let aborts = model.aborts;
                **model = before;
                model.aborts = aborts + 1;
                self.some(tx, chance, model, depth)
            },
        )
    }
}

fn run_random<A: Algorithm>(lane: &CpuLane<'_>, p: &P<A>) {
    let mut chance = Chance(p.seed);
    let mut model = Model {
        words: [7; WORDS as usize],
        sums: [0; (ROWS * COLUMNS as u64) as usize],
        commits: 0,
        aborts: 0,
    };
    for _ in 0..6 {
        let before = model.clone();
        let end = p.stm.atomically(lane, |tx| {
            model = before.clone();
            for i in 0..WORDS {
                assert_eq!(tx.read(&p.words, i)?, model.words[i as usize]);
            }
            p.some(tx, &mut chance, &mut model, 0)
        });
        assert_eq!(end, Ok(()));
    }
    for (i, &value) in model.words.iter().enumerate() {
        assert_eq!(p.words.peek(lane, i as u64), Some(value));
    }
    assert_eq!(p.counts.peek(lane, 0), Some(model.commits));
}

/// Launches a kernel on words of 7, and returns its statistics and the words that it leaves.
fn go<A: Algorithm>(
    kernel: impl Fn(&CpuLane<'_>, &P<A>),
    shape: Launch,
    config: StmConfig,
    words: usize,
    seed: u64,
) -> Result<(Statistics, Vec<u64>), Error> {
    let cpu = Cpu::new();
    let config = StmConfig {
        time_limit: Some(Duration::from_mins(2)),
        ..config
    };
    let mut stm = Stm::new(&cpu, shape, config)?;
    let words = array::<A, u64>(&vec![7; words], "words");
    let sums = Sums::zeroed(&cpu, ROWS as usize, COLUMNS, "sums")?;
    let counts = Buffer::<_, u64>::zeroed(&cpu, 2, "counts")?;
    let params = P {
        stm: stm.handle::<A>(),
        words: words.view::<A>(),
        sums: sums.view(),
        counts: counts.tarray(),
        seed,
    };
    let statistics = common::launch(&mut stm, |lane| kernel(lane, &params))?;
    Ok((statistics, words.download()?))
}

fn random<A: Algorithm>(seed: u64) -> Result<(), Error> {
    let config = config(|c| {
        (c.locks, c.capacity) = (16, capacity(2048, 1024));
        c.capacity.actions = 512;
    });
    let words = WORDS as usize;
    let (statistics, _) = go::<A>(run_random, Launch::new(1, 1), config, words, seed)?;
    let aborted = statistics.aborted();
    assert_eq!(aborted, 0, "it conflicts with itself: {statistics:?}");
    Ok(())
}

#[test]
fn random_alternatives_agree_with_a_model() {
    under_all!(A => for seed in 0..300 {
        random::<A>(seed).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    });
    // With all entries in the logs.
    for seed in 0..300 {
        random::<Versioned<Cells, 0>>(seed).unwrap();
        random::<Versioned<Table, 0>>(seed).unwrap();
    }
}

/// Transaction 0 waits for either of two words; transaction 1 writes one.
fn wake<A: Algorithm>(lane: &CpuLane<'_>, p: &P<A>) {
    let take = |tx: &mut CpuTx<'_, '_, A>, i: u64| {
        // It must be undone.
        tx.write(&p.words, 2, 100 + i)?;
        match tx.read(&p.words, i)? {
            7 => tx.retry(),
            found => tx.write(&p.words, 3, found),
        }
    };
    p.stm.for_each(lane, 0..2, |tx, i| {
        if i == 0 {
            tx.or_else(|tx| take(tx, 0), |tx| take(tx, 1))
        } else {
            tx.write(&p.words, p.seed, 9)
        }
    });
}

#[test]
fn a_transaction_that_waits_is_woken_by_what_either_alternative_has_read() {
    under_all!(A => for which in 0..2 {
        let mut launch = Launch::new(2, 1);
        launch.cooperative = true;
        let (_, words) = go::<A>(wake, launch, StmConfig::default(), 4, which).unwrap();
        assert_eq!((words[2], words[3]), (100 + which, 9));
    });
}
