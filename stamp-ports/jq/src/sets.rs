//! Programs that run, what they ask, and what they may call.

use crate::val::Val::{self, Null, Obj};
use jaq_core::data::HasLut;
use jaq_core::load::parse::{Def, Expect};
use jaq_core::load::{self, Arena, File, Loader};
use jaq_core::native::v;
use jaq_core::{Compiler, Ctx, DataT, Lut, RunPtr, Vars};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// A function that programs call: its name, how many arguments it has, and what it does with its input.
pub type Native = (&'static str, usize, RunPtr<Data>);

/// What programs may call: definitions in jq, and functions. It is made once for all programs.
#[derive(Debug)]
pub struct Language {
    pub(crate) prelude: Vec<Def<&'static str>>,
    pub(crate) natives: Vec<Native>,
}

impl Language {
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
    pub(crate) sets: &'s Sets<'s>,
}

/// The types with which [`jaq_core`] runs the programs of this crate.
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

    /// Returns a result file for a program, and notes that it was asked for.
    pub(crate) fn asked(&self, name: &str) -> Option<Val> {
        self.used.borrow_mut().insert(name.to_owned());
        self.files.get(name).cloned()
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
