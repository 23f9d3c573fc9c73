//! The calls of the language, and the digits of numbers.

use super::{
    Call, Failure, Found, Items, Scope, Variables, filled, missing, number, real, split, with_each,
    wrong,
};
use serde_json::Value;
use std::collections::HashSet;

type OfNumbers = fn(&[f64]) -> Option<f64>;

/// The calls that make one number of several, of which there is at least one.
pub(crate) const OF_NUMBERS: [(&str, OfNumbers); 13] = [
    ("sum", |all| Some(all.iter().sum())),
    ("min", |all| all.iter().copied().reduce(f64::min)),
    ("max", |all| all.iter().copied().reduce(f64::max)),
    // The value that all of them have.
    ("same", same),
    ("", same),
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
    // The largest ratio of neighbours, of which there must be three.
    ("roughest", |all| {
        let steps = all.windows(2).map(|p| (p[0] / p[1]).max(p[1] / p[0]));
        steps.reduce(f64::max).filter(|_| all.len() >= 3)
    }),
];

fn same(all: &[f64]) -> Option<f64> {
    let same = |x: &f64| x.total_cmp(&all[0]).is_eq();
    all.iter().all(same).then(|| all[0])
}

/// Returns what there is, or nothing where it was not measured.
fn if_there<T: Default>(found: Found<T>) -> Found<T> {
    match found {
        Err(Failure::Missing(_)) => Ok(T::default()),
        found => found,
    }
}

impl Scope<'_> {
    pub(super) fn called(self, name: &str, text: &str) -> Items {
        let arguments: Vec<&str> = split(text, ',').collect();
        Ok(match (name, arguments.as_slice()) {
            ("values", [path]) => {
                let mut seen = HashSet::new();
                let values = if_there(self.words(path))?.into_iter();
                let values = values.filter(|value| seen.insert(value.clone()));
                values.map(Value::from).collect()
            }
            ("lowest", [path, by, field]) => {
                let all = self.sorted(path, by, field)?.into_iter();
                all.take(1).collect()
            }
            ("highest", [path, by, field]) => {
                let last = self.sorted(path, by, field)?.pop();
                last.into_iter().collect()
            }
            ("common", [path]) => self.common(path)?,
            ("any", [words]) => vec![self.words(words)?.join("|").into()],
            ("words", all) => texts(self.all_words(all)?),
            ("without", [but, all @ ..]) => {
                let but = self.words(but)?;
                let mut all = self.all_words(all)?;
                all.retain(|word| !but.contains(word));
                texts(all)
            }
            ("or", all) => {
                for argument in all {
                    let found = if_there(self.items(argument))?;
                    if !matches!(found.as_slice(), [] | [Value::Null]) {
                        return Ok(found);
                    }
                }
                Vec::new()
            }
            ("if", [condition, value]) if if_there(self.numbers(condition))? == [1.0] => {
                self.items(value)?
            }
            ("if", [_, _]) => Vec::new(),
            _ => match self.counted(name, &arguments)? {
                Some(number) => vec![real(number)],
                None => self.defined(name, &arguments)?,
            },
        })
    }

    /// Returns the number that a call stands for which is not of numbers alone; `None` if it is none.
    fn counted(self, name: &str, arguments: &[&str]) -> Found<Option<f64>> {
        let number = match (name, arguments) {
            ("count", [path]) => Some(if_there(self.items(path))?.len() as f64),
            ("is_one", [one, all @ ..]) => {
                let one = self.words(one)?.concat();
                Some(fact(self.all_words(all)?.contains(&one)))
            }
            ("differ", all) => {
                let all = self.all_words(all)?;
                Some(fact(all.iter().any(|word| *word != all[0])))
            }
            ("at_least", [a, b]) => Some(fact(self.numbers(a)? >= self.numbers(b)?)),
            ("all", all) => {
                let items = |a: &&str| self.items(a).unwrap_or_else(|_| vec![Value::Null]);
                // One that is 0 decides, even if another is missing.
                let order = |item: Value| number(&item).unwrap_or(0.5);
                let least = all.iter().flat_map(items).map(order).reduce(f64::min);
                least.filter(|least| [0.0, 1.0].contains(least))
            }
            ("correlation", [a, b]) => correlation(&self.numbers(a)?, &self.numbers(b)?),
            ("number", [text, n]) => {
                let words = self.words(text)?.concat();
                let mut numbers = words
                    .split_whitespace()
                    .filter_map(|word| word.parse().ok());
                let n = n.parse::<usize>().ok().and_then(|n| n.checked_sub(1));
                let Some(number) = n.and_then(|n| numbers.nth(n)) else {
                    return wrong(format!("no {name}: {text}"));
                };
                Some(number)
            }
            _ => return Ok(None),
        };
        number.map_or_else(|| missing_call(name), |number| Ok(Some(number)))
    }

    /// Returns what a call that makes one number of several stands for, or one of the document's.
    fn defined(self, name: &str, arguments: &[&str]) -> Items {
        let heads = self.source.calls.iter().map(|call| (call, call.head()));
        for (call, (own, names)) in heads {
            if own == name && names.len() == arguments.len() {
                return call.evaluated(self, &names, arguments);
            }
        }
        let Some((_, of)) = OF_NUMBERS.iter().find(|(known, _)| *known == name) else {
            return wrong(format!("`{name}` is not a function"));
        };
        let numbers: Found<Vec<_>> = arguments.iter().map(|a| self.numbers(a)).collect();
        let numbers = numbers?.concat();
        match of(&numbers) {
            _ if numbers.is_empty() => missing_call(name),
            Some(number) => Ok(vec![real(number)]),
            None if ["", "same"].contains(&name) => wrong(format!("{numbers:?} are not the same")),
            None => missing_call(name),
        }
    }

    fn all_words(self, all: &[&str]) -> Found<Vec<String>> {
        let all: Found<Vec<Vec<String>>> = all.iter().map(|a| self.words(a)).collect();
        Ok(all?.concat())
    }

    /// Returns a field of the elements, by another one ascending.
    fn sorted(self, path: &str, by: &str, field: &str) -> Items {
        let nodes = self.path(path).unwrap_or_else(|| wrong("no path"));
        let known = if_there(nodes)?.into_iter().filter_map(|node| {
            let field = node.get(field).filter(|field| !field.is_null())?;
            Some((node.get(by)?.as_f64()?, field))
        });
        let mut known: Vec<(f64, &Value)> = known.collect();
        known.sort_by(|a, b| a.0.total_cmp(&b.0));
        Ok(known.into_iter().map(|(_, field)| field.clone()).collect())
    }

    /// Returns the numbers that are there for each choice of all alternatives.
    fn common(self, path: &str) -> Items {
        let mut paths = vec![filled(path, self.variables).into_owned()];
        let is_choice = |word: &&str| word.contains('=') && word.contains('|');
        while let Some(choice) = paths[0].split([' ', ']', '[']).find(is_choice) {
            let choice = choice.to_owned();
            let (name, values) = choice.split_once('=').unwrap_or_default();
            let one = |value: &str| {
                let one = format!("{name}={value}");
                let with = paths.iter().map(|path| path.replacen(&choice, &one, 1));
                with.collect::<Vec<_>>()
            };
            paths = values.split('|').flat_map(one).collect();
        }
        let mut all = paths.iter().map(|path| if_there(self.numbers(path)));
        let mut common = all.next().unwrap_or_else(|| Ok(Vec::new()))?;
        for here in all {
            let here = here?;
            common.retain(|x| here.contains(x));
        }
        common.sort_by(f64::total_cmp);
        common.dedup();
        Ok(common.into_iter().map(real).collect())
    }
}

