//! Pages that the commands write.

use crate::error::Error;
use crate::history::History;
use crate::named::Names;
use crate::opacity::{self, report::Verdict};
use crate::page::Page;
use crate::program::{Case, Failure, run_shown};
use std::path::Path;

/// Writes a page of a history whose words have no names.
pub(super) fn of_history(
    file: &Path,
    history: &History,
    verdict: Option<&Verdict>,
) -> Result<(), Error> {
    Page {
        history,
        names: &Names::default(),
        verdict,
        finding: None,
        replay: None,
    }
    .write(file)
}

/// Runs a case once more and writes a page of its history.
pub(super) fn of_case(file: &Path, case: &Case) -> Result<(), Error> {
    let (result, shown) = run_shown(case);
    let Some((history, names)) = shown else {
        let why = "no page: the case is silent, or its launch was cut short, and left no history";
        return Err(Error::Usage(why.into()));
    };
    let verdict = opacity::check(&history).ok();
    let words = |failure: Failure| format!("{}: {}", failure.kind.name(), failure.text);
    // What is not opaque is explained with the names of the words.
    let is_opaque = verdict.as_ref().is_none_or(Verdict::is_opaque);
    let finding = result.err().filter(|_| is_opaque).map(words);
    Page {
        history: &history,
        names: &names,
        verdict: verdict.as_ref(),
        finding,
        replay: Some(case.command()),
    }
    .write(file)
}
