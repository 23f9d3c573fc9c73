//! The kinds of locks and the algorithms of barriers and semaphores are those of this
//! library: memory has the size that their methods say, and they access it without a
//! check.

/// A kind or an algorithm of this library.
pub trait Sealed {}
