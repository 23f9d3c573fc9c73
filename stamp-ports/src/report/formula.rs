//! Which numbers decide a part of a row: the small language of the rows' `cases`.
//!
//! A case has a name and a formula. A formula is a call or the quotient of two: `list(tas, $n) /
//! list(ticket, $n)`. What a call means says the [`Source`], the document; its arguments are
//! words, and a word `a|b` stands for a call with each. The calls `least`, `most`, `spread` (the
//! largest over the smallest), `mean` (the geometric one) and `below_one` (the share of those
//! below 1) make one number of several, if all of them are there. `each` gives variables a list
//! of words, or a call that yields words: the case stands once for each. Several variables can
//! take their values together: `n+m` over `16+24 32+48`. A case without a name asks the document
//! for numbers that have names already.

use super::palette::plain;
use serde::Deserialize;

/// The numbers of a part with the names of their cases; a number that is missing is `None`.
pub type Found = Vec<(String, Option<f64>)>;

/// A single number.
pub fn one(name: impl Into<String>, value: Option<f64>) -> Found {
    vec![(name.into(), value)]
}

/// A formula for each value of its variables.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cases {
    /// What a case is called, with variables.
    #[serde(default)]
    pub name: &'static str,
    /// The variables, with their values between spaces, the first the slowest to change.
    #[serde(default)]
    pub each: Vec<(&'static str, &'static str)>,
    /// The formula.
    pub value: &'static str,
}

/// A document that is asked.
pub trait Source {
    /// Returns the number that a call stands for; `None` if it was not measured.
    fn number(&self, name: &str, arguments: &[&str]) -> Option<f64>;

    /// Returns the words that a call stands for, or what is missing; `None` if it is a number's.
    fn words(&self, _: &str, _: &[&str]) -> Option<Result<Vec<String>, String>> {
        None
    }

    /// Returns the numbers with names that a call stands for.
    fn found(&self, _: &str, _: &[&str]) -> Found {
        Found::new()
    }

    /// Returns how a variable's value is shown.
    fn shown(&self, _: &str, value: &str) -> String {
        plain(value).to_owned()
    }
}

