//! The list of public names: what a user can name, in a file that a change of the interface changes too. The
//! names are those of rustdoc's JSON, which has each item once and says what is hidden. This program writes it
//! when cargo starts it in rustdoc's place to run the examples ([`as_rustdoc`]): documentation alone would
//! have all dependencies checked once more. What rustdoc warns of is an error. Each name of the first package
//! has an example that runs, and the kernels of a package's examples have names of their own: rustdoc
//! compiles all examples as one program, or if that fails each alone.

use crate::prelude::*;
use serde_json::Value;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::process::ExitCode;

const FILE: &str = "docs/public-names.txt";

/// The packages whose names are listed; the public parts of those of the first one, too.
const PACKAGES: [&str; 3] = ["stm-core", "stm-machine", "stm-sync"];

/// The most names that the first package may have, without those of its prelude, which are others'.
const NAMES_MAX: usize = 95;

/// Where the examples are that rustdoc compiles with those of the first package.
const EXAMPLES: [&str; 3] = ["stm-core/src/", "docs/book/src/", "README.md"];

/// How rustdoc writes the names, into the folder that follows.
const JSON: &str = "-Dwarnings -Zunstable-options --output-format=json -o";

/// Variables with the rustdoc for which this program stands, if it does, and that folder.
const RUSTDOC: &str = "XTASK_RUSTDOC";
const FOLDER: &str = "XTASK_RUSTDOC_FOLDER";

const HEAD: &str = "\
# What a user can name, by `cargo xtask names`; `--check` is a step of ci. Behind a colon are public
# fields, variants, constants, types and functions, behind `=` is what a name is of another crate.
";

pub(crate) fn write(tree: &Tree) -> Result {
    Ok(files::write(&tree.root.join(FILE), list(tree)?)?)
}

/// Runs rustdoc as cargo has started this program in its place, which runs examples, and once more for the
/// JSON, which is not stable.
pub(crate) fn as_rustdoc() -> Option<ExitCode> {
    let (rustdoc, folder) = (std::env::var_os(RUSTDOC)?, std::env::var_os(FOLDER)?);
    let tests: Vec<OsString> = std::env::args_os().skip(1).collect();
    let is_done = |command: &mut Command| command.status().is_ok_and(|status| status.success());
    let mut json = Command::new(&rustdoc);
    json.args(without_tests(&tests)).args(JSON.split(' '));
    json.arg(folder).env("RUSTC_BOOTSTRAP", "1");
    let all = is_done(Command::new(&rustdoc).args(&tests)) && is_done(&mut json);
    Some(ExitCode::from(u8::from(!all)))
}

/// Returns rustdoc's arguments but for those with which it runs examples, each a word, or two but for the first.
fn without_tests(arguments: &[OsString]) -> Vec<&OsString> {
    let mut rest = arguments.iter();
    let mut kept = Vec::new();
    while let Some(argument) = rest.next() {
        match argument.to_str() {
            Some("--test") => {}
            Some(word) if word.starts_with("--test-") => _ = rest.next(),
            _ => kept.push(argument),
        }
    }
    kept
}

pub(crate) fn check(tree: &Tree) -> Result {
    let (old, new) = (tree.read(FILE)?, list(tree)?);
    let mut differs = String::new();
    for (sign, here, there) in [('-', &old, &new), ('+', &new, &old)] {
        let there: BTreeSet<&str> = there.lines().collect();
        for line in here.lines().filter(|line| !there.contains(line)) {
            let _ = writeln!(differs, "{sign} {line}");
        }
    }
    let text = format!(
        "{FILE} is not what the library has:\n{differs}if that is meant, `cargo xtask names` writes it"
    );
    differs.is_empty().then_some(()).ok_or(Error::Check(text))
}

/// Checks that no two kernels have one name, of the examples that are compiled as one program.
fn check_examples(tree: &Tree) -> Result {
    let mut seen = BTreeSet::new();
    let is_among = |path: &String| EXAMPLES.iter().any(|part| path.starts_with(part));
    for path in tree.files()?.into_iter().filter(is_among) {
        let text = tree.read(&path)?;
        let is_rust = Path::new(&path).extension().is_some_and(|end| end == "rs");
        let mut names = kernels(&text, is_rust).into_iter();
        if let Some(name) = names.find(|name| !seen.insert(name.clone())) {
            return Error::check(format!("{path}: an example before has a kernel `{name}`"));
        }
    }
    Ok(())
}

