//! The loop of static updates.

use crate::algorithm::contract::{Change, Owned};
use crate::algorithm::prelude::*;
use crate::array::{preassigned::TPreassigned, record::Record};
use crate::hint::each;
use crate::run::{step::Step, work::Work};
use core::ops::Range;

#[stm_core_macros::inlined]
impl<A: Algorithm> StmRef<A> {
    /// Runs a static update, a transaction whose words are known before the first is read, for each number in
    /// `range`, spread over all threads of the launch, each of which calls it with the same range. It is the
    /// shortest form and the fastest.
    ///
    /// Update `i` reads the elements `at(i)` of `array` together, passes their values to `change`,
    /// and writes what that returns to the first `W` of them; with `None` it writes nothing.
    ///
    /// # Guarantees
    /// An update takes effect as a whole, also beside dynamic ones. `change` sees values that the elements
    /// had together. It is called once in an attempt, and again only under an algorithm other than
    /// [`Fast`](crate::algorithm::Fast); `at` in every attempt. Both should only compute: elements are owned
    /// while `change` runs, and a transaction inside of it is [`Error::Nested`](crate::host::Error::Nested).
    ///
    /// # Costs
    /// Under `Fast` an update has no set and no validation: it owns all of its elements at once, and nothing
    /// can abort after that. So updates that only read the same element conflict. The other algorithms run an
    /// update as a dynamic transaction, and need sets that hold its elements.
    ///
    /// # Bad input
    /// - An index past the end is [`Error::OutOfRange`](crate::host::Error::OutOfRange).
    /// - An element may be named several times: `change` has its value at each place; the last write stays.
    /// - More than 32 elements, or more elements written than read, do not compile:
    ///
    /// ```compile_fail,E0080
    /// # use stm_core::prelude::*;
    /// #[kernel]
    /// pub fn clear(stm: &Stm, words: Cells<u32>) {
    ///     stm.update_each(0..9, words, |_| [0; 33], |_, _: [u32; 33]| Some([0; 33]));
    /// }
    /// # fn main() -> Result<(), stm_core::host::Error> {
    /// # let mut stm = Stm::on(&Cpu::new())?;
    /// # let words = stm.array("words", &[0u32; 40])?;
    /// # clear::launch(&mut stm, Launch::new(1, 1), &words)?;
    /// # Ok(()) }
    /// ```
    ///
    /// A static transaction (Shavit and Touitou 1995), or multi-word swap (Harris, Fraser and Pratt 2002).
    ///
    /// ```
    /// use stm_core::prelude::*;
    ///
    /// /// Payments between accounts.
    /// #[kernel]
    /// pub fn settle(stm: &Stm, accounts: Cells<u32>, payments: u64) {
    ///     stm.update_each(0..payments, accounts, |i| [i % 100, 100 + i % 7], |_, [a, b]| {
    ///         (a != 0).then(|| [a - 1, b + 1])
    ///     });
    /// }
    ///
    /// # #[cfg(feature = "host")] fn main() -> Result<(), stm_core::host::Error> {
    /// let mut stm = Stm::on(&Cpu::new())?;
    /// let accounts = stm.array("accounts", &[10u32; 200])?;
    /// let done = settle::launch(&mut stm, Launch::new(4, 8), &accounts, 5_000)?;
    /// assert_eq!(done.commits, 5_000); // 4,000 of them found an empty account
    /// assert_eq!(accounts.download()?[..100], [0; 100]);
    /// # Ok(()) }
    /// # #[cfg(not(feature = "host"))] fn main() {}
    /// ```
    pub fn update_each<L: Lane, T: Element, const N: usize, const W: usize>(
        &self,
        lane: &L,
        range: Range<u64>,
        array: &A::Array<T>,
        at: impl FnMut(u64) -> [u64; N],
        change: impl FnMut(u64, [T; N]) -> Option<[T; W]>,
    ) {
        let work = Update::new(*array, at, Alone(change));
        self.rounds(lane, range, Step::FREE, work, ((), ()));
    }

