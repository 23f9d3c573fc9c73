//! Values: JSON in which null is what was not measured.

use jaq_core::ops::Math;
use jaq_core::path::Opt;
use jaq_core::{ValR, ValT, ValX};
use serde_json::Value;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::ops::{Add, Div, Mul, Neg, Range, Rem, Sub};
use std::rc::Rc;

/// Why a program ends early.
pub type Error = jaq_core::Error<Val>;

/// A value of a program.
#[derive(Clone, Debug, PartialEq)]
pub enum Val {
    /// What was not measured.
    Null,
    /// A fact.
    Bool(bool),
    /// A number, never one that is none.
    Num(f64),
    /// A text.
    Str(Rc<str>),
    /// Elements.
    Arr(Rc<Vec<Val>>),
    /// Fields by their names.
    Obj(Rc<BTreeMap<String, Val>>),
}

use Val::{Arr, Null, Num, Obj, Str};

impl From<&Value> for Val {
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => Null,
            Value::Bool(yes) => Self::Bool(*yes),
            Value::Number(n) => n.as_f64().map_or(Null, Num),
            Value::String(text) => Str(text.as_str().into()),
            Value::Array(all) => all.iter().map(Self::from).collect(),
            Value::Object(all) => {
                let fields = all.iter().map(|(name, value)| (name.clone(), value.into()));
                Obj(Rc::new(fields.collect()))
            }
        }
    }
}

impl From<&Val> for Value {
    fn from(value: &Val) -> Self {
        match value {
            Null => Self::Null,
            Val::Bool(yes) => (*yes).into(),
            Num(x) if x.fract() == 0.0 && x.abs() < 9e15 => (*x as i64).into(),
            // JSON has no number that is infinite.
            Num(x) => (*x).into(),
            Str(text) => (**text).into(),
            Arr(all) => all.iter().collect(),
            Obj(all) => (all.iter().map(|(name, value)| (name.clone(), value))).collect(),
        }
    }
}

impl Display for Val {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Num(x) => x.fmt(f),
            Str(text) => text.fmt(f),
            other => Value::from(other).fmt(f),
        }
    }
}

impl PartialOrd for Val {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Num(a), Num(b)) => a.partial_cmp(b),
            (Str(a), Str(b)) => a.partial_cmp(b),
            (Arr(a), Arr(b)) => a.partial_cmp(b),
            _ => None,
        }
    }
}

impl From<bool> for Val {
    fn from(yes: bool) -> Self {
        Self::Bool(yes)
    }
}

impl From<isize> for Val {
    fn from(n: isize) -> Self {
        Num(n as f64)
    }
}

impl From<String> for Val {
    fn from(text: String) -> Self {
        Str(text.into())
    }
}

impl From<Range<Option<Self>>> for Val {
    fn from(_: Range<Option<Self>>) -> Self {
        Null
    }
}

impl FromIterator<Self> for Val {
    fn from_iter<I: IntoIterator<Item = Self>>(all: I) -> Self {
        Arr(Rc::new(all.into_iter().collect()))
    }
}

/// What is not a number is not known.
pub(crate) const fn known(x: f64) -> Val {
    if x.is_nan() { Null } else { Num(x) }
}

/// Computes with numbers.
fn computed(left: Val, of: (Math, fn(f64, f64) -> f64), right: Val) -> ValR<Val> {
    match (&left, &right) {
        (Num(a), Num(b)) => Ok(known(of.1(*a, *b))),
        (Null, _) | (_, Null) => Ok(Null),
        _ => Err(Error::math(left, of.0, right)),
    }
}

impl Add for Val {
    type Output = ValR<Self>;
    fn add(self, other: Self) -> ValR<Self> {
        match (&self, &other) {
            (Str(a), Str(b)) => Ok(format!("{a}{b}").into()),
            (Arr(a), Arr(b)) => Ok(a.iter().chain(&**b).cloned().collect()),
            (Obj(a), Obj(b)) => {
                let mut all = (**a).clone();
                all.extend(b.iter().map(|(name, value)| (name.clone(), value.clone())));
                Ok(Obj(Rc::new(all)))
            }
            _ => computed(self, (Math::Add, f64::add), other),
        }
    }
}

