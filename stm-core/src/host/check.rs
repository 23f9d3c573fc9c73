//! The check of what a launch leaves: counts that add up, free locks, nothing unfinished in watched arrays.
//! [`Stm::launch`] says how much of them is read, when.

use crate::host::arranged::{Arranged, Records};
use crate::host::inspect::{self, Watcher};
use crate::host::prelude::*;
use crate::host::stm::{Statistics, Stm};
use crate::host::sums::Sums;
use crate::memory::globals::Globals;
use crate::memory::version::LockWord;
use crate::run::word;

impl<D: Device> Stm<D> {
    /// Lets the checks after launches cover an array, as far as [`Self::launch`] says, until it is dropped. A
    /// cell that a transaction owns then is [`Error::Corrupt`], which names the array and the cell.
    pub fn watch<F>(&mut self, array: &Arranged<D, F>) {
        self.add_watcher(array.memory.watcher());
    }

    /// Does the same for rows of sums: a row with additions pending is [`Error::Corrupt`].
    pub fn watch_sums<T>(&mut self, sums: &Sums<D, T>) {
        self.add_watcher(sums.memory.watcher());
    }

    /// Does for records, and so for the fields of nodes, what [`Self::watch`] does for an array.
    pub fn watch_records<R>(&mut self, records: &Records<D, R>) {
        self.watch(records);
    }

    /// Returns how many arrays and rows of sums this memory watches.
    pub fn watched(&self) -> usize {
        let live = self.watched.iter().filter(|one| one.strong_count() != 0);
        live.count()
    }

    fn add_watcher(&mut self, watcher: Watcher<D::Memory>) {
        self.watched.retain(|one| one.strong_count() != 0);
        if !self.watched.iter().any(|other| other.ptr_eq(&watcher)) {
            self.watched.push(watcher);
        }
    }

    /// Checks the whole lock table and all watched arrays. What it finds is [`Error::Corrupt`], from this and
    /// every later launch.
    pub fn check_in_full(&mut self) -> Result {
        self.refuse_if_corrupt()?;
        let found = self.find_unfinished(None);
        self.close_if(found)
    }

    pub(super) fn refuse_if_corrupt(&self) -> Result {
        no(self.corrupt.clone())
    }

    fn close_if(&mut self, found: Result) -> Result {
        if let Err(Error::Corrupt { what }) = &found {
            self.corrupt = Some(what.clone());
        }
        found
    }

    /// Checks what must hold after every launch, whatever the kernel did.
    pub(super) fn check(&mut self, statistics: &Statistics, in_full: bool) -> Result {
        let window = (!in_full).then_some(self.launches);
        self.launches += 1;
        let (attempts, commits) = (statistics.attempts, statistics.commits);
        let aborts = statistics.aborted();
        let wrong = || format!("{attempts} attempts, but {commits} commits and {aborts} aborts");
        let mut found = no((attempts != commits + aborts).then(wrong));
        if !in_full {
            found = found.and_then(|()| self.find_gate_in_use());
        }
        self.close_if(found.and_then(|()| self.find_unfinished(window)))
    }

    /// Closes the memory after a launch that broke off, and says in the reason what it left.
    pub(super) fn close_after(&mut self, error: &Error) {
        let left = match self.find_unfinished(None) {
            Ok(()) => "no lock is held".into(),
            Err(Error::Corrupt { what }) => what,
            Err(error) => error.to_string(),
        };
        self.corrupt = Some(format!("{error}; {left}"));
    }

    /// Finds what the gate's word (`run/gate.rs`) has after a launch that has ended; it should have nothing.
    fn find_gate_in_use(&self) -> Result {
        let word = self.global(offset_of!(Globals, clock.gate))?;
        no(word::Word(word).in_use().map(|(present, waiting, open)| {
            let period = if open { "an open" } else { "no open" };
            format!(
                "the gate has {present} places present and {waiting} tickets waiting, and {period} period"
            )
        }))
    }

    fn find_unfinished(&self, window: Option<u64>) -> Result {
        let sequence: u64 = self.global(offset_of!(Globals, sequence))?;
        no((sequence & 1 != 0).then(|| format!("the sequence lock is held, at {sequence}")))?;
        let coarse: u32 = self.global(offset_of!(Globals, coarse_lock))?;
        no((coarse & 1 != 0).then(|| "the coarse lock is held".into()))?;
        let clock = self.global(offset_of!(Globals, clock))?;
        let locks = inspect::extent(window, self.locks.bytes() / 8, 8);
        inspect::find(&self.locks, 8, locks, &|i, item| {
            let word = LockWord(inspect::word(&item[..8]));
            let (is_held, version) = (word.is_locked(), word.version().0);
            (is_held || version > clock).then(|| {
                let state = if is_held { "held" } else { "free" };
                format!("lock {i} is {state} at version {version} with the clock at {clock}")
            })
        })?;
        let mut watched = self.watched.iter();
        watched.try_for_each(|watcher| inspect::find_unfinished(watcher, window))
    }
}

fn no(found: Option<String>) -> Result {
    found.map_or(Ok(()), |what| Err(Error::Corrupt { what }))
}
