//! Which numbers decide a part of a row: the small language of the rows' `cases`.
//!
//! A case has a name and a formula. A formula is a call or the quotient of two: `list(tas, $n) /
//! list(ticket, $n)`. What a call means says the [`Source`], the document; its arguments are
//! words, and a word `a|b` stands for a call with each. The calls in [`OF_NUMBERS`] make one
//! number of several, if all of them are there; `all` makes 1 of ones and 0 where one is 0,
//! whatever is missing. `each` gives variables a list of words, or a call that yields words and
//! may name variables before it: the case stands once for each. Several variables can take their
//! values together: `n+m` over `16+24 32+48`. A case without a name asks the document for numbers
//! that have names already. A call that nobody knows is an error when the rows are read.

use super::palette::plain;
use serde::Deserialize;

/// The numbers of a part with the names of their cases; a number that is missing is `None`.
pub type Found = Vec<(String, Option<f64>)>;

/// A single number.
pub fn one(name: impl Into<String>, value: Option<f64>) -> Found {
    vec![(name.into(), value)]
}

/// A formula for each value of its variables.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Cases {
    /// What a case is called, with variables.
    pub name: &'static str,
    /// The variables, with their values between spaces, the first the slowest to change.
    pub each: Vec<(&'static str, &'static str)>,
    /// The formula.
    pub value: &'static str,
    /// What is missing if the variables have no values.
    pub none: &'static str,
    /// What is missing if no case has a number. Where this is given, cases without one are left
    /// out: the document need not have them all.
    pub or: Option<&'static str>,
}

/// What a call stands for.
pub enum Answer {
    /// Words, or what is missing.
    Words(Result<Vec<String>, String>),
    /// Numbers.
    Numbers(Vec<Option<f64>>),
    /// Numbers with names.
    Named(Found),
}

/// A document that is asked.
pub trait Source {
    /// The names of all calls.
    const CALLS: &'static [&'static str];

    /// Returns the number that a call stands for; `None` if it was not measured.
    fn number(&self, name: &str, arguments: &[&str]) -> Option<f64>;

    /// Returns what a call stands for that takes its arguments as they are; `None` if it is a
    /// call for a single number.
    fn whole(&self, _: &str, _: &[&str]) -> Option<Answer> {
        None
    }

    /// Returns how a variable's value is shown.
    fn shown(&self, _: &str, value: &str) -> String {
        plain(value).to_owned()
    }
}

/// What makes one number of several.
type OfNumbers = fn(&[f64]) -> Option<f64>;

/// The calls that make one number of several, of which there is at least one.
pub const OF_NUMBERS: [(&str, OfNumbers); 11] = [
    ("least", |all| all.iter().copied().reduce(f64::min)),
    ("most", |all| all.iter().copied().reduce(f64::max)),
    // The largest over the smallest.
    ("spread", |all| {
        let least = all.iter().copied().reduce(f64::min)?;
        Some(all.iter().copied().reduce(f64::max)? / least)
    }),
    // The geometric mean.
    ("mean", |all| {
        let sum: f64 = all.iter().map(|x| x.ln()).sum();
        Some((sum / all.len() as f64).exp())
    }),
    ("median", |all| {
        let mut all = all.to_vec();
        all.sort_by(f64::total_cmp);
        Some(f64::midpoint(all[(all.len() - 1) / 2], all[all.len() / 2]))
    }),
    // The share of those below 1.
    ("below_one", |all| {
        let below = all.iter().filter(|x| **x < 1.0).count();
        Some(below as f64 / all.len() as f64)
    }),
    ("first", |all| all.first().copied()),
    ("last", |all| all.last().copied()),
    // The last less the first.
    ("change", |all| match all {
        [first, .., last] => Some(last - first),
        _ => None,
    }),
    // The larger of a ratio and its inverse.
    ("either", |all| Some(all[0].max(1.0 / all[0]))),
    // The largest ratio of neighbours, of which there must be three.
    ("roughest", |all| {
        let steps = all.windows(2).map(|p| (p[0] / p[1]).max(p[1] / p[0]));
        steps.reduce(f64::max).filter(|_| all.len() >= 3)
    }),
];

/// The calls of several numbers that [`OF_NUMBERS`] has not.
const OF_LISTS: [&str; 2] = ["all", "correlation"];

/// What a formula, or a part of one, stands for.
pub enum Value {
    /// Words.
    Words(Vec<String>),
    /// Numbers.
    Numbers(Vec<Option<f64>>),
}

impl Value {
    fn numbers(self) -> Vec<Option<f64>> {
        match self {
            Self::Numbers(numbers) => numbers,
            Self::Words(_) => vec![None],
        }
    }
}

/// Names of variables, with their `$`, and their values.
pub type Variables = Vec<(String, String)>;

