//! Naming what happened: from lane numbers and addresses to errors and reports.

use super::error::{Access, LaneId, LaneReport, Op, Owner, Place, SimError, Waiting};
use super::machine::{Act, Machine, Over, State};
use super::shape::BARRIERS;
use super::space::{Found, Missing, Use};

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
        let error = match missing {
            Missing::Misaligned => SimError::Misaligned {
                lane,
                op,
                address,
                bytes,
            },
            Missing::OutOfBounds => {
                let near =
                    self.space
                        .before(address)
                        .map_or_else(String::new, |(name, bytes, past)| {
                            format!(
                                ": {past} bytes past the end of `{name}`, which has {bytes} bytes"
                            )
                        });
                SimError::OutOfBounds {
                    lane,
                    op,
                    address,
                    near,
                }
            }
        };
        self.fail(error)
    }

    #[cold]
    pub(super) fn misused<T>(
        &mut self,
        lane: u32,
        at: u64,
        found: Found,
        other: Use,
    ) -> Result<T, Over> {
        let access = self.access(Act {
            op: self.lanes[lane as usize].next.op,
            at,
        });
        let is_private = matches!(
            access.op,
            Op::PrivateLoad32 | Op::PrivateLoad64 | Op::PrivateStore32 | Op::PrivateStore64
        );
        let error = match other {
            Use::Private => {
                // A word of 64 bits may be private in its upper half alone.
                let [here, beside] = [found, found.other_half()].map(|h| self.space.beside(h));
                let owner = if here == 0 { beside } else { here };
                let lanes = self.shape.lanes();
                let owner = Owner::Lane(self.id(owner.clamp(1, lanes) - 1));
                SimError::NotPrivate {
                    lane: self.id(lane),
                    access,
                    owner,
                }
            }
            _ if is_private => SimError::NotPrivate {
                lane: self.id(lane),
                access,
                owner: Owner::Everyone,
            },
            shared => SimError::MixedWidth {
                lane: self.id(lane),
                access,
                other: shared.bits(),
            },
        };
        self.fail(error)
    }

    /// Block, thread, warp and lane of a lane's number.
    pub(super) fn id(&self, lane: u32) -> LaneId {
        let (block, thread) = (lane / self.shape.threads, lane % self.shape.threads);
        LaneId {
            block,
            thread,
            warp: thread / self.shape.width,
            lane: thread % self.shape.width,
        }
    }

    /// Describes an operation and its operand, with names.
    pub(super) fn access(&self, act: Act) -> Access {
        let Act { op, at } = act;
        let place = match op {
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
            | Op::Pause => Place::Nothing,
            Op::SharedLoad32
            | Op::SharedStore32
            | Op::SharedFetchAdd32
            | Op::SharedCas32
            | Op::SharedLoad64
            | Op::SharedStore64
            | Op::ClusterLoad64
            | Op::ClusterStore64 => Place::Shared(at),
            Op::Ballot | Op::Shuffle32 | Op::MatchAny32 | Op::MatchAny64 | Op::SyncWarp => {
                Place::Mask(at as u32)
            }
            _ => {
                let bytes = match op.name() {
                    name if name.ends_with("128") => 16,
                    name if name.ends_with("64") => 8,
                    _ => 4,
                };
                match self.space.name(at, bytes) {
                    Some((name, index)) => Place::Word { name, index },
                    None => Place::Address(at),
                }
            }
        };
        Access { op, place }
    }

    /// Returns what every lane that has not ended is about to do.
    pub(super) fn reports(&self) -> Vec<LaneReport> {
        let mut reports = Vec::new();
        for (lane, state) in (0..).zip(&self.lanes) {
            let (warp, index) = self.shape.warp_of(lane);
            let access = self.access(state.next);
            let waiting = match state.state {
                State::Ended => continue,
                State::Ready if self.schedule.is_masked_off(warp, index) => {
                    Waiting::MaskedOff(access)
                }
                State::Ready => Waiting::Ready(access),
                State::Warp(mask) => {
                    let arrived = self.warps[warp as usize].arrived(access.op, mask);
                    Waiting::Warp {
                        access,
                        missing: mask & !arrived,
                    }
                }
                State::Barrier => {
                    let arrived = self.blocks[(lane / self.shape.threads) as usize].arrived;
                    let missing = self.shape.threads - arrived;
                    Waiting::Barrier { missing }
                }
                State::Cluster => {
                    let missing = self.missing_in_cluster(lane);
                    Waiting::Barrier { missing }
                }
                State::Named(id) => {
                    let block = lane / self.shape.threads;
                    let named = &self.named[(block * BARRIERS + id) as usize];
                    let missing = named.threads - named.arrived;
                    Waiting::Barrier { missing }
                }
            };
            let last = state.last.map(|(act, value)| (self.access(act), value));
            reports.push(LaneReport {
                lane: self.id(lane),
                last,
                waiting,
            });
        }
        reports
    }
}
