//! One PTX module in, one file an entry point out.
//!
//! All entries are compiled together, because building the library is most of the time, but a driver compiles
//! what it is given. So the text is cut: a file gets the header, what its entry reaches, and the entry. The
//! module is compiled for the oldest GPU; a file with accesses of 128 bits, which are written as assembly,
//! says in its header that it needs a newer one ([`WIDE`]). What depends on the rest of the module, numbers
//! of labels and frames, hashes of names, is replaced, so that a new entry leaves the files of others as they
//! are. Directives tell items apart; bodies are brace-matched and searched for names.

use crate::error::Error;
use crate::files::{BASE, WIDE, is_wide};
use crate::statement::{blank_comments, identifiers, is_identifier};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Entries whose names start with this share the file [`LANE_FILE`].
pub const LANE_PREFIX: &str = "lane_";

/// The file with one entry per `Lane` method.
pub const LANE_FILE: &str = "lane/ops";

const LANE_WIDE_FILE: &str = "lane/ops-wide";

/// Returns the file of a `Lane` method's entry, for newer GPUs with 128 bits, counting barriers or clusters.
pub fn lane_file(method: &str) -> &'static str {
    let newer = ["mbarrier_", "cluster_"];
    let is_wide = method.contains("_128") || newer.iter().any(|first| method.starts_with(first));
    [LANE_FILE, LANE_WIDE_FILE][usize::from(is_wide)]
}

/// A line of the sources, a comment, with an entry and its file: `// stm-entry ra_hv_sorting ra/hv-sorting`.
const ENTRY_NOTE: &str = "// stm-entry ";
/// `// stm-parameters pay accounts:A::Array<u32>,payments:u64`, as the sources name them.
const PARAMETERS_NOTE: &str = "// stm-parameters ";
/// What the same begins with in a kernel's file, where it is the second line.
pub const PARAMETERS: &str = "// parameters: ";
/// The most registers that a thread of an entry gets: `// stm-registers gn1_fast 128`.
const REGISTERS_NOTE: &str = "// stm-registers ";

/// The notes of one kind: the first word and the second, by the first.
fn notes<'a>(text: &'a str, note: &str) -> BTreeMap<&'a str, &'a str> {
    text.lines()
        .filter_map(|line| line.strip_prefix(note)?.split_once(' '))
        .collect()
}

/// What a module-level item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An entry point.
    Entry,
    /// A function, declared or defined.
    Function,
    /// A variable.
    Variable,
}

/// One module-level item.
#[derive(Debug)]
pub struct Item<'a> {
    /// What it is.
    pub kind: Kind,
    /// Its name. A function that is declared and later defined is two items.
    pub name: &'a str,
    /// Its text up to the closing semicolon or brace.
    pub text: &'a str,
    names: BTreeSet<String>,
}

/// A module: what the compiler wrote, cut into items.
#[derive(Debug)]
pub struct Module<'a> {
    registers: BTreeMap<&'a str, &'a str>,
    /// `.version`, `.target` and `.address_size`, a line each.
    pub header: Vec<&'a str>,
    /// Everything else, in order.
    pub items: Vec<Item<'a>>,
}

impl<'a> Module<'a> {
    /// Cuts `text` into items; a directive that is not known here, or a missing end, is [`Error::Parse`].
    pub fn parse(text: &'a str) -> Result<Self, Error> {
        let blanked = blank_comments(text);
        let mut module = Module {
            registers: notes(text, REGISTERS_NOTE),
            header: Vec::new(),
            items: Vec::new(),
        };
        let mut at = 0;
        while let Some(offset) = blanked[at..].find(|c: char| !c.is_whitespace()) {
            at += offset;
            let rest = &blanked[at..];
            let word = rest.split_whitespace().next().unwrap_or("");
            let wrong = |what: String| Error::Parse {
                line: 1 + text[..at].matches('\n').count(),
                what,
            };
            let length = match word {
                ".version" | ".target" | ".address_size" => {
                    let line = rest.lines().next().unwrap_or("");
                    module.header.push(text[at..at + line.len()].trim_end());
                    line.len()
                }
                ".visible" | ".weak" | ".extern" | ".common" | ".entry" | ".func" | ".global"
                | ".shared" | ".const" => {
                    let (kind, length) =
                        item_end(rest).ok_or_else(|| wrong(format!("{word} has no end")))?;
                    let (item, whole) = (&rest[..length], &text[at..at + length]);
                    let place = name_of(item).and_then(|name| Some((name, whole.find(name)?)));
                    let (name, from) = place.ok_or_else(|| wrong(format!("{word} has no name")))?;
                    module.items.push(Item {
                        kind,
                        name: &whole[from..from + name.len()],
                        text: whole,
                        names: identifiers(item).into_iter().map(str::to_owned).collect(),
                    });
                    length
                }
                _ => {
                    return Err(wrong(format!(
                        "the directive {word} is not known to the splitter"
                    )));
                }
            };
            at += length;
        }
        Ok(module)
    }