/// Returns a call in some formulas that neither the document nor this language knows.
pub fn unknown<'t, S: Source>(formulas: impl IntoIterator<Item = &'t str>) -> Option<&'t str> {
    let known = |name: &str| {
        let of_numbers = OF_NUMBERS.iter().map(|(name, _)| name);
        let mut all = of_numbers.chain(&OF_LISTS).chain(S::CALLS);
        all.any(|known| *known == name)
    };
    let mut calls = formulas.into_iter().flat_map(|text| {
        let tokens = tokens(text);
        let pairs = tokens.windows(2).filter(|pair| pair[1] == "(");
        pairs.map(|pair| pair[0]).collect::<Vec<_>>()
    });
    calls.find(|name| !known(name))
}

impl Cases {
    /// Returns all formulas.
    pub fn formulas(&self) -> impl Iterator<Item = &'static str> {
        self.each
            .iter()
            .map(|(_, values)| *values)
            .chain([self.value])
    }
}

/// Returns the variables' values, once for each choice of them, or what is missing.
pub fn bindings<S: Source>(
    source: &S,
    each: &[(&str, &str)],
    before: &Variables,
) -> Result<Vec<Variables>, String> {
    let mut all = vec![before.clone()];
    for (name, values) in each {
        let mut next = Vec::new();
        for variables in &all {
            let values = words(source, values, variables)?.into_iter();
            next.extend(values.map(|value| {
                let names: Vec<&str> = name.split('+').collect();
                let pairs = names.iter().zip(value.splitn(names.len(), '+'));
                let pairs = pairs.map(|(name, value)| (format!("${name}"), value.to_owned()));
                variables
                    .iter()
                    .cloned()
                    .chain(pairs)
                    .collect::<Variables>()
            }));
        }
        all = next;
    }
    Ok(all)
}

/// Returns the tokens of a formula with the variables' values in their places.
fn tokens_of(formula: &str, variables: &Variables) -> Vec<String> {
    let fill = |token| filled(token, variables, |_, value| value.to_owned());
    tokens(formula).into_iter().map(fill).collect()
}

/// Returns what a formula stands for.
pub fn value<S: Source>(source: &S, formula: &str, variables: &Variables) -> Value {
    let tokens = tokens_of(formula, variables);
    let tokens: Vec<&str> = tokens.iter().map(String::as_str).collect();
    quotient(source, &mut tokens.as_slice())
}

/// Returns the numbers of a formula, with their names.
pub fn found<S: Source>(source: &S, cases: &Cases) -> Found {
    let all = match bindings(source, &cases.each, &Vec::new()) {
        Ok(all) => all,
        Err(missing) => return one(missing, None),
    };
    if all.is_empty() && !cases.none.is_empty() {
        return one(cases.none, None);
    }
    let of = |variables: &Variables| {
        if cases.name.is_empty() {
            let tokens = tokens_of(cases.value, variables);
            let words = tokens.iter().map(String::as_str);
            let words: Vec<&str> = words.filter(|token| !"(),".contains(token)).collect();
            return match source.whole(words[0], &words[1..]) {
                Some(Answer::Named(found)) => found,
                _ => one(cases.value, None),
            };
        }
        let name = filled(cases.name, variables, |name, value| {
            source.shown(name, value)
        });
        let value = value(source, cases.value, variables).numbers();
        one(name, value.first().copied().flatten())
    };
    let mut found: Found = all.iter().flat_map(of).collect();
    if let Some(missing) = cases.or {
        let some = !found.is_empty();
        found.retain(|(_, value)| value.is_some_and(|value| !value.is_nan()));
        if found.is_empty() && some && !missing.is_empty() {
            return one(missing, None);
        }
    }
    found
}

/// Returns the values of a variable, or what is missing.
fn words<S: Source>(source: &S, values: &str, set: &Variables) -> Result<Vec<String>, String> {
    let Some((name, arguments)) = values.split_once('(') else {
        return Ok(values.split(' ').map(str::to_owned).collect());
    };
    let arguments = arguments.trim_end_matches(')').split(',').map(str::trim);
    let arguments: Vec<String> = arguments
        .filter(|word| !word.is_empty())
        .map(|word| filled(word, set, |_, value| value.to_owned()))
        .collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match source.whole(name, &arguments) {
        Some(Answer::Words(words)) => words,
        _ => Err(values.to_owned()),
    }
}

/// Puts the variables' values in their places.
pub fn filled(text: &str, variables: &Variables, show: impl Fn(&str, &str) -> String) -> String {
    let mut text = text.to_owned();
    for (name, value) in variables {
        if text.contains(name) {
            text = text.replace(name, &show(&name[1..], value));
        }
    }
    text
}

