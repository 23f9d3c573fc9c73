//! Weak memory: which stores a load may return.
//!
//! The model is C11's without load buffering: modification order is the order in which stores
//! execute, and what a lane may still see follows from happens-before, kept as vector clocks.
//!
//! - A lane's *view* says, for each lane, up to which of its times everything it did happens before now.
//!   A store carries its lane and that lane's time.
//! - A *released view* travels with a store: the writer's view, for a release store; the view at its last
//!   fence, for a relaxed one; and for a read-modify-write that joined with what it read (a release
//!   sequence).
//! - An acquire load joins the released view into its lane's view; a relaxed load into what the lane's
//!   next fence will join.
//! - A lane's time advances whenever its view is released, as what it does afterwards is not released.
//!
//! A load may return any store not older than its *floor*: the newest store that happens before the
//! load, or that some load read which happens before it (coherence of reads). Words never written in this
//! launch have no history. Stores before the last [`KEPT`] are seen by all, which only forbids behaviours.
//!
//! # Caches
//!
//! Each block has a cache, as if it had a multiprocessor to itself. The cache has a *copy* of each word
//! that a lane of the block loaded weakly: the newest store that such a load fetched, or a newer one by a
//! lane of the block, as stores go through. Stores by other blocks leave the copy as it is.
//!
//! A weak load returns what a relaxed load may return, or the copy. So it may go back behind a store that
//! an earlier load by the same lane returned, which coherence forbids to relaxed loads. The copy does not
//! answer if a store newer than it happens before the load, or was read by a load that does. Loads by the
//! lane itself count up to its last fence or acquire only: these invalidate the cache for this lane. On a
//! GPU they do so for the whole multiprocessor, which allows less.
//!
//! Copies are never evicted, and the chance with which they answer is that of stale loads. A copy
//! whose store has left the word's history does not answer, which only forbids behaviours.
//!
//! Weak accesses order nothing: fences make no acquire or release pattern of them (PTX ISA 9.1, section 8.8).
//!
//! # Samples
//!
//! A lane whose floor is older than the last few stores is taken to see the oldest of these. For what a load
//! returns that forbids behaviours and nothing else. A sample of the clock ([`Views::oldest_visible`]) would
//! become newer than what the lane has loaded before, and the checker would accuse an attempt that is right:
//! it began with that older value. So the history of a sampled word keeps its older stores.

use super::space::{AllocationWord, Space};
use crate::rng::Rng;
use std::collections::VecDeque;
use std::rc::Rc;
use stm_history::history::NumberMap;

const KEPT: usize = 8;

#[derive(Default)]
struct Store {
    value: u128,
    lane: u32,
    time: i32,
    view: Option<Rc<[i32]>>,
    /// The lanes that have read this store, and when they did first.
    readers: Vec<(u32, i32)>,
}

impl Store {
    /// Returns whether it happens before what a lane with this view does.
    #[inline]
    fn is_before(&self, view: &[i32]) -> bool {
        view[self.lane as usize] >= self.time
    }

    /// Returns whether it or a load of it does.
    #[inline]
    fn is_seen(&self, view: &[i32]) -> bool {
        let read_before = |&(reader, time): &(u32, i32)| view[reader as usize] >= time;
        self.is_before(view) || self.readers.iter().any(read_before)
    }
}

#[derive(Default)]
struct History {
    /// Oldest first. Those before the last [`KEPT`] are there for the oracle, if the word is sampled.
    stores: VecDeque<Store>,
    dropped: u64,
    sampled: bool,
}

impl History {
    #[inline]
    fn oldest(&self) -> usize {
        self.stores.len().saturating_sub(KEPT)
    }

    #[inline]
    fn newest(&self) -> usize {
        self.stores.len() - 1
    }

    /// Returns the position of the oldest one that a load by a lane with this view may return.
    #[inline]
    fn floor(&self, view: &[i32]) -> usize {
        let above = self.oldest() + 1..=self.newest();
        let seen = |&i: &usize| self.stores[i].is_seen(view);
        above.rev().find(seen).unwrap_or(self.oldest())
    }
}

struct Lane {
    number: u32,
    view: Box<[i32]>,
    /// What its next fence will join to its view.
    pending: Box<[i32]>,
    released: Option<Rc<[i32]>>,
    /// Its time at its last fence or acquire.
    invalidated: i32,
}

impl Lane {
    #[inline]
    fn time(&self) -> i32 {
        self.view[self.number as usize]
    }

    #[inline]
    fn advance(&mut self) {
        let time = &mut self.view[self.number as usize];
        *time += 1;
        assert!(*time < i32::MAX, "a lane released its view 2^31 times");
    }

    #[inline]
    fn invalidate(&mut self) {
        self.invalidated = self.time();
        self.advance();
    }

