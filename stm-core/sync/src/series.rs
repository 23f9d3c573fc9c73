//! Several sections of a thread in a row.
//!
//! A lock that goes from multiprocessor to multiprocessor costs two trips through the L2 cache for
//! each hand-over. A thread that has more than one section to make can keep the lock in between,
//! and pay for the hand-over once in so many sections; but only for a bounded number, after which
//! it asks for the lock anew, behind those who wait. This is how cohort locks (Dice, Marathe and
//! Shavit 2012) trade fairness in the small for speed; here the cohort is the thread itself.

use super::lock::{LockFault, LockKind};
use super::locks::TLocks;
use stm_machine::Lane;

/// The usual number of sections in a row: enough that the hand-over is a small part of
/// their time, and few enough that nobody waits for long.
pub const IN_A_ROW: u32 = 16;

impl<K: LockKind> TLocks<K> {
    /// Runs `section` again and again while the calling lane holds the lock of this index,
    /// until it returns false, which says that there is no more to do.
    ///
    /// Each run is a section by itself: others may have theirs before it and after it. The lane
    /// keeps the lock for at most `in_a_row` sections ([`IN_A_ROW`] is a good number), then gives
    /// it up and asks anew, so that with a kind that is first come, first served all who wait come
    /// before it. Nothing runs between two sections but what this does. Lanes of one warp that
    /// acquire the lock together share the bound; each has at least one section.
    ///
    /// Divergence, nesting and panics are as for [`Self::with`].
    ///
    /// # Errors
    /// Those of [`Self::with`]. The sections that ran before the fault have taken effect.
    #[inline(always)]
    pub fn with_many<L: Lane>(
        &self,
        lane: &L,
        index: u64,
        in_a_row: u32,
        mut section: impl FnMut() -> bool,
    ) -> Result<(), LockFault> {
        let mut more = true;
        while more {
            more = self.with_group(lane, index, |lanes| {
                let most = in_a_row.checked_div(lanes).unwrap_or(0);
                let mut made = 1;
                loop {
                    if !section() {
                        return false;
                    }
                    if made >= most {
                        return true;
                    }
                    made += 1;
                }
            })?;
        }
        Ok(())
    }
}
