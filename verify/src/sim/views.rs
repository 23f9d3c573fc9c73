//! Weak memory: which stores a load may return.
//!
//! The model is C11's without load buffering: modification order is the order in which stores
//! execute, and what a lane may still see follows from happens-before, kept as vector clocks.
//!
//! - A lane's *view* says, for each lane, up to which of its times everything
//!   it did happens before now. A store carries its lane and that lane's time.
//! - A *released view* travels with a store: the writer's view, for a release
//!   store; the view at its last fence, for a relaxed one; and for a
//!   read-modify-write that joined with what it read (a release sequence).
//! - An acquire load joins the released view into its lane's view; a relaxed
//!   load into what the lane's next fence will join.
//! - A lane's time advances whenever its view is released, so that what it does
//!   afterwards is not taken for released.
//!
//! A load may return any store not older than its *floor*: the newest store that happens before the
//! load, or that some load read which happens before it (coherence of reads). Words never written
//! in this launch have no history, and cost nothing. A load may return one of the last [`KEPT`]
//! stores; older ones are taken to be seen by all, which only forbids behaviours. The oracle, which
//! samples the clock for the recorder, does not take them so (`old.rs`). Weak loads may also be
//! answered by a first-level cache (`old.rs`).

mod old;

use super::space::{Found, Space};
use crate::rng::Rng;
use old::Caches;
use std::collections::VecDeque;

/// Makes a vector that is kept from launch to launch have so many equal elements.
fn refill<T: Clone>(all: &mut Vec<T>, len: usize, value: T) {
    all.clear();
    all.resize(len, value);
}

/// Stores of a word that a load may return.
const KEPT: usize = 8;

/// No view, no readers: row 0 is a lane's own view, never one that is shared.
pub(super) const NONE: u32 = 0;

/// In a row of readers: this lane has not read the store. Later than any time.
const NOT_READ: i32 = i32::MAX;

#[derive(Clone, Copy)]
struct Store {
    /// Up to 128 bits.
    value: u128,
    lane: u32,
    time: i32,
    /// The released view, or [`NONE`].
    view: u32,
    /// Row of the times at which lanes first read this store, or [`NONE`].
    readers: u32,
}

/// A word's stores.
struct History {
    /// Oldest first. Those before the last [`KEPT`] are there for the oracle, if the word is sampled.
    stores: VecDeque<Store>,
    /// How many stores there were before these.
    dropped: u64,
    /// How many stores beyond [`KEPT`] there are when it is pruned next, if the word is sampled.
    prune_at: Option<usize>,
}

impl History {
    /// Returns the position of the oldest store that a load may return.
    #[inline]
    fn oldest(&self) -> usize {
        self.stores.len().saturating_sub(KEPT)
    }

    #[inline]
    fn newest(&self) -> usize {
        self.stores.len() - 1
    }
}

/// The views of all lanes and the histories of all words written.
#[derive(Default)]
pub(super) struct Views {
    lanes: u32,
    stride: usize,
    /// Rows of a number for each lane. The first `lanes` are the lanes' views, the next `lanes`
    /// what their next fences will join; then released views and readers.
    rows: Vec<i32>,
    /// Users of each row.
    users: Vec<u32>,
    free: Vec<u32>,
    /// Histories; number 0 is none.
    histories: Vec<History>,
    /// The view that each lane's last fence released, or [`NONE`].
    released: Vec<u32>,
    /// Whether each lane's next fence has something to join.
    pending: Vec<bool>,
    /// Whether each lane goes on.
    live: Vec<bool>,
    caches: Caches,
    stale_percent: u32,
    /// Loads that returned another store than the newest.
    pub(super) stale: u64,
}

/// How a store is ordered.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// It releases what the lane's last fence did.
    Relaxed,
    /// It releases what the lane has done so far.
    Release,
    /// It releases nothing, as plain stores do (`old.rs`).
    Weak,
}

