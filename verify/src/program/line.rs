//! A case as one line of text.
//!
//! ```text
//! hv-sorting!no-e5 3x1 own u64 stripe=1 locks=4 sets=8/8 retry_limits=8/8 init=0,0 : r0 r1 / w0=1 / w1=1 : sim:w1,random,weak25,seed=0x2a
//! ```
//!
//! Before the first ` : ` the variant, with the seeded defect after a `!`;
//! blocks and threads; `each`, `own`, `team`, `block` or `update` ([`Loop`]); the words'
//! widths ([`Widths`]); words of a stripe; locks; entries of the sets; polls and
//! tries; initial values; and, if there are sums, their initial values and how
//! many make a row; `launches=2` if there are several; `silent=equal` or another
//! [`Invariant`] for a run without a recorder. Then the transactions, ` / `
//! between them, `-` for an empty one. An operation is `r` and one to three
//! words, or `w`, a word and its value: `=5`, `+5` for the value last read plus
//! 5, `~` for that value with bit 0 flipped, `?` for 1 if all that was read is
//! 0, and else 0; or `s` and one to three sums, or `a`, a sum and what is added,
//! written as a value; or `i` or `d` and a node of a list to be inserted or
//! removed; or `n`, `m`, `u` or `v` and a word whose node of the pool is
//! allocated or freed, replaced, updated or visited ([`NodeOp`]); or `p` or `t`
//! and a word that is put or taken, which may wait. `( r0 e1 w0=1 | w0=2 )` are
//! two alternatives: the second one runs if the first retries, by `e` and a word
//! if that is even, or by `o` if it is odd. Numbers of words, sums and nodes are
//! digits in base 36. Then the simulation.

use super::case::{Case, Loop, NodeOp, Op, Program, Value, WORDS_MAX, Widths, Words};
use super::invariant::Invariant;
use crate::error::Error;
use std::fmt;
use std::str::FromStr;
use stm_core::algorithm::Variant;
use stm_core::observe::Mutant;

/// A word's digit.
struct Digit(u8);

impl fmt::Display for Digit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digit = char::from_digit(self.0.into(), WORDS_MAX.into());
        write!(f, "{}", digit.unwrap_or('?'))
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, words: &Words| {
            let mut words = words.as_slice().iter();
            words.try_for_each(|&w| write!(f, "{}", Digit(w)))
        };
        match self {
            Self::Read(words) => {
                f.write_str("r")?;
                list(f, words)
            }
            Self::ReadSums(sums) => {
                f.write_str("s")?;
                list(f, sums)
            }
            Self::Write(word, value) => write!(f, "w{}{value}", Digit(*word)),
            Self::Add(sum, value) => write!(f, "a{}{value}", Digit(*sum)),
            Self::Insert(node) => write!(f, "i{}", Digit(*node)),
            Self::Remove(node) => write!(f, "d{}", Digit(*node)),
            Self::Put(word) => write!(f, "p{}", Digit(*word)),
            Self::Take(word) => write!(f, "t{}", Digit(*word)),
            Self::Node(word, op) => write!(f, "{}{}", op.letter(), Digit(*word)),
            Self::RetryIf(word, false) => write!(f, "e{}", Digit(*word)),
            Self::RetryIf(word, true) => write!(f, "o{}", Digit(*word)),
            Self::Either => f.write_str("("),
            Self::OrElse => f.write_str("|"),
            Self::End => f.write_str(")"),
        }
    }
}

impl NodeOp {
    const ALL: [Self; 4] = [Self::Toggle, Self::Replace, Self::Update, Self::Visit];

