//! Naming what happened: from lane numbers and addresses to errors and reports.

use super::error::{Op, SimErrorKind};
use super::machine::{Act, Machine, Over, State};
use super::space::Use;

const LISTED_MAX: usize = 32;

impl Machine {
    #[cold]
    pub(super) fn missing<T>(
        &mut self,
        lane: u32,
        address: u64,
        bytes: u64,
        missing: SimErrorKind,
    ) -> Result<T, Over> {
        let (op, lane) = (self.lanes[lane as usize].next.op, self.id(lane));
        let what = if missing == SimErrorKind::Misaligned {
            format!("misaligned: the address must be a multiple of {bytes}")
        } else {
            let near = self.space.before(address).map(|(name, bytes, past)| {
                format!(": {past} bytes past the end of `{name}`, which has {bytes} bytes")
            });
            format!("outside every allocation{}", near.unwrap_or_default())
        };
        let text = format!("{lane}: {op} at {address:#x} is {what}");
        self.fail(missing, text)
    }

    /// Reports a word that this launch has used in another way.
    #[cold]
    pub(super) fn misused<T>(&mut self, lane: u32, at: u64, other: Use) -> Result<T, Over> {
        let op = self.lanes[lane as usize].next.op;
        let (kind, why) = match other {
            Use::PrivateTo(owner) => {
                let owner = self.id(owner.into());
                let why = format!("but the word is private to {owner}");
                (SimErrorKind::NotPrivate, why)
            }
            Use::Bits(_) if op.name().starts_with("private") => {
                let why = "but the word is shared: this launch accessed it atomically";
                (SimErrorKind::NotPrivate, why.to_owned())
            }
            Use::Bits(bits) => {
                let why =
                    format!("which this launch accessed with {bits} bits before: use one width");
                (SimErrorKind::MixedWidth, why)
            }
        };
        let text = format!("{}: {}, {why}", self.id(lane), self.access(Act { op, at }));
        self.fail(kind, text)
    }

    pub(super) fn id(&self, lane: u32) -> String {
        let (block, thread) = (lane / self.shape.threads, lane % self.shape.threads);
        let (warp, lane) = (thread / self.shape.width, thread % self.shape.width);
        format!("thread {thread} of block {block} (warp {warp}, lane {lane})")
    }

    pub(super) fn access(&self, act: Act) -> String {
        let Act { op, at } = act;
        let name = op.name();
        // Operations on memory end with their bits.
        let bits: u64 = name
            .trim_start_matches(|c: char| !c.is_ascii_digit())
            .parse()
            .unwrap_or(0);
        match op {
            Op::Ballot | Op::Shuffle32 | Op::MatchAny32 | Op::MatchAny64 | Op::SyncWarp => {
                format!("{op} with mask {at:#x}")
            }
            _ if bits == 0 => op.to_string(),
            _ if name.starts_with("shared") || name.starts_with("cluster") => {
                format!("{op} of shared word {at}")
            }
            _ => match self.space.name(at, bits / 8) {
                Some((name, index)) => format!("{op} of `{name}`[{index}]"),
                None => format!("{op} of address {at:#x}"),
            },
        }
    }

    pub(super) fn reports(&self) -> String {
        let live =
            (0..self.shape.lanes()).filter(|&lane| self.lanes[lane as usize].state != State::Ended);
        let rest = live.clone().count().saturating_sub(LISTED_MAX);
        let listed = live.take(LISTED_MAX).map(|lane| self.report_of(lane));
        let more = (rest != 0).then(|| format!("and {rest} more lanes"));
        listed.chain(more).collect::<Vec<_>>().join("; ")
    }

    fn report_of(&self, lane: u32) -> String {
        let state = &self.lanes[lane as usize];
        let (warp, index) = self.shape.warp_of(lane);
        let access = self.access(state.next);
        let waiting = match state.state {
            State::Ready if self.schedule.is_masked_off(warp, index) => {
                format!("is masked off before {access}")
            }
            State::Ready | State::Ended => format!("can run {access}"),
            State::Warp => format!("waits at {access} for lanes {:#x}", self.awaited(lane)),
            State::Barrier(place) => {
                let barrier = &self.barriers[&place];
                let missing = barrier.threads - barrier.arrived;
                format!("waits at the barrier for {missing} threads")
            }
        };
        let last = state
            .last
            .map(|(act, value)| format!(", after {} gave {value:#x}", self.access(act)));
        format!("{} {waiting}{}", self.id(lane), last.unwrap_or_default())
    }
}
