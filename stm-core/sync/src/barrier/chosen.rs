//! The choice of an algorithm at launch.

use super::{BarrierMemory, Counted, Grouped, Led, Meeting, Tree, TwoStage, XiaoFeng};
use crate::{choice::choice, sealed::Sealed};
use stm_machine::Lane;

/// A barrier whose algorithm the host chooses at launch (`GridBarrier::chosen`,
/// `Defaults::barrier`). Each wait costs one branch, the same for all threads, and its code
/// has every algorithm.
#[derive(Clone, Copy, Debug)]
pub struct Chosen;

/// Lists the algorithms to choose from, and makes what depends on the list.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $number:literal: $meeting:ty;)*) => {
        choice! { "algorithm"; $($(#[$doc])* $kind = $number: $meeting;)* }

        impl Kind {
            /// Returns the algorithm's [`Meeting::groups`].
            pub fn groups(self, blocks: u32) -> u32 {
                match self {
                    $(Self::$kind => <$meeting>::groups(blocks),)*
                }
            }
        }

        impl Sealed for Chosen {}

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
                [$(<$meeting>::lines(blocks, groups),)*].into_iter().max().unwrap_or(0)
            }

            fn round<L: Lane>(lane: &L, place: &BarrierMemory) -> u64 {
                match place.kind() {
                    $($number => <$meeting>::round(lane, place),)*
                    _ => 0,
                }
            }

            fn step(place: &BarrierMemory) -> u64 {
                match place.kind() {
                    $($number => <$meeting>::step(place),)*
                    _ => 1,
                }
            }

            fn meet<L: Lane>(lane: &L, place: &BarrierMemory, round: u64) -> bool {
                match place.kind() {
                    $($number => <$meeting>::meet(lane, place, round),)*
                    _ => false,
                }
            }
        }
    };
}

kinds! {
    /// [`TwoStage`].
    TwoStage = 0: TwoStage;
    /// [`XiaoFeng`].
    XiaoFeng = 1: XiaoFeng;
    /// [`Tree`].
    Tree = 2: Tree;
    /// [`Counted`].
    Counted = 3: Counted;
    /// [`Grouped`].
    Grouped = 4: Grouped;
    /// [`Led`].
    Led = 5: Led;
}
