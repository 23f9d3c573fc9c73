//! The choice of an algorithm at launch.

use super::{BarrierMemory, Counted, Grouped, Led, Meeting, Tree, TwoStage, XiaoFeng};
use crate::choice::choice;
use stm_machine::Lane;

/// A barrier whose algorithm the host chooses at launch (`GridBarrier::chosen`,
/// `Defaults::barrier`). Each wait costs one branch, the same for all threads, and its code
/// has every algorithm.
#[derive(Clone, Copy, Debug)]
pub struct Chosen;

choice! { $ "algorithm", with_algorithm;
    TwoStage = 0: TwoStage;
    XiaoFeng = 1: XiaoFeng;
    Tree = 2: Tree;
    Counted = 3: Counted;
    Grouped = 4: Grouped;
    Led = 5: Led;
}

impl Kind {
    /// Returns the algorithm's [`Meeting::groups`].
    pub fn groups(self, blocks: u32) -> u32 {
        with_algorithm!(self as u32, B => B::groups(blocks), else 1)
    }
}

#[stm_machine::inlined]
impl Meeting for Chosen {
    const NAME: &'static str = "chosen";
    const CHOSEN: bool = true;

    /// Returns the largest number of groups of any algorithm.
    fn groups(blocks: u32) -> u32 {
        let groups = Kind::ALL.iter().map(|kind| kind.groups(blocks));
        groups.max().unwrap_or(1)
    }

    fn lines(blocks: u32, groups: u32) -> u32 {
        let lines_of = |kind| with_algorithm!(kind, B => B::lines(blocks, groups), else 0);
        let lines = Kind::ALL.iter().map(|&kind| lines_of(kind as u32));
        lines.max().unwrap_or(0)
    }

    fn round<L: Lane>(lane: &L, place: &BarrierMemory) -> u64 {
        with_algorithm!(place.kind(), B => B::round(lane, place), else 0)
    }

    fn step(place: &BarrierMemory) -> u64 {
        with_algorithm!(place.kind(), B => B::step(place), else 1)
    }

    fn meet<L: Lane>(lane: &L, place: &BarrierMemory, round: u64) -> bool {
        with_algorithm!(place.kind(), B => B::meet(lane, place, round), else false)
    }
}
