//! Several sections of a thread in a row. A lock that goes to another multiprocessor costs two trips through
//! the L2 cache; a thread with more than one section can keep it in between, for a bounded number of them, as
//! cohort locks do (Dice, Marathe and Shavit 2012).

use super::lock::{LockFault, LockKind};
use super::locks::TLocks;
use stm_machine::Lane;

/// The usual number of sections in a row: the hand-over is a small part of their time.
pub const IN_A_ROW: u32 = 16;

impl<K: LockKind> TLocks<K> {
    /// Runs `section` again and again while the lane holds the lock of this index, until it returns false.
    ///
    /// Each run is a section by itself. The lane keeps the lock for at most `in_a_row` sections ([`IN_A_ROW`]
    /// is a good number), then gives it up and asks anew, behind those who wait. Lanes of one warp that
    /// acquire the lock together share the bound; each has at least one section. Else as [`Self::with`].
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
