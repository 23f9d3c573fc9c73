//! The language in which rows of claims, pages and tables of documents ask for numbers and words.
//!
//! An expression has operators `+ - * /` with blanks around them, of which `*` and `/` bind
//! tighter, and between them numbers, words, paths and calls. A word `a|b` stands for both, `$n`
//! for the value of a variable. What an expression yields is a list, and operators take the
//! elements of two lists pair by pair.
//!
//! A path begins at a set of the document, `threads[variant=vbv].tx_per_s`, at a result file,
//! `h200/paper.json:device.name`, or at the row that a template is about, `.tx_per_s`. Its steps
//! are names of fields, separated by dots; a field of an array is that field of each of its
//! elements, and `*` is all fields. `[key=value key!=value key^=beginning key>=value]` keeps the
//! elements that match: `|` stands between values of which one is enough, `_` for a blank or
//! itself, and `a/b` is a field of a field; behind `<`, `<=`, `>` and `>=` the name of another
//! field stands for its value. What has no such field does not match.
//!
//! | call | stands for |
//! | --- | --- |
//! | those of [`OF_NUMBERS`] | one number of several, if all of them are there |
//! | `values(path)` | its values without repetition |
//! | `count(path)` | how many there are, which may be none |
//! | `lowest(path, by, field)`, `highest` | the field of the element in which `by` is lowest, or highest |
//! | `common(path)` | the numbers that are there for each choice of all alternatives, ascending |
//! | `any(words)` | one word for all of them, for a condition |
//! | `or(a, b, …)` | the first that is there |
//! | `words(a, b, …)` | all of them |
//! | `without(a, b, …)` | all of them but the first |
//! | `is_one(a, b, …)` | 1 if the first is one of the others, else 0 |
//! | `differ(a, b, …)` | 1, or 0 if all are the same |
//! | `at_least(a, b)` | 1 if the first number is as large as the second or larger, else 0 |
//! | `if(a, b)` | the second if the first is 1, else nothing |
//! | `all(a, b, …)` | 1 of ones and 0 where one is 0, whatever is missing |
//! | `correlation(a, b)` | the rank correlation |
//! | `number(text, 1)` | the first number in a text |
//!
//! A document may define more ([`Call`]). `each` of a row gives variables the words of a list, or of
//! an expression that may name variables before it; several take their values together: `n+m` over
//! `16+24 32+48`.
//!
//! A template is a text with `{EXPRESSION | FORMAT}` in it; without a format it shows words. If one
//! of them is not known, what stands behind ` || ` takes the template's place. `show` has the
//! formats.

use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;

mod functions;
mod paths;

#[cfg(test)]
use functions::OF_NUMBERS;
pub(crate) use paths::{Sets, meeting, number, shown, word};
use paths::{real, show};

/// Why there is no value.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// It was not measured: nothing is selected, there is no such field, or it is null.
    Missing(String),
    Wrong(String),
}

impl Failure {
    pub(crate) fn why(self) -> String {
        let (Self::Missing(why) | Self::Wrong(why)) = self;
        why
    }
}

pub(crate) type Found<T> = Result<T, Failure>;

pub(crate) fn wrong<T>(why: impl Into<String>) -> Found<T> {
    Err(Failure::Wrong(why.into()))
}

fn missing<T>(why: impl Into<String>) -> Found<T> {
    Err(Failure::Missing(why.into()))
}

pub(crate) type Variables = Vec<(String, String)>;

/// A variable, with words between blanks or an expression; of several, the first is the slowest to
/// change.
pub(crate) type Each = (&'static str, &'static str);

/// A call that a document defines by others. Its value stands for each choice of the words that
/// its arguments allow.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Call {
    /// Its name and its arguments: `table(k, n)`.
    #[serde(rename = "call")]
    head: &'static str,
    each: Vec<Each>,
    value: &'static str,
    /// Whether it stands for words; then its arguments are taken as they are.
    words: bool,
    least: &'static str,
    /// What is missing if there are fewer.
    missing: &'static str,
    or: Option<&'static str>,
}

impl Call {
    fn head(&self) -> (&'static str, Vec<&'static str>) {
        let (name, arguments) = self.head.split_once('(').unwrap_or((self.head, ""));
        (name, split(arguments.trim_end_matches(')'), ',').collect())
    }
}