impl Div for Val {
    type Output = ValR<Self>;
    fn div(self, other: Self) -> ValR<Self> {
        match (&self, &other) {
            (Str(a), Str(b)) => Ok(a.split(&**b).map(|word| Str(word.into())).collect()),
            _ => computed(self, (Math::Div, f64::div), other),
        }
    }
}

/// Operators of numbers alone.
macro_rules! of_numbers {
    ($($operator:ident $of:ident),*) => {$(
        impl $operator for Val {
            type Output = ValR<Self>;
            fn $of(self, other: Self) -> ValR<Self> {
                computed(self, (Math::$operator, f64::$of), other)
            }
        }
    )*};
}

of_numbers!(Sub sub, Mul mul, Rem rem);

impl Neg for Val {
    type Output = ValR<Self>;
    fn neg(self) -> ValR<Self> {
        Num(0.0) - self
    }
}

/// Refuses what no program here does.
fn refused<T>(value: Val) -> Result<T, Error> {
    Err(Error::typ(value, "something that is cut or changed"))
}

impl ValT for Val {
    fn from_num(text: &str) -> ValR<Self> {
        text.parse().map(Num).map_err(Error::str)
    }

    fn from_map<I: IntoIterator<Item = (Self, Self)>>(fields: I) -> ValR<Self> {
        let fields = fields.into_iter().map(|(name, of)| (name.to_string(), of));
        Ok(Obj(Rc::new(fields.collect())))
    }

    fn key_values(self) -> Box<dyn Iterator<Item = Result<(Self, Self), Error>>> {
        let Obj(all) = self else {
            return Box::new(std::iter::once(Err(Error::typ(self, "object"))));
        };
        let fields = (*all).clone().into_iter();
        Box::new(fields.map(|(name, value)| Ok((name.into(), value))))
    }

    fn values(self) -> Box<dyn Iterator<Item = ValR<Self>>> {
        match self {
            Arr(all) => Box::new((0..all.len()).map(move |i| Ok(all[i].clone()))),
            Obj(all) => Box::new((*all).clone().into_values().map(Ok)),
            Null => Box::new(std::iter::empty()),
            other => Box::new(std::iter::once(Err(Error::typ(other, "array")))),
        }
    }

    fn index(self, index: &Self) -> ValR<Self> {
        Ok(match (&self, index) {
            (Null, _) => Null,
            (Obj(all), Str(name)) => all.get(&**name).cloned().unwrap_or(Null),
            (Arr(all), Num(i)) => {
                let from_end = if *i < 0.0 { all.len() as f64 } else { 0.0 };
                let at = Some((i + from_end).floor()).filter(|at| *at >= 0.0);
                at.and_then(|at| all.get(at as usize).cloned())
                    .unwrap_or(Null)
            }
            _ => return Err(Error::index(self, index.clone())),
        })
    }

    fn range(self, _: Range<Option<&Self>>) -> ValR<Self> {
        refused(self)
    }

    fn map_values<'a, I: Iterator<Item = ValX<'a, Self>>>(
        self,
        _: Opt,
        _: impl Fn(Self) -> I,
    ) -> ValX<'a, Self> {
        Ok(refused(self)?)
    }

    fn map_index<'a, I: Iterator<Item = ValX<'a, Self>>>(
        self,
        _: &Self,
        _: Opt,
        _: impl Fn(Self) -> I,
    ) -> ValX<'a, Self> {
        Ok(refused(self)?)
    }

    fn map_range<'a, I: Iterator<Item = ValX<'a, Self>>>(
        self,
        _: Range<Option<&Self>>,
        _: Opt,
        _: impl Fn(Self) -> I,
    ) -> ValX<'a, Self> {
        Ok(refused(self)?)
    }

    fn as_bool(&self) -> bool {
        !matches!(self, Null | Self::Bool(false))
    }

    fn into_string(self) -> Self {
        match self {
            Null | Str(_) => self,
            other => other.to_string().into(),
        }
    }
}
