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
//! A document may define more ([`Call`]). An argument with `$each` stands for those with each of
//! a table's words. `each` of a row gives variables the words of a list, or of an expression that
//! may name variables before it; several take their values together: `n+m` over `16+24 32+48`.
//!
//! A template is a text with `{EXPRESSION | FORMAT}` in it; without a format it shows words. If one
//! of them is not known, what stands behind ` || ` takes the template's place. [`show`] has the
//! formats.

use crate::numbers::{and, bytes, count, digits3, of, percent, short, time, times};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::borrow::Cow;

mod functions;

pub use functions::OF_NUMBERS;

/// Why there is no value.
#[derive(Debug, PartialEq, Eq)]
pub enum Failure {
    /// It was not measured: nothing is selected, there is no such field, or it is null.
    Missing(String),
    /// The definition or the data are wrong.
    Wrong(String),
}

/// A value, or why there is none.
pub type Found<T> = Result<T, Failure>;

/// Says that the definition or the data are wrong.
pub fn wrong<T>(why: impl Into<String>) -> Found<T> {
    Err(Failure::Wrong(why.into()))
}

/// Says that something was not measured.
fn missing<T>(why: impl Into<String>) -> Found<T> {
    Err(Failure::Missing(why.into()))
}

/// Names of variables with their values.
pub type Variables = Vec<(String, String)>;

/// Variables, with words between blanks or an expression; the first is the slowest to change.
pub type Each = [(&'static str, &'static str)];

/// A call that a document defines by others. Its value stands for each choice of the words that
/// its arguments allow.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Call {
    /// Its name and its arguments: `table(k, n)`.
    pub call: &'static str,
    /// Variables.
    pub each: Vec<(&'static str, &'static str)>,
    /// The expression.
    pub value: &'static str,
    /// Whether it stands for words; then its arguments are taken as they are.
    pub words: bool,
    /// How many words there have to be.
    pub least: &'static str,
    /// What is missing if there are fewer.
    pub missing: &'static str,
    /// The word if there is none.
    pub or: Option<&'static str>,
}

impl Call {
    /// Returns the name and the arguments.
    fn head(&self) -> (&'static str, Vec<&'static str>) {
        let (name, arguments) = self.call.split_once('(').unwrap_or((self.call, ""));
        (name, split(arguments.trim_end_matches(')'), ',').collect())
    }
}

/// What expressions ask.
pub trait Source {
    /// Returns where a path begins, and its steps from there; `None` if the word is no path.
    fn start<'s>(&'s self, path: &'s str) -> Option<Found<(Vec<&'s Value>, &'s str)>>;

    /// Returns the calls that it defines.
    fn calls(&self) -> &[Call] {
        &[]
    }

    /// Returns how a variable's value is shown.
    fn shown(&self, _: &str, value: &str) -> String {
        value.to_owned()
    }
}

/// An element of what an expression yields.
#[derive(Clone, Debug)]
pub enum Item<'a> {
    /// What was not measured.
    Missing,
    /// A word.
    Word(Cow<'a, str>),
    /// A number.
    Number(f64),
    /// A value of a document.
    Node(&'a Value),
}

impl Item<'_> {
    /// Returns the number, or that which a text is.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Missing => None,
            Self::Word(word) => word.parse().ok(),
            Self::Number(x) => Some(*x),
            Self::Node(value) => value.as_f64().or_else(|| value.as_str()?.parse().ok()),
        }
    }

    /// Returns the word.
    pub fn word(&self) -> Option<String> {
        match self {
            Self::Missing | Self::Node(Value::Null) => None,
            Self::Word(word) => Some(word.to_string()),
            Self::Number(x) => Some(x.to_string()),
            Self::Node(Value::String(text)) => Some(text.clone()),
            Self::Node(value) => Some(value.to_string()),
        }
    }
}

/// Where expressions are evaluated.
#[derive(Clone, Copy)]
pub struct Scope<'a> {
    /// What they ask.
    pub source: &'a dyn Source,
    /// The row that a template is about.
    pub row: Option<&'a Value>,
    /// The variables.
    pub variables: &'a [(String, String)],
    /// The words for `$each`.
    pub each: &'a [String],
}

