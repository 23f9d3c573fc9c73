//! What a cell computes from the data.
//!
//! A template is text with `{EXPRESSION | FORMAT}` in it. An expression has paths
//! ([`super::data`]), numbers, the operators `+ - * /` with blanks around them, of which `*` and
//! `/` bind tighter, and functions of one argument or more: `sum`, `min`, `max`, `median`,
//! `count`, `same` (the value that all of them have, as do parentheses), and `number1`, the first number in a text.
//! An argument that is a path stands for all its values, and one with `$each` for the values with
//! each of the table's words.
//!
//! A format is `text`, `n` (a whole number), `si` (three digits and K, M or G), `3` (three
//! digits), `r` (a ratio of three digits), or `x`, `%` or `d` with a number of decimals (a ratio,
//! a share in per cent, a number). Of what is measured less its limit, `more` and `less` say whether
//! a goal is reached, which is to be more or less than that.

use super::data::{Data, Failure, Found, wrong};
use crate::numbers::{digits3, short};
use serde_json::Value;

/// Where expressions are evaluated.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    /// The data.
    pub data: &'a Data<'a>,
    /// The row's element.
    pub row: Option<&'a Value>,
    /// The words for `$each`.
    pub each: &'a [String],
}

impl Scope<'_> {
    /// Returns a template's text.
    ///
    /// # Errors
    /// The first expression without a value.
    pub fn text(self, template: &str) -> Found<String> {
        let (mut text, mut rest) = (String::new(), template);
        while let Some((before, after)) = rest.split_once('{') {
            let cut = after.split_once('}').and_then(|(inside, after)| {
                let (expression, format) = inside.rsplit_once(" | ")?;
                Some((expression.trim(), format.trim(), after))
            });
            let Some((expression, format, after)) = cut else {
                return wrong(format!("`{template}` is not {{EXPRESSION | FORMAT}}"));
            };
            text += before;
            text += &match format {
                "text" => words(self.one(expression)?),
                _ => show(self.value(expression)?, format)?,
            };
            rest = after;
        }
        Ok(text + rest)
    }

    /// Returns the only value that a path names.
    fn one(&self, path: &str) -> Found<&Value> {
        match self.data.all(path, self.row)?[..] {
            [value] => Ok(value),
            ref several => wrong(format!("`{path}` names {} values, not one", several.len())),
        }
    }

    /// Returns the value of an expression.
    fn value(self, expression: &str) -> Found<f64> {
        match self.values(expression)?[..] {
            [value] if value.is_finite() => Ok(value),
            [_] => wrong(format!("`{expression}` is not a finite number")),
            ref several => wrong(format!("`{expression}` is {} values", several.len())),
        }
    }

    /// Returns the values of an expression: those of a path, or the one that is computed.
    fn values(self, expression: &str) -> Found<Vec<f64>> {
        let mut words = split(expression, ' ').into_iter();
        let first = words.next().unwrap_or_default();
        let mut product = self.operand(first)?;
        let mut sum = 0.0;
        while let Some(operator) = words.next() {
            let (left, right) = (single(&product, expression)?, words.next());
            let right = self.value(right.unwrap_or_default())?;
            product = vec![match operator {
                "*" => left * right,
                "/" => left / right,
                "+" | "-" => {
                    sum += left;
                    if operator == "+" { right } else { -right }
                }
                other => return wrong(format!("`{other}` is not an operator")),
            }];
        }
        if let [last] = &mut product[..] {
            *last += sum;
        }
        Ok(product)
    }

    fn operand(self, word: &str) -> Found<Vec<f64>> {
        if let Ok(number) = word.parse() {
            return Ok(vec![number]);
        }
        let call = word.strip_suffix(')').and_then(|call| call.split_once('('));
        let Some((function, arguments)) = call else {
            let numbers = self.data.all(word, self.row)?.into_iter().map(number);
            let numbers: Option<Vec<f64>> = numbers.collect();
            return numbers.ok_or_else(|| Failure::Wrong(format!("`{word}` is not all numbers")));
        };
        if function == "count" {
            return match self.data.all(arguments, self.row) {
                Ok(values) => Ok(vec![values.len() as f64]),
                Err(Failure::Missing(_)) => Ok(vec![0.0]),
                Err(failure) => Err(failure),
            };
        }
        if let Some(n) = function.strip_prefix("number") {
            let found = nth_number(self.one(arguments)?, n);
            let found = found.ok_or_else(|| Failure::Wrong(format!("no {function}: {arguments}")));
            return Ok(vec![found?]);
        }
        let mut numbers = Vec::new();
        for argument in split(arguments, ',') {
            if argument.contains("$each") {
                for word in self.each {
                    numbers.extend(self.values(&argument.replace("$each", word))?);
                }
            } else {
                numbers.extend(self.values(argument.trim())?);
            }
        }
        of_all(function, numbers)
    }
}

/// Makes one number of several.
fn of_all(function: &str, mut numbers: Vec<f64>) -> Found<Vec<f64>> {
    numbers.sort_by(f64::total_cmp);
    let (Some(&least), Some(&most)) = (numbers.first(), numbers.last()) else {
        return wrong(format!("`{function}` has no argument"));
    };
    let half = numbers.len() / 2;
    Ok(vec![match function {
        "sum" => numbers.iter().sum(),
        "min" => least,
        "max" => most,
        "median" if numbers.len() % 2 == 1 => numbers[half],
        "median" => f64::midpoint(numbers[half - 1], numbers[half]),
        "" | "same" if least.total_cmp(&most).is_eq() => least,
        "" | "same" => return wrong(format!("{least} and {most} are not the same")),
        other => return wrong(format!("`{other}` is not a function")),
    }])
}

fn single(numbers: &[f64], expression: &str) -> Found<f64> {
    match numbers {
        [number] => Ok(*number),
        _ => wrong(format!("`{expression}` computes with several values")),
    }
}

/// Cuts at a separator, except inside brackets and parentheses.
fn split(text: &str, separator: char) -> Vec<&str> {
    let mut depth = 0_i32;
    let words = text.split(|c: char| {
        match c {
            '[' | '(' => depth += 1,
            ']' | ')' => depth -= 1,
            _ => {}
        }
        c == separator && depth == 0
    });
    words.filter(|word| !word.is_empty()).collect()
}

/// A number, or a string that is one.
fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.parse().ok())
}

/// The `n`th number in a text, counted from 1.
fn nth_number(text: &Value, n: &str) -> Option<f64> {
    let words = text.as_str()?.split_whitespace();
    let mut numbers = words.filter_map(|word| word.parse().ok());
    numbers.nth(n.parse::<usize>().ok()?.checked_sub(1)?)
}

/// A value as the text of a cell.
fn words(value: &Value) -> String {
    match value {
        Value::String(text) => text.replace('\u{a0}', " ").replace('|', "\\|"),
        other => other.to_string(),
    }
}

/// A number in a format.
fn show(value: f64, format: &str) -> Found<String> {
    let split = format.find(|c: char| c.is_ascii_digit());
    let (unit, decimals) = format.split_at(split.unwrap_or(format.len()));
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
        _ => return wrong(format!("`{format}` is not a format")),
    })
}

/// Puts commas into the whole part of a decimal number.
fn thousands(number: &str) -> String {
    let whole = number.find('.').unwrap_or(number.len());
    let mut grouped = String::new();
    for (i, c) in number.char_indices() {
        if i > 0 && i < whole && (whole - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(c);
    }
    grouped
}