/// What a load found.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Acquire {
    /// Its view waits for a fence.
    No,
    /// Its view is joined now.
    Yes,
    /// Its view is never joined: the operation returns nothing (`red`), so no
    /// fence makes an acquire pattern of it (PTX ISA 9.1, section 8.8).
    Never,
}

impl Views {
    /// Everything stored so far is seen by all of `lanes` lanes, in blocks of
    /// `threads`; the caches are empty.
    pub(super) fn begin_launch(&mut self, lanes: u32, threads: u32, stale_percent: u32) {
        self.lanes = lanes;
        self.stale_percent = stale_percent;
        self.stale = 0;
        self.stride = lanes.next_multiple_of(8) as usize;
        self.histories.clear();
        self.free.clear();
        refill(&mut self.rows, 2 * lanes as usize * self.stride, 0);
        refill(&mut self.users, 2 * lanes as usize, 1);
        refill(&mut self.released, lanes as usize, NONE);
        refill(&mut self.pending, lanes as usize, false);
        refill(&mut self.live, lanes as usize, true);
        self.caches.begin_launch(lanes, threads);
        for lane in 0..lanes as usize {
            self.rows[lane * self.stride + lane] = 1;
        }
    }

    #[inline]
    fn row(&self, row: u32) -> &[i32] {
        &self.rows[row as usize * self.stride..][..self.stride]
    }

    #[inline]
    fn row_mut(&mut self, row: u32) -> &mut [i32] {
        &mut self.rows[row as usize * self.stride..][..self.stride]
    }

    /// Returns a row to write to and another to read.
    #[inline]
    fn two_rows(&mut self, to: u32, from: u32) -> (&mut [i32], &[i32]) {
        let range = |row: u32| row as usize * self.stride..(row as usize + 1) * self.stride;
        let Ok([to, from]) = self.rows.get_disjoint_mut([range(to), range(from)]) else {
            unreachable!("a row and itself")
        };
        (to, from)
    }

    /// Joins `from`, another row, into `to`.
    #[inline]
    fn join(&mut self, to: u32, from: u32) {
        let (to, from) = self.two_rows(to, from);
        for (t, &f) in to.iter_mut().zip(from) {
            *t = (*t).max(f);
        }
    }

    #[inline]
    fn copy_of(&mut self, from: u32) -> u32 {
        let row = self.new_row();
        let (to, from) = self.two_rows(row, from);
        to.copy_from_slice(from);
        row
    }

    #[inline]
    fn new_row(&mut self) -> u32 {
        if let Some(row) = self.free.pop() {
            self.users[row as usize] = 1;
            return row;
        }
        let row = self.users.len() as u32;
        self.users.push(1);
        self.rows.resize(self.rows.len() + self.stride, 0);
        row
    }

    #[inline]
    fn let_go(&mut self, row: u32) {
        if row != NONE {
            self.users[row as usize] -= 1;
            if self.users[row as usize] == 0 {
                self.free.push(row);
            }
        }
    }

    #[inline]
    fn share(&mut self, row: u32) -> u32 {
        if row != NONE {
            self.users[row as usize] += 1;
        }
        row
    }

    #[inline]
    fn time(&self, lane: u32) -> i32 {
        self.rows[lane as usize * self.stride + lane as usize]
    }

    /// What the lane does from here on is not in the view just released.
    #[inline]
    fn advance(&mut self, lane: u32) {
        let stride = self.stride;
        let time = &mut self.rows[lane as usize * stride + lane as usize];
        *time += 1;
        assert!(*time < NOT_READ, "a lane released its view 2^31 times");
    }

    /// Returns the number of the history of a word of so many bits, which it makes if there is none:
    /// all lanes see what the word holds.
    #[inline]
    pub(super) fn history_of<const BITS: u32>(&mut self, space: &mut Space, found: Found) -> u32 {
        if *space.beside(found) == 0 {
            // Time 0 of any lane is before every view.
            let store = Store {
                value: space.load::<BITS>(found),
                lane: 0,
                time: 0,
                view: NONE,
                readers: NONE,
            };
            self.histories.push(History {
                stores: VecDeque::from([store]),
                dropped: 0,
                prune_at: None,
            });
            *space.beside(found) = self.histories.len() as u32;
        }
        *space.beside(found)
    }

