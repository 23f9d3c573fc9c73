//! What the paper claims, judged by the document.
//!
//! Every claim has a rule that is printed beside its verdict, so that a reader
//! who would draw the line elsewhere can: nobody's impression decides. A claim
//! about several workloads or settings holds if it does in each, holds in part
//! if it does in some; where the document has no points for it, it cannot be
//! judged.

mod locks;

use super::published::{self, plain};
use super::sentences::{LEVEL, over_by_hand, rate};
use super::view::{
    and, apart, fastest, label, largest, measured, percent, times, total, workloads,
};
use crate::numbers::of;
use crate::paper::document::{Paper, ThreadPoint};

/// A claim and its judgement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// What the paper says.
    pub text: &'static str,
    /// Where it says so.
    pub section: &'static str,
    /// When it holds.
    pub rule: String,
    /// Whether it does.
    pub verdict: Verdict,
    /// The numbers that decide.
    pub found: String,
}

/// A judgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The rule is met.
    Holds,
    /// It is met in some workloads or settings.
    Partly,
    /// It is not met.
    Fails,
    /// The document has no points for it.
    Unknown,
}

impl Verdict {
    /// In words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Partly => "holds in part",
            Self::Fails => "does not hold",
            Self::Unknown => "cannot be judged",
        }
    }

    /// Its class in the page.
    pub const fn class(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Partly => "partly",
            Self::Fails => "fails",
            Self::Unknown => "unknown",
        }
    }

    const fn of(met: bool) -> Self {
        if met { Self::Holds } else { Self::Fails }
    }

    /// Of several, each of which may be met.
    fn of_all(met: &[bool]) -> Self {
        match met.iter().filter(|m| **m).count() {
            _ if met.is_empty() => Self::Unknown,
            0 => Self::Fails,
            n if n == met.len() => Self::Holds,
            _ => Self::Partly,
        }
    }
}

/// A claim's text, its section and its rule.
type Stated = (&'static str, &'static str, String);

const NONE: &str = "Not measured.";

/// All claims that the document's data bear on.
pub fn all(paper: &Paper) -> Vec<Claim> {
    let apart = apart(paper);
    let [up_to, kmeans] = over_the_lock(&apart);
    let mut claims = vec![up_to];
    claims.extend(variants_compared(&apart));
    claims.push(kmeans);
    claims.push(time_in_transactions(paper));
    claims.extend(threads(paper));
    claims.extend(locks::locks(paper));
    claims
}

/// A claim about a ratio in each of some workloads.
fn of_ratios(
    (text, section, rule): Stated,
    ratios: &[(String, f64)],
    show: fn(f64) -> String,
    met: impl Fn(f64) -> bool,
) -> Claim {
    let each: Vec<bool> = ratios.iter().map(|(_, ratio)| met(*ratio)).collect();
    let found: Vec<String> = ratios
        .iter()
        .map(|(name, ratio)| format!("{name} {}", show(*ratio)))
        .collect();
    Claim {
        text,
        section,
        rule,
        verdict: Verdict::of_all(&each),
        found: if found.is_empty() {
            NONE.into()
        } else {
            found.join(", ") + "."
        },
    }
}

/// The ratio of two rates in each of some workloads, as far as they are there.
fn ratios<'p>(
    paper: &'p Paper,
    wanted: &[&str],
    ratio: impl Fn(&'p str) -> Option<f64>,
) -> Vec<(String, f64)> {
    measured(paper)
        .into_iter()
        .filter(|workload| wanted.contains(&plain(workload).as_str()))
        .filter_map(|workload| Some((label(workload), ratio(workload)?)))
        .collect()
}

fn claim(text: &'static str, section: &'static str, rule: &str) -> Stated {
    (text, section, rule.to_owned())
}

