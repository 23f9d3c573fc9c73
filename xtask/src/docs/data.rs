//! The result files, and the path by which a document names a value in them.
//!
//! A path is `FILE:STEPS`. `FILE` is a file below `docs/results`, the judged claims
//! `report/claims.json` below `docs`, or an alias of one run of `h200/fast.json`
//! ([`ALIASES`]). Steps are names of fields,
//! separated by dots; a field of an array is that field of each of its elements,
//! `*` is all fields, and `[key=value key!=value]` keeps the elements that match:
//!
//! ```text
//! h200/paper.json:speedups[workload=ra variant=hv-sorting].over_cgl
//! ```

use serde_json::{Map, Value};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The runs of `h200/fast.json` by name: each is the one document whose command
/// is `stamp bench floor --device` and these words.
const ALIASES: [(&str, &str); 12] = [
    ("fast/ra", "cuda --workload ra"),
    ("fast/ht", "cuda --workload ht"),
    ("fast/genome", "cuda --workload genome"),
    ("fast/genome-64", "cuda:0,atomics=64 --workload genome"),
    ("fast/kmeans", "cuda --workload kmeans"),
    (
        "fast/kmeans-cgl",
        "cuda --workload kmeans --variant cgl --repeat 1",
    ),
    ("fast/bank", "cuda --workload bank --audit-share 0"),
    (
        "fast/bank-10k",
        "cuda --workload bank --audit-share 0 --accounts 10K",
    ),
    (
        "fast/bank-zipf",
        "cuda --workload bank --audit-share 0 --zipf 0.9",
    ),
    (
        "fast/bank-audits",
        "cuda --workload bank --audit-share 50 --audit-range 1K",
    ),
    ("fast/labyrinth", "cuda --workload labyrinth"),
    ("fast/eigenbench", "cuda --workload eigenbench"),
];

/// The claims as `stamp report` judges them, below `docs`.
pub(super) const CLAIMS: &str = "report/claims.json";

/// The result files of one tree.
pub(super) struct Data {
    files: BTreeMap<String, File>,
    /// The files that were asked for a value since [`Data::take_used`].
    used: RefCell<BTreeSet<String>>,
}

/// One result file: its text, and its values.
struct File {
    text: String,
    value: Value,
}

impl Data {
    /// Reads every result file of the folder `docs`, and the claims that its report
    /// judges.
    pub(super) fn load(docs: &Path) -> Result<Self, String> {
        let failed = |path: &Path, error| format!("{}: {error}", path.display());
        let mut texts = BTreeMap::new();
        let results = docs.join("results");
        collect(&results, "", &mut texts).map_err(|error| failed(&results, error))?;
        let claims = docs.join(CLAIMS);
        let text = std::fs::read_to_string(&claims).map_err(|error| failed(&claims, error))?;
        texts.insert(CLAIMS.to_owned(), text);
        Self::of(texts)
    }

    /// The data of the files with these names and texts.
    pub(super) fn of(texts: BTreeMap<String, String>) -> Result<Self, String> {
        let mut files = BTreeMap::new();
        for (name, text) in texts {
            let value = parse(&name, &text).map_err(|error| format!("{name}: {error}"))?;
            files.insert(name, File { text, value });
        }
        Ok(Self {
            files,
            used: RefCell::default(),
        })
    }

    /// Returns the files that were asked for a value since this was last called.
    pub(super) fn take_used(&self) -> Vec<String> {
        self.used.take().into_iter().collect()
    }

    /// Returns a text field at the top of a file.
    pub(super) fn field(&self, file: &str, name: &str) -> Option<String> {
        let value = self.files.get(file)?.value.get(name)?;
        Some(value.as_str()?.to_owned())
    }

    /// The text of a result file.
    pub(super) fn text(&self, file: &str) -> Result<&str, String> {
        self.used.borrow_mut().insert(file.to_owned());
        self.files
            .get(file)
            .map(|file| file.text.as_str())
            .ok_or_else(|| format!("there is no result file {file}"))
    }

    /// The values that a path names, at least one.
    pub(super) fn all(&self, path: &str) -> Result<Vec<&Value>, String> {
        let (file, steps) = path
            .split_once(':')
            .ok_or_else(|| format!("`{path}` is not FILE:FIELD"))?;
        let mut found = vec![self.root(file)?];
        for step in split_steps(steps) {
            found = follow(&found, step)?;
        }
        if let [Value::Array(elements)] = found[..] {
            found = elements.iter().collect();
        }
        if found.is_empty() {
            return Err(format!("nothing in the data matches `{path}`"));
        }
        Ok(found)
    }

