//! `stamp report DIR --tables`: the tables of the documents, from the result files.
//!
//! A document has a table between two markers, on lines of their own:
//!
//! ```text
//! <!-- table: speedups -->
//! <!-- end -->
//! ```
//!
//! The text between them is a caption, which names the machine, the date and the commit of each file that the
//! table was made from, and the table. `tables.jq` makes the tables of the values in the files of
//! `files.json`.

use crate::prelude::*;
use crate::report::Table;
use crate::report::jq::{LANGUAGE, Sets};
use crate::report::stated;

#[cfg(test)]
mod tests;

const FILES: &str = include_str!("files.json");
const TABLES: &str = include_str!("tables.jq");

/// A result file. What it says itself of its measurement must not stand here.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "file")]
    path: String,
    machine: Option<String>,
    date: Option<String>,
    /// The commit that was measured, and how that is known.
    commit: Option<String>,
}

/// The command `report --tables`: prints the tables, or puts them into documents, or, with
/// `check`, says where a document has another text. Returns whether all is as the data say.
pub(crate) fn tables(results: &Path, documents: &[PathBuf], check: bool) -> Result<bool> {
    let files: Vec<File> = stated(FILES);
    let data = load(results, &files).map_err(Error::Usage)?;
    let made = made(&files, TABLES, &data).map_err(Error::Usage)?;
    let mut out = stdout().lock();
    if documents.is_empty() {
        for (name, text) in &made {
            writeln!(out, "{}\n{text}{END}\n", open(name))?;
        }
        return Ok(true);
    }
    let rendered = documents.iter().map(|path| {
        let shown = path.display();
        let text = fs::read_to_string(path)
            .or_else(|error| refuse(format!("cannot read {shown}: {error}")))?;
        let new = render(&text, &made).or_else(|why| refuse(format!("{shown}:{why}")))?;
        Ok((path, text, new))
    });
    // All are right before anything is printed, and can be written before the first is.
    let rendered = rendered.collect::<Result<Vec<_>>>()?;
    let (mut same, mut changed) = (true, Vec::new());
    for (path, text, (new, differences)) in rendered {
        for difference in &differences {
            writeln!(out, "{}:{difference}", path.display())?;
        }
        if check {
            same &= differences.is_empty();
        } else if new != text {
            changed.push((OutFile::of_option("--tables", path)?, new));
        }
    }
    for (file, text) in changed {
        file.write(text)?;
    }
    Ok(same)
}

fn load(folder: &Path, files: &[File]) -> Result<Sets<'static>, String> {
    let files = files.iter().map(|File { path: name, .. }| {
        let path = folder.join(name);
        let fix = "give --tables the folder docs/results of the repository";
        let failed = |error| format!("cannot read {}: {error}: {fix}", path.display());
        let text = fs::read_to_string(&path).map_err(failed)?;
        let value = match name.rsplit_once('.') {
            Some((_, "json")) => serde_json::from_str(&text),
            _ => Ok(log(&text)),
        };
        let value = value.map_err(|error| format!("{name}: {error}"))?;
        Ok((name.clone(), value))
    });
    let files = files.collect::<Result<_, String>>()?;
    Ok(LANGUAGE.sets(&json!({})).with_files(&files))
}

/// What a log says: the command of its first line, the first commit and the first checksum of PTX
/// that it names, the violations that it counts, and the rows of its tables.
fn log(text: &str) -> Value {
    let command = text.lines().next().unwrap_or_default();
    let command = command.split(", of the source").next();
    let hexadecimal_after = |words| {
        let (_, rest): (_, &str) = text.split_once(words)?;
        rest.split(|c: char| !c.is_ascii_hexdigit()).next()
    };
    let mut lines = text.lines();
    let violations = lines.find_map(|line| line.strip_suffix(" violations"));
    let violations = violations.map(number_or_words);
    json!({
        "command": command, "rows": log_rows(text), "violations": violations,
        "commit": hexadecimal_after("at commit "), "ptx": hexadecimal_after("PTX "),
    })
}

fn number_or_words(text: &str) -> Value {
    let number = text.parse::<f64>().ok().filter(|x| x.is_finite());
    number.map_or_else(|| text.into(), Value::from)
}

/// The rows of all tables of a log: a header that begins with one of three words, then rows until a line that has
/// fewer columns. The last column takes the rest of its line.
fn log_rows(text: &str) -> Vec<Value> {
    let mut rows = Vec::new();
    let mut columns: Vec<String> = Vec::new();
    for line in text.lines() {
        let header = format!("{line} ").replace("killed by", "killed_by");
        let header = header.replace(" s ", "_s ");
        let begins = |words: [&str; 3]| words.into_iter().any(|word| header.starts_with(word));
        if begins(["variant ", "defect ", "mutant "]) {
            columns = header.split_whitespace().map(str::to_owned).collect();
            continue;
        }
        // A note about a row stands between rows; a command or a comment ends the table.
        if begins(["verify:", "note:", "error:"]) {
            continue;
        }
        // A variant's form is part of its name: `fast, static`.
        let line = line.replace(", static", ",static");
        let line = line.replace(", 64-bit", ",64-bit");
        let cells: Vec<&str> = line.split_whitespace().collect();
        let is_number = |cell: &&str| cell.parse::<f64>().is_ok();
        if line.starts_with(['$', '#', '='])
            || columns.is_empty()
            || cells.len() < columns.len()
            || !cells[2..].iter().any(is_number)
        {
            columns.clear();
            continue;
        }
        let last = columns.len() - 1;
        let row = columns.iter().enumerate().map(|(i, column)| {
            let end = if i == last { cells.len() } else { i + 1 };
            (column.clone(), number_or_words(&cells[i..end].join(" ")))
        });
        rows.push(Value::Object(row.collect()));
    }
    rows
}