    /// Takes the view of a store that it loads, now or by its next fence, and returns the value.
    #[inline]
    fn find(&mut self, store: &Store, order: Order) -> u128 {
        match (order, &store.view) {
            (Order::Acquire, Some(view)) => join(&mut self.view, view),
            (Order::Relaxed, Some(view)) => join(&mut self.pending, view),
            _ => {}
        }
        store.value
    }

    fn note(&self, store: &mut Store) {
        store.readers.push((self.number, self.time()));
    }

    /// Returns whether a copy older than the store cannot answer the lane.
    fn outdates(&self, store: &Store) -> bool {
        let read_before = |&(reader, time): &(u32, i32)| match reader {
            own if own == self.number => self.invalidated >= time,
            other => self.view[other as usize] >= time,
        };
        store.is_before(&self.view) || store.readers.iter().any(read_before)
    }
}

#[derive(Default)]
pub(super) struct Views {
    lanes: Vec<Lane>,
    histories: Vec<History>,
    threads: u32,
    /// The number of the store that a block's cache has, by block and number of the history.
    copies: NumberMap<(u32, u32), u64>,
    stale_percent: u32,
    pub(super) stale: u64,
}

#[inline]
fn join(to: &mut [i32], from: &[i32]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = (*to).max(*from);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// What it finds waits for the lane's next fence, and it releases what the last one did.
    Relaxed,
    /// What it finds is the lane's at once.
    Acquire,
    /// It releases what the lane has done so far.
    Release,
    /// It releases nothing, as plain stores do.
    Weak,
    /// It returns nothing (`red`), so no fence makes an acquire pattern of it.
    Reduction,
}

impl Views {
    /// All of `lanes` lanes, in blocks of `threads`, see what is stored so far; caches are empty.
    pub(super) fn new(lanes: u32, threads: u32, stale_percent: u32) -> Self {
        let none = vec![0; lanes as usize].into_boxed_slice();
        let lane = |number: u32| {
            let mut view = none.clone();
            view[number as usize] = 1;
            Lane {
                number,
                view,
                pending: none.clone(),
                released: None,
                invalidated: 0,
            }
        };
        Self {
            lanes: (0..lanes).map(lane).collect(),
            histories: vec![History::default()],
            threads,
            stale_percent,
            ..Self::default()
        }
    }

    #[inline]
    fn both(&mut self, number: u32, lane: u32) -> (&mut History, &mut Lane) {
        let history = &mut self.histories[number as usize];
        (history, &mut self.lanes[lane as usize])
    }

    /// Returns the number of a word's history, a new one if there is none: all lanes see what it holds.
    #[inline]
    pub(super) fn history_of(&mut self, space: &mut Space, found: AllocationWord) -> u32 {
        if *space.history(found) == 0 {
            *space.history(found) = self.histories.len() as u32;
            // Time 0 of any lane is before every view.
            let store = Store {
                value: space.load(found),
                ..Store::default()
            };
            self.histories.push(History {
                stores: VecDeque::from([store]),
                ..History::default()
            });
        }
        *space.history(found)
    }

    /// Returns the position of the store that a load reads, any from the lane's floor up.
    #[inline]
    fn choose(&mut self, number: u32, lane: u32, rng: &mut Rng) -> usize {
        let stale_percent = self.stale_percent;
        let (history, own) = self.both(number, lane);
        let (oldest, newest) = (history.oldest(), history.newest());
        if history.stores[newest].is_before(&own.view) {
            return newest;
        }
        let floor = history.floor(&own.view);
        let is_stale = floor != newest && rng.below(100) < stale_percent;
        let chosen = if is_stale {
            floor + rng.below((newest - floor) as u32) as usize
        } else {
            newest
        };
        // The oldest store may be above what the lane has seen, which only the oracle can tell.
        let store = &mut history.stores[chosen];
        if chosen != floor || floor == oldest && history.sampled && !store.is_seen(&own.view) {
            own.note(store);
        }
        self.stale += u64::from(is_stale);
        chosen
    }

    #[inline]
    pub(super) fn load(&mut self, number: u32, lane: u32, order: Order, rng: &mut Rng) -> u128 {
        let chosen = self.choose(number, lane, rng);
        let (history, own) = self.both(number, lane);
        own.find(&history.stores[chosen], order)
    }

    /// The read of a read-modify-write that writes nothing: the newest store.
    pub(super) fn load_newest(&mut self, number: u32, lane: u32, order: Order) {
        let (history, own) = self.both(number, lane);
        let newest = history.newest();
        let store = &mut history.stores[newest];
        own.find(store, order);
        if newest != 0 && !store.is_seen(&own.view) {
            own.note(store);
        }
    }

    fn push(&mut self, number: u32, value: u128, lane: u32, view: Option<Rc<[i32]>>) {
        let (history, own) = self.both(number, lane);
        history.stores.push_back(Store {
            value,
            lane,
            time: own.time(),
            view,
            readers: Vec::new(),
        });
        let too_old = history.oldest();
        if too_old != 0 {
            history.stores[too_old - 1].view = None;
            if !history.sampled {
                history.stores.pop_front();
                history.dropped += 1;
            }
        }
        // It goes through the block's cache.
        let newest = history.dropped + history.newest() as u64;
        let block = lane / self.threads;
        (self.copies.entry((block, number))).and_modify(|copy| *copy = newest);
    }

