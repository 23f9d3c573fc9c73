//! Kinds and algorithms are of this library: they access memory of the size that they say without a check.

/// A kind or an algorithm of this library.
pub trait Sealed {}
