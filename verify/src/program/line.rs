//! A case as one line of text.
//!
//! ```text
//! hv-sorting!no-e5 3x1 own u64 stripe=1 locks=4 sets=8/8 patience=8/8 init=0,0 : r0 r1 / w0=1 / w1=1 : sim:w1,random,weak25,seed=0x2a
//! ```
//!
//! Before the first ` : ` the variant, with the seeded defect after a `!`;
//! blocks and threads; `each`, `own` or `team` ([`Loop`]); the words' width; words of a
//! stripe; locks; entries of the sets; polls and tries; and initial values. Then
//! the transactions, ` / ` between them, `-` for an empty one. An operation is
//! `r` and one to three words, or `w`, a word and its value: `=5`, `+5` for the
//! value last read plus 5, `~` for that value with bit 0 flipped. Then the
//! simulation.

use super::{Case, Loop, Op, Program, Value, WORDS_MAX, Words};
use crate::error::Error;
use crate::variant::Variant;
use std::fmt;
use std::str::FromStr;
use stm_core::mutant::Mutant;

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(words) => {
                f.write_str("r")?;
                words.as_slice().iter().try_for_each(|w| write!(f, "{w}"))
            }
            Self::Write(word, Value::Const(value)) => write!(f, "w{word}={value}"),
            Self::Write(word, Value::LastPlus(value)) => write!(f, "w{word}+{value}"),
            Self::Write(word, Value::Flip) => write!(f, "w{word}~"),
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
            " {}x{} {} {} stripe={} locks={} sets={}/{} patience={}/{} init={} : ",
            p.blocks,
            p.threads,
            match p.calls {
                Loop::Each => "each",
                Loop::Own => "own",
                Loop::Team => "team",
            },
            if p.wide { "u64" } else { "u32" },
            p.stripe_words,
            p.locks,
            p.sets.0,
            p.sets.1,
            p.patience.0,
            p.patience.1,
            joined(&p.initial, ","),
        )?;
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
        write!(f, "{} : {sim}", transactions.join(" / "))
    }
}

fn bad(part: &str, expected: &str) -> Error {
    Error::Usage(format!("replay line: `{part}`: expected {expected}"))
}

fn parse<T: FromStr>(part: &str, text: &str, expected: &str) -> Result<T, Error> {
    text.parse().map_err(|_| bad(part, expected))
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
        bad(
            part,
            &format!("one of {}", Variant::ALL.map(Variant::name).join(", ")),
        )
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
            "an operation such as r0, r012, w0=1, w0+1 or w0~ on words from 0 to 9",
        )
    };
    let word = |c: char| c.to_digit(10).map(|d| d as u8).ok_or_else(bad);
    if let Some(words) = text.strip_prefix('r') {
        let words: Vec<u8> = words.chars().map(word).collect::<Result<_, _>>()?;
        if !(1..=3).contains(&words.len()) {
            return Err(bad());
        }
        return Ok(Op::Read(Words::new(&words)));
    }
    let mut rest = text.strip_prefix('w').ok_or_else(bad)?.chars();
    let target = word(rest.next().ok_or_else(bad)?)?;
    let value = match rest.next() {
        Some('=') => Value::Const(rest.as_str().parse().map_err(|_| bad())?),
        Some('+') => Value::LastPlus(rest.as_str().parse().map_err(|_| bad())?),
        Some('~') if rest.as_str().is_empty() => Value::Flip,
        _ => return Err(bad()),
    };
    Ok(Op::Write(target, value))
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
    /// Takes one part of a line.
    fn set(&mut self, part: &str) -> Result<(), Error> {
        let key = part.split_once('=').map_or("", |(key, _)| key);
        let value = part.split_once('=').map_or("", |(_, value)| value);
        match (part, key) {
            ("each", _) => self.calls = Loop::Each,
            ("own", _) => self.calls = Loop::Own,
            ("team", _) => self.calls = Loop::Team,
            ("u32", _) => self.wide = false,
            ("u64", _) => self.wide = true,
            (_, "stripe") => self.stripe_words = parse(part, value, "stripe=1, 2 or 4")?,
            (_, "locks") => self.locks = parse(part, value, "locks=N, a power of two")?,
            (_, "sets") => self.sets = pair(part, '/', "sets=READS/WRITES")?,
            (_, "patience") => self.patience = pair(part, '/', "patience=POLLS/TRIES")?,
            (_, "init") => {
                self.initial = value
                    .split(',')
                    .map(|v| parse(part, v, "init=V,V: a value for each word"))
                    .collect::<Result<_, _>>()?;
            }
            _ => {
                (self.blocks, self.threads) = pair(
                    part,
                    'x',
                    "2x4 (blocks x threads), each, own, team, u32, u64, stripe=, locks=, sets=, patience= or init=",
                )?;
            }
        }
        Ok(())
    }

    /// Whether a run of the program makes sense; errors name what does not.
    ///
    /// # Errors
    /// [`Error::Usage`].
    pub fn check(&self) -> Result<(), Error> {
        let words = self.initial.len();
        if !(1..=usize::from(WORDS_MAX)).contains(&words) {
            return Err(bad("init=", "one to ten values"));
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
        if !self.wide && self.initial.iter().any(|&v| v > u64::from(u32::MAX)) {
            return Err(bad("init=", "values of 32 bits"));
        }
        for op in self.transactions.iter().flatten() {
            if let Some(word) = op.words().iter().find(|&&w| usize::from(w) >= words) {
                return Err(bad(
                    &op.to_string(),
                    &format!("a word below {words}, not {word}"),
                ));
            }
        }
        Ok(())
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
            blocks: 1,
            threads: 1,
            calls: Loop::Each,
            wide: false,
            stripe_words: 1,
            locks: 4,
            sets: (8, 8),
            patience: (8, 8),
            initial: vec![0],
            transactions: transactions(body)?,
        };
        parts.try_for_each(|part| program.set(part))?;
        program.check()?;
        if program.calls == Loop::Team && !variant.has_teams() {
            return Err(bad("team", "fast or fast-table, which have teams"));
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