    #[inline]
    pub(super) fn store(&mut self, number: u32, lane: u32, value: u128, order: Order) {
        let own = &self.lanes[lane as usize];
        let view = match order {
            Order::Release => Some(Rc::from(&*own.view)),
            Order::Weak => None,
            _ => own.released.clone(),
        };
        self.push(number, value, lane, view);
        if order == Order::Release {
            self.lanes[lane as usize].advance();
        }
    }

    /// A read-modify-write that writes `value` and continues the newest store's release sequence.
    #[inline]
    pub(super) fn modify(&mut self, number: u32, lane: u32, value: u128, order: Order) {
        let (history, own) = self.both(number, lane);
        let newest = &history.stores[history.newest()];
        let before = newest.view.as_ref();
        let view = match (before, &own.released) {
            (Some(before), Some(released)) if !Rc::ptr_eq(before, released) => {
                let mut view = before.clone();
                join(Rc::make_mut(&mut view), released);
                Some(view)
            }
            (before, released) => before.or(released.as_ref()).cloned(),
        };
        if value == newest.value && view.as_ref().map(Rc::as_ptr) == before.map(Rc::as_ptr) {
            // Same value, same view: nobody could tell this store from the one before, so that one
            // stays the newest. The lane's own cache must not go back behind it.
            self.load_newest(number, lane, order);
            self.invalidate(lane);
            return;
        }
        own.find(newest, order);
        self.push(number, value, lane, view);
    }

    pub(super) fn fence(&mut self, lane: u32) {
        // What was joined stays there, as joining it again changes nothing.
        let own = &mut self.lanes[lane as usize];
        join(&mut own.view, &own.pending);
        match own.released.as_mut().and_then(Rc::get_mut) {
            Some(of_no_store) => of_no_store.copy_from_slice(&own.view),
            None => own.released = Some(Rc::from(&*own.view)),
        }
        own.invalidate();
    }

    /// Adds what the lane did so far to what others are to get.
    pub(super) fn hand_in(&mut self, view: &mut Vec<i32>, lane: u32) {
        let own = &mut self.lanes[lane as usize];
        view.resize(own.view.len(), 0);
        join(view, &own.view);
        own.advance();
    }

    /// Gives the lanes what others have handed in.
    pub(super) fn hand_out(&mut self, view: &[i32], lanes: impl Iterator<Item = u32>) {
        lanes.for_each(|lane| join(&mut self.lanes[lane as usize].view, view));
    }

    #[inline]
    pub(super) fn invalidate(&mut self, lane: u32) {
        self.lanes[lane as usize].invalidate();
    }

    /// Returns the position of the block's copy of a word, if that may answer the lane.
    fn copy(&self, number: u32, lane: u32) -> Option<usize> {
        let copy = *self.copies.get(&(lane / self.threads, number))?;
        let (history, own) = (&self.histories[number as usize], &self.lanes[lane as usize]);
        let place = copy.checked_sub(history.dropped)? as usize;
        let mut newer = history.stores.range(place + 1..);
        let answers = place >= history.oldest() && !newer.any(|store| own.outdates(store));
        answers.then_some(place)
    }

    /// Loads a word weakly: what a relaxed load may return, or the copy in the block's cache.
    pub(super) fn load_weak(&mut self, number: u32, lane: u32, rng: &mut Rng) -> u128 {
        if let Some(copy) = self.copy(number, lane) {
            let stale_percent = self.stale_percent;
            let (history, own) = self.both(number, lane);
            let (newest, floor) = (history.newest(), history.floor(&own.view));
            let store = &mut history.stores[copy];
            // If only the newest store can be returned, there is nothing to choose.
            let chosen = copy != newest || !store.is_before(&own.view);
            if chosen && rng.below(100) < stale_percent {
                if copy > floor {
                    own.note(store);
                }
                let value = store.value;
                self.stale += u64::from(copy != newest);
                return value;
            }
        }
        let fetched = self.choose(number, lane, rng);
        let history = &self.histories[number as usize];
        let block = lane / self.threads;
        let copy = self.copies.entry((block, number)).or_default();
        *copy = (history.dropped + fetched as u64).max(*copy);
        history.stores[fetched].value
    }

    /// Returns the value of the oldest store that the lane may see, which no load notices. A word must
    /// be sampled for the first time before a store to it is dropped.
    pub(super) fn oldest_visible(&mut self, number: u32, lane: u32) -> u128 {
        let (history, own) = self.both(number, lane);
        history.sampled = true;
        let mut stores = history.stores.iter();
        let seen = stores.rposition(|store| store.is_seen(&own.view));
        history.stores[seen.unwrap_or(history.oldest())].value
    }
}