    /// The names of the entry points, in order.
    pub fn entries(&self) -> impl Iterator<Item = &'a str> {
        let entries = self.items.iter().filter(|i| i.kind == Kind::Entry);
        entries.map(|i| i.name)
    }

    /// Every name that the entries `roots` reach, themselves included, until nothing new comes.
    fn reach(&self, roots: &BTreeSet<&str>) -> BTreeSet<&'a str> {
        let mut reached: BTreeSet<&str> = BTreeSet::new();
        loop {
            let before = reached.len();
            for item in &self.items {
                if roots.contains(item.name) || reached.contains(item.name) {
                    reached.insert(item.name);
                    let others = self.items.iter().filter(|other| other.kind != Kind::Entry);
                    let named = others.filter(|other| item.names.contains(other.name));
                    reached.extend(named.map(|other| other.name));
                }
            }
            if reached.len() == before {
                return reached;
            }
        }
    }

    /// The text of a module with the entries `roots` alone, for the GPUs that these need, below `comment`.
    pub fn subset(&self, roots: &BTreeSet<&str>, comment: &str) -> String {
        let reached = self.reach(roots);
        let items = || self.items.iter().filter(|i| reached.contains(i.name));
        let mut header = self.header.join("\n");
        if items().any(|item| is_wide(item.text)) {
            header = (header.replace(BASE.isa, WIDE.isa)).replace(BASE.gpu, WIDE.gpu);
        }
        let mut out = format!("// {comment}\n{header}\n");
        for item in items() {
            out.push('\n');
            let limit = self.registers.get(item.name);
            for line in renumber(item.text).lines() {
                if let (Some(registers), "{") = (limit, line) {
                    let _ = writeln!(out, ".maxnreg {registers}");
                }
                out.push_str(line.trim_end());
                out.push('\n');
            }
        }
        let others = items().filter(|item| item.kind != Kind::Entry);
        name_constants(&shorten(out, others.map(|item| item.name)))
    }
}

/// The files of a module: name, as `ra/fast`, and text. Each entry has its own file, which the sources name
/// (else it is [`Error::Parse`]), except those of [`LANE_FILE`]. None at all is [`Error::NoEntries`].
pub fn files(text: &str, comment: &str) -> Result<BTreeMap<String, String>, Error> {
    let module = Module::parse(text)?;
    let named = notes(text, ENTRY_NOTE);
    let mut groups: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for entry in module.entries() {
        let file = match entry.strip_prefix(LANE_PREFIX) {
            Some(method) => lane_file(method),
            None => named.get(entry).copied().ok_or_else(|| Error::Parse {
                line: 0,
                what: format!("the sources name no file for the entry {entry}"),
            })?,
        };
        groups.entry(file).or_default().insert(entry);
    }
    if groups.is_empty() {
        return Err(Error::NoEntries);
    }
    let parameters = notes(text, PARAMETERS_NOTE);
    let cut = |(file, roots): (&str, BTreeSet<&str>)| {
        let noted = parameters.get(file.split('/').next()?);
        let noted = noted.map_or(String::new(), |noted| format!("\n{PARAMETERS}{noted}"));
        let text = module.subset(&roots, &format!("{comment}{noted}"));
        Some((file.to_owned(), text))
    };
    Ok(groups.into_iter().filter_map(cut).collect())
}

/// What an item is, and the bytes up to and with its end: a body's closing brace, or a semicolon outside all
/// braces.
fn item_end(item: &str) -> Option<(Kind, usize)> {
    let head = item.split(['(', '[', '=', ';', '{']).next().unwrap_or("");
    let mut words = head.split_whitespace();
    let kind = words.find_map(|word| match word {
        ".entry" => Some(Kind::Entry),
        ".func" => Some(Kind::Function),
        _ => None,
    });
    let mut depth = 0;
    let mut ends = item.match_indices(['{', '}', ';']).filter(|(_, mark)| {
        depth += i32::from(*mark == "{") - i32::from(*mark == "}");
        depth == 0 && (*mark == ";" || kind.is_some())
    });
    let (at, _) = ends.next()?;
    Some((kind.unwrap_or(Kind::Variable), at + 1))
}