    /// Does [`Self::update_each`] for the updates `0..updates`, each of which has preassigned nodes
    /// ([`Self::for_each_preassigned`]): `change` also returns what the update's first `M` nodes become,
    /// which is stored before the new values. The last call of `at` before `change(i, …)` is `at(i)`. The
    /// faults are those there; so are fewer nodes for an update than `M`.
    ///
    /// ```
    /// use stm_core::TPreassigned;
    /// use stm_core::prelude::*;
    ///
    /// stm_core::record! {
    ///     /// An entry of a stack.
    ///     pub struct Entry {
    ///         /// The entry below it.
    ///         pub below: u32,
    ///     }
    /// }
    ///
    /// /// Pushes an entry onto a stack for each number.
    /// #[kernel]
    /// pub fn push(stm: &Stm, top: Cells<u32>, entries: Preassigned<Entry>) {
    ///     let pushes = entries.transactions();
    ///     stm.update_each_preassigned(pushes, top, entries, |_| [0], |i, [below]: [u32; 1]| {
    ///         Some(([i as u32 + 1], [Entry { below }]))
    ///     });
    /// }
    /// # fn main() {}
    /// ```
    pub fn update_each_preassigned<L, T, R, const N: usize, const W: usize, const M: usize>(
        &self,
        lane: &L,
        updates: u64,
        array: &A::Array<T>,
        nodes: &TPreassigned<A, R>,
        at: impl FnMut(u64) -> [u64; N],
        change: impl FnMut(u64, [T; N]) -> Option<([T; W], [R; M])>,
    ) where
        L: Lane,
        T: Element,
        R: Record,
    {
        let end = if self.claim(lane, updates, nodes, M as u32) {
            updates
        } else {
            0
        };
        let work = Update::new(*array, at, WithNodes(change, nodes));
        self.rounds(lane, 0..end, Step::FREE, work, ((), ()));
    }
}

/// Words that a closure holds: if it panics, on a machine that unwinds, they are given back.
struct Held<'h, 'a, L: Lane, A: Algorithm, T: Element, const N: usize> {
    tx: &'h Tx<'a, L, A>,
    words: &'h [WordAddress; N],
    owned: &'h Owned<T, N>,
}

impl<L: Lane, A: Algorithm, T: Element, const N: usize> Drop for Held<'_, '_, L, A, T, N> {
    fn drop(&mut self) {
        A::disown_many(self.tx, *self.words, self.owned, true, Inside);
    }
}

struct Alone<F>(F);

#[stm_core_macros::inlined]
impl<L, A, T, F, const N: usize, const W: usize> Change<L, A, T, N, W> for Alone<F>
where
    L: Lane,
    A: Algorithm,
    F: FnMut(u64, [T; N]) -> Option<[T; W]>,
{
    type Extra = ();

    fn make(&mut self, i: u64, old: [T; N]) -> Option<([T; W], ())> {
        self.0(i, old).map(|new| (new, ()))
    }

    fn init(&mut self, _: &mut Tx<'_, L, A>, _: u64, (): ()) -> TxResult<()> {
        Ok(())
    }
}

/// A closure that returns what becomes of the update's nodes as well.
struct WithNodes<'n, F, A, R>(F, &'n TPreassigned<A, R>);

#[stm_core_macros::inlined]
impl<L, A, T, R, F, const N: usize, const W: usize, const M: usize> Change<L, A, T, N, W>
    for WithNodes<'_, F, A, R>
where
    L: Lane,
    A: Algorithm,
    R: Record,
    F: FnMut(u64, [T; N]) -> Option<([T; W], [R; M])>,
{
    type Extra = [R; M];

    fn make(&mut self, i: u64, old: [T; N]) -> Option<([T; W], [R; M])> {
        self.0(i, old)
    }

    fn init(&mut self, tx: &mut Tx<'_, L, A>, i: u64, records: [R; M]) -> TxResult<()> {
        tx.init_many(&self.1.of(i), 0, records, M as u32)
    }
}

struct Update<A, V, T, I, F, const N: usize, const W: usize> {
    array: V,
    at: I,
    change: F,
    words: [WordAddress; N],
    owned: Owned<T, N>,
    new: [T; W],
    /// Whether `change` has returned no values. A closure that always returns some leaves a constant here.
    unchanged: bool,
    algorithm: PhantomData<A>,
}

