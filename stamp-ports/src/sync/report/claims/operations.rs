//! Claims of Stuart and Owens about barriers and mutexes (sections 5 to 7).
//!
//! The mutex is measured with an increment inside and a common end, not by empty sections.

use super::Stated;
use super::cases::{Cases, Finding, blocks, equal, fastest, less, more};
use crate::sync::report::data::{BARRIER, MUTEX, over, smallest};
use crate::sync::report::shape::{At, Then};
use stm_core::sync::barrier::Kind;

const TAS: &str = "tas";
const BACKOFF: &str = "tas-backoff";
const FETCH: &str = "fetch-add";
const RING: &str = "ring";
const STAGES: &str = "two-stage";
const XF: &str = "xiao-feng";

pub(super) const CLAIMS: [Stated; 12] = [
    Stated::new(
        ["S-B1", "6, Table 5"],
        [
            "The barrier of Xiao and Feng is the best at scale.",
            "a plot; best on both devices",
            "R(xiao-feng) > 1.05 R(two-stage) with the most blocks, and the fastest of all our barriers",
        ],
        b1,
    ),
    Stated::new(
        ["S-B2", "6"],
        [
            "Both barriers start alike; the two-stage one falls below 5 % of Xiao and Feng's (Tesla).",
            "below 5 % at 60 blocks",
            "R(two-stage) / R(xiao-feng) between 0.8 and 1.25 with one block, and < 0.05 with 64 (this machine's shape: with the most)",
        ],
        b2,
    ),
    Stated::new(
        ["S-B3", "6"],
        [
            "The two-stage barrier starts at about 75 % of Xiao and Feng's and falls to about 30 % (Fermi).",
            "75 % and 30 %",
            "R(two-stage) / R(xiao-feng) between 0.6 and 0.94 with one block, between 0.24 and 0.375 with the most",
        ],
        b3,
    ),
    Stated::new(
        ["S-B4", "6"],
        [
            "Xiao and Feng's barrier needs many registers, so that 6 blocks fit a multiprocessor.",
            "6 blocks of 128 threads",
            "fewer blocks are resident than with the two-stage barrier",
        ],
        |_| Finding::unknown("the document holds no registers"),
    )
    .once(),
    Stated::new(
        ["S-X1", "6, Table 5"],
        [
            "Fetch-and-add is the best mutex; the spin lock with backoff reaches less than 5 % of it (Tesla).",
            "below 5 %",
            "fetch-add is the fastest of tas, tas-backoff, fetch-add and ring with 240 blocks, and R(tas-backoff) / R(fetch-add) < 0.05",
        ],
        x1,
    ),
    Stated::new(
        ["S-X2", "6, Table 5"],
        [
            "The spin lock with backoff is the best mutex, almost 45 % ahead of the plain one, which is second (Fermi).",
            "almost 45 %; elsewhere in the same paper about 60 % and nearly 40 %",
            "with 128 blocks tas-backoff is the fastest of the four, R(tas) > 1.05 times the two others, and R(tas-backoff) / R(tas) \u{2265} 1.36",
        ],
        x2,
    ),
    Stated::new(
        ["S-X3", "6"],
        [
            "The sleeping mutex has about half the rate of spin with backoff (Fermi).",
            "about half",
            "R(fetch-add) / R(tas-backoff) between 0.4 and 0.625",
        ],
        x3,
    ),
    Stated::new(
        ["S-X4", "6"],
        [
            "Backoff makes scaling smoother.",
            "a plot",
            "the largest ratio of rates between neighbouring numbers of blocks, from 32 on: that of tas-backoff < that of tas",
        ],
        x4,
    ),
    Stated::new(
        ["S-X5", "6"],
        [
            "Backoff gains 5 to 10 % over the plain spin lock (Tesla).",
            "5 to 10 %",
            "R(tas-backoff) / R(tas) between 1.05 and 1.25 with 128 blocks (this machine's shape: with the most)",
        ],
        x5,
    ),
    Stated::new(
        ["S-X6", "5"],
        [
            "The ring buffer is inferior to fetch-and-add.",
            "no figures",
            "R(ring) < 0.95 R(fetch-add) with each number of blocks",
        ],
        x6,
    ),
    Stated::new(
        ["S-X7", "5"],
        [
            "Fetch-and-add is fair, a spin lock is not.",
            "no figures",
            "most over fewest sections of a block, with the most blocks: \u{2264} 1.1 for fetch-add, > 2 for tas",
        ],
        x7,
    ),
    Stated::new(
        ["S-X8", "7"],
        [
            "Fetch-and-add is many times as fast as the spin lock (Tesla; the factor is lost in our copy of the text).",
            "not known",
            "none: the ratio is printed",
        ],
        x8,
    ),
];

fn full(at: &At<'_>, then: Then, part: &str, kinds: &[&str], cases: &mut Cases) -> u32 {
    let full = at.full(then, part, kinds, None);
    cases.say_blocks(full);
    full
}

/// The numbers of blocks on the paper's larger axis, or all.
fn axis(at: &At<'_>, part: &str, kinds: &[&str]) -> Vec<u32> {
    let all = at.data.blocks_of_all(part, kinds, None).into_iter();
    all.filter(|b| !at.shape.of_paper || *b <= 240).collect()
}