/// The item's name: the last word before its parameters, size or end, behind a function's result.
fn name_of(item: &str) -> Option<&str> {
    let head = item.split(['{', '=', ';']).next()?;
    let is_result = |before: &str| before.split_whitespace().last() == Some(".func");
    let head = match head.split_once('(') {
        Some((before, rest)) if is_result(before) => rest.split_once(')')?.1,
        _ => head,
    };
    let name = head.split(['(', '[']).next()?.split_whitespace().last()?;
    name.starts_with(is_identifier).then_some(name)
}

/// `text` without the numbers that stand for its place in the module.
fn renumber(text: &str) -> String {
    let mut text = text.to_owned();
    for prefix in ["$L__BB", "__local_depot"] {
        text = behind_each(&text, prefix, |part| {
            part.trim_start_matches(|c: char| c.is_ascii_digit()).into()
        });
    }
    let lines = text
        .lines()
        .map(|line| line.split("// callseq").next().unwrap_or(line).trim_end());
    lines.collect::<Vec<_>>().join("\n")
}

/// `text` with what is behind each `prefix`, up to the next, as `change` makes it.
fn behind_each<'t>(
    text: &'t str,
    prefix: &str,
    mut change: impl FnMut(&'t str) -> Cow<'t, str>,
) -> String {
    let mut parts = text.split(prefix);
    let first = parts.next().unwrap_or("").to_owned();
    parts.fold(first, |out, part| out + prefix + &change(part))
}

/// `text` with short names for mangled ones, whose hashes differ from place to place and by dependencies.
fn shorten<'a>(mut text: String, names: impl Iterator<Item = &'a str>) -> String {
    let mut renamed: BTreeMap<&str, String> = BTreeMap::new();
    let mut used: BTreeMap<String, u32> = BTreeMap::new();
    for name in names.filter(|name| name.starts_with("_R") || name.starts_with("_ZN")) {
        renamed.entry(name).or_insert_with(|| {
            let short = identifiers_of_mangled(name);
            let before = used.entry(short.clone()).or_default();
            *before += 1;
            match *before - 1 {
                0 => short,
                n => format!("{short}${n}"),
            }
        });
    }
    // From the end, so the longer one first, as one may begin with another.
    for (name, short) in renamed.into_iter().rev() {
        text = text.replace(name, &short);
    }
    text
}

/// The crate, the modules and the name in a mangled name, up to the generic arguments.
fn identifiers_of_mangled(name: &str) -> String {
    let mut found: Vec<&str> = Vec::new();
    let mut rest = name.trim_start_matches("_R").trim_start_matches("_ZN");
    while let Some(c) = rest.chars().next() {
        let behind = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        if let Ok(length) = rest[..rest.len() - behind.len()].parse() {
            let behind = behind.strip_prefix('_').unwrap_or(behind);
            let Some((identifier, behind)) = behind.split_at_checked(length) else {
                break;
            };
            // The hash at the end of a name of the older form.
            if !(length == 17 && identifier.starts_with('h')) {
                found.push(identifier);
            }
            rest = behind;
        } else if matches!(c, 's' | 'B')
            && let Some((number, behind)) = rest.split_once('_')
            && number.bytes().all(|b| b.is_ascii_alphanumeric())
        {
            // A disambiguator or a reference to an earlier part: `s…_`, `B…_`.
            rest = behind;
        } else if c == 'I' && !found.is_empty() || c == 'E' {
            // Generic arguments follow, and a path ends.
            break;
        } else {
            rest = &rest[c.len_utf8()..];
        }
    }
    if found.is_empty() {
        return "function".to_owned();
    }
    found.join("_")
}

/// What begins a constant's name that the sources lack; the crate's hash, [`ANONYMOUS_END`], a number.
const ANONYMOUS: &str = "anon_$_";
const ANONYMOUS_END: &str = "_$_";

/// `text` with numbers for those hashes, by first appearance, so that changes elsewhere leave it as it is.
fn name_constants(text: &str) -> String {
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    behind_each(text, ANONYMOUS, |part| {
        let Some((hash, rest)) = part.split_once(ANONYMOUS_END) else {
            return part.into();
        };
        let next = numbers.len();
        let number = numbers.entry(hash).or_insert(next);
        format!("{number}{ANONYMOUS_END}{rest}").into()
    })
}

#[cfg(test)]
mod tests;