    /// The only value that a path names.
    pub(super) fn one(&self, path: &str) -> Result<&Value, String> {
        match self.all(path)?[..] {
            [value] => Ok(value),
            ref several => Err(format!("`{path}` names {} values, not one", several.len())),
        }
    }

    /// How many values a path names: an empty selection counts as none; a wrong file or field does
    /// not.
    pub(super) fn count(&self, path: &str) -> Result<usize, String> {
        match self.all(path) {
            Ok(values) => Ok(values.len()),
            Err(error) if error.starts_with("nothing") => Ok(0),
            Err(error) => Err(error),
        }
    }

    /// The only value that a path names, which is a number.
    pub(super) fn number(&self, path: &str) -> Result<f64, String> {
        number(self.one(path)?).ok_or_else(|| format!("`{path}` is not a number"))
    }

    /// The numbers that a path names.
    pub(super) fn numbers(&self, path: &str) -> Result<Vec<f64>, String> {
        let values = self.all(path)?.into_iter().map(number);
        values
            .collect::<Option<_>>()
            .ok_or_else(|| format!("`{path}` is not all numbers"))
    }

    fn root(&self, file: &str) -> Result<&Value, String> {
        let Some((_, words)) = ALIASES.iter().find(|(name, _)| *name == file) else {
            self.used.borrow_mut().insert(file.to_owned());
            return match self.files.get(file) {
                Some(file) => Ok(&file.value),
                None => Err(format!("there is no result file {file}")),
            };
        };
        let prefix = format!("stamp bench floor --device {words} --out ");
        let documents = self.root("h200/fast.json")?;
        let mut matching = documents.as_array().into_iter().flatten().filter(|run| {
            let command = run.get("command").and_then(Value::as_str);
            command.is_some_and(|command| command.starts_with(&prefix))
        });
        matching
            .next()
            .ok_or_else(|| format!("h200/fast.json has no run `{prefix}`"))
    }
}

/// A number, or a string that is one.
fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.parse().ok())
}

/// Reads the files below a directory, by path below the root.
fn collect(
    directory: &Path,
    prefix: &str,
    texts: &mut BTreeMap<String, String>,
) -> std::io::Result<()> {
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), &format!("{name}/"), texts)?;
        } else {
            texts.insert(name, std::fs::read_to_string(entry.path())?);
        }
    }
    Ok(())
}

/// A file's values: JSON, one JSON value a line, or the tables of a log.
fn parse(name: &str, text: &str) -> Result<Value, serde_json::Error> {
    match name.rsplit('.').next() {
        Some("json") => serde_json::from_str(text),
        Some("jsonl") => {
            let lines = text.lines().filter(|line| !line.trim().is_empty());
            lines.map(serde_json::from_str::<Value>).collect()
        }
        _ => Ok(Value::Array(log_rows(text))),
    }
}

/// The rows of all tables that the program `verify` printed into a log: a header
/// that begins with `variant`, `defect` or `mutant`, then rows until a line that
/// has fewer columns. The last column takes the rest of its line.
fn log_rows(text: &str) -> Vec<Value> {
    let mut rows = Vec::new();
    let mut columns: Vec<String> = Vec::new();
    for line in text.lines() {
        let header = format!("{line} ")
            .replace("killed by", "killed_by")
            .replace(" s ", "_s ");
        let is_header = ["variant ", "defect ", "mutant "]
            .iter()
            .any(|word| header.starts_with(word));
        if is_header {
            columns = header.split_whitespace().map(str::to_owned).collect();
            continue;
        }
        // A note about a row stands between rows; a command or a comment ends the table.
        if line.starts_with("verify:") {
            continue;
        }
        if line.starts_with(['$', '#', '=']) {
            columns.clear();
            continue;
        }
        let cells: Vec<&str> = line.split_whitespace().collect();
        if columns.is_empty() || cells.len() < columns.len() || !cells[2..].iter().any(is_number) {
            columns.clear();
            continue;
        }
        let last = columns.len() - 1;
        let mut row = Map::new();
        for (i, column) in columns.iter().enumerate() {
            let cell = if i == last {
                cells[last..].join(" ")
            } else {
                cells[i].to_owned()
            };
            row.insert(column.clone(), Value::String(cell));
        }
        rows.push(Value::Object(row));
    }
    rows
}

fn is_number(cell: &&str) -> bool {
    cell.parse::<f64>().is_ok()
}