fn texts(words: Vec<String>) -> Vec<Value> {
    words.into_iter().map(Value::from).collect()
}

fn fact(is: bool) -> f64 {
    f64::from(u8::from(is))
}

fn missing_call<T>(name: &str) -> Found<T> {
    missing(format!("`{name}` has no value"))
}

impl Call {
    fn evaluated(&self, scope: Scope<'_>, names: &[&str], arguments: &[&str]) -> Items {
        let mut choices: Vec<Variables> = vec![Vec::new()];
        for (name, argument) in names.iter().zip(arguments) {
            let words = match scope.words(argument) {
                Err(Failure::Missing(_)) if !self.words => Vec::new(),
                words if self.words => vec![words?.join("|")],
                words => words?,
            };
            choices = with_each(&choices, name, |_| Ok(words.clone()))?;
        }
        let mut found = Vec::new();
        for variables in &choices {
            let of_arguments = Scope::new(scope.source, variables);
            let each = match of_arguments.bindings(&self.each) {
                Err(why) if self.words => return missing(why),
                each => each.unwrap_or_default(),
            };
            if self.words {
                return self.of_words(of_arguments, &each);
            }
            let first = each.first();
            let number = first.and_then(|v| Scope::new(scope.source, v).first(self.value));
            found.push(number.map_or(Value::Null, real));
        }
        if found.is_empty() {
            found.push(Value::Null);
        }
        Ok(found)
    }

    fn of_words(&self, scope: Scope<'_>, each: &[Variables]) -> Items {
        let mut words = Vec::new();
        for variables in each {
            let more = Scope { variables, ..scope }.words(self.value);
            words.extend(if_there(more)?);
        }
        words.extend(self.or.filter(|_| words.is_empty()).map(str::to_owned));
        let variables = each.first().map_or(scope.variables, Vec::as_slice);
        if words.len() < filled(self.least, variables).parse().unwrap_or(0) {
            return missing(Scope { variables, ..scope }.shown(self.missing));
        }
        Ok(texts(words))
    }
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