impl<A, V, T: Element, I, F, const N: usize, const W: usize> Update<A, V, T, I, F, N, W> {
    #[inline(always)]
    fn new(array: V, at: I, change: F) -> Self {
        const {
            assert!(N <= 32, "update_each takes at most 32 elements");
            assert!(
                W <= N,
                "update_each writes the first of the elements that it reads"
            );
        }
        Self {
            array,
            at,
            change,
            words: [WordAddress::from_bits(0); N],
            owned: Owned::none(),
            new: [T::from_bits64(0); W],
            unchanged: false,
            algorithm: PhantomData,
        }
    }
}

#[stm_core_macros::inlined]
impl<L, A, T, I, F, const N: usize, const W: usize> Work<L, A>
    for Update<A, A::Array<T>, T, I, F, N, W>
where
    L: Lane,
    A: Algorithm,
    T: Element,
    I: FnMut(u64) -> [u64; N],
    F: Change<L, A, T, N, W>,
{
    type Result = ();

    const TURNS_TOGETHER: bool = A::OWNS;
    const SNAPSHOT: bool = !A::OWNS;

    fn begin_round(&mut self) {
        self.words = [WordAddress::from_bits(0); N];
        self.owned = Owned::none();
        self.new = [T::from_bits64(0); W];
        self.unchanged = false;
    }

    fn run(&mut self, tx: &mut Tx<'_, L, A>, i: u64) -> TxResult<()> {
        let at = (self.at)(i);
        if !A::OWNS {
            let old = tx.read_many(&self.array, at)?;
            let Some((new, extra)) = self.change.make(i, old) else {
                return Ok(());
            };
            self.change.init(tx, i, extra)?;
            each!(k < W, {
                tx.write(&self.array, at[k], new[k])?;
            });
            return Ok(());
        }
        let len = self.array.len();
        let mut past = N;
        each!(k < N, {
            if at[k] >= len {
                past = k;
            }
        });
        if past < N {
            let mut index = 0;
            each!(k < N, {
                if past == k {
                    index = at[k];
                }
            });
            tx.within(index, len)?;
        }
        each!(k < N, {
            self.words[k] = self.array.word(at[k]);
        });
        let (owned, end) = A::own_many::<L, T, N, W>(tx, self.words, Inside);
        self.owned = owned;
        if end.is_ok() {
            each!(k < N, {
                tx.observe(|_| Event::Read(self.words[k], self.owned.values[k].to_bits64()));
            });
            let held = Held {
                tx: &*tx,
                words: &self.words,
                owned: &self.owned,
            };
            let new = self.change.make(i, self.owned.values);
            core::mem::forget(held);
            match new {
                Some((new, extra)) => {
                    self.new = new;
                    // It cannot fail: `claim` has seen that there are as many nodes.
                    let _ = self.change.init(tx, i, extra);
                }
                None => self.unchanged = true,
            }
        }
        A::disown_many(tx, self.words, &self.owned, end.is_err(), Inside);
        tx.checked(end)?;
        if !self.unchanged {
            A::will_update::<L>(tx, W as u32, Inside);
            each!(k < W, {
                tx.observe(|_| Event::Write(self.words[k], self.new[k].to_bits64()));
            });
        }
        Ok(())
    }

    fn turn(&mut self, tx: &mut Tx<'_, L, A>, i: u64, awake: bool, warp: WarpCrew) -> Option<()> {
        if !A::OWNS {
            return None;
        }
        let mut words = [WordAddress::from_bits(0); N];
        let mut within = true;
        if awake {
            let (at, len) = ((self.at)(i), self.array.len());
            each!(k < N, {
                within &= at[k] < len;
            });
            each!(k < N, {
                words[k] = self.array.word(if within { at[k] } else { 0 });
            });
        }
        let makers = warp.vote(tx.lane, awake);
        if warp.vote(tx.lane, !within) != 0 {
            return None;
        }
        if awake {
            tx.clear();
            tx.observe(|tx| Event::Begin(A::now(tx)));
        }
        A::update_alone(tx, words, i, makers, warp, &mut self.change);
        Some(())
    }

    fn commit(&mut self, tx: &mut Tx<'_, L, A>, together: WarpCrew) -> TxResult<()> {
        if !A::OWNS {
            return tx.commit(together);
        }
        let new = (!self.unchanged).then_some(self.new);
        A::update_many(tx, self.words, &self.owned, new, together);
        Ok(())
    }
}