    const fn letter(self) -> &'static str {
        match self {
            Self::Toggle => "n",
            Self::Replace => "m",
            Self::Update => "u",
            Self::Visit => "v",
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

fn joined<T: ToString>(items: &[T], separator: &str) -> String {
    let items: Vec<String> = items.iter().map(ToString::to_string).collect();
    items.join(separator)
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.variant)?;
        if let Some(mutant) = self.mutant {
            write!(f, "!{}", mutant.name())?;
        }
        let p = &self.program;
        write!(
            f,
            " {}x{} {} {} stripe={} locks={} sets={}/{} retry_limits={}/{} init={}",
            p.blocks,
            p.threads,
            match p.calls {
                Loop::Each => "each",
                Loop::Own => "own",
                Loop::Team => "team",
                Loop::Block => "block",
                Loop::Update => "update",
            },
            match p.widths {
                Widths::Narrow => "u32",
                Widths::Wide => "u64",
                Widths::Mixed => "mixed",
            },
            p.stripe_words,
            p.locks,
            p.sets.0,
            p.sets.1,
            p.retry_limits.0,
            p.retry_limits.1,
            joined(&p.initial, ","),
        )?;
        if !p.sums.is_empty() {
            write!(f, " sums={} row={}", joined(&p.sums, ","), p.row)?;
        }
        if p.launches != 1 {
            write!(f, " launches={}", p.launches)?;
        }
        if let Some(invariant) = p.silent {
            write!(f, " silent={}", invariant.name())?;
        }
        let transactions: Vec<String> = p
            .transactions
            .iter()
            .map(|ops| match ops.len() {
                0 => "-".to_owned(),
                _ => joined(ops, " "),
            })
            .collect();
        let mut sim = self.sim;
        sim.mutant = None;
        write!(f, " : {} : {sim}", transactions.join(" / "))
    }
}

fn bad(part: &str, expected: &str) -> Error {
    Error::Usage(format!("replay line: `{part}`: expected {expected}"))
}

fn parse<T: FromStr>(part: &str, text: &str, expected: &str) -> Result<T, Error> {
    text.parse().map_err(|_| bad(part, expected))
}

fn list(part: &str, values: &str, expected: &str) -> Result<Vec<u64>, Error> {
    let values = values.split(',');
    values.map(|v| parse(part, v, expected)).collect()
}

fn pair(part: &str, separator: char, expected: &str) -> Result<(u32, u32), Error> {
    let value = part.split_once('=').map_or(part, |(_, value)| value);
    let (a, b) = value
        .split_once(separator)
        .ok_or_else(|| bad(part, expected))?;
    Ok((parse(part, a, expected)?, parse(part, b, expected)?))
}

fn variant(part: &str) -> Result<(Variant, Option<Mutant>), Error> {
    let (name, mutant) = match part.split_once('!') {
        Some((name, mutant)) => (name, Some(mutant)),
        None => (part, None),
    };
    let variant = Variant::from_name(name).ok_or_else(|| {
        let known: Vec<&str> = Variant::ALL.iter().map(|v| v.name()).collect();
        bad(part, &format!("one of {}", known.join(", ")))
    })?;
    let mutant = mutant
        .map(|name| {
            Mutant::from_name(name)
                .ok_or_else(|| bad(part, "a mutant that `verify mutants --list` names"))
        })
        .transpose()?;
    Ok((variant, mutant))
}

fn op(text: &str) -> Result<Op, Error> {
    let bad = || {
        bad(
            text,
            "an operation such as r0, r012, w0=1, w0+1, w0~ or w0? on words from 0 to z, s01, a0=1, \
             a0+1 or a0~ on sums, i3 or d3 on nodes of a list, n0, m0, u0 or v0 on a word's \
             node, e0 or o0, or ( | )",
        )
    };
    let word = |c: char| {
        let digit = c
            .to_digit(WORDS_MAX.into())
            .filter(|_| !c.is_ascii_uppercase());
        digit.map(|d| d as u8).ok_or_else(bad)
    };
    match text {
        "(" => return Ok(Op::Either),
        "|" => return Ok(Op::OrElse),
        ")" => return Ok(Op::End),
        _ => {}
    }
    let (kind, operand) = text.split_at_checked(1).ok_or_else(bad)?;
    if kind == "r" || kind == "s" {
        let words: Vec<u8> = operand.chars().map(word).collect::<Result<_, _>>()?;
        if !(1..=3).contains(&words.len()) {
            return Err(bad());
        }
        let words = Words::new(&words);
        return Ok(if kind == "r" {
            Op::Read(words)
        } else {
            Op::ReadSums(words)
        });
    }
    let mut rest = operand.chars();
    let target = word(rest.next().ok_or_else(bad)?)?;
    match (kind, rest.as_str()) {
        ("i", "") => return Ok(Op::Insert(target)),
        ("d", "") => return Ok(Op::Remove(target)),
        ("p", "") => return Ok(Op::Put(target)),
        ("t", "") => return Ok(Op::Take(target)),
        ("e", "") => return Ok(Op::RetryIf(target, false)),
        ("o", "") => return Ok(Op::RetryIf(target, true)),
        (letter, "") => {
            let known = NodeOp::ALL.into_iter().find(|op| op.letter() == letter);
            return known.map(|op| Op::Node(target, op)).ok_or_else(bad);
        }
        _ => {}
    }
    let value = match rest.next() {
        Some('=') => Value::Const(rest.as_str().parse().map_err(|_| bad())?),
        Some('+') => Value::LastPlus(rest.as_str().parse().map_err(|_| bad())?),
        Some('~') if rest.as_str().is_empty() => Value::Flip,
        Some('?') if rest.as_str().is_empty() => Value::Claim,
        _ => return Err(bad()),
    };
    match kind {
        "w" => Ok(Op::Write(target, value)),
        "a" => Ok(Op::Add(target, value)),
        _ => Err(bad()),
    }
}