impl<'a> Scope<'a> {
    /// Returns the scope without a row.
    pub const fn new(source: &'a dyn Source, variables: &'a [(String, String)]) -> Self {
        Self {
            source,
            row: None,
            variables,
            each: &[],
        }
    }

    /// Returns a template's text.
    ///
    /// # Errors
    /// The first expression without a value.
    pub fn text(self, template: &str) -> Found<String> {
        let mut ways = template.split(" || ").map(|way| self.way(way));
        let first = ways.next().unwrap_or_else(|| Ok(String::new()));
        ways.fold(first, |text, way| match text {
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

    /// Returns what an expression yields.
    ///
    /// # Errors
    /// A path or a call without a value, or what cannot be read.
    pub fn items(self, expression: &'a str) -> Found<Vec<Item<'a>>> {
        let mut words = split(expression, ' ');
        let mut product = self.operand(words.next().unwrap_or_default())?;
        let mut sum: Option<Vec<Item<'a>>> = None;
        while let Some(operator) = words.next() {
            let right = self.operand(words.next().unwrap_or_default())?;
            match operator {
                "*" => product = pairwise(product, &right, |a, b| a * b)?,
                "/" => product = pairwise(product, &right, |a, b| a / b)?,
                "+" | "-" => {
                    let sign = Item::Number(if operator == "+" { 1.0 } else { -1.0 });
                    let right = pairwise(vec![sign; right.len()], &right, |a, b| a * b)?;
                    sum = Some(added(sum, std::mem::replace(&mut product, right))?);
                }
                other => return wrong(format!("`{other}` is not an operator")),
            }
        }
        match sum {
            Some(_) => added(sum, product),
            None => Ok(product),
        }
    }

    /// Returns the numbers of an expression.
    fn numbers(self, expression: &'a str) -> Found<Vec<f64>> {
        let number = |item: &Item<'_>| match item {
            Item::Missing => missing(expression),
            item => item
                .number()
                .map_or_else(|| wrong(format!("`{expression}` is not all numbers")), Ok),
        };
        self.items(expression)?.iter().map(number).collect()
    }

    /// Returns the words of an expression; what is missing has none.
    fn words(self, expression: &'a str) -> Found<Vec<String>> {
        Ok(self
            .items(expression)?
            .iter()
            .filter_map(Item::word)
            .collect())
    }

    fn operand(self, word: &'a str) -> Found<Vec<Item<'a>>> {
        let call = word.strip_suffix(')').and_then(|call| call.split_once('('));
        if let Some((name, arguments)) = call.filter(|(name, _)| !name.contains(['[', ':'])) {
            return self.called(name, arguments);
        }
        if let Some(nodes) = self.path(word) {
            return Ok(nodes?.into_iter().map(Item::Node).collect());
        }
        if word.is_empty() {
            return wrong("an operand is missing");
        }
        let words = filled(word, self.variables);
        let words = words
            .split('|')
            .map(|word| Item::Word(word.to_owned().into()));
        Ok(words.collect())
    }

    /// Returns the values that a path names, at least one; `None` if the word is no path.
    pub fn path(self, path: &'a str) -> Option<Found<Vec<&'a Value>>> {
        let (start, steps) = match path.strip_prefix('.').zip(self.row) {
            Some((steps, row)) => (vec![row], steps),
            None if path.parse::<f64>().is_ok() => return None,
            None => match self.source.start(path)? {
                Ok(start) => start,
                Err(failure) => return Some(Err(failure)),
            },
        };
        Some(self.walk(start, steps).and_then(|mut found| {
            if let [Value::Array(elements)] = found[..] {
                found = elements.iter().collect();
            }
            found.retain(|value| !value.is_null());
            match found.as_slice() {
                [] => missing(format!("nothing matches `{path}`")),
                _ => Ok(found),
            }
        }))
    }

    /// Goes along steps.
    ///
    /// # Errors
    /// A step that nothing has.
    pub fn walk(self, mut found: Vec<&'a Value>, steps: &str) -> Found<Vec<&'a Value>> {
        let (mut start, mut within) = (0, false);
        let mut pieces = Vec::new();
        for (i, c) in steps.char_indices().chain([(steps.len(), '.')]) {
            match c {
                '[' | '.' if !within || i == steps.len() => {
                    pieces.push(&steps[start..i]);
                    within = c == '[';
                    start = i + usize::from(!within);
                }
                ']' => within = false,
                _ => {}
            }
        }
        for step in pieces.into_iter().filter(|step| !step.is_empty()) {
            found = self.follow(&found, step)?;
        }
        Ok(found)
    }

    /// Goes one step from each value.
    fn follow(self, values: &[&'a Value], step: &str) -> Found<Vec<&'a Value>> {
        let elements = values.iter().flat_map(|value| match value {
            Value::Array(elements) => elements.as_slice(),
            other => std::slice::from_ref(*other),
        });
        if step == "*" {
            let fields = elements.filter_map(Value::as_object);
            return Ok(fields.flat_map(Map::values).collect());
        }
        let Some(filter) = step.strip_prefix('[') else {
            let step = filled(step, self.variables);
            let found: Vec<&Value> = elements.filter_map(|value| value.get(&*step)).collect();
            return match found.as_slice() {
                [] => missing(format!("the data has no field `{step}` there")),
                _ => Ok(found),
            };
        };
        let Some(filter) = filter.strip_suffix(']') else {
            return wrong(format!("`{step}` has no end"));
        };
        let filter = filter.split_whitespace();
        let conditions: Vec<Cow<'_, str>> = filter.map(|c| filled(c, self.variables)).collect();
        if let Some(bad) = conditions.iter().find(|c| !c.contains(['=', '<', '>'])) {
            return wrong(format!("`{bad}` is not key=value"));
        }
        let conditions: Vec<_> = conditions.iter().map(|c| Condition::new(c)).collect();
        let kept: Vec<&Value> = elements
            .filter(|value| conditions.iter().all(|condition| condition.is_met(value)))
            .collect();
        match kept.as_slice() {
            [] => missing(format!("nothing in the data is `{step}`")),
            _ => Ok(kept),
        }
    }

    /// Returns the variables' values, once for each choice of them.
    ///
    /// # Errors
    /// What is missing.
    pub fn bindings(self, each: &Each) -> Result<Vec<Variables>, String> {
        let mut all = vec![self.variables.to_vec()];
        for (name, values) in each {
            let mut next = Vec::new();
            for variables in &all {
                let scope = Scope { variables, ..self };
                let values = if values.contains(['(', '[']) {
                    scope.words(values)
                } else {
                    let words = values.split(' ');
                    Ok(words.map(|word| filled(word, variables).into()).collect())
                };
                let values: Vec<String> = values.map_err(|failure| match failure {
                    Failure::Missing(why) | Failure::Wrong(why) => why,
                })?;
                next.extend(values.iter().map(|value| {
                    let names: Vec<&str> = name.split('+').collect();
                    let pairs = names.iter().zip(value.splitn(names.len(), '+'));
                    let pairs = pairs.map(|(name, value)| ((*name).to_owned(), value.to_owned()));
                    variables.iter().cloned().chain(pairs).collect()
                }));
            }
            all = next;
        }
        Ok(all)
    }
}

/// Computes with two lists pair by pair.
fn pairwise<'a>(
    left: Vec<Item<'a>>,
    right: &[Item<'_>],
    of: fn(f64, f64) -> f64,
) -> Found<Vec<Item<'a>>> {
    if left.len() != right.len() {
        return wrong("lists of several lengths are computed with");
    }
    let one = |(a, b): (Item<'a>, &Item<'_>)| match (&a, b) {
        (Item::Missing, _) | (_, Item::Missing) => Ok(Item::Missing),
        (a, b) => match a.number().zip(b.number()) {
            Some((a, b)) => Ok(Item::Number(of(a, b))),
            None => wrong("something is computed with that is no number"),
        },
    };
    left.into_iter().zip(right).map(one).collect()
}

fn added<'a>(sum: Option<Vec<Item<'a>>>, next: Vec<Item<'a>>) -> Found<Vec<Item<'a>>> {
    match sum {
        Some(sum) => pairwise(sum, &next, |a, b| a + b),
        None => Ok(next),
    }
}

/// A condition of a path.
#[derive(Debug)]
pub struct Condition<'c> {
    field: &'c str,
    comparison: &'c str,
    wanted: &'c str,
    /// The values of which one is enough, and the numbers that they are.
    values: Vec<(Cow<'c, str>, Option<f64>)>,
}

impl<'c> Condition<'c> {
    /// Reads a condition.
    pub fn new(text: &'c str) -> Self {
        let at = text.find(['=', '!', '<', '>', '^']);
        let (field, rest) = text.split_at(at.unwrap_or(text.len()));
        let end = rest.find(|c| !"=!<>^".contains(c)).unwrap_or(rest.len());
        let (comparison, wanted) = rest.split_at(end);
        let own = wanted.split('|').map(Cow::from);
        let blank = wanted.contains('_').then(|| wanted.replace('_', " "));
        let blank = blank.iter().flat_map(|blank| blank.split('|'));
        let values = own.chain(blank.map(|value| value.to_owned().into()));
        Self {
            field,
            comparison,
            wanted,
            values: values
                .map(|value| (value.clone(), value.parse().ok()))
                .collect(),
        }
    }

    /// Returns whether an object meets it.
    pub fn is_met(&self, value: &Value) -> bool {
        let field = |name: &str| {
            let found = name
                .split('/')
                .try_fold(value, |value, name| value.get(name));
            found.filter(|found| !found.is_null())
        };
        let Some(own) = field(self.field) else {
            return false;
        };
        let number = |value: &Value| value.as_f64().or_else(|| value.as_str()?.parse().ok());
        let ordered = |is: fn(&f64, &f64) -> bool| {
            let other = match field(self.wanted) {
                Some(other) => number(other),
                None => self.values[0].1,
            };
            number(own)
                .zip(other)
                .is_some_and(|(own, other)| is(&own, &other))
        };
        let text = match own {
            Value::String(text) => Cow::from(text),
            other => other.to_string().into(),
        };
        let same = |(word, x): &(Cow<'_, str>, Option<f64>)| {
            let equal = |(a, b): (f64, f64)| a.total_cmp(&b).is_eq();
            text == *word || x.is_some_and(|x| number(own).is_some_and(|own| equal((own, x))))
        };
        match self.comparison {
            "=" => self.values.iter().any(same),
            "!=" => !self.values.iter().any(same),
            "^=" => self
                .values
                .iter()
                .any(|(beginning, _)| text.starts_with(&**beginning)),
            "<" => ordered(f64::lt),
            "<=" => ordered(f64::le),
            ">" => ordered(f64::gt),
            ">=" => ordered(f64::ge),
            _ => false,
        }
    }
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

/// Puts the variables' values in their places.
pub fn filled<'t>(text: &'t str, variables: &[(String, String)]) -> Cow<'t, str> {
    filled_as(text, variables, |_, value| value.to_owned())
}

/// The same, as they are shown.
fn filled_as<'t>(
    text: &'t str,
    variables: &[(String, String)],
    show: impl Fn(&str, &str) -> String,
) -> Cow<'t, str> {
    if !text.contains('$') {
        return text.into();
    }
    let mut text = text.to_owned();
    for (name, value) in variables {
        let known = format!("${name}");
        if text.contains(&known) {
            text = text.replace(&known, &show(name, value));
        }
    }
    text.into()
}

/// Shows what an expression yields in a format. Of a document's words: none, or `text` in
/// Markdown. `yes` is of a fact. Of a number: `times`, `percent`, `short`, `time`, `digits3`, `number`
/// (all digits if it is whole), `count`, `bytes`, and `a thread` with the noun; and of one that
/// must be there alone: `n` (whole), `si` (three digits and K, M or G), `3` (three digits), `r` (a
/// ratio of three digits), or `x`, `%` or `d` with a number of decimals (a ratio, a share in per
/// cent, a number). Of what is measured less its limit, `more` and `less` say whether a goal is
/// reached, which is to be more or less than that.
fn show(items: &[Item<'_>], expression: &str, form: &str) -> Found<String> {
    let words = || items.iter().filter_map(Item::word).collect::<Vec<String>>();
    match (form, items) {
        ("", _) => {
            let words = words();
            return if words.is_empty() {
                missing(expression)
            } else {
                Ok(and(&words))
            };
        }
        ("text", [_]) => return Ok(words().concat().replace('\u{a0}', " ").replace('|', "\\|")),
        ("yes", [Item::Node(Value::Bool(yes)), ..]) => {
            return Ok(if *yes { "yes" } else { "NO" }.into());
        }
        (_, [] | [Item::Missing, ..]) => return missing(expression),
        _ => {}
    }
    let Some(x) = items[0].number() else {
        return wrong(format!("`{expression}` is not a number"));
    };
    let exact = match items[0] {
        Item::Node(value) => value.as_u64(),
        _ => None,
    };
    let n = exact.or_else(|| (x >= 0.0 && x.fract() == 0.0).then_some(x as u64));
    let whole =
        |show: &dyn Fn(u64) -> String| n.map_or_else(|| missing(expression), |n| Ok(show(n)));
    match form {
        "times" => return Ok(times(x)),
        "percent" => return Ok(percent(x)),
        "short" => return Ok(short(x)),
        "time" => return Ok(time(x)),
        "number" if x.fract() == 0.0 => return Ok(format!("{x:.0}")),
        "digits3" | "number" => return Ok(digits3(x)),
        "count" => return whole(&count),
        "bytes" => return whole(&bytes),
        _ => {}
    }
    if let Some(noun) = form.strip_prefix("a ") {
        return whole(&|n| of(n, noun));
    }
    if items.len() != 1 || !x.is_finite() {
        return wrong(format!("`{expression}` is not one finite number"));
    }
    functions::in_digits(x, form)
}

/// Shows a number in a format.
pub fn shown(x: f64, form: &str) -> String {
    show(&[Item::Number(x)], "", form).unwrap_or_default()
}

/// The numbers of a part with the names of their cases; a number that is missing is `None`.
pub type Numbers = Vec<(String, Option<f64>)>;

/// A single number.
pub fn one(name: impl Into<String>, value: Option<f64>) -> Numbers {
    vec![(name.into(), value)]
}

/// An expression for each choice of its variables.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Cases {
    /// What a case is called, with variables.
    pub name: &'static str,
    /// The variables.
    pub each: Vec<(&'static str, &'static str)>,
    /// The expression.
    pub value: &'static str,
    /// What is missing if the variables have no values.
    pub none: &'static str,
    /// What is missing if no case has a number. Where this is given, cases without one are left
    /// out: the document need not have them all.
    pub or: Option<&'static str>,
}

impl Cases {
    /// Returns all expressions.
    pub fn formulas(&self) -> impl Iterator<Item = &'static str> {
        let each = self.each.iter().map(|(_, values)| *values);
        each.chain([self.value])
    }

    /// Returns the numbers, with their names.
    pub fn found(&self, source: &dyn Source) -> Numbers {
        let all = match Scope::new(source, &[]).bindings(&self.each) {
            Ok(all) => all,
            Err(missing) => return one(missing, None),
        };
        if all.is_empty() && !self.none.is_empty() {
            return one(self.none, None);
        }
        let of = |variables: &Variables| {
            let name = filled_as(self.name, variables, |name, value| {
                source.shown(name, value)
            });
            let items = Scope::new(source, variables).items(self.value);
            let value = items.ok().and_then(|items| items.first()?.number());
            (name.into_owned(), value)
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

/// Returns the expressions of a template.
pub fn formulas_of(template: &'static str) -> impl Iterator<Item = &'static str> {
    let parts = template.split('{').filter_map(|part| part.split_once('}'));
    parts.map(|(part, _)| part.rsplit_once(" | ").map_or(part, |(formula, _)| formula))
}

/// Returns a call in some expressions that neither the source nor this language knows.
pub fn unknown<'t>(calls: &[Call], formulas: impl IntoIterator<Item = &'t str>) -> Option<&'t str> {
    let known = |name: &str| {
        let of_numbers = OF_NUMBERS.iter().map(|(name, _)| *name);
        let own = calls.iter().map(|call| call.head().0);
        of_numbers
            .chain(functions::OTHERS)
            .chain(own)
            .any(|known| known == name)
    };
    let called = formulas.into_iter().flat_map(|text| {
        text.match_indices('(').map(|(at, _)| {
            let before = &text[..at];
            let name = before.rfind(|c: char| !c.is_alphanumeric() && c != '_');
            &before[name.map_or(0, |name| name + 1)..]
        })
    });
    called.into_iter().find(|name| !known(name))
}

#[cfg(test)]
mod tests;