/// Claims about speed-ups over the lock; `paper` has its kernels apart.
fn over_the_lock(paper: &Paper) -> [Claim; 2] {
    let gain = |name: &str| {
        let found = largest(paper, |run| plain(&run.workload) == name);
        found.map(|(run, ratio)| (label(&run.workload), ratio))
    };
    let most = published::SPEEDUP_MAX;
    let gn2 = gain("gn2");
    let mut up_to = of_ratios(
        claim(
            "Up to 20\u{d7} over coarse-grained locking; about 20\u{d7} in GN-2",
            "abstract, 4.4",
            &format!("the best variant has {most:.0}\u{d7} the rate of cgl or more in GN-2"),
        ),
        gn2.as_slice(),
        times,
        |ratio| ratio >= most,
    );
    if let (Some((_, ratio)), Some(_)) = (gn2, over_by_hand(paper)) {
        let [low, high] = [4.0, 3.0].map(|part| times(ratio / part));
        let found = up_to.found;
        up_to.found = format!("{found} Over a hand-written lock that is roughly {low} to {high}.");
    }
    let nothing = of_ratios(
        claim(
            "KM gains nothing",
            "4.2",
            "its best variant is at most 5 % faster than cgl",
        ),
        gain("kmeans").as_slice(),
        times,
        |ratio| ratio <= 1.0 + LEVEL,
    );
    [up_to, nothing]
}

/// Claims that compare variants in Figure 2; `paper` has its kernels apart.
fn variants_compared(paper: &Paper) -> [Claim; 4] {
    let theirs = ["ra", "ht", "gn1", "gn2", "genome", "labyrinth", "kmeans"];
    let many = ["ra", "ht", "gn1", "gn2", "genome", "kmeans"];
    let best = |workload| fastest(paper, workload).map(|run| run.tx_per_s);
    let over = |variant: &'static str| {
        move |workload| Some(rate(paper, workload, variant)? / best(workload)?)
    };
    let hv_over_tbv = |workload| {
        Some(rate(paper, workload, "hv-sorting")? / rate(paper, workload, "tbv-sorting")?)
    };
    [
        of_ratios(
            claim(
                "optimized is the fastest or level with it",
                "4.2",
                "it reaches 95 % of the fastest rate or more in each workload",
            ),
            &ratios(paper, &theirs, over("optimized")),
            percent,
            |ratio| ratio >= 1.0 - LEVEL,
        ),
        of_ratios(
            claim(
                "egpgv is held back by one transaction a block",
                "4.2",
                "it reaches less than half of the fastest rate in each workload",
            ),
            &ratios(paper, &theirs, over("egpgv")),
            percent,
            |ratio| ratio < 0.5,
        ),
        of_ratios(
            claim(
                "vbv suffers where there are many transactions: RA, HT, GN, KM",
                "4.2",
                "it reaches less than a tenth of the fastest rate in each of them",
            ),
            &ratios(paper, &many, over("vbv")),
            percent,
            |ratio| ratio < 0.1,
        ),
        of_ratios(
            claim(
                "hv is ahead of tbv where data outnumber the locks: RA, LB",
                "4.2",
                "hv-sorting is more than 5 % faster than tbv-sorting in both",
            ),
            &ratios(paper, &["ra", "labyrinth"], hv_over_tbv),
            times,
            |ratio| ratio > 1.0 + LEVEL,
        ),
    ]
}

/// The ranks of values, from 0; equal values share the mean of theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    values
        .iter()
        .map(|v| {
            let below = values.iter().filter(|w| *w < v).count();
            let equal = values.iter().filter(|w| w.total_cmp(v).is_eq()).count();
            below as f64 + (equal - 1) as f64 / 2.0
        })
        .collect()
}

/// The rank correlation of two series (Spearman); `None` if one is constant.
fn correlation(a: &[f64], b: &[f64]) -> Option<f64> {
    let (a, b) = (ranks(a), ranks(b));
    let mean = (a.len() as f64 - 1.0) / 2.0;
    let sum = |x: &[f64], y: &[f64]| -> f64 {
        x.iter().zip(y).map(|(x, y)| (x - mean) * (y - mean)).sum()
    };
    let spread = (sum(&a, &a) * sum(&b, &b)).sqrt();
    (spread > 0.0).then(|| sum(&a, &b) / spread)
}

