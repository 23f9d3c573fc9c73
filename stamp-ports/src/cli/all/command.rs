//! A command of `bench all`, run, and what it measured put into the file that it belongs to.

use super::pieces::{File, Kind};
use crate::error::{Error, Result};
use crate::head::Head;
use crate::out_file::write_whole;
use crate::store::with_head;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// The runs that a command of [`Kind::Runs`] prints: one of each of its variants.
const RUNS: usize = 2;

/// Runs a command that measures a file. Returns whether its results are verified, and whether it is whole.
pub(super) fn measure(
    file: &File,
    line: &str,
    folder: &Path,
    (left, environment): (Option<u64>, &[(&str, OsString)]),
    head: &Head,
) -> Result<(bool, bool)> {
    let path = folder.join(file.name);
    // The name of what is not a file of the folder yet.
    let part_name = format!(".part-{}", file.name);
    let part = folder.join(&part_name);
    let _ = fs::remove_file(&part);
    let start = Instant::now();
    let mut command = Command::new(std::env::current_exe()?);
    command
        .args(line.split(' ').skip(1))
        .envs(environment.iter().cloned());
    match file.kind {
        Kind::Resumed => {
            command.arg("--out").arg(folder);
            command.args(left.map(|left| format!("--for={left}")));
        }
        Kind::Whole | Kind::Member => _ = command.arg("--out").arg(&part),
        Kind::Runs => {}
    }
    let out = command
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()?;
    // What it said stands on standard error already, and the others do not depend on it.
    if !matches!(out.status.code(), Some(0 | 1)) {
        return Ok((false, false));
    }
    let verified = out.status.success();
    let printed = String::from_utf8_lossy(&out.stdout);
    let lines = printed.lines().filter(|line| line.starts_with('{'));
    let text = match file.kind {
        Kind::Resumed if path.is_file() => {
            // It was asked for a part of what the document can have, so it is done if it ended by
            // itself.
            let in_time = left.is_none_or(|left| start.elapsed().as_secs() < left);
            return Ok((verified, in_time));
        }
        Kind::Whole if part.is_file() => fs::read_to_string(&part)?.replace(&part_name, file.name),
        Kind::Member if part.is_file() => {
            let mut list = list_in(&path, |file| file)?;
            let mut member = value(&part)?;
            // The name of the temporary file says nothing.
            member["command"] = format!("{line} --out {}", file.name).into();
            list.retain(|other| other["command"] != member["command"]);
            list.push(member);
            let list: Vec<String> = list.iter().map(Value::to_string).collect();
            format!("[\n{}\n]\n", list.join(",\n"))
        }
        Kind::Runs if lines.clone().count() == RUNS => {
            let mut runs = list_in(&path, |file| &file["runs"])?;
            for run in lines {
                runs.push(serde_json::from_str(run).map_err(std::io::Error::from)?);
            }
            let head = Head {
                format: "stamp-runs/1".into(),
                complete: true,
                ..head.clone()
            };
            with_head(&head, &["runs"], &json!({"runs": runs}))?
        }
        _ => return Ok((false, false)),
    };
    write_whole(&path, &text).map_err(|source| Error::File { path, source })?;
    let _ = fs::remove_file(&part);
    Ok((verified, true))
}

/// Returns the list that is somewhere in a file; an empty one if the file is not there.
fn list_in(path: &Path, of: impl Fn(&Value) -> &Value) -> Result<Vec<Value>> {
    if !path.is_file() {
        return Ok(Vec::new());
    }
    Ok(of(&value(path)?).as_array().cloned().unwrap_or_default())
}

fn value(path: &Path) -> Result<Value> {
    let text = fs::read_to_string(path).map_err(|source| Error::File {
        path: path.to_owned(),
        source,
    })?;
    Ok(serde_json::from_str(&text).map_err(std::io::Error::from)?)
}
