//! The ceilings of device code: how many lines of PTX, registers and bytes of spills the kernels
//! of `xtask/sizes.txt` may have.
//!
//! Code that grows is fetched, compiled by each user's driver, and spilled, and no test fails. So a
//! change that needs more says so, by a new row.

use crate::error::Error;
use crate::ptxas::{self, Usage};
use crate::{Tree, build};
use std::fs;
use std::path::Path;

/// The file with the ceilings, from the workspace's root.
const FILE: &str = "xtask/sizes.txt";

/// A row of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Ceiling {
    /// The module, as a folder and a name: `ra/fast`.
    module: String,
    lines: u32,
    registers: u32,
    spill_bytes: u32,
}

/// What a module has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Size {
    lines: u32,
    registers: u32,
    spill_bytes: u32,
}

/// Assembles all committed files, prints what each entry takes, and holds some to their ceilings.
///
/// # Errors
/// The errors of [`ptxas::command`], and of [`check`].
pub(crate) fn committed(architectures: &[&str], tree: &Tree) -> Result<(), Error> {
    ptxas::command(&build::unpacked(tree)?, architectures, tree)?;
    check(tree)
}

/// Compares the modules of the table with their ceilings, and prints both.
///
/// # Errors
/// [`Error::Check`] with every module that is above its ceiling, or is missing.
pub(crate) fn check(tree: &Tree) -> Result<(), Error> {
    let path = tree.root.join(FILE);
    let text = fs::read_to_string(&path)
        .map_err(|e| Error::Check(format!("{FILE} cannot be read: {e}")))?;
    let ceilings = parse(&text)?;
    let assembler = ptxas::find(tree)?;
    let dir = build::unpacked(tree)?;
    println!(
        "{:<20} {:>7} {:>7}  {:>9} {:>7}  {:>7} {:>7}   on {}",
        "module",
        "lines",
        "at most",
        "registers",
        "at most",
        "spills",
        "at most",
        ptxas::REPORTED
    );
    let mut wrong = Vec::new();
    for ceiling in &ceilings {
        let size = size(&assembler, &dir, &ceiling.module)?;
        println!(
            "{:<20} {:>7} {:>7}  {:>9} {:>7}  {:>7} {:>7}",
            ceiling.module,
            size.lines,
            ceiling.lines,
            size.registers,
            ceiling.registers,
            size.spill_bytes,
            ceiling.spill_bytes
        );
        wrong.extend(ceiling.complaints(size));
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(Error::Check(format!(
            "{}\nif it must be so, change the row in {FILE} and say why in the change's lab note",
            wrong.join("\n")
        )))
    }
}

/// Assembles a module and counts its lines.
fn size(assembler: &Path, dir: &Path, module: &str) -> Result<Size, Error> {
    let file = dir.join(format!("{module}.ptx"));
    if !file.is_file() {
        return Err(Error::Check(format!(
            "{FILE} names {module}, which is not committed"
        )));
    }
    let text = fs::read_to_string(&file)
        .map_err(|e| Error::Check(format!("{} cannot be read: {e}", file.display())))?;
    let remarks = ptxas::one(assembler, &file, ptxas::REPORTED, "-O3").map_err(Error::Check)?;
    let entries = ptxas::parse(&remarks);
    let most = |of: fn(&Usage) -> u32| entries.iter().map(of).max().unwrap_or(0);
    Ok(Size {
        lines: u32::try_from(text.lines().count()).unwrap_or(u32::MAX),
        registers: most(|entry| entry.registers),
        spill_bytes: most(|entry| entry.spill_bytes),
    })
}

impl Ceiling {
    /// Returns what is above the ceiling.
    fn complaints(&self, size: Size) -> Vec<String> {
        [
            ("lines of PTX", size.lines, self.lines),
            ("registers", size.registers, self.registers),
            ("bytes of spills", size.spill_bytes, self.spill_bytes),
        ]
        .into_iter()
        .filter(|(_, has, at_most)| has > at_most)
        .map(|(what, has, at_most)| format!("{}: {has} {what}, above {at_most}", self.module))
        .collect()
    }
}

/// Reads the table: a module, its lines, registers and bytes of spills on each line that is not a
/// comment.
fn parse(text: &str) -> Result<Vec<Ceiling>, Error> {
    let rows = text
        .lines()
        .enumerate()
        .map(|(number, line)| (number + 1, line.split('#').next().unwrap_or("").trim()))
        .filter(|(_, line)| !line.is_empty());
    rows.map(|(number, line)| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let wrong = || {
            Error::Check(format!(
                "{FILE}:{number}: `{line}` is not a module, lines, registers and spills"
            ))
        };
        let [module, lines, registers, spills] = words[..] else {
            return Err(wrong());
        };
        let number = |word: &str| word.parse().map_err(|_| wrong());
        Ok(Ceiling {
            module: module.to_owned(),
            lines: number(lines)?,
            registers: number(registers)?,
            spill_bytes: number(spills)?,
        })
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> Ceiling {
        Ceiling {
            module: "ra/fast".to_owned(),
            lines: 100,
            registers: 40,
            spill_bytes: 0,
        }
    }

    #[test]
    fn a_table_is_read_and_a_bad_row_is_named() {
        let text = "# module lines registers spills\n\nra/fast 100 40 0 # as measured\n";
        assert_eq!(parse(text).unwrap(), [row()]);
        for bad in ["ra/fast 100 40", "ra/fast 100 many 0", "ra/fast 1 2 3 4"] {
            let said = parse(&format!("# one\n{bad}\n")).unwrap_err().to_string();
            assert!(said.contains("sizes.txt:2") && said.contains(bad), "{said}");
        }
    }

    #[test]
    fn what_is_above_its_ceiling_is_named_with_both_numbers() {
        let size = Size {
            lines: 100,
            registers: 40,
            spill_bytes: 0,
        };
        assert!(row().complaints(size).is_empty());
        let larger = Size {
            lines: 101,
            spill_bytes: 8,
            ..size
        };
        assert_eq!(
            row().complaints(larger),
            [
                "ra/fast: 101 lines of PTX, above 100",
                "ra/fast: 8 bytes of spills, above 0"
            ]
        );
    }

    #[test]
    fn the_tables_modules_are_those_of_the_guard() {
        let ceilings = parse(include_str!("../sizes.txt")).unwrap();
        for workload in ["ra", "bank", "ht", "eigenbench", "map", "list", "queue"] {
            let module = format!("{workload}/fast");
            assert!(ceilings.iter().any(|c| c.module == module), "{module}");
        }
    }
}
