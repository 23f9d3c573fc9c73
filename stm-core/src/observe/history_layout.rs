//! The layout of a lane's recording buffer, which a probe in a kernel fills
//! with plain stores and the host decodes.
//!
//! Lane `l` of a launch owns the 64-bit words from `l * words_per_lane` up to
//! `(l + 1) * words_per_lane`:
//!
//! | word | meaning |
//! | --- | --- |
//! | 0 | words that the lane's records need, this one included; 0 if it made none |
//! | 1.. | records, one after the other |
//!
//! A record that does not fit is left out, and so is every later one, but word 0 keeps counting: if it
//! is above `words_per_lane`, it says how large the buffer should have been.
//!
//! A record is a head word, with the tag in bits 63..56 and the operand below, and the words that
//! follow it; each tag says which.
//!
//! The number of a transaction is one more than that in its loop, or than that of the thread; 0 if it
//! is not known, and the largest that fits for all beyond ([`number`]).
//!
//! A word is an address with the width in bit 0 ([`WordAddress`](stm_machine::WordAddress));
//! user-space addresses have at most 56 bits on the machines that run this. No tag is 0 or 0xFF, so
//! neither cleared nor poisoned memory is a record.

/// The tag before an attempt's first action. The clock follows; the operand is 0.
pub const BEGIN: u64 = 0xB1;
/// The tag of a read that returned a value: the operand is the word, and the value follows.
pub const READ: u64 = 0xB2;
/// The tag of a write that was accepted, likewise.
pub const WRITE: u64 = 0xB3;
/// The tag of an update that committed: the operand is its number; version and clock follow.
pub const COMMIT: u64 = 0xB4;
/// The tag of a transaction without writes that committed: its number; the clock follows.
pub const COMMIT_READ_ONLY: u64 = 0xB5;
/// The tag of an attempt that was given up: its number and 8 bits of the reason; the clock follows.
pub const ABORT: u64 = 0xB6;
/// The tag of an addition that was accepted: the word; the summand follows.
pub const ADD: u64 = 0xB7;
/// The tag of an addition of floats that was accepted: the word; 0 follows.
pub const ADD_FLOAT: u64 = 0xB8;
/// The tag of an undoing of the last writes and additions: 0; their count follows.
pub const UNDO: u64 = 0xB9;

/// The bit position of the tag in a head word.
pub const TAG_SHIFT: u32 = 56;
/// The bits of a head word that hold the operand.
pub const OPERAND_MASK: u64 = (1 << TAG_SHIFT) - 1;
/// The bits of an [`ABORT`]'s operand that hold the reason.
pub const REASON_BITS: u32 = 8;
/// The largest number of a transaction in an operand, beside a reason.
pub const NUMBER_MAX: u64 = OPERAND_MASK >> REASON_BITS;
pub use stm_machine::observe::recorder::HEADER_WORDS;

/// Makes the head word of a record. An operand above 56 bits loses its upper bits.
#[inline(always)]
pub const fn head(tag: u64, operand: u64) -> u64 {
    debug_assert!(operand <= OPERAND_MASK);
    tag << TAG_SHIFT | operand & OPERAND_MASK
}

/// Returns the number by which records name a transaction of a loop.
#[inline(always)]
pub const fn number(transaction: u64) -> u64 {
    if transaction < NUMBER_MAX {
        transaction + 1
    } else {
        NUMBER_MAX
    }
}

/// Returns the transaction of a number, if it is known.
#[inline(always)]
pub const fn transaction(number: u64) -> Option<u64> {
    if number == 0 || number >= NUMBER_MAX {
        None
    } else {
        Some(number - 1)
    }
}

/// Returns the tag of a head word.
#[inline(always)]
pub const fn tag(head: u64) -> u64 {
    head >> TAG_SHIFT
}

/// Returns the operand of a head word.
#[inline(always)]
pub const fn operand(head: u64) -> u64 {
    head & OPERAND_MASK
}

/// Returns the number of words of a record with this tag, including the head,
/// or `None` for a value that is no tag.
#[inline(always)]
pub const fn record_words(tag: u64) -> Option<u64> {
    match tag {
        BEGIN | READ | WRITE | COMMIT_READ_ONLY | ABORT | ADD | ADD_FLOAT | UNDO => Some(2),
        COMMIT => Some(3),
        _ => None,
    }
}

/// Returns how many words a lane needs to record `attempts` attempts of at most
/// `events` reads and writes each.
pub const fn words_needed(attempts: u64, events: u64) -> u64 {
    HEADER_WORDS + attempts * (2 + 2 * events + 3)
}