    #[inline]
    fn history(&self, number: u32) -> &History {
        &self.histories[number as usize - 1]
    }

    #[inline]
    fn history_mut(&mut self, number: u32) -> &mut History {
        &mut self.histories[number as usize - 1]
    }

    /// Returns whether the store itself happens before what the lane does now.
    #[inline]
    fn before(&self, store: Store, lane: u32) -> bool {
        self.rows[lane as usize * self.stride + store.lane as usize] >= store.time
    }

    /// Returns whether a load of the store happens before what the lane does now.
    #[inline]
    fn read_before(&self, store: Store, lane: u32) -> bool {
        store.readers != NONE
            && self
                .row(lane)
                .iter()
                .zip(self.row(store.readers))
                .fold(0, |any, (view, read)| any | i32::from(view >= read))
                != 0
    }

    /// Returns whether the lane may see nothing older than the store.
    #[inline]
    fn sees(&self, store: Store, lane: u32) -> bool {
        self.before(store, lane) || self.read_before(store, lane)
    }

    /// Returns the position of the oldest store that a load by the lane may return.
    #[inline]
    fn floor(&self, number: u32, lane: u32) -> usize {
        let history = self.history(number);
        let above = history.oldest() + 1..=history.newest();
        let seen = |&i: &usize| self.sees(history.stores[i], lane);
        above.rev().find(seen).unwrap_or(history.oldest())
    }

    /// The lane reads the store at position `i`, above what it has seen.
    fn note_reader(&mut self, number: u32, i: usize, lane: u32) {
        let mut readers = self.history(number).stores[i].readers;
        if readers == NONE {
            readers = self.new_row();
            self.row_mut(readers).fill(NOT_READ);
            self.history_mut(number).stores[i].readers = readers;
        }
        let time = self.time(lane);
        self.row_mut(readers)[lane as usize] = time;
    }

    #[inline]
    fn take_view(&mut self, view: u32, lane: u32, acquire: Acquire) {
        if view == NONE || acquire == Acquire::Never {
            return;
        }
        if acquire == Acquire::Yes {
            self.join(lane, view);
        } else {
            self.pending[lane as usize] = true;
            self.join(self.lanes + lane, view);
        }
    }

    /// Chooses the store that a load reads, any from the lane's floor up, and returns its position.
    #[inline]
    fn choose(&mut self, number: u32, lane: u32, rng: &mut Rng) -> usize {
        let history = self.history(number);
        let (oldest, newest) = (history.oldest(), history.newest());
        if self.before(history.stores[newest], lane) {
            return newest;
        }
        let floor = self.floor(number, lane);
        let mut chosen = newest;
        if floor != newest && rng.below(100) < self.stale_percent {
            chosen = floor + rng.below((newest - floor) as u32) as usize;
            self.stale += 1;
        }
        // The oldest store may be above what the lane has seen, which only the oracle can tell.
        let history = self.history(number);
        let is_sampled = history.prune_at.is_some();
        if chosen != floor
            || floor == oldest && is_sampled && !self.sees(history.stores[chosen], lane)
        {
            self.note_reader(number, chosen, lane);
        }
        chosen
    }

    /// Loads a word.
    #[inline]
    pub(super) fn load(&mut self, number: u32, lane: u32, acquire: Acquire, rng: &mut Rng) -> u128 {
        let chosen = self.choose(number, lane, rng);
        let store = self.history(number).stores[chosen];
        self.take_view(store.view, lane, acquire);
        store.value
    }

