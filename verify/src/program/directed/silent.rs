//! The silent programs.

use super::Directed;
use crate::program::invariant::Invariant;

/// All silent programs.
pub const SILENT: &[Directed] = &[
    Directed::new(
        "silent-torn-pair",
        "two words that are written together and read one after the other: the acquire with \
         which an attempt begins, which a recorder could stand in for",
        &["r0 r1 / r1 r0", "w0=1 w1=1 / w1=2 w0=2"],
        &[0, 0],
    )
    .silent(Invariant::Equal),
    Directed::new(
        "silent-late-extension",
        "an attempt that extends its snapshot by one pair and goes on with another",
        &[
            "r0 r2 r1 / r3 r0 r2",
            "w0=1 w1=1 w2=1 w3=1",
            "r2 w0+1 w1+1 w2+1 w3+1",
        ],
        &[0, 0, 0, 0],
    )
    .silent(Invariant::Equal),
    Directed::new(
        "silent-two-launches",
        "the same words in a launch that finds the versions that another one left",
        &["r0 r1 / r01 / r1 r0", "w0=1 w1=1 / w1=2 w0=2 / w0=3 w1=3"],
        &[0, 0],
    )
    .silent(Invariant::Equal)
    .launches(3),
    Directed::new(
        "silent-toggle",
        "a pair that changes and changes back: values alone prove nothing",
        &[
            "r0 r1 / r1 r0 / r01",
            "r0 w0~ r1 w1~ / r10 w0~ w1+0",
            "r01 w1~ w0+0",
        ],
        &[0, 1],
    )
    .silent(Invariant::Toggle)
    .stripes(2, 2),
    Directed::new(
        "silent-total",
        "transfers and audits",
        &[
            "r0 r1 r2",
            "r0 w0+1 r1 w1+18446744073709551615",
            "r1 w1+2 r2 w2+18446744073709551614 / r012",
        ],
        &[5, 5, 5],
    )
    .silent(Invariant::Total),
    Directed::new(
        "silent-skew",
        "two transactions that each take a word if the other is free",
        &["r0 r1 w0? / r0 r1 w0?", "r1 r0 w1? / r0 r1 w1?", "r01"],
        &[0, 0],
    )
    .silent(Invariant::Exclusive),
    Directed::new(
        "silent-list",
        "neighbours inserted into a sorted list and removed from it",
        &["d2 i3 / d4", "d3 i1 / i2", "i3 d2 / d1 i4"],
        &[2, 0, 4, 0, 0],
    )
    .silent(Invariant::Sorted)
    .sets(32, 32),
    Directed::new(
        "silent-nodes",
        "nodes that are allocated, freed and allocated again while others find them",
        &[
            "m0 / m0 / m0 / n0",
            "u0 / v0 / u0 / v0",
            "m0 m1 / v0 v1 / n1 m0",
        ],
        &[0, 0],
    )
    .silent(Invariant::Nodes)
    .sets(32, 32),
    Directed::new(
        "silent-node-reused",
        "a writer that has found a node in its former life, while the node gets its next one",
        &[
            "u0 / u0 / u0 / u0 / u0 / u0 / u0 / u0 / u0 / u0",
            "n0 / n0 / n0 / n0 / n0 / n0 / n0 / n0 / n0 / n0 / n0 / n0",
        ],
        &[0],
    )
    .silent(Invariant::Nodes)
    .sets(32, 32),
    Directed::new(
        "silent-turns",
        "a word that two lanes put and two take, each waiting for its turn",
        &[
            "p0 / p0 / p0",
            "t0 / t0 / t0",
            "p0 / p0 / p0",
            "t0 / t0 / t0",
        ],
        &[0],
    )
    .silent(Invariant::Turns),
    Directed::new(
        "silent-chain",
        "a token that goes through three words, from lane to lane",
        &[
            "p0 / p0 / p0",
            "t0 p1 / t0 p1 / t0 p1",
            "t1 p2 / t1 p2 / t1 p2",
            "t2 / t2 / t2",
        ],
        &[0, 0, 0],
    )
    .silent(Invariant::Turns),
    Directed::new(
        "silent-sums",
        "additions that are made together, read one after the other",
        &["s0 s1 / s10", "a0=1 a1=1 / a1=2 a0=2", "a0=4 a1=4"],
        &[0],
    )
    .sums(&[0, 0], 1)
    .silent(Invariant::Equal),
    Directed::new(
        "silent-team-pair",
        "a torn pair of which each lane of a team reads one word",
        &["r0 r1 / r1 r0", "w0=1 w1=1 / w1=2 w0=2"],
        &[0, 0],
    )
    .teams(2)
    .silent(Invariant::Equal),
    Directed::new(
        "silent-block-pair",
        "the same with the threads of a block",
        &["r0 r1 / r1 r0", "w0=1 w1=1 / w1=2 w0=2"],
        &[0, 0],
    )
    .blocks(2)
    .silent(Invariant::Equal),
    Directed::new(
        "silent-or-else",
        "a transfer that is given up in its midst for another one, or for none",
        &[
            "( r0 w0+1 e2 r1 w1+18446744073709551615 | r2 ) / \
             ( r1 w1+2 o2 r0 w0+18446744073709551614 | )",
            "r2 w2+1 r1 w1+18446744073709551615 / r2 w2+1 r0 w0+18446744073709551615",
            "r0 r1 r2 / r210",
        ],
        &[5, 5, 5],
    )
    .silent(Invariant::Total),
    Directed::new(
        "silent-node-or-else",
        "nodes that are allocated and freed in alternatives that are undone",
        &[
            "( m0 e1 | m1 ) / ( n0 n1 o0 | m0 )",
            "( m1 e0 | n0 ) / ( m0 m1 e1 | )",
            "v0 v1 / u0 / v1",
        ],
        &[0, 0],
    )
    .silent(Invariant::Nodes)
    .sets(40, 40),
];
