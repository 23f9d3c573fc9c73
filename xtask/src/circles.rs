//! `cargo xtask circles`: files of a crate that import each other in a circle, none readable alone. What
//! counts is every path in code that begins with `crate::`, `self::`, `super::` or a module of the file's own,
//! but no `mod`, comments, unit tests, calls of macros and what `quote!` makes; nor a `pub use` of a module of
//! the file's own, as who passes on what its parts have needs nothing of it. A path belongs to the file of its
//! longest part that is a module.

use crate::prelude::*;
use crate::weight::lines_that_count;
use stm_core_build::statement::blank_comments;

/// A module's path from the crate's root; empty for the root. The binary, `main.rs`, is one of its own.
type Module = Vec<String>;

/// The modules that each module imports, by name.
type Imports = BTreeMap<String, BTreeSet<String>>;

pub(crate) fn check(tree: &Tree) -> Result {
    let files = tree.files()?;
    let mut crates: BTreeMap<&str, BTreeMap<Module, &str>> = BTreeMap::new();
    for file in &files {
        let Some((name, inside)) = file
            .strip_suffix(".rs")
            .and_then(|at| at.split_once("/src/"))
        else {
            continue;
        };
        let mut module: Module = inside.split('/').map(str::to_owned).collect();
        match module.last().map_or("", String::as_str) {
            "tests" => continue,
            last if last == "mod" || inside == "lib" => _ = module.pop(),
            _ => {}
        }
        crates.entry(name).or_default().insert(module, file);
    }
    let mut wrong = Vec::new();
    for (name, modules) in &crates {
        for circle in circles(&imports(tree, modules)?) {
            let names = circle.join(", ");
            wrong.push(format!("these import each other: {name}: {names}"));
        }
    }
    Error::unless_empty(&wrong, "")?;
    println!("no circle");
    Ok(())
}

fn imports(tree: &Tree, modules: &BTreeMap<Module, &str>) -> Result<Imports> {
    let mut found = Imports::new();
    for (module, file) in modules {
        let text = tree.read(file)?;
        let module_of = |path: Module| {
            let mut parts = (0..=path.len()).rev().map(|n| &path[..n]);
            let target = parts.find(|part| modules.contains_key(*part))?;
            (target != module).then(|| name(target))
        };
        let is_own = |word: &str| modules.contains_key(&[&module[..], &[word.to_owned()]].concat());
        let targets = paths(&text, module, is_own);
        let targets = targets.into_iter().filter_map(module_of);
        found.insert(name(module), targets.collect());
    }
    Ok(found)
}

fn name(module: &[String]) -> String {
    if module.is_empty() {
        "lib".to_owned()
    } else {
        module.join("::")
    }
}