/// What an expression yields: words and numbers, and null for a number that is missing.
type Items = Found<Vec<Value>>;

/// Where expressions are evaluated.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'a> {
    pub(crate) source: &'a Sets,
    /// The row that a template is about.
    pub(crate) row: Option<&'a Value>,
    pub(crate) variables: &'a [(String, String)],
}

impl<'a> Scope<'a> {
    pub(crate) const fn new(source: &'a Sets, variables: &'a [(String, String)]) -> Self {
        Self {
            source,
            row: None,
            variables,
        }
    }

    pub(crate) fn text(self, template: &str) -> Found<String> {
        let ways = template.split(" || ").map(|way| self.way(way));
        ways.fold(missing(template), |text, way| match text {
            Err(Failure::Missing(_)) => way,
            known => known,
        })
    }

    fn way(self, template: &str) -> Found<String> {
        let (mut text, mut rest) = (String::new(), template);
        while let Some((before, after)) = rest.split_once('{') {
            let Some((inside, after)) = after.split_once('}') else {
                return wrong(format!("`{template}` is not {{EXPRESSION | FORMAT}}"));
            };
            let (expression, form) = inside.rsplit_once(" | ").unwrap_or((inside, ""));
            text += before;
            let name = expression.strip_prefix('$').filter(|_| form.is_empty());
            text += &match name {
                Some(name) => match self.variables.iter().find(|(known, _)| known == name) {
                    Some((_, value)) => self.source.shown(name, value),
                    None => return missing(expression),
                },
                None => show(&self.items(expression.trim())?, expression, form.trim())?,
            };
            rest = after;
        }
        Ok(text + rest)
    }

    pub(crate) fn items(self, expression: &str) -> Items {
        let mut words = split(expression, ' ');
        let mut product = self.operand(words.next().unwrap_or_default())?;
        // Products that are added to the last one.
        let mut terms = Vec::new();
        while let Some(operator) = words.next() {
            let right = self.operand(words.next().unwrap_or_default())?;
            match operator {
                "*" => product = pairwise(product, &right, |a, b| a * b)?,
                "/" => product = pairwise(product, &right, |a, b| a / b)?,
                "+" => terms.push(std::mem::replace(&mut product, right)),
                "-" => {
                    let zeros = vec![Value::from(0); right.len()];
                    let right = pairwise(zeros, &right, |a, b| a - b)?;
                    terms.push(std::mem::replace(&mut product, right));
                }
                other => return wrong(format!("`{other}` is not an operator")),
            }
        }
        terms.push(product);
        let mut terms = terms.into_iter();
        let first = terms.next().unwrap_or_default();
        terms.try_fold(first, |sum, next| pairwise(sum, &next, |a, b| a + b))
    }

    fn numbers(self, expression: &str) -> Found<Vec<f64>> {
        let of = |item: &Value| match number(item) {
            Some(x) => Ok(x),
            None if item.is_null() => missing(expression),
            None => wrong(format!("`{expression}` is not all numbers")),
        };
        self.items(expression)?.iter().map(of).collect()
    }

    /// Returns the first number of an expression, if it is known.
    fn first(self, expression: &str) -> Option<f64> {
        number(self.items(expression).ok()?.first()?)
    }

    /// Returns a text with the variables' values, as they are shown.
    fn shown(self, text: &str) -> String {
        let of = |(name, value): &(String, String)| (name.clone(), self.source.shown(name, value));
        let variables: Variables = self.variables.iter().map(of).collect();
        filled(text, &variables).into_owned()
    }

    /// Returns the words of an expression; what is missing has none.
    fn words(self, expression: &str) -> Found<Vec<String>> {
        Ok(self.items(expression)?.iter().filter_map(word).collect())
    }

    fn operand(self, word: &str) -> Items {
        let call = word.strip_suffix(')').and_then(|call| call.split_once('('));
        if let Some((name, arguments)) = call.filter(|(name, _)| !name.contains(['[', ':'])) {
            return self.called(name, arguments);
        }
        if let Some(nodes) = self.path(word) {
            return Ok(nodes?.into_iter().cloned().collect());
        }
        if word.is_empty() {
            return wrong("an operand is missing");
        }
        let words = filled(word, self.variables);
        Ok(words.split('|').map(Value::from).collect())
    }