/// The gain against the share of the time in transactions. A program counts
/// whole: its kernels' shares are not known.
fn time_in_transactions(paper: &Paper) -> Claim {
    let known: Vec<(String, f64, f64)> = paper
        .characteristics
        .iter()
        .filter_map(|c| {
            let gain = largest(paper, |run| run.workload == c.workload)?.1;
            Some((label(&c.workload), c.time_in_tx?, gain))
        })
        .collect();
    let shares: Vec<f64> = known.iter().map(|k| k.1).collect();
    let gains: Vec<f64> = known.iter().map(|k| k.2).collect();
    let found = correlation(&shares, &gains).filter(|_| known.len() >= 4);
    Claim {
        text: "The more of its time is in transactions, the more a workload gains",
        section: "4.2",
        rule: "the rank correlation of that share and the largest speed-up is 0.5 or more, over \
               four workloads or more"
            .into(),
        verdict: found.map_or(Verdict::Unknown, |r| Verdict::of(r >= 0.5)),
        found: found.map_or_else(
            || format!("Known of {} only.", of(known.len() as u64, "workload")),
            |r| {
                let each = known.iter().map(|(name, share, gain)| {
                    format!("{name} {} and {}", percent(*share), times(*gain))
                });
                let each: Vec<String> = each.collect();
                format!("The correlation is {r:.2}: {}.", each.join(", "))
            },
        ),
    }
}

/// The points of a variant in a workload that ran, by threads.
fn line<'p>(paper: &'p Paper, workload: &str, variant: &str) -> Vec<&'p ThreadPoint> {
    let points = paper.threads.iter();
    let mut line: Vec<&ThreadPoint> = points
        .filter(|p| p.workload == workload && p.variant == variant && p.tx_per_s > 0.0)
        .collect();
    line.sort_by_key(|p| total(p.blocks, p.threads));
    line
}

/// Claims about Figure 3.
fn threads(paper: &Paper) -> Vec<Claim> {
    let all = workloads(paper.threads.iter().map(|p| p.workload.as_str()));
    let each = |variant: &str, of: &dyn Fn(&[&ThreadPoint]) -> Option<f64>| -> Vec<(String, f64)> {
        let known = |workload: &&str| Some((label(workload), of(&line(paper, workload, variant))?));
        all.iter().filter_map(known).collect()
    };
    let growth = |line: &[&ThreadPoint]| {
        let best = line.iter().map(|p| p.tx_per_s).fold(0.0, f64::max);
        Some(best / line.first()?.tx_per_s)
    };
    let last_step = |line: &[&ThreadPoint]| match line {
        [.., before, last] => Some(last.tx_per_s / before.tx_per_s),
        _ => None,
    };
    let mut claims = vec![
        of_ratios(
            (
                "vbv does not scale",
                "Figure 3",
                "its best rate is less than twice that of its smallest launch in each workload"
                    .into(),
            ),
            &each("vbv", &growth),
            times,
            |ratio| ratio < 2.0,
        ),
        of_ratios(
            (
                "egpgv ends early",
                "Figure 3",
                "its largest launch is at most 5 % faster than the one before in each workload"
                    .into(),
            ),
            &each("egpgv", &last_step),
            times,
            |ratio| ratio <= 1.0 + LEVEL,
        ),
    ];
    let more: Vec<(String, bool)> = all
        .iter()
        .filter_map(|workload| match line(paper, workload, "hv-sorting")[..] {
            [first, .., last] => Some((label(workload), last.abort_rate > first.abort_rate)),
            _ => None,
        })
        .collect();
    let met: Vec<bool> = more.iter().map(|m| m.1).collect();
    let yes: Vec<String> = more.iter().filter(|m| m.1).map(|m| m.0.clone()).collect();
    claims.push(Claim {
        text: "More threads bring more conflicts",
        section: "4.2",
        rule: "hv-sorting aborts a larger share of attempts at its largest launch than at its \
               smallest in each workload"
            .into(),
        verdict: Verdict::of_all(&met),
        found: match (met.len(), yes.len()) {
            (0, _) => NONE.into(),
            (n, 0) => format!("In none of {n} workloads."),
            (n, k) => format!("In {k} of {n} workloads: {}.", and(&yes)),
        },
    });
    claims
}
