//! The ceilings of device code: how many lines of PTX, machine instructions, registers, bytes of
//! spills and waits for atomics the kernels of `xtask/sizes.txt` may have.
//!
//! Code that grows is fetched, compiled by each user's driver, and spilled, and no test fails. So a
//! change that needs more says so, by a new row.

use crate::error::Error;
use crate::ptxas::{self, Usage};
use crate::sass::{self, Code};
use crate::{Tree, build};
use std::fs;
use std::path::Path;

/// The file with the ceilings, from the workspace's root.
const FILE: &str = "xtask/sizes.txt";

/// What is counted, in the order of the columns.
const COLUMNS: [&str; 5] = [
    "lines of PTX",
    "instructions",
    "registers",
    "bytes of spills",
    "waits for atomics",
];

/// A row of the file: a module, as a folder and a name (`ra/fast`), and the most that it may have.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Ceiling {
    module: String,
    at_most: [u32; 5],
}

/// What a module has, and the most atomics for which one wait is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Size {
    has: [u32; 5],
    together: u32,
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
    let programs = (&*assembler, &*sass::disassembler(&assembler)?);
    let dir = build::unpacked(tree)?;
    let cubin = tree.target.join("sizes.cubin");
    println!(
        "On {}, each number with its ceiling:\n{:<20} {:>13} {:>13} {:>9} {:>11} {:>8} {:>9}",
        ptxas::REPORTED,
        "module",
        "lines",
        "instructions",
        "registers",
        "spills",
        "waits",
        "together"
    );
    let mut wrong = Vec::new();
    for ceiling in &ceilings {
        let size = size(programs, &dir, &ceiling.module, &cubin)?;
        let [lines, instructions, registers, spills, waits] =
            [0, 1, 2, 3, 4].map(|i| format!("{}/{}", size.has[i], ceiling.at_most[i]));
        println!(
            "{:<20} {lines:>13} {instructions:>13} {registers:>9} {spills:>11} {waits:>8} {:>9}",
            ceiling.module, size.together
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

/// Assembles a module into a cubin by the first of two programs, disassembles it by the other, and
/// counts what both have.
fn size(
    (assembler, disassembler): (&Path, &Path),
    dir: &Path,
    module: &str,
    cubin: &Path,
) -> Result<Size, Error> {
    let file = dir.join(format!("{module}.ptx"));
    if !file.is_file() {
        return Err(Error::Check(format!(
            "{FILE} names {module}, which is not committed"
        )));
    }
    let text = fs::read_to_string(&file)
        .map_err(|e| Error::Check(format!("{} cannot be read: {e}", file.display())))?;
    let remarks = ptxas::one(assembler, &file, ptxas::REPORTED, "-O3", cubin);
    let entries = ptxas::parse(&remarks.map_err(Error::Check)?);
    let most = |of: fn(&Usage) -> u32| entries.iter().map(of).max().unwrap_or(0);
    let code = sass::of(disassembler, cubin).map_err(Error::Check)?;
    let Code {
        instructions,
        waits,
        together,
    } = code;
    let lines = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
    let (registers, spills) = (most(|e| e.registers), most(|e| e.spill_bytes));
    Ok(Size {
        has: [lines, instructions, registers, spills, waits],
        together,
    })
}

impl Ceiling {
    /// Returns what is above the ceiling.
    fn complaints(&self, size: Size) -> Vec<String> {
        let all = COLUMNS.iter().zip(size.has).zip(self.at_most);
        all.filter(|((_, has), at_most)| has > at_most)
            .map(|((what, has), at_most)| format!("{}: {has} {what}, above {at_most}", self.module))
            .collect()
    }
}

/// Reads the table: a module and its ceilings on each line that is not a comment.
fn parse(text: &str) -> Result<Vec<Ceiling>, Error> {
    let rows = text
        .lines()
        .enumerate()
        .map(|(number, line)| (number + 1, line.split('#').next().unwrap_or("").trim()))
        .filter(|(_, line)| !line.is_empty());
    rows.map(|(number, line)| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let wrong = || {
            let columns = COLUMNS.join(", ");
            Error::Check(format!(
                "{FILE}:{number}: `{line}` is not a module, {columns}"
            ))
        };
        let (module, numbers) = words.split_first().ok_or_else(wrong)?;
        let numbers = numbers.iter().map(|word| word.parse().map_err(|_| wrong()));
        let numbers = numbers.collect::<Result<Vec<u32>, Error>>()?;
        Ok(Ceiling {
            module: (*module).to_owned(),
            at_most: numbers.try_into().map_err(|_| wrong())?,
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
            at_most: [100, 80, 40, 0, 3],
        }
    }

    #[test]
    fn a_table_is_read_and_a_bad_row_is_named() {
        let text = "# a comment\n\nra/fast 100 80 40 0 3 # as measured\n";
        assert_eq!(parse(text).unwrap(), [row()]);
        for bad in [
            "ra/fast 100 80 40 0",
            "ra/fast 100 80 many 0 3",
            "ra/fast 1 2 3 4 5 6",
        ] {
            let said = parse(&format!("# one\n{bad}\n")).unwrap_err().to_string();
            assert!(said.contains("sizes.txt:2") && said.contains(bad), "{said}");
        }
    }

    #[test]
    fn what_is_above_its_ceiling_is_named_with_both_numbers() {
        let size = |has| Size { has, together: 16 };
        assert!(row().complaints(size([100, 80, 40, 0, 3])).is_empty());
        assert_eq!(
            row().complaints(size([101, 80, 39, 0, 4])),
            [
                "ra/fast: 101 lines of PTX, above 100",
                "ra/fast: 4 waits for atomics, above 3"
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