    /// The read of a read-modify-write that writes nothing: the newest store.
    pub(super) fn load_newest(&mut self, number: u32, lane: u32, acquire: Acquire) {
        let newest = self.history(number).newest();
        let store = self.history(number).stores[newest];
        self.take_view(store.view, lane, acquire);
        if newest != 0 && !self.sees(store, lane) {
            self.note_reader(number, newest, lane);
        }
    }

    fn push(&mut self, number: u32, value: u128, lane: u32, view: u32) {
        let time = self.time(lane);
        let history = self.history_mut(number);
        history.stores.push_back(Store {
            value,
            lane,
            time,
            view,
            readers: NONE,
        });
        let (sampled, too_old) = (history.prune_at, history.oldest());
        self.store_through(number, lane);
        if too_old == 0 {
            return;
        }
        let history = self.history_mut(number);
        let old = &mut history.stores[too_old - 1];
        let view = std::mem::replace(&mut old.view, NONE);
        self.let_go(view);
        if sampled.is_none_or(|prune_at| too_old >= prune_at) {
            self.prune(number);
        }
    }

    /// Stores to a word.
    #[inline]
    pub(super) fn store(&mut self, number: u32, lane: u32, value: u128, order: Order) {
        let view = match order {
            Order::Relaxed => self.share(self.released[lane as usize]),
            Order::Release => self.copy_of(lane),
            Order::Weak => NONE,
        };
        self.push(number, value, lane, view);
        if order == Order::Release {
            self.advance(lane);
        }
    }

    /// A read-modify-write that writes `value`: reads the newest store and
    /// continues its release sequence.
    #[inline]
    pub(super) fn modify(&mut self, number: u32, lane: u32, value: u128, acquire: Acquire) {
        let history = self.history(number);
        let before = history.stores[history.newest()];
        let own = self.released[lane as usize];
        if value == before.value && (own == NONE || own == before.view) {
            // Same value, same view: nobody could tell this store from the one before, so that one
            // stays the newest. The lane's own cache must not go back behind it.
            self.load_newest(number, lane, acquire);
            self.invalidate(lane);
            return;
        }
        self.take_view(before.view, lane, acquire);
        let view = if own == NONE || own == before.view {
            self.share(before.view)
        } else if before.view == NONE {
            self.share(own)
        } else {
            let view = self.copy_of(before.view);
            self.join(view, own);
            view
        };
        self.push(number, value, lane, view);
    }

    /// `fence.acq_rel`.
    pub(super) fn fence(&mut self, lane: u32) {
        if self.pending[lane as usize] {
            self.pending[lane as usize] = false;
            // What was joined stays in the row: it is in the view from now on,
            // so joining it again changes nothing.
            self.join(lane, self.lanes + lane);
        }
        let view = self.copy_of(lane);
        let old = std::mem::replace(&mut self.released[lane as usize], view);
        self.let_go(old);
        self.invalidate(lane);
    }

    /// What each of the lanes did happens before what each does next.
    pub(super) fn synchronize(&mut self, lanes: impl Iterator<Item = u32> + Clone) {
        let mut rest = lanes.clone();
        let Some(first) = rest.next() else { return };
        for lane in rest.clone() {
            self.join(first, lane);
        }
        for lane in rest {
            let (to, from) = self.two_rows(lane, first);
            to.copy_from_slice(from);
        }
        for lane in lanes {
            self.advance(lane);
        }
    }

    /// Adds what the lane did so far to a view that others are to get, or makes one of
    /// it if there is [`NONE`]; returns the view.
    pub(super) fn hand_in(&mut self, view: u32, lane: u32) -> u32 {
        let view = if view == NONE {
            self.copy_of(lane)
        } else {
            self.join(view, lane);
            view
        };
        self.advance(lane);
        view
    }

    /// Gives the lanes a view that others have handed in, and ends its use.
    pub(super) fn hand_out(&mut self, view: u32, lanes: &[u32]) {
        for &lane in lanes {
            self.join(lane, view);
        }
        self.let_go(view);
    }
}