fn paths(text: &str, module: &[String], is_own: impl Fn(&str) -> bool) -> Vec<Module> {
    let code = blank_comments(text);
    let lines = lines_that_count(&code).into_iter();
    let words: Vec<&str> = lines.flat_map(|(_, line)| words(line)).collect();
    let (mut found, mut quoted) = (Vec::new(), 0);
    for at in 0..words.len() {
        let depth = match words[at] {
            "{" | "(" | "[" => 1,
            "}" | ")" | "]" => -1,
            _ => 0,
        };
        if quoted > 0 || words[..at].ends_with(&["quote", "!"]) {
            quoted += depth;
            continue;
        }
        let is_root = ["crate", "self", "super"].contains(&words[at]);
        let is_path = words.get(at + 1) == Some(&"::") && (is_root || is_own(words[at]));
        let is_exported = match words[..at] {
            [.., "::"] => true,
            // What a macro names for its users' code is in one place, which exports all of it.
            [.., "$"] => words[at + 1..].starts_with(&["::", "internal"]),
            [.., "pub" | ")", "use"] => !is_root,
            _ => false,
        };
        if is_path && !is_exported {
            leaves(&words[at..], module.to_vec(), &mut found);
        }
    }
    found
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The names of some code, and the characters between them, of which two colons are one.
fn words(code: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match rest.find(|c| !is_name(c)) {
            Some(0) if rest.starts_with("::") => 2,
            Some(0) => first.len_utf8(),
            end => end.unwrap_or(rest.len()),
        };
        words.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    words
}

/// Adds every path of a tree such as `a::{self, b, c::{d, e as f}}`, behind `path`; returns what follows it.
fn leaves<'w, 'a>(words: &'w [&'a str], mut path: Module, all: &mut Vec<Module>) -> &'w [&'a str] {
    if let ["{", rest @ ..] = words {
        let mut words = rest;
        while !words.starts_with(&["}"]) {
            words = leaves(words, path.clone(), all);
            // Else it is no tree of imports, such as the body of a macro.
            let [",", rest @ ..] = words else { break };
            words = rest;
        }
        return words.strip_prefix(&["}"]).unwrap_or(words);
    }
    let Some((word, rest)) = (words.split_first()).filter(|(word, _)| word.starts_with(is_name))
    else {
        all.push(path);
        return words;
    };
    match *word {
        "crate" => path.clear(),
        "super" => _ = path.pop(),
        "self" => {}
        name => path.push(name.to_owned()),
    }
    match rest {
        ["::", rest @ ..] => leaves(rest, path, all),
        // The call of an exported macro, whose path says nothing of where it is.
        ["!", "(" | "[" | "{", ..] => rest,
        ["as", _, rest @ ..] | rest => {
            all.push(path);
            rest
        }
    }
}

fn circles(imports: &Imports) -> Vec<Vec<String>> {
    let reached = |from| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(at) = open.pop() {
            let next = imports.get(at).into_iter().flatten();
            open.extend(next.filter(|next| seen.insert(*next)));
        }
        (from, seen)
    };
    let reach: BTreeMap<&String, BTreeSet<&String>> = imports.keys().map(reached).collect();
    let circle = |from: &String| -> Vec<String> {
        let returns = |to: &&&String| reach.get(**to).is_some_and(|back| back.contains(from));
        let both = reach[from].iter().filter(returns);
        both.map(ToString::to_string).collect()
    };
    let all: BTreeSet<_> = imports.keys().map(circle).collect();
    all.into_iter().filter(|one| one.len() > 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(path: &str) -> Module {
        path.split("::").map(str::to_owned).collect()
    }

    #[test]
    fn paths_are_resolved_and_comments_and_tests_are_not_read() {
        let text = "\
            /// Of [`crate::no`].\n\
            use crate::a::{self, B, c::{D, E as F}};\n\
            pub use super::g::H;\n\
            pub(super) use part::O;\n\
            use part::P;\n\
            fn f() { quote! { fn g() { use super::q; } }; other::r() }\n\
            fn f() { crate::i::j(); $crate::k::l(); }\n\
            #[cfg(test)]\nmod tests;\n\
            fn g() { crate::n::o(); }\n\
            #[cfg(test)]\npub(crate) mod tests {\n    use crate::m;\n    fn f() {}\n}\n";
        let mut found = paths(text, &module("x::y"), |word| word == "part");
        found.sort();
        let expected = "a a::B a::c::D a::c::E i::j k::l n::o x::g::H x::y::part::P".split(' ');
        assert!(expected.map(module).eq(found));
    }

    #[test]
    fn circles_are_found_and_what_hangs_on_them_is_none() {
        let graph = |edges: &[(&str, &str)]| {
            let mut imports = Imports::new();
            for (from, to) in edges {
                let [from, to] = [from, to].map(ToString::to_string);
                imports.entry(to.clone()).or_default();
                imports.entry(from).or_default().insert(to);
            }
            imports
        };
        assert!(circles(&graph(&[("a", "b"), ("b", "c"), ("a", "c")])).is_empty());
        let two = [("a", "b"), ("b", "a"), ("b", "c")];
        assert_eq!(circles(&graph(&two)), [["a", "b"]]);
        let three = [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")];
        assert_eq!(circles(&graph(&three)), [["a", "b", "c"]]);
    }
}
