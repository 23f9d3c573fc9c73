//! What expressions ask; paths, their steps and conditions; and formats.

use super::{Call, Each, Found, Scope, Variables, filled, missing, wrong};
use crate::numbers::{and, bytes, count, digits3, of, percent, short, time, times};
use serde_json::{Map, Number, Value};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

type Shown = fn(&Sets, &str, &str) -> String;

/// What expressions ask: the records of a document by the names of their sets, with the calls that it
/// defines, or result files by their names.
#[derive(Debug)]
pub(crate) struct Sets {
    all: BTreeMap<String, Value>,
    pub(super) calls: Vec<Call>,
    shown: Shown,
    /// Names of parts of files, each with the path that it stands for; of files alone.
    aliases: Option<BTreeMap<String, String>>,
    used: RefCell<BTreeSet<String>>,
}

impl Sets {
    pub(crate) fn new<const N: usize>(sets: [(&'static str, Vec<Value>); N]) -> Self {
        let all = sets.map(|(name, records)| (name.to_owned(), Value::Array(records)));
        Self {
            all: all.into(),
            calls: Vec::new(),
            shown: |_, _, value| value.to_owned(),
            aliases: None,
            used: RefCell::default(),
        }
    }

    /// Returns the sets with calls, and with how the values of variables are shown.
    #[must_use]
    pub(crate) fn with(self, calls: Vec<Call>, shown: Shown) -> Self {
        Self {
            calls,
            shown,
            ..self
        }
    }

    pub(crate) fn of_files(
        all: BTreeMap<String, Value>,
        aliases: BTreeMap<String, String>,
    ) -> Self {
        Self {
            all,
            aliases: Some(aliases),
            ..Self::new([])
        }
    }

    /// Returns the files that were asked for a value since this was last called.
    pub(crate) fn take_used(&self) -> BTreeSet<String> {
        self.used.take()
    }

    pub(crate) fn file(&self, name: &str) -> Found<&Value> {
        self.used.borrow_mut().insert(name.to_owned());
        let file = self.all.get(name);
        file.map_or_else(|| wrong(format!("there is no result file {name}")), Ok)
    }

    /// Returns where a path begins, and its steps from there; `None` if the word is no path.
    fn start<'s, 'p>(&'s self, path: &'p str) -> Option<Found<(Vec<&'s Value>, &'p str)>> {
        let Some(aliases) = &self.aliases else {
            let at = path.find(['.', '['])?;
            let set = self.all.get(&path[..at])?;
            return Some(Ok((vec![set], &path[at..])));
        };
        let Some((file, steps)) = path.split_once(':') else {
            return Some(wrong(format!("`{path}` is not FILE:FIELD")));
        };
        let Some(alias) = aliases.get(file) else {
            return Some(self.file(file).map(|whole| (vec![whole], steps)));
        };
        let start = self.start(alias)?;
        let walked = |(start, first): (_, &str)| Scope::new(self, &[]).walk(start, first);
        Some(start.and_then(walked).map(|start| (start, steps)))
    }

    pub(super) fn shown(&self, name: &str, value: &str) -> String {
        (self.shown)(self, name, value)
    }

    /// Returns the records of a set that meet all conditions.
    pub(crate) fn of(&self, set: &str, conditions: &[&str]) -> Vec<&Value> {
        let all = self.all.get(set).and_then(Value::as_array);
        meeting(all.into_iter().flatten(), conditions)
    }

    /// Fills a template about a record, if all that it names is known.
    pub(crate) fn filled(
        &self,
        template: &str,
        row: Option<&Value>,
        variables: &Variables,
    ) -> Option<String> {
        let scope = Scope::new(self, variables);
        Scope { row, ..scope }.text(template).ok()
    }

    /// Returns the variables' values, once for each choice of them; none if one is missing.
    pub(crate) fn choices(&self, each: &[Each], before: &Variables) -> Vec<Variables> {
        Scope::new(self, before).bindings(each).unwrap_or_default()
    }
}

/// Returns a number as a value; one that JSON does not have is a word.
pub(crate) fn real(x: f64) -> Value {
    Number::from_f64(x).map_or_else(|| x.to_string().into(), Value::Number)
}

/// Returns the number that a value is, or that its text is.
pub(crate) fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.parse().ok())
}

