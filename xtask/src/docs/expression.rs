//! What a document computes from the data: `a / b`, `sum(path)`, and formats.
//!
//! An expression is a list of words: paths ([`super::data`]), numbers, calls such
//! as `sum(path)`, `computed:NAME` of `speed.rs`, and the operators `+ - * /` with blanks around them, of which
//! `*` and `/` bind tighter. Blanks inside brackets belong to a path.

use super::data::Data;
use super::format::{median, show};
use super::speed;
use serde_json::Value;

/// The text for a marker's `EXPRESSION | FORMAT`.
pub(super) fn text(source: &str, data: &Data) -> Result<String, String> {
    let (expression, format) = source
        .rsplit_once(" | ")
        .ok_or_else(|| format!("`{source}` has no ` | FORMAT`"))?;
    let (expression, format) = (expression.trim(), format.trim());
    if format == "text" {
        return match data.one(expression)? {
            Value::String(text) => Ok(text.clone()),
            other => Ok(other.to_string()),
        };
    }
    show(value(expression, data)?, format)
}

/// The value of an expression.
pub(super) fn value(expression: &str, data: &Data) -> Result<f64, String> {
    let mut words = split(expression).into_iter();
    let first = words.next().ok_or("the expression is empty")?;
    // What is added up so far, and the product that is being made.
    let (mut sum, mut product) = (0.0, operand(first, data)?);
    while let Some(operator) = words.next() {
        let word = words
            .next()
            .ok_or_else(|| format!("nothing stands after `{operator}`"))?;
        let right = operand(word, data)?;
        match operator {
            "*" => product *= right,
            "/" => product /= right,
            "+" | "-" => {
                sum += product;
                product = if operator == "+" { right } else { -right };
            }
            other => return Err(format!("`{other}` is not an operator")),
        }
    }
    let result = sum + product;
    if result.is_finite() {
        Ok(result)
    } else {
        Err(format!("`{expression}` is not a finite number"))
    }
}

/// Cuts at blanks, except inside brackets and parentheses.
fn split(expression: &str) -> Vec<&str> {
    let mut depth = 0_i32;
    let words = expression.split(|c: char| {
        match c {
            '[' | '(' => depth += 1,
            ']' | ')' => depth -= 1,
            _ => {}
        }
        c == ' ' && depth == 0
    });
    words.filter(|word| !word.is_empty()).collect()
}

/// The value of one word.
fn operand(word: &str, data: &Data) -> Result<f64, String> {
    if let Ok(number) = word.parse() {
        return Ok(number);
    }
    if let Some(name) = word.strip_prefix("computed:") {
        return speed::computed(name, data);
    }
    let call = word.strip_suffix(')').and_then(|call| call.split_once('('));
    let Some((function, argument)) = call else {
        return data.number(word);
    };
    if function == "count" {
        return Ok(data.count(argument)? as f64);
    }
    if let Some(n) = function.strip_prefix("number") {
        return nth_number(data.one(argument)?, n)
            .ok_or_else(|| format!("`{argument}` has no number {n}"));
    }
    let mut numbers = data.numbers(argument)?;
    numbers.sort_by(f64::total_cmp);
    Ok(match function {
        "sum" => numbers.iter().sum(),
        "min" => numbers[0],
        "max" => numbers[numbers.len() - 1],
        "median" => median(&numbers),
        other => return Err(format!("`{other}` is not a function")),
    })
}

/// The `n`th number in a text, counted from 1.
fn nth_number(text: &Value, n: &str) -> Option<f64> {
    let words = text.as_str()?.split_whitespace();
    let mut numbers = words.filter_map(|word| word.parse().ok());
    numbers.nth(n.parse::<usize>().ok()?.checked_sub(1)?)
}

#[cfg(test)]
mod tests {
    use super::super::format::si;
    use super::*;

    fn data() -> Data {
        let json = r#"{"runs": [{"w": "ra", "n": 8}, {"w": "ht", "n": 2}], "name": "H200", "note": "3 of 12 saw it"}"#;
        Data::of([("a.json".to_owned(), json.to_owned())].into()).unwrap()
    }

    #[test]
    fn expressions_are_computed_with_the_usual_precedence() {
        let data = data();
        for (source, shown) in [
            ("a.json:runs[w=ra].n / a.json:runs[w=ht].n | x1", "4.0x"),
            ("1 + 2 * 3 - 4 / 2 | n", "5"),
            ("sum(a.json:runs.n) | n", "10"),
            ("median(a.json:runs.n) | d1", "5.0"),
            ("max(a.json:runs.n) - min(a.json:runs.n) | n", "6"),
            ("count(a.json:runs[w=lb]) | n", "0"),
            ("a.json:name | text", "H200"),
            ("number1(a.json:note) / number2(a.json:note) | %0", "25 %"),
            ("0.354 | %0", "35 %"),
            ("0.354 | %1", "35.4 %"),
            ("4830.07 | x0", "4,830x"),
            ("28080000 | M2", "28.08 M"),
        ] {
            assert_eq!(text(source, &data).as_deref(), Ok(shown), "{source}");
        }
    }

    #[test]
    fn wrong_expressions_are_errors() {
        let data = data();
        for source in [
            "1",
            "1 + | n",
            "1 ? 2 | n",
            "1 | furlongs",
            "1 / 0 | n",
            "mean(a.json:runs.n) | n",
            "number3(a.json:note) | n",
            "computed:nothing | n",
            "sum(a.json:walks.n) | n",
            "a.json:runs.n | n",
        ] {
            assert!(text(source, &data).is_err(), "{source}");
        }
    }

    #[test]
    fn three_digits_are_kept() {
        for (value, shown) in [
            (674_738_489.0, "675 M"),
            (5_471_364_167.0, "5.47 G"),
            (31_036.0, "31.0 K"),
            (999_700.0, "1.00 M"),
            (0.066, "0.07"),
        ] {
            assert_eq!(si(value), shown);
        }
    }
}