    /// Returns the variables' values, once for each choice of them.
    fn bindings(self, each: &[Each]) -> Result<Vec<Variables>, String> {
        let mut all = vec![self.variables.to_vec()];
        for (name, values) in each {
            let words = |variables: &Variables| {
                let scope = Scope { variables, ..self };
                if values.contains(['(', '[']) {
                    return scope.words(values);
                }
                let words = values.split(' ');
                Ok(words.map(|word| filled(word, variables).into()).collect())
            };
            all = with_each(&all, name, words).map_err(Failure::why)?;
        }
        Ok(all)
    }
}

/// Returns all choices of variables with each value of a further one, or of several: `n+m`.
fn with_each(
    all: &[Variables],
    name: &str,
    values: impl Fn(&Variables) -> Found<Vec<String>>,
) -> Found<Vec<Variables>> {
    let names: Vec<&str> = name.split('+').collect();
    let mut next = Vec::new();
    for variables in all {
        for value in values(variables)? {
            let pairs = names.iter().zip(value.splitn(names.len(), '+'));
            let pairs = pairs.map(|(name, value)| ((*name).to_owned(), value.to_owned()));
            next.push(variables.iter().cloned().chain(pairs).collect());
        }
    }
    Ok(next)
}

fn pairwise(left: Vec<Value>, right: &[Value], of: fn(f64, f64) -> f64) -> Items {
    if left.len() != right.len() {
        return wrong("lists of several lengths are computed with");
    }
    let one = |(a, b): (Value, &Value)| match (number(&a), number(b)) {
        (Some(a), Some(b)) => Ok(real(of(a, b))),
        _ if a.is_null() || b.is_null() => Ok(Value::Null),
        _ => wrong("something is computed with that is no number"),
    };
    left.into_iter().zip(right).map(one).collect()
}

/// Cuts at a separator, except inside brackets and parentheses; what is empty is left out.
fn split(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut depth = 0_i32;
    let words = text.split(move |c: char| {
        match c {
            '[' | '(' => depth += 1,
            ']' | ')' => depth -= 1,
            _ => {}
        }
        c == separator && depth == 0
    });
    words.map(str::trim).filter(|word| !word.is_empty())
}

pub(super) fn filled<'t>(text: &'t str, variables: &[(String, String)]) -> Cow<'t, str> {
    if !text.contains('$') {
        return text.into();
    }
    let fill =
        |text: String, (name, value): &(String, String)| text.replace(&format!("${name}"), value);
    variables.iter().fold(text.to_owned(), fill).into()
}

/// The numbers of a part with the names of their cases; a number that is missing is `None`.
pub(crate) type Numbers = Vec<(String, Option<f64>)>;

pub(crate) fn one(name: impl Into<String>, value: Option<f64>) -> Numbers {
    vec![(name.into(), value)]
}

/// An expression for each choice of its variables.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Cases {
    /// What a case is called, with variables.
    name: &'static str,
    each: Vec<Each>,
    value: &'static str,
    /// What is missing if the variables have no values.
    none: &'static str,
    /// What is missing if no case has a number. Where this is given, cases without one are left
    /// out: the document need not have them all.
    or: Option<&'static str>,
}

impl Cases {
    pub(crate) fn found(&self, source: &Sets) -> Numbers {
        let all = match Scope::new(source, &[]).bindings(&self.each) {
            Ok(all) => all,
            Err(missing) => return one(missing, None),
        };
        if all.is_empty() && !self.none.is_empty() {
            return one(self.none, None);
        }
        let of = |variables: &Variables| {
            let scope = Scope::new(source, variables);
            (scope.shown(self.name), scope.first(self.value))
        };
        let mut found: Numbers = all.iter().map(of).collect();
        if let Some(missing) = self.or {
            let some = !found.is_empty();
            found.retain(|(_, value)| value.is_some_and(|value| !value.is_nan()));
            if found.is_empty() && some && !missing.is_empty() {
                return one(missing, None);
            }
        }
        found
    }
}

/// Reads what a file of JSON states, of which a test reads each.
pub(crate) fn stated<T: Deserialize<'static>>(json: &'static str) -> T {
    serde_json::from_str(json).expect("the file has this form")
}

#[cfg(test)]
mod tests;
