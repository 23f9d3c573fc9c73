//! Whole transactions of real threads on the CPU: limits and the ends of launches, the gate, sums,
//! and what is specific to versions. The random programs of `verify/tests/sim` have the rest.

use crate::common::prelude::*;
use std::sync::Mutex;

/// Adds 1 to word 0 of 64 bits, and takes 1 from one of eight of 32 bits.
fn count<A: Algorithm>(tx: &mut CpuTx<'_, '_, A>, v: &Views<A>, i: u64) -> TxResult<()> {
    let n = tx.read(&v.wide, 0)?;
    tx.write(&v.wide, 0, n + 1)?;
    let m = tx.read(&v.words, i % 8)?;
    tx.write(&v.words, i % 8, m.wrapping_sub(1))
}

/// Makes a launch of [`count`], and returns its statistics and how much was counted.
fn counted<A: Algorithm>(
    transactions: u64,
    shape: Launch,
    change: impl FnOnce(&mut StmConfig),
) -> (Result<Statistics>, u64) {
    let mut world = World::<A>::new(shape, change);
    let ended = world.each(transactions, count);
    let (counted, words) = (world.wide()[0], world.words());
    let taken = words.into_iter().fold(0, u32::wrapping_sub);
    assert_eq!(u64::from(taken), counted, "{}", A::NAME);
    (ended, counted)
}

#[test]
fn no_increment_is_lost_with_one_lock_and_retries_are_bounded_when_asked() {
    under_all!(A => {
        let (ended, counted) = counted::<A>(2000, Launch::new(2, 8), |c| {
            c.locks = 1;
            c.retry_limits = RetryLimits {
                read_polls: 1, acquire_tries: 1, retries_max: 1, ..RetryLimits::DEFAULT
            };
        });
        let statistics = ended.unwrap();
        assert_eq!(statistics.commits + statistics.gave_up, 2000);
        assert_eq!(statistics.attempts, statistics.commits + statistics.aborted());
        // As warps have one lane, each attempt is a round.
        assert_eq!(statistics.rounds, statistics.attempts);
        assert_eq!(counted, statistics.commits, "what was given up had an effect, or a commit none");
    });
}

#[test]
fn threads_that_limits_leave_out_find_no_transactions() {
    under_all!(A => {
        let ran = Mutex::new(BTreeSet::new());
        let mut world = World::<A>::new(Launch::new(3, 4), |c| {
            (c.retry_limits.blocks_max, c.retry_limits.threads_max) = (2, 3);
        });
        let ended = world.each(100, |tx, v, i| {
            let lane = tx.lane();
            (ran.lock().unwrap()).insert((lane.block_index(), lane.thread_index()));
            count(tx, v, i)
        });
        assert_eq!((ended.unwrap().commits, world.wide()[0]), (100, 100));
        let ran = ran.into_inner().unwrap();
        assert!(ran.iter().all(|&(block, thread)| block < 2 && thread < 3), "{ran:?}");
    });
}

#[test]
fn a_launch_that_makes_no_progress_and_one_without_conflicts_stop_at_their_time_limit() {
    let limit = |c: &mut StmConfig| c.time_limit = Some(Duration::from_millis(40));
    // Two transactions that change what they have read, behind their own backs, so that every
    // attempt meets a conflict.
    let mut world = World::<HvSorting>::new(Launch::new(1, 2), limit);
    let ended = world.each(2, |tx, v, _| {
        tx.read(&v.words, 1)?;
        // SAFETY: an element of a live array, which lanes alone access.
        unsafe { (tx.lane()).fetch_add_relaxed_32(v.words.get(1).unwrap(), 1) };
        tx.write(&v.words, 0, 1)
    });
    assert_ends!(ended, Err(Error::Timeout { committed: 0, aborted, .. }) if aborted > 0);
    assert_eq!(world.words()[0], 0);
    // Two days of work for one thread.
    let (ended, counted) = counted::<HvSorting>(1 << 40, Launch::new(1, 1), limit);
    assert_ends!(ended, Err(Error::Timeout { committed, aborted: 0, .. }) if committed == counted);
}

/// The transaction that may end a launch whose tickets wait, and what it does beside incrementing.
const LAST: u64 = 3000;
type Last<A> = dyn Fn(&mut CpuTx<'_, '_, A>, &Views<A>) -> TxResult<()>;

/// A memory whose users draw tickets at the first conflict.
fn gate<A: Algorithm>() -> World<A> {
    let config = |c: &mut StmConfig| c.retry_limits.queue_after = 1;
    World::new(Launch::new(2, 2), config)
}

impl<A: Algorithm> World<A> {
    /// Adds to one word in transactions; each thread runs them by `atomically` if they are to be
    /// alone.
    fn add(&mut self, n: u64, alone: bool, last: &Last<A>) -> Result<Statistics> {
        let body = |tx: &mut CpuTx<'_, '_, A>, v: &Views<A>, i: u64| {
            let count = tx.read(&v.words, 0)?;
            // Another thread commits in between.
            std::thread::yield_now();
            if i == LAST {
                last(tx, v)?;
            }
            tx.write(&v.words, 0, count + 1)
        };
        self.launch(|lane, v| {
            if !alone {
                return v.stm.for_each(lane, 0..n, |tx, i| body(tx, v, i));
            }
            let mut mine = (lane.grid_thread()..n).step_by(lane.grid_threads() as usize);
            let _ = mine.try_for_each(|i| v.stm.atomically(lane, |tx| body(tx, v, i)));
        })
    }