/// Returns a value in words, if there is one.
pub(crate) fn word(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Number(n) if n.is_f64() => Some(n.as_f64()?.to_string()),
        value => Some(value.to_string()),
    }
}

/// Returns the values that meet all conditions.
pub(crate) fn meeting<'a>(
    all: impl Iterator<Item = &'a Value>,
    conditions: &[impl AsRef<str>],
) -> Vec<&'a Value> {
    let conditions = conditions.iter().map(|c| Condition::new(c.as_ref()));
    let conditions: Vec<Condition<'_>> = conditions.collect();
    all.filter(|value| conditions.iter().all(|c| c.is_met(value)))
        .collect()
}

/// Returns what was found, of which there must be some.
fn some(found: Vec<&Value>, why: impl Fn() -> String) -> Found<Vec<&Value>> {
    match found.as_slice() {
        [] => missing(why()),
        _ => Ok(found),
    }
}

impl<'a> Scope<'a> {
    /// Returns the values that a path names, at least one; `None` if the word is no path.
    pub(crate) fn path(self, path: &str) -> Option<Found<Vec<&'a Value>>> {
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
            some(found, || format!("nothing matches `{path}`"))
        }))
    }

    pub(crate) fn walk(self, mut found: Vec<&'a Value>, steps: &str) -> Found<Vec<&'a Value>> {
        let mut rest = steps;
        while !rest.is_empty() {
            let end = match rest.strip_prefix('[') {
                Some(inside) => inside.find(']').map(|end| end + 2),
                None => rest.find(['.', '[']),
            };
            let (step, behind) = rest.split_at(end.unwrap_or(rest.len()));
            if !step.is_empty() {
                found = self.follow(&found, step)?;
            }
            rest = behind.strip_prefix('.').unwrap_or(behind);
        }
        Ok(found)
    }

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
            let found = elements.filter_map(|value| value.get(&*step)).collect();
            return some(found, || format!("the data has no field `{step}` there"));
        };
        let Some(filter) = filter.strip_suffix(']') else {
            return wrong(format!("`{step}` has no end"));
        };
        let filter = filter.split_whitespace();
        let conditions: Vec<Cow<'_, str>> = filter.map(|c| filled(c, self.variables)).collect();
        if let Some(bad) = conditions.iter().find(|c| !c.contains(['=', '<', '>'])) {
            return wrong(format!("`{bad}` is not key=value"));
        }
        let kept = meeting(elements, &conditions);
        some(kept, || format!("nothing in the data is `{step}`"))
    }
}

#[derive(Debug)]
struct Condition<'c> {
    field: &'c str,
    comparison: &'c str,
    wanted: &'c str,
    /// The values of which one is enough, and the numbers that they are.
    values: Vec<(String, Option<f64>)>,
}

impl<'c> Condition<'c> {
    fn new(text: &'c str) -> Self {
        let at = text.find(['=', '!', '<', '>', '^']);
        let (field, rest) = text.split_at(at.unwrap_or(text.len()));
        let end = rest.find(|c| !"=!<>^".contains(c)).unwrap_or(rest.len());
        let (comparison, wanted) = rest.split_at(end);
        let blank = wanted.contains('_').then(|| wanted.replace('_', " "));
        let blank = blank.iter().flat_map(|blank| blank.split('|'));
        let values = wanted.split('|').chain(blank);
        let values = values.map(|value| (value.to_owned(), value.parse().ok()));
        Self {
            field,
            comparison,
            wanted,
            values: values.collect(),
        }
    }

    fn is_met(&self, value: &Value) -> bool {
        let field = |name: &str| {
            let mut steps = name.split('/');
            let found = steps.try_fold(value, |value, name| value.get(name));
            found.filter(|found| !found.is_null())
        };
        let Some(own) = field(self.field) else {
            return false;
        };
        let text = match own {
            Value::String(text) => Cow::from(text),
            other => other.to_string().into(),
        };
        let (own, other) = (number(own), field(self.wanted).map(number));
        let other = other.unwrap_or(self.values[0].1);
        let ordered = |is: fn(&f64, &f64) -> bool| own.zip(other).is_some_and(|(a, b)| is(&a, &b));
        let equal = |x: f64| own.is_some_and(|own| own.total_cmp(&x).is_eq());
        let same = |(word, x): &(String, Option<f64>)| text == *word || x.is_some_and(equal);
        let mut values = self.values.iter();
        match self.comparison {
            "=" => values.any(same),
            "!=" => !values.any(same),
            "^=" => values.any(|(beginning, _)| text.starts_with(beginning)),
            "<" => ordered(f64::lt),
            "<=" => ordered(f64::le),
            ">" => ordered(f64::gt),
            ">=" => ordered(f64::ge),
            _ => false,
        }
    }
}

