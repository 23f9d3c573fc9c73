//! Programs in jq, which find in measured data what claims, pages and tables of documents say.
//!
//! [`jaq_core`] runs them. Its values are [`Val`]: JSON in which null is what was not measured.
//! It has no elements, arithmetic with it is null, a text with null in it is null, and no comparison
//! with it but `==` and `!=` holds. So a sentence or a number is known if all that it names is.
//!
//! A program asks for the values of a [`Sets`] by their names, `$points`, or for a result file,
//! `file("h200/fast.json")`. What it may call are the few definitions of `jaq_core`, the functions
//! `where`, `distinct`, `sort`, `length`, `tonumber`, `log`, `exp`, `sqrt` and `file`, and what its
//! [`Language`] adds.
//!
//! A crate of its own, as this is where the time of a report goes: it is optimised in every build.

use jaq_core::data::HasLut;
use jaq_core::load::parse::{Def, Expect};
use jaq_core::load::{self, Arena, File, Loader, parse};
use jaq_core::native::v;
use jaq_core::ops::Math;
use jaq_core::path::Opt;
use jaq_core::{Compiler, Ctx, DataT, Lut, RunPtr, ValR, ValT, ValX, Vars};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display, Formatter};
use std::ops::{Add, Div, Mul, Neg, Range, Rem, Sub};
use std::rc::Rc;

mod natives;

pub use natives::number;

/// Why a program ends early.
pub type Error = jaq_core::Error<Val>;

/// A function that programs call: its name, how many arguments it has, and what it does with its input.
pub type Native = (&'static str, usize, RunPtr<Data>);

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
const fn known(x: f64) -> Val {
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

/// What programs may call: definitions in jq, and functions. It is made once for all programs.
#[derive(Debug)]
pub struct Language {
    prelude: Vec<Def<&'static str>>,
    natives: Vec<Native>,
}

impl Language {
    /// Reads the definitions.
    ///
    /// # Panics
    /// Panics if they are not in jq.
    pub fn new(prelude: &'static str, natives: impl IntoIterator<Item = Native>) -> Self {
        let prelude = parse(prelude, |p| p.defs());
        Self {
            prelude: prelude.expect("definitions are in jq"),
            natives: natives::natives().into_iter().chain(natives).collect(),
        }
    }

    /// Returns the values of an object, as variables by the names of its fields.
    pub fn sets(&self, object: &Value) -> Sets<'_> {
        let none = Sets {
            language: self,
            variables: BTreeMap::new(),
            files: BTreeMap::new(),
            used: RefCell::default(),
        };
        none.and(&object.into())
    }
}

/// What programs ask: values by the names of variables, and result files.
#[derive(Debug)]
pub struct Sets<'l> {
    language: &'l Language,
    variables: BTreeMap<String, Val>,
    files: BTreeMap<String, Val>,
    used: RefCell<BTreeSet<String>>,
}

/// A program that runs.
pub struct Running<'s> {
    lut: Lut<Data>,
    sets: &'s Sets<'s>,
}

/// What [`jaq_core`] is told of its programs here.
pub struct Data;

impl DataT for Data {
    type V<'a> = Val;
    type Data<'a> = &'a Running<'a>;
}

impl<'a> HasLut<'a, Data> for &'a Running<'a> {
    fn lut(&self) -> &'a Lut<Data> {
        &self.lut
    }
}

impl Sets<'_> {
    /// Adds those of another object.
    #[must_use]
    pub fn and(mut self, object: &Val) -> Self {
        if let Obj(all) = object {
            let named = |(name, value): (&String, &Val)| (format!("${name}"), value.clone());
            self.variables.extend(all.iter().map(named));
        }
        self
    }

    /// Adds result files by their names.
    #[must_use]
    pub fn with_files(mut self, files: &BTreeMap<String, Value>) -> Self {
        let files = files.iter().map(|(name, file)| (name.clone(), file.into()));
        self.files.extend(files);
        self
    }

    /// Returns a result file.
    pub fn file(&self, name: &str) -> Option<Value> {
        self.files.get(name).map(Value::from)
    }

    /// Returns the files that programs asked for since this was last called.
    pub fn take_used(&self) -> BTreeSet<String> {
        self.used.take()
    }

    /// Runs a program, written in parts, and passes on what it yields, one after the other.
    pub fn each(
        &self,
        parts: &[&str],
        then: &mut dyn FnMut(Val) -> Result<(), String>,
    ) -> Result<(), String> {
        let text = parts.join("\n");
        let arena = Arena::default();
        let loader = Loader::new(jaq_core::defs().chain(self.language.prelude.iter().cloned()));
        let file = File {
            code: text.as_str(),
            path: (),
        };
        let modules = loader.load(&arena, file).map_err(|all| unreadable(&all))?;
        let names = self.variables.keys().map(String::as_str);
        let native =
            |(name, arity, run): &Native| jaq_core::native::run::<Data>((*name, v(*arity), *run));
        let natives = self.language.natives.iter().map(native);
        let compiler = Compiler::default().with_funs(jaq_core::funs().chain(natives));
        let filter = compiler
            .with_global_vars(names)
            .compile(modules)
            .map_err(|all| {
                let of = |(name, kind): &(&str, jaq_core::compile::Undefined)| {
                    format!("there is no {} `{name}`", kind.as_str())
                };
                let all = all.iter().flat_map(|(_, all)| all.iter().map(of));
                all.collect::<Vec<_>>().join(", ")
            })?;
        let running = Running {
            lut: filter.lut,
            sets: self,
        };
        let values = self.variables.values().cloned();
        let context = Ctx::<Data>::new(&running, Vars::new(values));
        let mut found = filter.id.run((context, Null)).map(jaq_core::unwrap_valr);
        found.try_for_each(|value| then(value.map_err(|why| why.to_string())?))
    }

    /// Runs a program that yields one value, which a test does with each.
    pub fn run<T: DeserializeOwned>(&self, parts: &[&str]) -> T {
        let found = serde_json::from_value((&self.only(parts)).into());
        found.unwrap_or_else(|why| panic!("a program of the report yields another value: {why}"))
    }

    /// Returns what such a program yields.
    pub fn only(&self, parts: &[&str]) -> Val {
        let found = self.last(parts);
        found.unwrap_or_else(|why| panic!("a program of the report is wrong: {why}"))
    }

    /// Returns what a program yields last.
    pub fn last(&self, parts: &[&str]) -> Result<Val, String> {
        let mut found = Null;
        self.each(parts, &mut |value| {
            found = value;
            Ok(())
        })?;
        Ok(found)
    }
}

/// Says where a program is not in jq.
fn unreadable(all: &[(File<&str, ()>, load::Error<&str>)]) -> String {
    let near = |text: &str| text.chars().take(60).collect::<String>();
    let of = |(_, error): &(File<&str, ()>, load::Error<&str>)| match error {
        load::Error::Lex(all) => all.iter().map(|(_, at)| near(at)).collect::<Vec<_>>(),
        load::Error::Parse(all) => {
            let one = |(expected, at): &(Expect<&str>, &str)| {
                format!("{} is expected at `{}`", expected.as_str(), near(at))
            };
            all.iter().map(one).collect()
        }
        load::Error::Io(_) => vec!["it includes a file".into()],
    };
    all.iter().flat_map(of).collect::<Vec<_>>().join(", ")
}