fn list(tree: &Tree) -> Result<String> {
    check_examples(tree)?;
    // Not `current_exe`: the build below may put this program anew into its place.
    let this = tree.target.join("debug/xtask");
    let rustdoc = std::env::var_os("RUSTDOC").unwrap_or_else(|| "rustdoc".into());
    let folder = tree.target.join("names");
    let (this, names) = (this.as_os_str(), folder.as_os_str());
    let environment = [("RUSTDOC", this), (RUSTDOC, &rustdoc), (FOLDER, names)];
    let examples = "test --quiet --workspace --all-features --doc --no-fail-fast";
    tree.cargo(examples, &environment)?;
    let json = |package: &str| {
        let json = read(&folder.join(package.replace('-', "_") + ".json"))?;
        let wrong = |error| Error::Check(format!("rustdoc's JSON of {package}: {error}"));
        serde_json::from_str(&json).map_err(wrong)
    };
    let all: Vec<Value> = PACKAGES.into_iter().map(json).collect::<Result<_>>()?;
    let mut text = HEAD.to_owned();
    for (package, json) in PACKAGES.into_iter().zip(&all) {
        let is_first = package == PACKAGES[0];
        let names = Names::of(json, &all, is_first);
        let count = names.count;
        if count == 0 || is_first && count > NAMES_MAX {
            let text = format!("{package} has {count} public names, of at most {NAMES_MAX}");
            return Error::check(text);
        }
        if is_first && !names.bare.is_empty() {
            let bare = names.bare.join("\n");
            return Error::check(format!("no example that runs documents\n{bare}"));
        }
        let _ = write!(text, "\n# {package}: {count} names\n{}", names.lines);
    }
    Ok(text)
}

struct Names<'a> {
    json: &'a Value,
    all: &'a [Value],
    parts: bool,
    lines: String,
    count: usize,
    bare: Vec<String>,
}

impl<'a> Names<'a> {
    fn of(json: &'a Value, all: &'a [Value], parts: bool) -> Self {
        let mut names = Names {
            json,
            all,
            parts,
            lines: String::new(),
            count: 0,
            bare: Vec::new(),
        };
        let root = names.item(&json["root"]);
        names.lines = names.module(root, root["name"].as_str().unwrap_or_default());
        names
    }

    /// Returns whether an export, or what it exports of another package, has an example that runs.
    fn has_example(&self, export: &Value, target: &Value) -> bool {
        let id = kind(export).1["id"].to_string();
        let path = &self.json["paths"][id]["path"];
        let elsewhere = self.all.iter().flat_map(|other| {
            let paths = other["paths"].as_object().into_iter().flatten();
            let same = paths.filter(|(_, about)| !path.is_null() && about["path"] == *path);
            same.map(|(id, _)| &other["index"][id])
        });
        let mut items = [export, target].into_iter().chain(elsewhere);
        items.any(|item| item["docs"].as_str().is_some_and(runs))
    }

    fn item(&self, id: &Value) -> &'a Value {
        &self.json["index"][id.to_string()]
    }

    fn items(&self, module: &Value) -> Vec<&'a Value> {
        let items = all(&kind(module).1["items"]).map(|id| self.item(id));
        let expanded = items.flat_map(|found| match kind(found) {
            ("use", about) if about["is_glob"] == true && !self.item(&about["id"]).is_null() => {
                self.items(self.item(&about["id"]))
            }
            _ => vec![found],
        });
        expanded.collect()
    }

    fn module(&mut self, module: &Value, path: &str) -> String {
        let (mut lines, mut inside) = (BTreeSet::new(), String::new());
        let in_prelude = path.ends_with("::prelude");
        for found in self.items(module) {
            let (what, about) = kind(found);
            let (name, target) = match what {
                "impl" => continue,
                "use" => (&about["name"], self.item(&about["id"])),
                _ => (&found["name"], found),
            };
            let name = name.as_str().unwrap_or_default();
            let is_bare = !in_prelude && name != "prelude" && !self.has_example(found, target);
            self.bare.extend(is_bare.then(|| format!("{path}::{name}")));
            if kind(target).0 == "module" {
                inside += &self.module(target, &format!("{path}::{name}"));
            } else if in_prelude {
                lines.insert(format!("  {name}"));
            } else if target.is_null() {
                let of = all(&self.json["paths"][about["id"].to_string()]["path"]);
                let of: Vec<&str> = of.filter_map(Value::as_str).collect();
                lines.insert(format!("  {name} = {}", of.join("::")));
            } else {
                lines.insert(format!("  {name} {}{}", kind(target).0, self.parts(target)));
            }
        }
        let lines: Vec<String> = lines.into_iter().collect();
        // Those of the prelude are others' names.
        self.count += if in_prelude { 0 } else { lines.len() + 1 };
        let between = if in_prelude { "" } else { "\n" };
        format!("{path}\n{}\n{inside}", lines.join(between))
    }

    fn parts(&self, of: &Value) -> String {
        let about = kind(of).1;
        let blocks = all(&about["impls"]).map(|id| kind(self.item(id)).1);
        let own = blocks.filter(|block| block["trait"].is_null());
        let own = own.flat_map(|block| all(&block["items"]));
        let parts = all(&about["items"]).chain(all(&about["variants"]));
        let parts = parts
            .chain(all(&about["kind"]["plain"]["fields"]))
            .chain(own);
        let open = parts.map(|id| self.item(id)).filter(|part| {
            let visibility = part["visibility"].as_str();
            self.parts && matches!(visibility, Some("public" | "default"))
        });
        let names: BTreeSet<&str> = open.filter_map(|part| part["name"].as_str()).collect();
        let names: Vec<&str> = names.into_iter().collect();
        let colon = if names.is_empty() { "" } else { ": " };
        colon.to_owned() + &names.join(" ")
    }
}