/// Shows what an expression yields in a format. Of a document's words: none, or `text` in
/// Markdown. `yes` is of a fact. Of a number: `times`, `percent`, `short`, `time`, `digits3`, `number`
/// (all digits if it is whole), `count`, `bytes`, and `a thread` with the noun; and of one that
/// must be there alone: `n` (whole), `si` (three digits and K, M or G), `3` (three digits), `r` (a
/// ratio of three digits), or `x`, `%` or `d` with a number of decimals (a ratio, a share in per
/// cent, a number). Of what is measured less its limit, `more` and `less` say whether a goal is
/// reached, which is to be more or less than that.
pub(super) fn show(items: &[Value], expression: &str, form: &str) -> Found<String> {
    let words = || items.iter().filter_map(word).collect::<Vec<String>>();
    match (form, items) {
        ("", _) if words().is_empty() => return missing(expression),
        ("", _) => return Ok(and(&words())),
        ("text", [_]) => return Ok(words().concat().replace('\u{a0}', " ").replace('|', "\\|")),
        ("yes", [Value::Bool(yes), ..]) => {
            return Ok(if *yes { "yes" } else { "NO" }.into());
        }
        (_, [] | [Value::Null, ..]) => return missing(expression),
        _ => {}
    }
    let Some(x) = number(&items[0]) else {
        return wrong(format!("`{expression}` is not a number"));
    };
    let n = items[0].as_u64();
    let n = n.or_else(|| (x >= 0.0 && x.fract() == 0.0).then_some(x as u64));
    let whole = |show: &dyn Fn(u64) -> String| n.map(show).map_or_else(|| missing(expression), Ok);
    Ok(match (form, form.strip_prefix("a ")) {
        ("times", _) => times(x),
        ("percent", _) => percent(x),
        ("short", _) => short(x),
        ("time", _) => time(x),
        ("number", _) if x.fract() == 0.0 => format!("{x:.0}"),
        ("digits3" | "number", _) => digits3(x),
        ("count", _) => whole(&count)?,
        ("bytes", _) => whole(&bytes)?,
        (_, Some(noun)) => whole(&|n| of(n, noun))?,
        _ if items.len() != 1 || !x.is_finite() => {
            return wrong(format!("`{expression}` is not one finite number"));
        }
        _ => in_digits(x, form)?,
    })
}

pub(crate) fn shown(x: f64, form: &str) -> String {
    show(&[real(x)], "", form).unwrap_or_default()
}

/// Shows a number by a unit and its digits.
fn in_digits(value: f64, form: &str) -> Found<String> {
    let split = form.find(|c: char| c.is_ascii_digit());
    let (unit, decimals) = form.split_at(split.unwrap_or(form.len()));
    let decimals: usize = decimals.parse().unwrap_or(0);
    Ok(match unit {
        "n" => thousands(&format!("{value:.0}")),
        "si" => {
            let text = short(value);
            let (digits, unit) = text.split_at(text.trim_end_matches(char::is_alphabetic).len());
            format!("{digits} {unit}").trim_end().to_owned()
        }
        "" => thousands(&digits3(value)),
        "r" if value < 0.095 => format!("{value:.*}x", if value < 0.0095 { 4 } else { 3 }),
        "r" => thousands(&digits3(value)) + "x",
        "x" => thousands(&format!("{value:.decimals$}")) + "x",
        "%" => format!("{:.decimals$} %", value * 100.0),
        "d" => format!("{value:.decimals$}"),
        "more" | "less" if (value >= 0.0) == (unit == "more") || value == 0.0 => "reached".into(),
        "more" | "less" => "missed".into(),
        _ => return wrong(format!("`{form}` is not a format")),
    })
}

/// Puts commas into the whole part of a decimal number.
fn thousands(number: &str) -> String {
    let mut grouped = number.to_owned();
    let mut end = number.find('.').unwrap_or(number.len());
    while end > 3 {
        end -= 3;
        grouped.insert(end, ',');
    }
    grouped
}
