//! The programs of the book, `docs/book`: doctests compile and run them. Each
//! item stands for a chapter.

/// From an empty directory to the first kernel.
#[doc = include_str!("../../docs/book/src/first-kernel.md")]
struct FirstKernel;

/// Which tool for which task.
#[doc = include_str!("../../docs/book/src/guide.md")]
struct Guide;

/// What always holds, and what it costs.
#[doc = include_str!("../../docs/book/src/reference.md")]
struct Reference;

/// A kernel with locks becomes one with transactions.
#[doc = include_str!("../../docs/book/src/locks.md")]
struct Locks;

/// Locks, barriers and semaphores beside transactions.
#[doc = include_str!("../../docs/book/src/synchronisation.md")]
struct Synchronisation;

/// Alignments of sequences, an application of channels; a program in it would be tested as well.
#[doc = include_str!("../../docs/book/src/alignments.md")]
struct Alignments;

/// The protocol in pictures; a program in it would be tested as well.
#[doc = include_str!("../../docs/book/src/opacity.md")]
struct Opacity;

/// From an error's text to its fix; the same.
#[doc = include_str!("../../docs/book/src/troubleshooting.md")]
struct Troubleshooting;
