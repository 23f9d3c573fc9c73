//! A case as one line of text.
//!
//! ```text
//! hv-sorting!no-e5 3x1 own u64 stripe=1 locks=4 sets=8/8 retry_limits=8/8 init=0,0 : r0 r1 / w0=1 / w1=1 : sim:w1,random,weak25,seed=0x2a
//! ```
//!
//! The grammar is that of all cases (`crate::line`). Behind blocks and threads stand the `Loop` and the
//! `Widths`; words of a stripe; locks; entries of the sets; polls and tries; initial values; those of sums
//! and how many make a row, if there are any; `launches=2` if there are several; `singles=2` for transactions
//! of lanes alone behind those of teams; `silent=equal` or another [`Invariant`] for a run without a recorder.
//! Then the transactions, ` / ` between them, `-` for an empty one. Numbers of words, sums and nodes are
//! digits in base 36. An operation is
//!
//! - `r` and one to three words, or `w`, a word and its value: `=5`, `+5` for the value last read plus 5,
//!   `~` for that value with bit 0 flipped, `?` for 1 if all that was read is 0, and else 0;
//! - `s` and one to three sums, or `a`, a sum and what is added, written as a value;
//! - a letter of an [`Act`] and a word or node;
//! - `( r0 e1 w0=1 | w0=2 )`, two alternatives: the second one runs if the first retries, by `e` and a word
//!   if that is even, or by `o` if it is odd.

use super::case::{Act, Case, Invariant, Op, Program, Value, WORDS_MAX};
use super::check::ensure;
use crate::line::{self, bad};
use clap::ValueEnum;
use std::fmt::{self, Write as _};
use std::str::FromStr;
use stm_history::error::Error;

fn parsed<T: FromStr>(part: &str, text: &str, expected: &str) -> Result<T, Error> {
    text.parse().map_err(|_| bad(part, expected))
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char(match self {
            Self::Read(_) => 'r',
            Self::ReadSums(_) => 's',
            Self::Write(..) => 'w',
            Self::Add(..) => 'a',
            Self::Act(act, _) => *act as u8 as char,
            Self::RetryIf(_, false) => 'e',
            Self::RetryIf(_, true) => 'o',
            Self::Either(..) => '(',
        })?;
        let mut words = self.words().iter();
        let digit = |&word: &u8| char::from_digit(word.into(), WORDS_MAX.into());
        words.try_for_each(|word| f.write_char(digit(word).unwrap_or('?')))?;
        match self {
            Self::Write(_, value) | Self::Add(_, value) => write!(f, "{value}"),
            Self::Either(first, second) => {
                first.iter().try_for_each(|op| write!(f, " {op}"))?;
                f.write_str(" |")?;
                second.iter().try_for_each(|op| write!(f, " {op}"))?;
                f.write_str(" )")
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Const(value) => write!(f, "={value}"),
            Self::LastPlus(value) => write!(f, "+{value}"),
            Self::Flip => f.write_str("~"),
            Self::Claim => f.write_str("?"),
        }
    }
}

fn word_of(value: &impl ValueEnum) -> String {
    let name = value.to_possible_value();
    name.map_or_else(String::new, |name| name.get_name().to_owned())
}
fn named<T: ValueEnum>(word: &str) -> Option<T> {
    T::from_str(word, false).ok()
}

fn joined<T: ToString>(items: &[T], separator: &str) -> String {
    let items: Vec<String> = items.iter().map(ToString::to_string).collect();
    items.join(separator)
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let p = &self.program;
        line::write_head(f, (self.variant, self.mutant, p.blocks, p.threads))?;
        let (calls, widths) = (word_of(&p.calls), word_of(&p.widths));
        let ((reads, writes), (polls, tries)) = (p.sets, p.retry_limits);
        write!(f, " {calls} {widths} stripe={}", p.stripe_words)?;
        write!(f, " locks={} sets={reads}/{writes}", p.locks)?;
        write!(f, " retry_limits={polls}/{tries}")?;
        write!(f, " init={}", joined(&p.initial, ","))?;
        let sums = || format!("sums={} row={}", joined(&p.sums, ","), p.row);
        let parts = [
            (!p.sums.is_empty()).then(sums),
            (p.launches != 1).then(|| format!("launches={}", p.launches)),
            (p.singles != 0).then(|| format!("singles={}", p.singles)),
            (p.silent).map(|invariant| format!("silent={}", word_of(&invariant))),
        ];
        let mut parts = parts.iter().flatten();
        parts.try_for_each(|part| write!(f, " {part}"))?;
        let ops = |ops: &Vec<Op>| match ops.len() {
            0 => "-".to_owned(),
            _ => joined(ops, " "),
        };
        let transactions: Vec<String> = p.transactions.iter().map(ops).collect();
        let sim = self.sim.with_mutant(None);
        write!(f, " : {} : {sim}", transactions.join(" / "))
    }
}

fn list(part: &str, values: &str, expected: &str) -> Result<Vec<u64>, Error> {
    let values = values.split(',');
    values.map(|v| parsed(part, v, expected)).collect()
}

fn pair(part: &str, value: &str, expected: &str) -> Result<(u32, u32), Error> {
    let (a, b) = value.split_once('/').ok_or_else(|| bad(part, expected))?;
    let number = |text| parsed(part, text, expected);
    Ok((number(a)?, number(b)?))
}

fn op(text: &str) -> Result<Op, Error> {
    let expected = "an operation such as r0, r012, w0=1, w0+1, w0~ or w0? on words from 0 to z, s01, a0=1, \
         a0+1 or a0~ on sums, i3 or d3 on nodes of a list, n0, m0, u0 or v0 on a word's \
         node, e0 or o0, or ( | )";
    read_op(text).ok_or_else(|| bad(text, expected))
}