    /// Runs launches to their end, which find nobody at the gate.
    fn goes_on(&mut self) {
        for alone in [false, true] {
            let before = self.words()[0];
            let done = self.add(2000, alone, &|_, _| Ok(())).unwrap();
            assert_eq!(done.commits, 2000, "the statistics are of one launch");
            assert_eq!(self.words()[0], before + 2000);
        }
    }
}

/// Whoever panics may have a turn, which nobody else is let in by.
#[test]
fn a_launch_that_ends_while_tickets_wait_lets_nobody_wait_and_the_next_one_finds_the_gate_free() {
    const ENDLESS: u64 = u32::MAX as u64;
    for alone in [false, true] {
        let mut gate = gate::<Fast>();
        let done = gate.add(20_000, alone, &|_, _| Ok(())).unwrap();
        assert_eq!((gate.words()[0], done.turns > 0), (20_000, true));
        let fault = gate.add(ENDLESS, alone, &|tx, v| tx.write(&v.words, 77, 0));
        assert_past_the_end(fault, 77, WORDS);
        gate.goes_on();
        (gate.stm).set_time_limit(Some(Duration::from_millis(100)));
        let late = gate.add(ENDLESS, alone, &|_, _| Ok(()));
        assert_ends!(late, Err(Error::Timeout { .. }));
        gate.stm.set_time_limit(None);
        gate.goes_on();
        let panicked = gate.add(ENDLESS, alone, &|_, _| panic!("a transaction fails"));
        assert_ends!(panicked, Err(Error::Panicked { ref message, .. }) if message == "a transaction fails");
        self::gate::<FastTable>().goes_on();
    }
}

/// Adds 1 to some elements of every row; one transaction in four reads all instead, which must have
/// one value.
fn everywhere<A: Algorithm, T: Summand>(
    tx: &mut CpuTx<'_, '_, A>,
    sums: &TSums<T>,
    i: u64,
) -> TxResult<()> {
    let len = sums.row_len().min(8);
    let mut first = None;
    for row in 0..sums.rows() {
        if !i.is_multiple_of(4) {
            tx.add_many(sums, row, 0, [T::from_bits64(1); 8], len)?;
            continue;
        }
        let found: [T; 8] = tx.read_sum_many(sums, row, 0, len)?;
        for value in found[..len as usize].iter().map(|value| value.to_bits64()) {
            assert_eq!(*first.get_or_insert(value), value, "{}", A::NAME);
        }
    }
    Ok(())
}

fn summed<A: Algorithm, T: Summand + Pod>(
    (rows, row_len): (usize, u32),
    transactions: u64,
    body: impl Fn(&mut CpuTx<'_, '_, A>, &TSums<T>, u64) -> TxResult<()>,
) -> Result<Vec<T>> {
    let sums = Sums::<_, T>::zeroed(&Cpu::new(), rows, row_len, "the sums")?;
    let view = sums.view();
    let mut world = World::<A>::new(Launch::new(4, 2), |c| c.capacity = capacity(256, 256));
    let done = world.each(transactions, |tx, _, i| body(tx, &view, i))?;
    assert_eq!(done.commits, transactions);
    sums.download()
}

#[test]
fn what_threads_add_is_there_in_the_end_and_was_there_whenever_it_was_read() {
    under_all!(A => {
        assert_eq!(summed::<A, u32>((2, 3), 400, everywhere).unwrap(), [300; 6]);
        // More rows and additions than the stack has room for.
        assert_eq!(summed::<A, u64>((30, 8), 400, everywhere).unwrap(), [300; 240]);
        // A transaction that adds what it reads demands: from 0, +1, then +3 and +1 by turns.
        let found = summed::<A, u32>((1, 1), 1_001, |tx, sums, _| {
            let found = tx.read_sum(sums, 0, 0)?;
            tx.add(sums, 0, 0, if found % 2 == 0 { 1 } else { 3 })
        });
        assert_eq!(found.unwrap(), [501 + 500 * 3]);
    });
}

#[test]
fn an_addition_past_the_end_and_what_the_logs_do_not_hold_are_errors() {
    under_all!(A => {
        let past_the_end = summed::<A, u32>((3, 5), 10, |tx, sums, i| tx.add_many(sums, i % 3, 4, [1; 2], 2));
        assert_past_the_end(past_the_end, 5, 5);
        assert_past_the_end(summed::<A, u32>((3, 5), 10, |tx, sums, _| tx.add(sums, 3, 0, 1)), 3, 3);
    });
    // 8 words of 64 bits a row; 512 entries in the logs, 64 on the stack.
    for ended in [
        summed::<Fast, u64>((37, 8), 3, everywhere),
        summed::<FastTable, u64>((37, 8), 3, everywhere),
    ] {
        assert_ends!(ended, Err(Error::CapacityExceeded { .. }));
    }
}