fn kind(item: &Value) -> (&str, &Value) {
    let inner = item["inner"].as_object();
    let first = inner.and_then(|inner| inner.iter().next());
    first.map_or(("", &Value::Null), |(kind, about)| (kind, about))
}

fn runs(documentation: &str) -> bool {
    let is_run = |word: &str| ["", "rust", "standalone_crate"].contains(&word.trim());
    blocks(documentation).any(|(words, _)| words.split(',').all(is_run))
}

/// The blocks of code of a document: the words behind the fence, and the code.
fn blocks(text: &str) -> impl Iterator<Item = (&str, &str)> {
    // Every second fence closes a block.
    let inside = text.split("```").skip(1).step_by(2);
    inside.filter_map(|block| block.split_once('\n'))
}

/// Returns the kernels of the examples in a file that rustdoc compiles as one program.
fn kernels(text: &str, is_rust: bool) -> Vec<String> {
    let comment = |line: &str| {
        let line = line.trim_start();
        let comment = line.strip_prefix("///").or(line.strip_prefix("//!"));
        let line = comment.or((!is_rust).then_some(line))?;
        Some(format!("{line}\n"))
    };
    let text: String = text.lines().filter_map(comment).collect();
    let alone = ["compile_fail", "standalone_crate", "ignore"];
    let is_together = |(words, _): &(&str, &str)| !alone.iter().any(|word| words.contains(word));
    let name = |function: &str| {
        let (_, rest) = function.split_once("pub fn ")?;
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
        Some(rest[..end?].to_owned())
    };
    let functions = blocks(&text).filter(is_together);
    let functions = functions.flat_map(|(_, code)| code.split("#[kernel").skip(1));
    functions.filter_map(name).collect()
}

fn all(array: &Value) -> impl Iterator<Item = &Value> {
    array.as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_modules_and_of_what_they_export() {
        let json = serde_json::json!({"root": 0, "paths": {"9": {"path": ["b", "Lane"]}}, "index": {
            "0": {"name": "a", "inner": {"module": {"items": [1, 2, 3]}}},
            "1": {"name": "m", "docs": "```\n```", "inner": {"module": {"items": [4]}}},
            "2": {"inner": {"use": {"name": "T", "id": 4}}},
            "3": {"inner": {"use": {"name": "Lane", "id": 9}}},
            "4": {"name": "S", "inner": {"struct": {"kind": {"plain": {"fields": [5, 6]}}, "impls": [7]}}},
            "5": {"name": "open", "visibility": "public"},
            "6": {"name": "shut", "visibility": "crate"},
            "7": {"inner": {"impl": {"trait": null, "items": [8]}}},
            "8": {"name": "get", "visibility": "public"},
        }});
        let other = serde_json::json!({"paths": {"1": {"path": ["b", "Lane"]}}, "index": {
            "1": {"docs": "A lane.\n\n```\nrun();\n```"},
        }});
        let all = [json, other];
        let names = Names::of(&all[0], &all, true);
        let expected = "a\n  Lane = b::Lane\n  T struct: get open\na::m\n  S struct: get open\n";
        assert_eq!((names.lines.as_str(), names.count), (expected, 5));
        assert_eq!(names.bare, ["a::m::S", "a::T"]);
    }

    #[test]
    fn kernels_are_those_of_the_examples_that_are_one_program() {
        let text =
            "```\n# #[kernel]\n# pub fn a(\n```\n```compile_fail\n#[kernel]\npub fn b(\n```\n";
        let comment = format!("/// {}", text.replace('\n', "\n/// "));
        assert_eq!(kernels(text, false), ["a"]);
        assert_eq!(kernels(text, true), [""; 0]);
        assert_eq!(kernels(&comment, true), ["a"]);
    }

    #[test]
    fn an_example_runs_unless_its_block_says_otherwise() {
        for (documentation, expected) in [
            ("```\nrun();\n```", true),
            ("```compile_fail,E1\n```\n\n```rust\n```", true),
            ("```rust,no_run\n```\n```text\n```", false),
            ("A sentence.", false),
        ] {
            assert_eq!(runs(documentation), expected, "{documentation}");
        }
    }
}
