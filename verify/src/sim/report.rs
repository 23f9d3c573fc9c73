//! Naming what happened: from lane numbers and addresses to errors and reports.

use super::error::{Op, SimErrorKind};
use super::machine::{Act, Machine, Over, State};
use super::shape::BARRIERS;
use super::space::{Found, Missing, Use};

/// The most lanes that a message lists.
const LISTED_MAX: usize = 32;

impl Machine {
    #[cold]
    pub(super) fn missing<T>(
        &mut self,
        lane: u32,
        address: u64,
        bytes: u64,
        missing: &Missing,
    ) -> Result<T, Over> {
        let (op, lane) = (self.lanes[lane as usize].next.op, self.id(lane));
        let at = format!("{lane}: {op} at {address:#x} is");
        match missing {
            Missing::Misaligned => {
                let text = format!("{at} misaligned: the address must be a multiple of {bytes}");
                self.fail(SimErrorKind::Misaligned, text)
            }
            Missing::OutOfBounds => {
                let near = self.space.before(address).map(|(name, bytes, past)| {
                    format!(": {past} bytes past the end of `{name}`, which has {bytes} bytes")
                });
                let near = near.unwrap_or_default();
                let text = format!("{at} outside every allocation{near}");
                self.fail(SimErrorKind::OutOfBounds, text)
            }
        }
    }

    #[cold]
    pub(super) fn misused<T>(
        &mut self,
        lane: u32,
        at: u64,
        found: Found,
        other: Use,
    ) -> Result<T, Over> {
        let op = self.lanes[lane as usize].next.op;
        let is_private = matches!(
            op,
            Op::PrivateLoad32 | Op::PrivateLoad64 | Op::PrivateStore32 | Op::PrivateStore64
        );
        match other {
            Use::Private => {
                // A word of 64 bits may be private in its upper half alone.
                let [here, beside] = [found, found.other_half()].map(|h| self.space.beside(h));
                let owner = if here == 0 { beside } else { here };
                let owner = owner.clamp(1, self.shape.lanes()) - 1;
                self.not_private(lane, at, Some(owner))
            }
            _ if is_private => self.not_private(lane, at, None),
            shared => self.mixed(lane, at, shared.bits()),
        }
    }

    /// Reports a word that was to be private, and is another lane's or accessed atomically.
    #[cold]
    pub(super) fn not_private<T>(
        &mut self,
        lane: u32,
        at: u64,
        owner: Option<u32>,
    ) -> Result<T, Over> {
        let owner = owner.map_or_else(
            || "shared: this launch accessed it atomically".to_owned(),
            |owner| format!("private to {}", self.id(owner)),
        );
        let op = self.lanes[lane as usize].next.op;
        let (lane, access) = (self.id(lane), self.access(Act { op, at }));
        let text = format!("{lane}: {access}, but the word is {owner}");
        self.fail(SimErrorKind::NotPrivate, text)
    }

    /// Reports a word that was accessed with so many bits before.
    #[cold]
    pub(super) fn mixed<T>(&mut self, lane: u32, at: u64, other: u32) -> Result<T, Over> {
        let op = self.lanes[lane as usize].next.op;
        let (lane, access) = (self.id(lane), self.access(Act { op, at }));
        let text = format!(
            "{lane}: {access}, which this launch accessed with {other} bits before: use one width"
        );
        self.fail(SimErrorKind::MixedWidth, text)
    }

    /// Names a lane by its block, thread, warp and index in the warp.
    pub(super) fn id(&self, lane: u32) -> String {
        let (block, thread) = (lane / self.shape.threads, lane % self.shape.threads);
        let (warp, lane) = (thread / self.shape.width, thread % self.shape.width);
        format!("thread {thread} of block {block} (warp {warp}, lane {lane})")
    }

    /// Describes an operation and its operand, with names.
    pub(super) fn access(&self, act: Act) -> String {
        let Act { op, at } = act;
        match op {
            Op::Start
            | Op::Fence
            | Op::FenceBlock
            | Op::BarrierNamedSync
            | Op::BarrierNamedArrive
            | Op::ClusterBarrier
            | Op::Barrier
            | Op::BarrierAny
            | Op::BarrierCount
            | Op::ActiveMask
            | Op::Clock
            | Op::Pause => op.to_string(),
            Op::SharedLoad32
            | Op::SharedStore32
            | Op::SharedFetchAdd32
            | Op::SharedCas32
            | Op::SharedLoad64
            | Op::SharedStore64
            | Op::ClusterLoad64
            | Op::ClusterStore64 => format!("{op} of shared word {at}"),
            Op::Ballot | Op::Shuffle32 | Op::MatchAny32 | Op::MatchAny64 | Op::SyncWarp => {
                format!("{op} with mask {at:#x}")
            }
            _ => {
                let bytes = match op.name() {
                    name if name.ends_with("128") => 16,
                    name if name.ends_with("64") => 8,
                    _ => 4,
                };
                match self.space.name(at, bytes) {
                    Some((name, index)) => format!("{op} of `{name}`[{index}]"),
                    None => format!("{op} of address {at:#x}"),
                }
            }
        }
    }

    /// Says what every lane that has not ended is about to do.
    pub(super) fn reports(&self) -> String {
        let live =
            (0..self.shape.lanes()).filter(|&lane| self.lanes[lane as usize].state != State::Ended);
        let rest = live.clone().count().saturating_sub(LISTED_MAX);
        let listed = live.take(LISTED_MAX).map(|lane| self.report_of(lane));
        let more = (rest != 0).then(|| format!("and {rest} more lanes"));
        listed.chain(more).collect::<Vec<_>>().join("; ")
    }

    /// Says what a lane is about to do, and what it did last.
    fn report_of(&self, lane: u32) -> String {
        let state = &self.lanes[lane as usize];
        let (warp, index) = self.shape.warp_of(lane);
        let block = lane / self.shape.threads;
        let access = self.access(state.next);
        let at_barrier = |missing: u32| format!("waits at the barrier for {missing} threads");
        let waiting = match state.state {
            State::Ready if self.schedule.is_masked_off(warp, index) => {
                format!("is masked off before {access}")
            }
            State::Ready | State::Ended => format!("can run {access}"),
            State::Warp(mask) => {
                let arrived = self.warps[warp as usize].arrived(state.next.op, mask);
                format!("waits at {access} for lanes {:#x}", mask & !arrived)
            }
            State::Barrier(whole) => {
                let (number, lanes) = self.lanes_of(whole, lane);
                let arrived = self.barriers[whole as usize][number].arrived;
                at_barrier(lanes.len() as u32 - arrived)
            }
            State::Named(id) => {
                let named = &self.named[(block * BARRIERS + id) as usize];
                at_barrier(named.threads - named.arrived)
            }
        };
        let last = state
            .last
            .map(|(act, value)| format!(", after {} gave {value:#x}", self.access(act)));
        format!("{} {waiting}{}", self.id(lane), last.unwrap_or_default())
    }
}