#[test]
fn sums_are_uploaded_and_downloaded_in_every_width() {
    let cpu = Cpu::new();
    let narrow: Vec<f32> = (0..15).map(|i| i as f32 / 2.0).collect();
    let sums = Sums::from_slice(&cpu, 5, &narrow, "floats").unwrap();
    assert_eq!((sums.rows(), sums.row_len(), sums.bytes()), (3, 5, 96));
    assert_eq!(sums.download().unwrap(), narrow);
    let wide: Vec<i64> = (0..6).map(|i| i - 3).collect();
    let mut sums = Sums::from_slice(&cpu, 3, &wide, "numbers").unwrap();
    assert_eq!(sums.download().unwrap(), wide);
    sums.clear().unwrap();
    assert_eq!(sums.download().unwrap(), [0; 6]);
}

/// Reads words that it names twice, and adds 1 to each.
fn twice<A: Algorithm>(
    tx: &mut CpuTx<'_, '_, A>,
    words: &A::Array<u32>,
    together: bool,
) -> TxResult<()> {
    (0..words.len()).step_by(2).try_for_each(|k| {
        let at = [k, k + 1, k, k + 1];
        let new = tx.read_many(words, at)?.map(|v| v + 1);
        if together {
            return tx.write_many(words, at, new, 4);
        }
        (at.into_iter().zip(new)).try_for_each(|(at, v)| tx.write(words, at, v))
    })
}

fn words_named_twice<A: Algorithm>(locks: u64) {
    let mut world = World::<A>::new(Launch::new(2, 2), |c| {
        c.locks = locks;
        // Room for every word once: one that is named twice must use the same entry.
        c.capacity = capacity(WORDS as u32, WORDS as u32);
        c.retry_limits.queue_after = 4;
    });
    let done = world.each(60, |tx, v, i| twice(tx, &v.words, i % 2 == 0));
    assert_eq!(done.unwrap().commits, 60);
    assert_eq!(world.words(), [60; WORDS as usize]);
}

#[test]
fn a_word_named_twice_holds_its_last_write_in_sets_beyond_the_stack() {
    words_named_twice::<Fast>(1 << 10);
    // With eight locks, most words have the same lock as others of the transaction.
    for locks in [1 << 10, 8, 1] {
        words_named_twice::<FastTable>(locks);
    }
}

/// Adds 100 to each word by transactions of a new memory with its clock there, which does not go back.
fn continue_at(clock: u64, words: &TxArray<Cpu, u32>) {
    let config = config(|c| c.time_limit = Some(Duration::from_mins(2)));
    let mut stm = Stm::new(&Cpu::new(), Launch::new(2, 2), config).unwrap();
    stm.advance_clock(clock).unwrap();
    stm.advance_clock(clock).unwrap();
    if let Some(before) = clock.checked_sub(1) {
        let back = stm.advance_clock(before);
        assert_ends!(back, Err(Error::BadConfig { value, .. }) if value == before);
    }
    let (handle, view) = (stm.handle::<Fast>(), words.view::<Fast>());
    let done = crate::common::launch(&mut stm, |lane| {
        handle.for_each(lane, 0..100, |tx, i| twice(tx, &view, i % 2 == 0));
    });
    assert_eq!(done.unwrap().commits, 100, "from {clock}");
}

#[test]
fn versions_have_no_end_and_cells_go_from_one_memory_to_another_as_they_are() {
    let half = 1u64 << 30;
    for clock in [
        half - 50,     // the cells look newer in the middle of the launch
        half + 50,     // they do so from the start
        2 * half - 50, // the packed versions begin anew
        3 * half - 50,
        (1 << 32) - 50,
        (1 << 57) - 50,
    ] {
        let words = array::<Fast, u32>(&[0; 4], "words");
        continue_at(clock, &words);
        assert_eq!(words.download().unwrap(), [100; 4], "from {clock}");
    }
    let words = array::<Fast, u32>(&[0; 4], "words");
    // Ahead, behind, and by more than a circle of packed versions.
    for (k, clock) in [(1, 1000), (2, 0), (3, 1 << 33), (4, 5), (5, (1 << 30) + 7)] {
        continue_at(clock, &words);
        assert_eq!(words.download().unwrap(), [100 * k; 4], "at {clock}");
    }
}

#[test]
#[should_panic(expected = "the layout of a is not the one that fast wants")]
fn a_view_of_another_layout_is_refused() {
    let a = TxArray::<_, u32>::zeroed(&Cpu::new(), Layout::Cells, 4, "a").unwrap();
    let error = a.try_view::<HvSorting>().unwrap_err();
    let (what, algorithm) = ("a", "hv-sorting");
    assert_eq!(error, Error::WrongLayout { what, algorithm });
    assert_eq!(a.try_view::<Fast>().unwrap().len(), 4);
    let a = TxArray::<_, u32>::zeroed(&Cpu::new(), Layout::Plain, 4, "a").unwrap();
    a.view::<Fast>();
}