pub(super) fn transactions(text: &str) -> Result<Vec<Vec<Op>>, Error> {
    text.split(" / ")
        .map(|ops| match ops.trim() {
            "-" => Ok(Vec::new()),
            ops => ops.split_whitespace().map(op).collect(),
        })
        .collect()
}

impl Program {
    /// Sets what one part of a line names.
    pub(super) fn set(&mut self, part: &str) -> Result<(), Error> {
        let key = part.split_once('=').map_or("", |(key, _)| key);
        let value = part.split_once('=').map_or("", |(_, value)| value);
        match (part, key) {
            ("each", _) => self.calls = Loop::Each,
            ("own", _) => self.calls = Loop::Own,
            ("team", _) => self.calls = Loop::Team,
            ("block", _) => self.calls = Loop::Block,
            ("update", _) => self.calls = Loop::Update,
            ("u32", _) => self.widths = Widths::Narrow,
            ("u64", _) => self.widths = Widths::Wide,
            ("mixed", _) => self.widths = Widths::Mixed,
            (_, "launches") => self.launches = parse(part, value, "launches=N, 1 to 16")?,
            (_, "silent") => {
                let known = Invariant::ALL.map(Invariant::name).join(", ");
                let invariant = Invariant::from_name(value);
                self.silent = Some(invariant.ok_or_else(|| bad(part, &known))?);
            }
            (_, "stripe") => self.stripe_words = parse(part, value, "stripe=1, 2 or 4")?,
            (_, "locks") => self.locks = parse(part, value, "locks=N, a power of two")?,
            (_, "sets") => self.sets = pair(part, '/', "sets=READS/WRITES")?,
            (_, "retry_limits") => self.retry_limits = pair(part, '/', "retry_limits=POLLS/TRIES")?,
            (_, "init") => self.initial = list(part, value, "init=V,V: a value for each word")?,
            (_, "sums") => self.sums = list(part, value, "sums=V,V: a value for each sum")?,
            (_, "row") => self.row = parse(part, value, "row=N, sums of a row")?,
            _ => {
                (self.blocks, self.threads) = pair(
                    part,
                    'x',
                    "2x4 (blocks x threads), each, own, team, block, update, u32, u64, mixed, stripe=, locks=, sets=, \
                     retry_limits=, init=, sums=, row=, launches= or silent=",
                )?;
            }
        }
        Ok(())
    }