/// What a part of a formula stands for.
enum Value {
    Words(Vec<String>),
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

type Variables = Vec<(String, String)>;

/// Returns the numbers of a formula, with their names.
pub fn found(source: &impl Source, cases: &Cases) -> Found {
    let mut all: Vec<Variables> = vec![Vec::new()];
    for (name, values) in &cases.each {
        let values = if values.contains('(') {
            let (call, arguments) = call(values);
            match source.words(call, &arguments) {
                Some(Ok(words)) => words,
                Some(Err(missing)) => return one(missing, None),
                None => Vec::new(),
            }
        } else {
            values.split(' ').map(str::to_owned).collect()
        };
        let set = |variables: &Variables, value: &str| {
            let pairs = name.split('+').zip(value.split('+'));
            let pairs = pairs.map(|(name, value)| (format!("${name}"), value.to_owned()));
            variables.iter().cloned().chain(pairs).collect()
        };
        all = all
            .iter()
            .flat_map(|variables| values.iter().map(|value| set(variables, value)))
            .collect();
    }
    if cases.name.is_empty() {
        let of = |variables: &Variables| {
            let text = filled(cases.value, variables, |_, value| value.to_owned());
            let (name, arguments) = call(&text);
            source.found(name, &arguments)
        };
        return all.iter().flat_map(of).collect();
    }
    let of = |variables: &Variables| {
        let name = filled(cases.name, variables, |name, value| {
            source.shown(name, value)
        });
        let text = filled(cases.value, variables, |_, value| value.to_owned());
        let tokens = tokens(&text);
        let value = quotient(source, &mut tokens.as_slice()).numbers();
        (name, value.first().copied().flatten())
    };
    all.iter().map(of).collect()
}

/// Puts the variables' values in their places.
fn filled(text: &str, variables: &Variables, show: impl Fn(&str, &str) -> String) -> String {
    let mut text = text.to_owned();
    for (name, value) in variables {
        text = text.replace(name, &show(&name[1..], value));
    }
    text
}

/// Returns the name and the arguments of a call without others in it.
fn call(text: &str) -> (&str, Vec<&str>) {
    let (name, arguments) = text.split_once('(').unwrap_or((text, ""));
    let arguments = arguments.trim_end_matches(')').split(',').map(str::trim);
    (name, arguments.filter(|word| !word.is_empty()).collect())
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
    let flat = |arguments: Vec<Value>| -> Option<Vec<f64>> {
        let all: Vec<Option<f64>> = arguments.into_iter().flat_map(Value::numbers).collect();
        all.into_iter().collect()
    };
    let number = match name {
        "least" => flat(arguments).and_then(|all| all.into_iter().reduce(f64::min)),
        "most" => flat(arguments).and_then(|all| all.into_iter().reduce(f64::max)),
        "spread" => flat(arguments).and_then(|all| {
            let least = all.iter().copied().reduce(f64::min)?;
            Some(all.into_iter().reduce(f64::max)? / least)
        }),
        "mean" => flat(arguments).and_then(|all| {
            let sum: f64 = all.iter().map(|x| x.ln()).sum();
            (!all.is_empty()).then(|| (sum / all.len() as f64).exp())
        }),
        "below_one" => flat(arguments).map(|all| {
            let below = all.iter().filter(|x| **x < 1.0).count();
            below as f64 / all.len() as f64
        }),
        _ => return asked(source, name, arguments),
    };
    Value::Numbers(vec![number])
}

/// Asks the document once for each choice of the words that the arguments allow.
fn asked(source: &impl Source, name: &str, arguments: Vec<Value>) -> Value {
    let whole = arguments.iter().map(|argument| match argument {
        Value::Words(words) => words.join("|"),
        Value::Numbers(_) => String::new(),
    });
    let whole: Vec<String> = whole.collect();
    let whole: Vec<&str> = whole.iter().map(String::as_str).collect();
    match source.words(name, &whole) {
        Some(Ok(words)) => return Value::Words(words),
        Some(Err(_)) => return Value::Numbers(vec![None]),
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
mod tests {
    use super::*;

    /// A document in which the value of a kind at `n` is its length times `n`; `none` is missing.
    struct Lengths;

    impl Source for Lengths {
        fn number(&self, name: &str, arguments: &[&str]) -> Option<f64> {
            let [kind, n] = arguments else { return None };
            let n: f64 = n.parse().ok()?;
            (name == "t" && *kind != "none").then_some(kind.len() as f64 * n)
        }

        fn words(&self, name: &str, arguments: &[&str]) -> Option<Result<Vec<String>, String>> {
            let words = || arguments.join("|").split('|').map(str::to_owned).collect();
            match name {
                "those" => Some(Ok(words())),
                "lost" => Some(Err("what is lost".into())),
                _ => None,
            }
        }

        fn found(&self, name: &str, arguments: &[&str]) -> Found {
            one(format!("{name} of {}", arguments.join(" and ")), Some(1.0))
        }
    }

    #[test]
    fn formulas_mean_what_the_module_says() {
        let number = |value| {
            let found = found(
                &Lengths,
                &Cases {
                    name: "case",
                    each: Vec::new(),
                    value,
                },
            );
            assert_eq!(found.len(), 1, "{value}");
            found[0].1
        };
        for (value, is) in [
            ("t(ab/c, 2)", Some(8.0)),
            ("t(ab, 3) / t(a, 2)", Some(3.0)),
            ("least(t(ab|a, 3), t(abc, 1))", Some(3.0)),
            ("most(t(ab|a, 3), t(abc, 1))", Some(6.0)),
            ("spread(t(ab|a, 1|4))", Some(8.0)),
            ("mean(t(a, 2|8))", Some(4.0)),
            ("below_one(t(a, 1|2|3|4) / t(ab, 1|1|1|1))", Some(0.25)),
            (
                "most(t(ab, 1) / t(a, 1)) / least(t(abcd, 1) / t(a, 1))",
                Some(0.5),
            ),
            ("most(t(those(ab, abc), 1))", Some(3.0)),
            ("most(t(lost(ab), 1))", None),
            ("most(t(ab|none, 1))", None),
            ("t(none, 1) / t(a, 1)", None),
            ("unknown(a, 1)", None),
        ] {
            let found = number(value);
            let same = match (found, is) {
                (Some(a), Some(b)) => (a - b).abs() < 1e-12,
                (a, b) => a.is_none() && b.is_none(),
            };
            assert!(same, "{value}: {found:?}");
        }
    }

    #[test]
    fn a_case_stands_once_for_each_value_and_is_named_by_it() {
        let names = |name, each, value| -> Vec<String> {
            let found = found(&Lengths, &Cases { name, each, value });
            found.into_iter().map(|(name, _)| name).collect()
        };
        let pairs = vec![("k", "a/lane b"), ("n+m", "1+2 3+4")];
        assert_eq!(
            names("$k at $m", pairs, "t($k, $n)"),
            ["a at 2", "a at 4", "b at 2", "b at 4"]
        );
        assert_eq!(
            names("$k", vec![("k", "those(a, b)")], "t($k, 1)"),
            ["a", "b"]
        );
        assert_eq!(
            names("$k", vec![("k", "lost(a)")], "t($k, 1)"),
            ["what is lost"]
        );
        assert_eq!(
            names("", vec![("n", "1 2")], "it(x, $n)"),
            ["it of x and 1", "it of x and 2"]
        );
    }
}
