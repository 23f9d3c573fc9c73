//! What was done otherwise than in the papers, and which of our kinds stands for which of
//! theirs.

use super::data::{BARRIER, COUNTER, LIST, MUTEX, SECTIONS, SEMAPHORE, TABLE};

/// A departure: the part, and what was done instead, with its reason.
pub const OTHERWISE: [(&str, &str); 18] = [
    (
        COUNTER,
        "In Grote's kernels every lane asks for the lock by itself. The library's kinds hand a lock on \
         among the lanes of a warp that ask together, up to 32 sections for one acquisition, which is another algorithm. \
         His claims are judged by kinds without this, whose names end in /lane, and by the plain ticket lock; the library's kinds are drawn beside them.",
    ),
    (
        COUNTER,
        "Blocks of 1,024 threads leave 64 registers to a thread. A point whose kernel needs more is left out, and its note \
         says so.",
    ),
    (
        COUNTER,
        "How Grote shares 32,768 items out among fewer threads is not stated. Here thread i takes the \
         items i, i + threads, and so on.",
    ),
    (
        COUNTER,
        "A grid of 32 blocks of 1,024 threads was not resident on his GPU of 30 multiprocessors of 1,024 \
         threads. On an H200 it is.",
    ),
    (
        COUNTER,
        "His MCS polls by an atomic, ours by acquire loads. His TAS unlocks by a fence and an exchange, ours \
         by a release store. His ticket lock has warp barriers in its loops, which neither of our ticket locks has; his \
         unlock is an atomic addition, ours a store.",
    ),
    (
        TABLE,
        "26.2 million pairs are 26,214,400, as in the program that Grote adapted. Keys are uniform 32-bit \
         numbers of a fixed seed, the bucket is the key modulo the buckets, nodes exist beforehand, and an insertion does not search: it \
         puts its node at the head. The paper states neither seed nor generator.",
    ),
    (
        TABLE,
        "The program that Grote adapted runs the lanes of a warp one after another. Whether he kept that \
         loop is not stated; here there is none.",
    ),
    (
        TABLE,
        "The library's map keeps its chains in the order of keys and searches them, which takes a time that grows with the \
         square of the entries of a bucket. So the transaction here is the same work as under the lock: it \
         reads the head and writes the node's link and the head.",
    ),
    (
        LIST,
        "The keys are distinct, in a random order of a fixed seed, and below the next power of two of their number; entry points are \
         nodes that exist beforehand, one for each range of keys, whose size is a power of two. Order, duplicates and preallocation \
         are not stated in the paper.",
    ),
    (
        LIST,
        "A coarse-grained point with 16 entry points visits 67 million nodes in each part of the list. Points that \
         take more than 2 s run once; one that was cut or left out says so in its note.",
    ),
    (
        LIST,
        "The library's list for many chains keeps every node of a walk in its read set. The list here \
         releases what it has passed, as the library's list of one chain does.",
    ),
    (
        BARRIER,
        "Times are of the kernel and hold many waits; the launch is not subtracted. All threads of each block wait. A grid that is \
         not resident together is refused.",
    ),
    (
        MUTEX,
        "Stuart and Owens' mutex benchmark has 1,000 empty sections a block. Here a section increments a counter and all blocks stop together when a \
         given number is made, so that one series stands for their figure 2 and for fairness.",
    ),
    (
        MUTEX,
        "Their spin lock exchanges, ours compares and swaps. Their backoff grows by one unit a turn and begins \
         again at the maximum; ours doubles from 32 to 1,024 ns and begins again.",
    ),
    (
        SEMAPHORE,
        "By its rate in earlier runs a spinning semaphore at full load would take minutes for 1,000 operations of each block. \
         Its points make fewer, or are left out with a note.",
    ),
    (
        SECTIONS,
        "The slides' locked listing has 1,000,000 rounds, the other 100,000. Their times fit 100,000 in both: with \
         1,000,000 one thread would make more atomics a second than all 512 blocks of the kernel without a lock. So 100,000 it is.",
    ),
    (
        SECTIONS,
        "In the source that the slides seem to come from, the kernel with Anderson's lock prints the name of MCS and the other way \
         round. Two claims are judged in both readings. Their inline mutex is the spin lock's code, so it is measured as \
         the same lock once more.",
    ),
    (
        SECTIONS,
        "By transaction the section's additions are reads and writes of x in the transaction. Their kernels ran once each, without a warm-up; here the time is the median of \
         5 launches, or that of one launch if it takes more than 2 s.",
    ),
];

/// The papers' names for ours: the paper, theirs, ours.
pub const NAMES: [[&str; 3]; 17] = [
    ["Grote 2020", "TAS", "tas/lane"],
    ["Grote 2020", "TTAS", "ttas/lane"],
    [
        "Grote 2020",
        "Ticket",
        "ticket (and ticket-handoff beside it)",
    ],
    ["Grote 2020", "MCS", "mcs/lane"],
    [
        "Grote 2020",
        "MCS2",
        "mcs2 in coupling; mcs/lane where one lock is held",
    ],
    [
        "Grote 2020",
        "lock-free insertion",
        "lock-free, a loop of compare and swap",
    ],
    ["Stuart and Owens 2011", "spin lock", "tas"],
    [
        "Stuart and Owens 2011",
        "spin lock with backoff",
        "tas-backoff",
    ],
    [
        "Stuart and Owens 2011",
        "FA, the sleeping mutex",
        "fetch-add (ticket is the same without backoff)",
    ],
    [
        "Stuart and Owens 2011",
        "ring buffer",
        "ring, with two repairs",
    ],
    [
        "Stuart and Owens 2011",
        "atomic barrier, XF barrier",
        "two-stage, xiao-feng",
    ],
    [
        "Stuart and Owens 2011",
        "semaphores: spin, with backoff, sleeping",
        "spin, spin-backoff, sleeping",
    ],
    ["Gattani and Anickode 2024", "no lock", "none"],
    [
        "Gattani and Anickode 2024",
        "spin lock, mutex",
        "tas, tas-again",
    ],
    [
        "Gattani and Anickode 2024",
        "spin spin lock",
        "spin-spin, a tas lock inside a tas lock",
    ],
    [
        "Gattani and Anickode 2024",
        "ticket, Anderson, MCS",
        "ticket, anderson, mcs",
    ],
    [
        "none",
        "none",
        "cohort, reserving, combining; counted, grouped, led; tickets",
    ],
];

/// What the peers are.
pub const PEERS: [&str; 3] = [
    "cuda::binary_semaphore and cuda::counting_semaphore are libcu++'s, used as a mutex and as a semaphore; grid.sync() is that of cooperative \
     groups. They are compiled from CUDA C++ where nvcc is found, loaded by the same host program, and timed in the same run as our kinds.",
    "combining is delegation: one lane executes what others ask for. added is an atomic addition, which needs no lock, and lock-free a loop of compare and swap; \
     they bound what a lock can reach.",
    "stm:fast and stm:hv-sorting run the same work as transactions of these two algorithms.",
];