fn barriers(at: &At<'_>, blocks: u32) -> Option<f64> {
    let rate = |kind| at.rate(BARRIER, kind, blocks, None);
    over(rate(STAGES), rate(XF))
}

fn b1(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    let full = full(at, Then::Fermi, BARRIER, &[XF, STAGES], &mut cases);
    let rate = |kind| at.rate(BARRIER, kind, full, None);
    cases.value("xiao-feng / two-stage", over(rate(XF), rate(STAGES)), more);
    for kind in Kind::ALL.iter().map(|kind| kind.name()) {
        if ![XF, STAGES].contains(&kind) {
            let ratio = over(rate(XF), rate(kind));
            cases.value(format!("xiao-feng / {kind}"), ratio, fastest);
        }
    }
    cases.finding()
}

fn b2(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    cases.value("1 block", barriers(at, 1), equal);
    let most = if at.shape.of_paper {
        64
    } else {
        at.full(Then::Tesla, BARRIER, &[XF, STAGES], None)
    };
    cases.value(blocks(most), barriers(at, most), |r| r < 0.05);
    cases.finding()
}

fn b3(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    cases.value("1 block", barriers(at, 1), |r| (0.6..=0.94).contains(&r));
    let most = at.full(Then::Fermi, BARRIER, &[XF, STAGES], None);
    let within = |r| (0.24..=0.375).contains(&r);
    cases.value(blocks(most), barriers(at, most), within);
    cases.finding()
}

const FOUR: [&str; 4] = [TAS, BACKOFF, FETCH, RING];

/// The rate of a mutex over that of each of some others.
fn ahead(at: &At<'_>, kind: &str, others: &[&str], blocks: u32) -> Vec<Option<f64>> {
    let rate = |kind| at.rate(MUTEX, kind, blocks, None);
    let others = others.iter();
    others.map(|other| over(rate(kind), rate(other))).collect()
}

fn x1(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    let full = full(at, Then::Tesla, MUTEX, &FOUR, &mut cases);
    let least = smallest(&ahead(at, FETCH, &[TAS, BACKOFF, RING], full));
    cases.value("fetch-add / the fastest of the others", least, fastest);
    let ratio = ahead(at, BACKOFF, &[FETCH], full)[0];
    cases.value("tas-backoff / fetch-add", ratio, |r| r < 0.05);
    cases.finding()
}

fn x2(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    let full = full(at, Then::Fermi, MUTEX, &FOUR, &mut cases);
    let least = smallest(&ahead(at, BACKOFF, &[TAS, FETCH, RING], full));
    cases.value("tas-backoff / the fastest of the others", least, fastest);
    let second = smallest(&ahead(at, TAS, &[FETCH, RING], full));
    cases.value("tas / the faster of fetch-add and ring", second, more);
    let gain = ahead(at, BACKOFF, &[TAS], full)[0];
    cases.value("tas-backoff / tas", gain, |r| r >= 1.36);
    cases.finding()
}

fn x3(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    let full = full(at, Then::Fermi, MUTEX, &[FETCH, BACKOFF], &mut cases);
    let ratio = ahead(at, FETCH, &[BACKOFF], full)[0];
    let half = |r| (0.4..=0.625).contains(&r);
    cases.value("fetch-add / tas-backoff", ratio, half);
    cases.finding()
}

fn x4(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    let axis = axis(at, MUTEX, &[TAS, BACKOFF]);
    let from: Vec<u32> = axis.into_iter().filter(|b| *b >= 32).collect();
    let roughest = |kind: &str| {
        let rates = from.iter().map(|b| at.rate(MUTEX, kind, *b, None));
        let rates: Vec<f64> = rates.collect::<Option<_>>()?;
        let steps = rates
            .windows(2)
            .map(|pair| (pair[0] / pair[1]).max(pair[1] / pair[0]));
        steps.reduce(f64::max).filter(|_| rates.len() >= 3)
    };
    let (backoff, tas) = (roughest(BACKOFF), roughest(TAS));
    cases.value(
        "roughest step, tas-backoff over tas",
        over(backoff, tas),
        |r| r < 1.0,
    );
    cases.beside("tas-backoff", backoff);
    cases.beside("tas", tas);
    cases.finding()
}

fn x5(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    let full = full(at, Then::Fermi, MUTEX, &[TAS, BACKOFF], &mut cases);
    let gain = ahead(at, BACKOFF, &[TAS], full)[0];
    cases.value("tas-backoff / tas", gain, |r| (1.05..=1.25).contains(&r));
    cases.finding()
}

fn x6(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    let axis = axis(at, MUTEX, &[RING, FETCH]);
    if axis.is_empty() {
        cases.needs("ring and fetch-add");
    }
    for n in axis {
        let ratio = ahead(at, RING, &[FETCH], n)[0];
        cases.value(blocks(n), ratio, less);
    }
    cases.finding()
}

fn x7(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    let full = full(at, Then::Fermi, MUTEX, &[FETCH, TAS], &mut cases);
    cases.value(FETCH, at.data.unfairness(FETCH, full), |r| r <= 1.1);
    cases.value(TAS, at.data.unfairness(TAS, full), |r| r > 2.0);
    cases.finding()
}

fn x8(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    let full = full(at, Then::Tesla, MUTEX, &[FETCH, TAS], &mut cases);
    cases.beside("fetch-add / tas", ahead(at, FETCH, &[TAS], full)[0]);
    cases.finding()
}