/// Returns the words, parentheses and commas of a formula.
fn tokens(text: &str) -> Vec<&str> {
    let apart = |c: char| "(),".contains(c);
    let words = text.split(' ').flat_map(|word| {
        word.split_inclusive(apart)
            .flat_map(move |piece| match piece.char_indices().last() {
                Some((last, c)) if apart(c) => [&piece[..last], &piece[last..]],
                _ => [piece, ""],
            })
    });
    words.filter(|token| !token.is_empty()).collect()
}

fn quotient(source: &impl Source, rest: &mut &[&str]) -> Value {
    let upper = term(source, rest);
    if rest.first() != Some(&"/") {
        return upper;
    }
    *rest = &rest[1..];
    let (upper, lower) = (upper.numbers(), term(source, rest).numbers());
    let pairs = upper.into_iter().zip(lower);
    Value::Numbers(pairs.map(|(a, b)| Some(a? / b?)).collect())
}

fn term(source: &impl Source, rest: &mut &[&str]) -> Value {
    let Some((name, after)) = rest.split_first() else {
        return Value::Numbers(vec![None]);
    };
    *rest = after;
    if rest.first() != Some(&"(") {
        return Value::Words(name.split('|').map(str::to_owned).collect());
    }
    let mut arguments = Vec::new();
    while let Some((token, after)) = rest.split_first() {
        *rest = after;
        if *token == ")" {
            break;
        }
        arguments.push(quotient(source, rest));
    }
    applied(source, name, arguments)
}

fn applied(source: &impl Source, name: &str, arguments: Vec<Value>) -> Value {
    let number = if name == "correlation" {
        let of = |list: Value| list.numbers().into_iter().collect::<Option<Vec<f64>>>();
        let mut lists = arguments.into_iter().filter_map(of);
        let pair = lists.next().zip(lists.next());
        pair.and_then(|(a, b)| correlation(&a, &b))
    } else if name == "all" {
        let all = arguments.into_iter().flat_map(Value::numbers);
        // One that is 0 decides, even if another is missing.
        let order = |x: Option<f64>| x.map_or(0.5, |x| x);
        let least = all.map(order).reduce(f64::min);
        least.filter(|least| [0.0, 1.0].contains(least))
    } else if let Some((_, of)) = OF_NUMBERS.iter().find(|(known, _)| *known == name) {
        let all: Option<Vec<f64>> = arguments.into_iter().flat_map(Value::numbers).collect();
        all.filter(|all| !all.is_empty()).and_then(|all| of(&all))
    } else {
        return asked(source, name, arguments);
    };
    Value::Numbers(vec![number])
}

/// The rank correlation of two series (Spearman); `None` of fewer than four values, or if one
/// series is constant.
fn correlation(a: &[f64], b: &[f64]) -> Option<f64> {
    // Equal values share the mean of their ranks.
    let ranks = |values: &[f64]| -> Vec<f64> {
        let rank = |v: &f64| {
            let below = values.iter().filter(|w| *w < v).count();
            let equal = values.iter().filter(|w| w.total_cmp(v).is_eq()).count();
            below as f64 + (equal - 1) as f64 / 2.0
        };
        values.iter().map(rank).collect()
    };
    let (a, b) = (ranks(a), ranks(b));
    let mean = (a.len() as f64 - 1.0) / 2.0;
    let sum = |x: &[f64], y: &[f64]| -> f64 {
        x.iter().zip(y).map(|(x, y)| (x - mean) * (y - mean)).sum()
    };
    let spread = (sum(&a, &a) * sum(&b, &b)).sqrt();
    (spread > 0.0 && a.len() >= 4 && a.len() == b.len()).then(|| sum(&a, &b) / spread)
}

/// Asks the document once for each choice of the words that the arguments allow.
fn asked(source: &impl Source, name: &str, arguments: Vec<Value>) -> Value {
    let whole = arguments.iter().map(|argument| match argument {
        Value::Words(words) => words.join("|"),
        Value::Numbers(_) => String::new(),
    });
    let whole: Vec<String> = whole.collect();
    let whole: Vec<&str> = whole.iter().map(String::as_str).collect();
    match source.whole(name, &whole) {
        Some(Answer::Words(Ok(words))) => return Value::Words(words),
        Some(Answer::Numbers(numbers)) => return Value::Numbers(numbers),
        Some(_) => return Value::Numbers(vec![None]),
        None => {}
    }
    let mut all: Vec<Vec<String>> = vec![Vec::new()];
    for argument in arguments {
        let Value::Words(words) = argument else {
            return Value::Numbers(vec![None]);
        };
        let with = |before: &Vec<String>, word: &String| {
            [before.as_slice(), std::slice::from_ref(word)].concat()
        };
        all = all
            .iter()
            .flat_map(|before| words.iter().map(|word| with(before, word)))
            .collect();
    }
    let mut numbers = Vec::new();
    for arguments in all {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        numbers.push(source.number(name, &arguments));
    }
    Value::Numbers(numbers)
}

#[cfg(test)]
mod tests;