/// Cuts steps at dots and before brackets, but not within brackets.
fn split_steps(steps: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut start, mut depth) = (0, 0_u32);
    for (i, c) in steps.char_indices() {
        match c {
            '[' if depth == 0 => {
                found.push(&steps[start..i]);
                start = i;
                depth = 1;
            }
            ']' => depth = 0,
            '.' if depth == 0 => {
                found.push(&steps[start..i]);
                start = i + 1;
            }
            _ => {}
        }
    }
    found.push(&steps[start..]);
    found.retain(|step| !step.is_empty());
    found
}

/// Goes one step from each value.
fn follow<'a>(values: &[&'a Value], step: &str) -> Result<Vec<&'a Value>, String> {
    let elements = values.iter().flat_map(|value| match value {
        Value::Array(elements) => elements.iter().collect(),
        other => vec![*other],
    });
    if step == "*" {
        let fields = elements.filter_map(Value::as_object);
        return Ok(fields.flat_map(Map::values).collect());
    }
    let Some(filter) = step.strip_prefix('[') else {
        let found: Vec<&Value> = elements.filter_map(|value| value.get(step)).collect();
        if found.is_empty() {
            return Err(format!("the data has no field `{step}` there"));
        }
        return Ok(found);
    };
    let filter = filter
        .strip_suffix(']')
        .ok_or_else(|| format!("`{step}` has no end"))?;
    let mut conditions = Vec::new();
    for condition in filter.split_whitespace() {
        let parts = condition
            .split_once('=')
            .ok_or_else(|| format!("`{condition}` is not key=value"))?;
        conditions.push(parts);
    }
    Ok(elements
        .filter(|value| conditions.iter().all(|part| holds(value, *part)))
        .collect())
}

/// Whether a value has the field that a condition names, with that value; a key
/// that ends in `!` asks for another value.
fn holds(value: &Value, (key, wanted): (&str, &str)) -> bool {
    let (key, equal) = match key.strip_suffix('!') {
        Some(key) => (key, false),
        None => (key, true),
    };
    let found = key.split('/').try_fold(value, |value, key| value.get(key));
    let text = match found {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => return false,
    };
    (text == wanted.replace('_', " ") || text == wanted) == equal
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "\
$ verify record
variant         launch transactions  violations  kernel s  check s
cgl               1x32         1000           0     0.688     0.03
verify: cgl: 1 launches were made again
fast           132x256          500           2     0.003     0.04
$ verify record --workload bank --transactions 200 --check --zipf 3
defect                      launch  transactions   kernel s  found
no-e1                       132x64           300     0.0169  wrong state: word 12
";

    fn data() -> Data {
        let json = r#"{"runs": [{"w": "ra", "n": 2.5, "p": {"k": 7}}, {"w": "ht", "n": 4}]}"#;
        let texts = [("a.json", json), ("log.txt", LOG)];
        Data::of(texts.map(|(n, t)| (n.to_owned(), t.to_owned())).into()).unwrap()
    }

    #[test]
    fn paths_reach_values() {
        let data = data();
        assert_eq!(data.number("a.json:runs[w=ra].n"), Ok(2.5));
        assert_eq!(data.number("a.json:runs[w!=ra].n"), Ok(4.0));
        assert_eq!(data.number("a.json:runs[p/k=7].p.k"), Ok(7.0));
        assert_eq!(data.numbers("a.json:runs.n"), Ok(vec![2.5, 4.0]));
        assert_eq!(data.numbers("a.json:runs.p.*"), Ok(vec![7.0]));
    }

    #[test]
    fn rows_of_a_log_are_found_and_other_lines_are_not() {
        let data = data();
        assert_eq!(
            data.numbers("log.txt:transactions"),
            Ok(vec![1e3, 5e2, 3e2])
        );
        assert_eq!(data.number("log.txt:[variant=fast].violations"), Ok(2.0));
        let found = data.one("log.txt:[defect=no-e1].found").unwrap();
        assert_eq!(found, "wrong state: word 12");
    }

    #[test]
    fn what_is_missing_or_ambiguous_is_an_error() {
        let data = data();
        for (path, part) in [
            ("b.json:n", "no result file"),
            ("a.json", "not FILE:FIELD"),
            ("a.json:runs.m", "no field `m`"),
            ("a.json:runs[w=lb].n", "no field `n`"),
            ("a.json:runs[w=lb]", "nothing in the data"),
            ("a.json:runs.n", "2 values"),
            ("a.json:runs[w=ra].w", "not a number"),
            ("fast/ra:stm.n", "no result file h200/fast.json"),
        ] {
            let error = data.number(path).unwrap_err();
            assert!(error.contains(part), "{path}: {error}");
        }
    }
}