    /// Checks whether a run of the program makes sense.
    ///
    /// # Errors
    /// [`Error::Usage`].
    pub fn check(&self) -> Result<(), Error> {
        let words = self.initial.len();
        if !(1..=usize::from(WORDS_MAX)).contains(&words) {
            return Err(bad("init=", "one to 36 values"));
        }
        if !self.stripe_words.is_power_of_two() || self.stripe_words > 64 {
            return Err(bad("stripe=", "a power of two up to 64"));
        }
        if !self.locks.is_power_of_two() || self.locks > 1 << 20 {
            return Err(bad("locks=", "a power of two up to 2^20"));
        }
        if !(1..=1024).contains(&u64::from(self.lanes())) {
            return Err(bad("BxT", "1 to 1024 lanes in all"));
        }
        if self.sums.len() > usize::from(WORDS_MAX) {
            return Err(bad("sums=", "up to 36 values"));
        }
        if !(1..=u32::from(WORDS_MAX)).contains(&self.row) {
            return Err(bad("row=", "1 to 36 sums of a row"));
        }
        if self.memory().enumerate().any(|(i, v)| v > self.mask(i)) {
            return Err(bad("init= or sums=", "values of 32 bits"));
        }
        if !(1..=16).contains(&self.launches) {
            return Err(bad("launches=", "1 to 16"));
        }
        if self.calls == Loop::Update && self.widths == Widths::Mixed {
            return Err(bad("update", "u32 or u64: an update is of one array"));
        }
        self.check_silent()?;
        self.check_alternatives()?;
        for op in self.transactions.iter().flatten() {
            let (what, len) = if op.is_of_sums() {
                ("sum", self.sums.len())
            } else {
                ("word", words)
            };
            if let Some(word) = op.words().iter().find(|&&w| usize::from(w) >= len) {
                return Err(bad(
                    &op.to_string(),
                    &format!("a {what} below {len}, not {word}"),
                ));
            }
        }
        Ok(())
    }
}

impl Program {
    /// Checks what a silent program needs.
    fn check_silent(&self) -> Result<(), Error> {
        let mut ops = self.transactions.iter().flatten();
        let of_list = ops.any(|op| matches!(op, Op::Insert(_) | Op::Remove(_)));
        let sorted = self.silent == Some(Invariant::Sorted);
        if of_list && (!sorted || self.calls.is_of_teams()) {
            return Err(bad("i or d", "silent=sorted, each or own"));
        }
        let words = self.initial.len() as u32;
        if of_list && (self.sets.0 < 2 * words || self.sets.1 < 2 * words) {
            return Err(bad("sets=", "two entries for each node of a list"));
        }
        let of_pool = (self.transactions.iter().flatten()).any(|op| matches!(op, Op::Node(..)));
        let nodes = self.silent == Some(Invariant::Nodes);
        if of_pool && (!nodes || self.calls.is_of_teams() || self.initial.iter().any(|&v| v != 0)) {
            return Err(bad(
                "n, m, u or v",
                "silent=nodes, each or own, and words that are 0",
            ));
        }
        let mut ops = self.transactions.iter().flatten();
        let waits = ops.any(|op| matches!(op, Op::Put(_) | Op::Take(_)));
        if waits && (self.silent != Some(Invariant::Turns) || self.calls.is_of_teams()) {
            return Err(bad("p or t", "silent=turns, each or own"));
        }
        let memory: Vec<Option<u64>> = self.memory().map(Some).collect();
        match self.silent {
            Some(invariant) => invariant.check(self, &memory).map_err(|what| {
                bad(
                    "init= or sums=",
                    &format!("values that keep the invariant: {what}"),
                )
            }),
            None => Ok(()),
        }
    }
}

impl FromStr for Case {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let mut sections = text.trim().splitn(3, " : ");
        let (Some(head), Some(body), Some(sim)) =
            (sections.next(), sections.next(), sections.next())
        else {
            return Err(bad(
                text,
                "`VARIANT PARTS : TRANSACTIONS : sim:...`, as a failure prints it",
            ));
        };
        let mut parts = head.split_whitespace();
        let (variant, mutant) = variant(parts.next().unwrap_or_default())?;
        let mut program = Program {
            transactions: transactions(body)?,
            ..Program::default()
        };
        parts.try_for_each(|part| program.set(part))?;
        program.check()?;
        let of_teams = program.calls.is_of_teams();
        if of_teams && !variant.has_teams() {
            return Err(bad("team or block", "fast or fast-table, which have teams"));
        }
        if of_teams && !program.sums.is_empty() {
            return Err(bad("team or block", "each or own: teams do not add"));
        }
        let sim = sim
            .trim()
            .parse()
            .map_err(|error: crate::sim::ConfigError| Error::Usage(error.to_string()))?;
        Ok(Self {
            variant,
            mutant,
            program,
            sim,
        })
    }
}
