//! What programs may call that needs to be fast, or asks their [`Sets`](crate::Sets).

use crate::sets::Native;
use crate::val::Val::{self, Arr, Null, Num, Obj, Str};
use crate::val::{Error, known};
use jaq_core::ValR;
use jaq_core::native::bome;
use std::cmp::Ordering;
use std::rc::Rc;

/// | call | yields |
/// | --- | --- |
/// | `where({field: value})` | the elements that have these values; of an array, one of its own |
/// | `distinct` | an array without repetition |
/// | `sort`, `length`, `tonumber`, `log`, `exp`, `sqrt` | as in jq |
/// | `file(name)` | a result file |
pub(super) fn natives() -> [Native; 9] {
    [
        ("where", 1, |mut cv| {
            let wanted = cv.0.pop_var();
            let all: Vec<Val> = match array(cv.1) {
                Ok(all) => all.iter().filter(|v| has(v, &wanted)).cloned().collect(),
                Err(error) => return bome(Err(error)),
            };
            Box::new(all.into_iter().map(Ok))
        }),
        ("distinct", 0, |cv| {
            bome(array(cv.1).map(|all| {
                let mut seen: Vec<Val> = Vec::new();
                for value in &*all {
                    if !seen.contains(value) {
                        seen.push(value.clone());
                    }
                }
                seen.into_iter().collect()
            }))
        }),
        ("sort", 0, |cv| {
            bome(array(cv.1).map(|all| {
                let mut all = (*all).clone();
                all.sort_by(|a, b| a.partial_cmp(b).unwrap_or(Ordering::Equal));
                all.into_iter().collect()
            }))
        }),
        ("length", 0, |cv| {
            bome(array(cv.1).map(|all| Num(all.len() as f64)))
        }),
        ("tonumber", 0, |cv| {
            bome(match &cv.1 {
                Str(text) => text.parse().map(Num).map_err(Error::str),
                other => Ok(other.clone()),
            })
        }),
        ("log", 0, |cv| bome(of_number(&cv.1, f64::ln))),
        ("exp", 0, |cv| bome(of_number(&cv.1, f64::exp))),
        ("sqrt", 0, |cv| bome(of_number(&cv.1, f64::sqrt))),
        ("file", 1, |mut cv| {
            let name = cv.0.pop_var().to_string();
            let file = cv.0.data().sets.asked(&name);
            bome(file.ok_or_else(|| Error::str(format!("there is no result file {name}"))))
        }),
    ]
}

fn array(value: Val) -> Result<Rc<Vec<Val>>, Error> {
    match value {
        Arr(all) => Ok(all),
        // What was not measured has no elements.
        Null => Ok(Rc::default()),
        other => Err(Error::typ(other, "array")),
    }
}

/// Returns a number.
///
/// # Errors
/// Fails for another value.
pub fn number(value: &Val) -> Result<f64, Error> {
    match value {
        Num(x) => Ok(*x),
        other => Err(Error::typ(other.clone(), "number")),
    }
}

fn of_number(value: &Val, of: fn(f64) -> f64) -> ValR<Val> {
    Ok(match value {
        Null => Null,
        value => known(of(number(value)?)),
    })
}

/// Returns whether a record has the values of another.
fn has(record: &Val, wanted: &Val) -> bool {
    let (Obj(record), Obj(wanted)) = (record, wanted) else {
        return false;
    };
    wanted.iter().all(|(name, wanted)| {
        record.get(name).is_some_and(|own| match wanted {
            Arr(all) => all.contains(own),
            one => one == own,
        })
    })
}
