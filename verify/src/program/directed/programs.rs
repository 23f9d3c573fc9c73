//! The recorded programs.

use super::Directed;

/// The transactions of a lane that increments one word again and again.
const HOT: &str = "r0 w0+1 / r0 w0+1 / r0 w0+1 / r0 w0+1 / r0 w0+1 / r0 w0+1 / r0 w0+1 / \
                   r0 w0+1 / r0 w0+1 / r0 w0+1 / r0 w0+1 / r0 w0+1 / r0 w0+1 / r0 w0+1 / \
                   r0 w0+1 / r0 w0+1";

/// The static updates of a lane that increments two words again and again.
const HOT_UPDATES: &str = "r012 w0+1 w1+1 / r012 w0+1 w1+1 / r012 w0+1 w1+1 / r012 w0+1 w1+1 / \
                           r012 w0+1 w1+1 / r012 w0+1 w1+1 / r012 w0+1 w1+1 / r012 w0+1 w1+1 / \
                           r012 w0+1 w1+1 / r012 w0+1 w1+1 / r012 w0+1 w1+1 / r012 w0+1 w1+1";

/// All recorded programs.
pub const ALL: &[Directed] = &[
    Directed::new(
        "torn-pair",
        "a reader that sees one of two words written together: clock before words, a locked \
         stripe read, the lock word before the value, the fences E1 to E4 and S1 to S4",
        &["r0 r1", "w0=1 w1=1"],
        &[0, 0],
    ),
    Directed::new(
        "torn-batch",
        "the same with both words in one read",
        &["r01", "w0=1 w1=1 / w1=2 w0=2"],
        &[0, 0],
    ),
    Directed::new(
        "torn-stripe",
        "the same with both words on one stripe, which is locked once",
        &["r0 r1 / r1 r0", "w0=1 w1=1 / r0 w1=2 w0=2"],
        &[0, 0],
    )
    .stripes(2, 8),
    Directed::new(
        "increments",
        "a lost update: time stamps ignored, compared at the first try only, or taken before \
         the atomic that locks",
        &["r0 w0+1 / r0 w0+1", "r0 w0+1 / r0 w0+1"],
        &[0],
    ),
    Directed::new(
        "three-increments",
        "the same with three lanes, so that one waits while another commits",
        &["r0 w0+1", "r0 w0+1", "r0 w0+1"],
        &[0],
    ),
    Directed::new(
        "update-pairs",
        "static updates of the same words: of each word only one may own it, and it owns all or none",
        &[
            "r012 w0+1 w1+1 / r120 w1+1 w2+1",
            "r012 w0+1 w1+1 / r201 w2+1 w0+1",
        ],
        &[0, 0, 0],
    )
    .updates(),
    Directed::new(
        "update-beside",
        "a static update beside transactions that read its words",
        &["r010 w0+1 w1+1 / r010 w0+1 w1+1", "r0 r1 / r1 r0 w0+1"],
        &[0, 0],
    )
    .updates(),
    Directed::new(
        "update-restored",
        "static updates that give words back beside transactions that read these",
        &[
            "r010 w0+1 w1+1 / r010 w0+1 w1+1",
            "r100 w1+1 w0+1 / r100 w1+1 w0+1",
            "r0 r1 / r1 r0 / r0 r1 / r1 r0",
        ],
        &[0, 0],
    )
    .updates(),
    Directed::new(
        "update-twins",
        "static updates that name a word twice, written twice or written and only read",
        &[
            "r001 w0=5 w0+1 / r010 w0+1 w1+1",
            "r110 w1+1 w1+2 / r101 w1+1 w0+1",
            "r0 w0+1 / r1 w1+1",
        ],
        &[0, 0],
    )
    .updates(),
    Directed::new(
        "write-skew",
        "two transactions that each read what the other writes (section 3.2.2)",
        &["r1 w0+1", "r0 w1+1"],
        &[0, 0],
    ),
    Directed::new(
        "crossed-pair",
        "the same in one warp in lockstep: unless one of them waits, both abort for ever",
        &[
            "r1 w0+1 / r1 w0+1 / r1 w0+1 / r1 w0+1",
            "r0 w1+1 / r0 w1+1 / r0 w1+1 / r0 w1+1",
        ],
        &[0, 0],
    )
    .lockstep(),
    Directed::new(
        "hot-word",
        "two warps that meet at one word so often that they work by turns, in a period as well: \
         what is wrong with entrance and departure, tickets, turns and their fences, and a \
         period that does not end",
        &[HOT; 4],
        &[0],
    )
    .warps(2),
    Directed::new(
        "hot-updates",
        "two warps whose static updates meet so often that their lanes make them by turns, all of a \
         warp in one round",
        &[HOT_UPDATES; 4],
        &[0, 0, 0],
    )
    .warps(2)
    .updates(),
    Directed::new(
        "restored-version",
        "a commit that fails puts a version back under which another's value is not yet seen",
        &[
            "r0 w1=1 / r1 r0",
            "w1=2 w0=2 / w0=3",
            "w0=4 r1 w1+1",
            "r0 r1 / r1 r0",
        ],
        &[0, 0],
    ),
    Directed::new(
        "write-elsewhere",
        "a write that does not go where the first word was read",
        &["r0 r1 w1=1"],
        &[0, 0],
    ),
    Directed::new(
        "opposite-order",
        "two transactions that meet the same stripes in opposite order",
        &["r0 r1 w0+1 w1=5", "r1 r0 w1+1 w0=6"],
        &[0, 0],
    ),
    Directed::new(
        "swap-and-back",
        "ABA in an extension: 0 and 0 were never there together, and pass one check of the values",
        &["r0 r1", "w0=1 w1=0 / w0=0 w1=1"],
        &[0, 1],
    ),
    Directed::new(
        "swap-three-times",
        "the same with one more swap",
        &["r0 r1", "w0=1 w1=0 / w0=0 w1=1 / w0=1 w1=0"],
        &[0, 1],
    ),
    Directed::new(
        "many-swaps",
        "the same often, on one stripe: what only a check in the middle of a write-back \
         shows (an extension without locks or without its second fence, one load of the sequence)",
        &[
            "r0 r1 / r1 r0 / r0 r1",
            "r1 r0 / r0 r1",
            "r0 r1 / r1 r0",
            "w0=1 w1=0 / w0=0 w1=1 / w0=1 w1=0 / w0=0 w1=1 / w0=1 w1=0 / w0=0 w1=1 / \
             w0=1 w1=0 / w0=0 w1=1",
        ],
        &[0, 1],
    )
    .stripes(2, 8),
    Directed::new(
        "two-groups",
        "six words written, of which others own the first and the last: who gives up at the \
         first must not release the last",
        &[
            "w0=1 w1=1 w2=1 w3=1 w4=1 w5=1",
            "w0=2 w4=2 w5=2 / w0=3 w4=3 w5=3",
            "w4=4 w5=4 / w4=5 w5=5",
            "r4 r5 / r4 r5",
        ],
        &[0; 6],
    ),
    Directed::new(
        "late-extension",
        "a snapshot raised for word 2 while words 0 and 1 change: the new snapshot must hold \
         for word 0 too",
        &["r0 r2 r1", "w2=1", "w0=1 w1=1"],
        &[0, 0, 0],
    ),
    Directed::new(
        "unclocked-release",
        "two commits that release before the clock counts them",
        &["r0 r1 r0", "w0=1 w2=1", "w1=1 w2=2"],
        &[0, 0, 0],
    ),
    Directed::new(
        "read-stripe-keeps-version",
        "word 4 is written next to a read of word 0, whose stripe another commit has moved on \
         by word 1: released with an older version, words 1 and 2 can be torn",
        &["r0 w4=1", "w1=1 w2=1", "r2 r1"],
        &[0, 0, 0, 0, 0],
    )
    .stripes(2, 8),
    Directed::new(
        "stripe-read-and-written",
        "a stripe both read and written is locked once",
        &["r0 w0+1 w1=7", "r1 w0=3"],
        &[0, 0],
    )
    .stripes(2, 4),
    Directed::new(
        "many-versions",
        "versions that keep too few bits look old again",
        &[
            "r1 r0 / r1 r0",
            "w0=1 w1=1 / w0=2 w1=2 / w0=3 w1=3 / w0=4 w1=4 / w0=5 w1=5",
        ],
        &[0, 0],
    ),
    Directed::new(
        "circle-pair",
        "a pair written so often that versions of three bits begin anew while a reader is \
         between the words",
        &[
            "r0 r1 / r1 r0 / r0 r1 / r1 r0",
            "w0=1 w1=1 / w0=2 w1=2 / w0=3 w1=3 / w0=4 w1=4 / w0=5 w1=5 / w0=6 w1=6 / \
             w0=7 w1=7 / w0=8 w1=8 / w0=9 w1=9",
        ],
        &[0, 0],
    )
    .circle(3),
    Directed::new(
        "circle-skew",
        "a word that changes, and changes back one circle of versions later, while a \
         transaction that has read it has drawn its version and not validated",
        &["r0 w1+1", "w0=1 / w2=2 / w2=3 / w2=4 / w2=5 / w2=6 / w0=0"],
        &[0, 0, 0],
    )
    .circle(3),
    Directed::new(
        "circle-of-extensions",
        "the same while the snapshot of a reader is extended again and again",
        &[
            "r0 r2 r2 r2 r2 r2 r2 r2 r2 r1",
            "w2=1 / w2=2 / w2=3 / w2=4 / w2=5 / w2=6 / w2=7 / w2=8 / w2=9 / w2=1 / w2=2 / \
             w2=3 / w2=4 / w0=1 w1=1 / w2=5 / w0=0 w1=2",
        ],
        &[0, 0, 0],
    )
    .circle(4),
    Directed::new(
        "circle-renewed",
        "an old word that is written twice, the second time with the version that it had, \
         while it gets a young one",
        &[
            "r0",
            "w2=1 / w2=2 / w2=3 / w2=4 / w2=5 / w0=1 w1=1 / w2=6 / w0=0 w1=2",
            "r1 r0 / r1 r0 / r1 r0",
            "r1 r0 / r1 r0",
        ],
        &[0, 0, 0],
    )
    .circle(3),
    Directed::new(
        "circle-old-words",
        "words that nobody writes for more than half of a circle, so that they look newer \
         than the clock",
        &[
            "r2 r1 / r2 r0 / r1 r2 / r2 r1 / r0 r2",
            "r1 r2 / r2 r0 / r2 r1",
            "w0=1 / w0=2 / w0=3 / w0=4 / w0=5 / w1=1 w2=1 / w0=6 / w0=7 / w0=8 / w0=9 / w0=1 / \
             w1=2 w2=2 / w0=3 / w0=4 / w1=1 w2=1 / w0=5 / w0=6",
        ],
        &[0, 0, 0],
    )
    .circle(3),
    Directed::new(
        "three-threads",
        "cumulativity (E5): lane 2 commits after lane 1, and who takes its version must see \
         lane 1's word as well",
        &["r0 r1", "w0=1", "w1=1"],
        &[0, 0],
    ),
    Directed::new(
        "repeated-read",
        "a word read twice: the read set must go on holding what the first read returned",
        &["r0 r0 r1", "w0=1 w1=1"],
        &[0, 0],
    ),
    Directed::new(
        "second-write",
        "a word written twice, at another position than it was read at",
        &["r0 r1 w1=1 w1=2 w0=3"],
        &[0, 0],
    ),
    Directed::new(
        "sets-just-full",
        "as many entries as the sets hold",
        &["r0 r1 w0=1 w1=1", "r1 r0 w1=2 w0=2"],
        &[0, 0],
    )
    .sets(2, 2),
    Directed::new(
        "one-read-too-many",
        "one entry more than the read set holds",
        &["r0 r1 r2 w0=1", "r2 r1 r0 w0=1"],
        &[0, 0, 0],
    )
    .sets(2, 2),
    Directed::new(
        "one-write-too-many",
        "one entry more than the write set holds",
        &["r0 w0=1 w1=1 w2=1", "w2=3 w1=3 w0=3"],
        &[0, 0, 0],
    )
    .sets(2, 2),
    Directed::new(
        "doomed",
        "an attempt that has seen a stale word must see nothing more",
        &["r0 r1 r2", "w0=1 w1=1 / w0=2 w2=2"],
        &[0, 0, 0],
    ),
    Directed::new(
        "team-torn-pair",
        "a team that sees one of two words written together: lanes with snapshots of their own, \
         or extended by one lane alone",
        &["r0 r1 / r1 r0", "w0=1 w1=1 / w1=2 w0=2"],
        &[0, 0],
    )
    .teams(2),
    Directed::new(
        "team-torn-batch",
        "the same with all words of four lanes in one read",
        &["r01 r23", "w0=1 w1=1 w2=1 w3=1"],
        &[0, 0, 0, 0],
    )
    .teams(4),
    Directed::new(
        "team-half",
        "two teams that write the same words: one lane's lock fails, so no lane commits",
        &["w0=1 w1=1 / w0=2 w1=2", "r1 w1+4 w0=4 / r0 w0+5 w1=5"],
        &[0, 0],
    )
    .teams(2),
    Directed::new(
        "team-skew",
        "write skew between the second lanes of two teams",
        &["r1 w3+1", "r3 w1+1"],
        &[0, 0, 0, 0],
    )
    .teams(2),
    Directed::new(
        "team-stripe",
        "two lanes of a team write words of one stripe, of which only one was read before",
        &["r0 w0+1 w1=5", "r0 w0+1 w1=6", "r1 r0"],
        &[0, 0],
    )
    .stripes(2, 8)
    .teams(2),
    Directed::new(
        "team-stripe-torn",
        "two lanes of a team write words of one stripe, which one of them releases",
        &["w0=1 w1=1 / w1=2 w0=2", "r1 r0 / r0 r1"],
        &[0, 0],
    )
    .stripes(2, 8)
    .teams(2),
    Directed::new(
        "torn-row",
        "a reader that sees one of two additions made together to one row: additions not \
         announced, ended early, a header loaded once, the fences A2 to A4",
        &["s01 s10", "a0=1 a1=1 / a1=2 a0=2", "a0=4 a1=4"],
        &[0],
    )
    .sums(&[0, 0], 2),
    Directed::new(
        "torn-rows",
        "the same with two rows, which a reader sees one after the other: announced after the \
         clock, the snapshot not moved",
        &["s0 s1 s0", "a0=1 a1=1 / a1=2 a0=2", "a1=4 a0=4"],
        &[0],
    )
    .sums(&[0, 0], 1),
    Directed::new(
        "sum-and-word",
        "a sum and a word that change together, read in both orders",
        &["s0 r0 / r0 s0", "a0=1 w0=1 / w0=2 a0=2", "r0 s0 / s0 r0"],
        &[0],
    )
    .sums(&[0], 1),
    Directed::new(
        "sum-skew",
        "write skew: each of two transactions adds to a sum what it has read in the other",
        &["s1 a0+1", "s0 a1+1"],
        &[0],
    )
    .sums(&[0, 0], 1),
    Directed::new(
        "sum-increments",
        "a lost addition: each transaction adds to a sum what it has read in it, beside others \
         that only add",
        &["s0 a0+1 / s0 a0+1", "s0 a0+1", "a0=16 / a0=32"],
        &[0],
    )
    .sums(&[1], 1),
    Directed::new(
        "only-additions",
        "transactions that add to the same sums and read nothing: none is lost, and none waits",
        &[
            "a0=1 a1=2 / a1=4",
            "a1=8 a0=16 / a0=32",
            "a0=64 a1=128 / s01",
        ],
        &[0],
    )
    .sums(&[0, 0], 2),
    Directed::new(
        "block-torn-pair",
        "a team of a block that sees one of two words written together: threads that get \
         another clock, warps that extend on their own",
        &["r0 r1 / r1 r0", "w0=1 w1=1 / w1=2 w0=2"],
        &[0, 0],
    )
    .blocks(2),
    Directed::new(
        "block-torn-batch",
        "the same with two words of each of two warps in one read, and a thread without any",
        &["r01 r23", "w0=1 w1=1 w2=1 w3=1"],
        &[0, 0, 0, 0],
    )
    .blocks(5),
    Directed::new(
        "block-half",
        "two blocks that write the same words: one thread's lock fails, so no warp commits",
        &[
            "w0=1 w1=1 w2=1 / w0=2 w2=2",
            "r2 w0+4 w1=4 w2=4 / r0 w2+5 w0=5",
        ],
        &[0, 0, 0],
    )
    .blocks(3),
    Directed::new(
        "block-skew",
        "write skew between the second warps of two blocks",
        &["r2 w5+1", "r5 w2+1"],
        &[0, 0, 0, 0, 0, 0],
    )
    .blocks(3),
    Directed::new(
        "block-stripe",
        "two threads of a block write words of one stripe, of which only one was read before",
        &["r0 w0+1 w1=5", "r0 w0+1 w1=6", "r1 r0"],
        &[0, 0],
    )
    .stripes(2, 8)
    .blocks(2),
    Directed::new(
        "block-stripe-torn",
        "two threads of a block write words of one stripe, which one of them releases",
        &["w0=1 w1=1 / w1=2 w0=2", "r1 r0 / r0 r1"],
        &[0, 0],
    )
    .stripes(2, 8)
    .blocks(2),
    Directed::new(
        "or-else",
        "an alternative that has retried and leaves what it has written",
        &[
            "r0 ( w1=1 w2=1 e0 | w2=2 ) / r0 ( w2=3 ( w1=3 o0 | e0 ) | w1=4 )",
            "w0=1 / w0=2 / w0=3",
            "r12 / r2 r1",
        ],
        &[0, 0, 0],
    ),
    Directed::new(
        "or-else-skew",
        "write skew between transactions of which each has read the other's word only in an \
         alternative that has retried",
        &["( e0 | w1=1 )", "( e1 | w0=1 )"],
        &[0, 0],
    ),
    Directed::new(
        "team-or-else",
        "an alternative of a team in which one lane retries and all have written",
        &[
            "r0 ( w1=1 w2=1 e0 | w2=2 ) / r0 ( e0 w1=3 | )",
            "r0 ( w0=1 w3=1 o0 | w0=2 )",
        ],
        &[0, 0, 0, 0],
    )
    .teams(2),
];