fn read_op(text: &str) -> Option<Op> {
    let word = |c: char| {
        let digit = c.to_digit(WORDS_MAX.into())?;
        (!c.is_ascii_uppercase()).then_some(digit as u8)
    };
    let (kind, operand) = text.split_at_checked(1)?;
    if kind == "r" || kind == "s" {
        let words: Vec<u8> = operand.chars().map(word).collect::<Option<_>>()?;
        let op = if kind == "r" { Op::Read } else { Op::ReadSums };
        return (1..=3).contains(&words.len()).then(|| op(words));
    }
    let mut rest = operand.chars();
    let target = word(rest.next()?)?;
    let (sign, rest) = (rest.next(), rest.as_str());
    let value = match sign {
        None if kind == "e" || kind == "o" => return Some(Op::RetryIf(target, kind == "o")),
        None => {
            let mut acts = Act::value_variants().iter();
            let act = acts.find(|act| kind.as_bytes() == [**act as u8])?;
            return Some(Op::Act(*act, target));
        }
        Some('=') => Value::Const(rest.parse().ok()?),
        Some('+') => Value::LastPlus(rest.parse().ok()?),
        Some('~') if rest.is_empty() => Value::Flip,
        Some('?') if rest.is_empty() => Value::Claim,
        _ => return None,
    };
    match kind {
        "w" => Some(Op::Write(target, value)),
        "a" => Some(Op::Add(target, value)),
        _ => None,
    }
}

pub(super) fn transactions(text: &str) -> Result<Vec<Vec<Op>>, Error> {
    text.split(" / ")
        .map(|ops| match ops.trim() {
            "-" => Ok(Vec::new()),
            ops => {
                let (ops, rest) = block(&mut ops.split_whitespace(), 0)?;
                ensure(rest.is_none(), "( | )", "( before | and )")?;
                Ok(ops)
            }
        })
        .collect()
}

/// How deep alternatives may stand in each other: each level is a call on the stack.
const DEPTH_MAX: u32 = 16;

/// Reads operations to the end, or to what ends an alternative, which it returns as well. They stand in
/// `depth` alternatives.
fn block<'t>(
    words: &mut impl Iterator<Item = &'t str>,
    depth: u32,
) -> Result<(Vec<Op>, Option<&'t str>), Error> {
    let mut ops = Vec::new();
    while let Some(word) = words.next() {
        ops.push(match word {
            "|" | ")" => return Ok((ops, Some(word))),
            "(" => {
                let expected = format!("at most {DEPTH_MAX} of them in each other");
                ensure(depth < DEPTH_MAX, "( | )", &expected)?;
                let inner = depth + 1;
                let ((first, middle), (second, end)) = (block(words, inner)?, block(words, inner)?);
                let whole = (middle, end) == (Some("|"), Some(")"));
                ensure(whole, "( | )", "( with its | and its )")?;
                Op::Either(first, second)
            }
            word => op(word)?,
        });
    }
    Ok((ops, None))
}

impl Program {
    pub(super) fn set(&mut self, part: &str) -> Result<(), Error> {
        let (key, value) = part.split_once('=').unwrap_or_default();
        match key {
            "launches" => self.launches = parsed(part, value, "launches=N, 1 to 16")?,
            "singles" => self.singles = parsed(part, value, "singles=N")?,
            "silent" => {
                let known = Invariant::value_variants().iter().map(word_of);
                let known = || known.collect::<Vec<_>>().join(", ");
                self.silent = Some(named(value).ok_or_else(|| bad(part, &known()))?);
            }
            "stripe" => self.stripe_words = parsed(part, value, "stripe=1, 2 or 4")?,
            "locks" => self.locks = parsed(part, value, "locks=N, a power of two")?,
            "sets" => self.sets = pair(part, value, "sets=READS/WRITES")?,
            "retry_limits" => self.retry_limits = pair(part, value, "retry_limits=POLLS/TRIES")?,
            "init" => self.initial = list(part, value, "init=V,V: a value for each word")?,
            "sums" => self.sums = list(part, value, "sums=V,V: a value for each sum")?,
            "row" => self.row = parsed(part, value, "row=N, sums of a row")?,
            _ if let Some(calls) = named(part) => self.calls = calls,
            _ if let Some(widths) = named(part) => self.widths = widths,
            _ => {
                let known = "each, own, team, block, update, u32, u64, mixed, stripe=, locks=, \
                             sets=, retry_limits=, init=, sums=, row=, launches=, singles= or silent=";
                return Err(bad(part, known));
            }
        }
        Ok(())
    }
}

impl FromStr for Case {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let sections: Vec<&str> = text.trim().splitn(3, " : ").collect();
        let [head, body, sim] = sections[..] else {
            let whole = "`VARIANT PARTS : TRANSACTIONS : sim:...`, as a failure prints it";
            return Err(bad(text, whole));
        };
        let ((variant, mutant, blocks, threads), mut parts) = line::head(head)?;
        let mut program = Program {
            blocks,
            threads,
            transactions: transactions(body)?,
            ..Program::default()
        };
        parts.try_for_each(|part| program.set(part))?;
        program.check()?;
        let of_teams = program.calls.is_of_teams();
        let (part, variants) = ("team or block", "fast or fast-table, which have teams");
        ensure(!of_teams || variant.has_teams(), part, variants)?;
        let adds = of_teams && !program.sums.is_empty();
        ensure(!adds, part, "each or own: teams do not add")?;
        Ok(Self {
            variant,
            mutant,
            program,
            sim: line::simulation(sim)?,
        })
    }
}