/// The tables that a program makes, by their names.
fn made(files: &[File], program: &str, data: &Sets) -> Result<Vec<(String, String)>, String> {
    let mut made = Vec::new();
    data.each(&[program], &mut |table| {
        let table: Table =
            serde_json::from_value((&table).into()).map_err(|error| error.to_string())?;
        let failed = |why: String| format!("table `{}`: {why}", table.name);
        // A table is made when it is asked for, so these are its own.
        let used = data.take_used();
        let sources = files.iter().filter(|source| used.contains(&source.path));
        let text = table.markdown().map_err(failed)?;
        let caption = caption(sources, data).map_err(failed)?;
        made.push((table.name.clone(), format!("{caption}\n\n{text}")));
        Ok(())
    })?;
    Ok(made)
}

/// The caption of a table that was made from these files: files of the same machine, date and
/// commit stand together.
fn caption<'s>(sources: impl Iterator<Item = &'s File>, data: &Sets) -> Result<String, String> {
    let file = |source: &File| {
        let file = format!("`{}`", source.path.trim_start_matches("../"));
        Ok::<_, String>((origin(source, data)?, file))
    };
    let files = sources.map(file).collect::<Result<Vec<_>, _>>()?;
    let groups = grouped(files.into_iter()).into_iter();
    let groups = groups.map(|(origin, files)| format!("{origin}: {}", files.join(", ")));
    Ok(sentence("*", groups, ("; ", ".*")))
}

/// Where the figures of a file come from: `NVIDIA H200, 2026-11-23, commit 55d7670`. What the file
/// says counts; what the definitions add must not be in it.
fn origin(source: &File, data: &Sets) -> Result<String, String> {
    let file = source.path.as_str();
    let whole = match data.file(file) {
        Some(Value::Array(mut elements)) if !elements.is_empty() => elements.swap_remove(0),
        Some(whole) => whole,
        None => return Err(format!("there is no {file}")),
    };
    let is_in = |folder: &str| file.starts_with(folder);
    if !["simulator/", "cpu/", ".."].into_iter().any(is_in) && !whole["ptx"].is_string() {
        return Err(format!(
            "{file} names no checksum of the PTX that was measured (`ptx`): measure it with a \
             program that does"
        ));
    }
    let said = |paths: &[&str]| -> Option<&str> {
        paths.iter().find_map(|path| whole.pointer(path)?.as_str())
    };
    let part = |name: &str, said: Option<&str>, added: &Option<String>| match (said, added) {
        (Some(said), None) => Ok(said.to_owned()),
        (None, Some(added)) => Ok(added.clone()),
        (None, None) => Err(format!("{file} names no {name}")),
        _ => Err(format!(
            "{file} names its {name}: take it off the definitions"
        )),
    };
    let day = said(&["/started", "/date"]).and_then(|time| time.split('T').next());
    let machine = said(&["/device/name", "/device_name", "/device"]);
    let machine = part("machine", machine, &source.machine)?;
    let date = part("date", day, &source.date)?;
    let commit = part("commit", said(&["/commit"]), &source.commit)?;
    Ok(format!("{machine}, {date}, commit {commit}"))
}

const TABLE: &str = "<!-- table:";
const END: &str = "<!-- end -->";

fn open(name: &str) -> String {
    format!("{TABLE} {name} -->")
}

/// Puts the tables into a document. Returns its text, and where it was different: the line, counted from 1, and what both
/// say. Markers in a block of code are left alone.
fn render(text: &str, tables: &[(String, String)]) -> Result<(String, Vec<String>), String> {
    let (mut page, mut differences) = (String::new(), Vec::new());
    let mut fenced = false;
    let mut lines = (1..).zip(text.lines());
    while let Some((i, line)) = lines.next() {
        page = page + line + "\n";
        fenced ^= line.trim_start().starts_with("```");
        let name = line.trim().strip_prefix(TABLE);
        let name = name.and_then(|rest| rest.strip_suffix("-->"));
        let Some(name) = name.map(str::trim).filter(|_| !fenced) else {
            continue;
        };
        let Some((_, new)) = tables.iter().find(|(known, _)| known == name) else {
            return Err(format!("{i}: no table has the name `{name}`"));
        };
        let ends = |line: &str| line == END || line.starts_with(TABLE);
        let n = (lines.clone()).position(|(_, line)| ends(line.trim()));
        let marker = n.and_then(|n| lines.clone().nth(n));
        let (Some(n), Some((_, END))) = (n, marker.map(|(i, line)| (i, line.trim()))) else {
            let before = marker.map(|(i, _)| format!(" before the next table, in line {i}"));
            let before = before.unwrap_or_default();
            return Err(format!("{i}: table `{name}` has no `{END}`{before}"));
        };
        let old: Vec<&str> = lines.by_ref().take(n + 1).map(|(_, line)| line).collect();
        let old = &old[..n];
        let wanted: Vec<&str> = new.lines().collect();
        for line in 0..wanted.len().max(old.len()) {
            let (says, data) = (old.get(line), wanted.get(line));
            if says != data {
                let [says, data] = [says, data].map(|line| *line.unwrap_or(&"(no line)"));
                let line = i + 1 + line;
                let what = format!("{line}: table `{name}`\n  says {says}\n  data {data}");
                differences.push(what);
            }
        }
        page = page + new + END + "\n";
    }
    Ok((page, differences))
}
