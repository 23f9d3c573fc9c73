//! A command of `bench all`, run, and what it measured put into the file that it belongs to.

use super::pieces::{Kind, Piece};
use crate::error::{Error, Result};
use crate::head::{FIELDS, Head};
use crate::out_file::write_whole;
use crate::store::to_text;
use serde::Serialize;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// The runs that a command of [`Kind::Runs`] prints: one of each of its variants.
const RUNS: usize = 2;

/// Where a command runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct On<'a> {
    /// The GPU, where there are several.
    pub(super) gpu: Option<&'a str>,
    /// The folder in which the driver keeps what it compiles; without one, where it always does.
    pub(super) cache: Option<&'a Path>,
}

/// The command of a piece, with where its output goes.
fn command(
    piece: &Piece,
    words: &[String],
    out: &Path,
    (left, on): (Option<u64>, On<'_>),
) -> Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(words);
    if let Some(cache) = on.cache {
        command.env("CUDA_CACHE_PATH", cache);
    }
    if let Some(gpu) = on.gpu {
        command.env("CUDA_VISIBLE_DEVICES", gpu);
    }
    match piece.kind {
        Kind::Resumed => {
            command.arg("--out").arg(out);
            if let Some(left) = left {
                command.args(["--for", &left.to_string()]);
            }
        }
        Kind::Whole | Kind::Member => {
            command.arg("--out").arg(out.join(part(piece)));
        }
        Kind::Runs => {}
    }
    Ok(command)
}

/// The name of the file for what is not a file of the folder yet.
fn part(piece: &Piece) -> String {
    format!(".part-{}", piece.file)
}

/// Runs the command of a piece, for so many seconds and on that GPU if they are given. Returns
/// whether its results are verified, and whether it is whole.
pub(super) fn measure(
    piece: &Piece,
    words: &[String],
    folder: &Path,
    (left, on): (Option<u64>, On<'_>),
    head: &Head,
) -> Result<(bool, bool)> {
    let part_name = part(piece);
    let part = folder.join(&part_name);
    let _ = fs::remove_file(&part);
    let start = Instant::now();
    let mut command = command(piece, words, folder, (left, on))?;
    let out = command
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()?;
    let printed = String::from_utf8_lossy(&out.stdout);
    let path = folder.join(piece.file);
    let lines: Vec<&str> = printed
        .lines()
        .filter(|line| line.starts_with('{'))
        .collect();
    let is_made = match piece.kind {
        Kind::Resumed => path.is_file(),
        Kind::Whole | Kind::Member => part.is_file(),
        Kind::Runs => lines.len() == RUNS,
    };
    // What it said stands on standard error already, and the others do not depend on it.
    if !matches!(out.status.code(), Some(0 | 1)) || !is_made {
        return Ok((false, false));
    }
    let verified = out.status.success();
    let text = match piece.kind {
        Kind::Resumed => {
            // It was asked for a part of what the document can have, so it is done if it ended by
            // itself.
            let in_time = left.is_none_or(|left| start.elapsed().as_secs() < left);
            return Ok((verified, in_time));
        }
        Kind::Whole => fs::read_to_string(&part)?.replace(&part_name, piece.file),
        Kind::Member => {
            let mut list = list_in(&path, |file| file)?;
            let mut member = value(&part)?;
            // The name of the temporary file says nothing.
            member["command"] = format!("stamp {} --out {}", words.join(" "), piece.file).into();
            list.retain(|other| other["command"] != member["command"]);
            list.push(member);
            let list: Vec<String> = list.iter().map(Value::to_string).collect();
            format!("[\n{}\n]\n", list.join(",\n"))
        }
        Kind::Runs => {
            let mut runs = list_in(&path, |file| &file["runs"])?;
            for line in lines {
                runs.push(serde_json::from_str(line).map_err(std::io::Error::from)?);
            }
            let head = Head {
                format: "stamp-runs/1".into(),
                complete: true,
                ..head.clone()
            };
            to_text(&Runs { head, runs }, &[&FIELDS[..], &["runs"]].concat())?
        }
    };
    write_whole(&path, &text).map_err(|source| Error::File { path, source })?;
    let _ = fs::remove_file(&part);
    Ok((verified, true))
}

/// What is in a file that commands which print runs have made.
#[derive(Serialize)]
struct Runs {
    #[serde(flatten)]
    head: Head,
    runs: Vec<Value>,
}

/// Returns the list that is somewhere in a file; an empty one if the file is not there.
fn list_in(path: &Path, of: impl Fn(&Value) -> &Value) -> Result<Vec<Value>> {
    if !path.is_file() {
        return Ok(Vec::new());
    }
    Ok(of(&value(path)?).as_array().cloned().unwrap_or_default())
}

/// Reads a file of JSON.
fn value(path: &Path) -> Result<Value> {
    let text = fs::read_to_string(path).map_err(|source| Error::File {
        path: path.to_owned(),
        source,
    })?;
    Ok(serde_json::from_str(&text).map_err(std::io::Error::from)?)
}
