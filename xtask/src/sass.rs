//! What `nvdisasm` shows of a module: how many instructions it has, and how many times a lane waits
//! for atomics.
//!
//! A lane that locks several words sends all of its atomics before it uses what one of them returns,
//! so it waits once. `ptxas` may move the use of one before the next atomic, and the lane then waits
//! for each: that made a queue three times slower, and neither lines, registers nor spills showed it
//! (`docs/lab-notes/2026-11-25-turns.md`). So the waits are counted: an atomic that returns something
//! begins one, or joins the one before if nothing in between uses a result of that.

use crate::error::Error;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a module has in machine code.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Code {
    /// Instructions.
    pub(crate) instructions: u32,
    /// Waits for atomics, in the order of the text: what stands in a loop counts once.
    pub(crate) waits: u32,
    /// The most atomics of one wait.
    pub(crate) together: u32,
}

/// Returns the disassembler beside an assembler.
///
/// # Errors
/// [`Error::NoDisassembler`].
pub(crate) fn disassembler(assembler: &Path) -> Result<PathBuf, Error> {
    let program = assembler.with_file_name("nvdisasm");
    if program.is_file() {
        Ok(program)
    } else {
        Err(Error::NoDisassembler(program))
    }
}

/// Disassembles a cubin.
pub(crate) fn of(program: &Path, cubin: &Path) -> Result<Code, String> {
    let output = Command::new(program).arg("-c").arg(cubin).output();
    let output = output.map_err(|e| format!("cannot start {}: {e}", program.display()))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    Ok(counted(&String::from_utf8_lossy(&output.stdout)))
}

/// Counts in a text of `nvdisasm -c`.
fn counted(text: &str) -> Code {
    let mut code = Code::default();
    let mut pending = BTreeSet::new();
    let mut together = 0;
    for line in text.lines() {
        let Some(instruction) = instruction(line) else {
            continue;
        };
        code.instructions += 1;
        let atomic = returned(instruction);
        let used = registers(instruction).skip(usize::from(atomic.is_some()));
        if used.into_iter().any(|register| pending.contains(&register)) {
            pending.clear();
        }
        if let Some(first) = atomic {
            if pending.is_empty() {
                code.waits += 1;
                together = 0;
            }
            together += 1;
            code.together = code.together.max(together);
            pending.insert(first);
            if instruction.contains(".64") {
                pending.insert(first + 1);
            }
        }
    }
    code
}

/// Returns the instruction of a line: `/*50e0*/ ATOMG… ;`.
fn instruction(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("/*")?;
    let (address, rest) = rest.split_once("*/")?;
    let is_address = !address.is_empty() && address.bytes().all(|b| b.is_ascii_hexdigit());
    let text = rest.split(';').next()?.trim();
    (is_address && !text.is_empty()).then_some(text)
}

/// Returns the register into which an atomic returns something, if it is one that does.
fn returned(instruction: &str) -> Option<u32> {
    let mut words = instruction.split_whitespace();
    let name = words.find(|word| !word.starts_with('@'))?;
    let is_atomic = name.starts_with("ATOMG") || name.starts_with("ATOM.");
    let target = words.find(|word| !word.starts_with('P'))?;
    registers(target).next().filter(|_| is_atomic)
}

/// Returns the numbers of the registers in a text, in their order; those of the uniform file and the
/// one that is always zero are none.
fn registers(text: &str) -> impl Iterator<Item = u32> + '_ {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    words.filter_map(|word| word.strip_prefix('R')?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_lines(lines: &[&str]) -> Code {
        let line = |(i, text): (usize, &&str)| format!("        /*{i:04x}*/   {text} ;\n");
        counted(&lines.iter().enumerate().map(line).collect::<String>())
    }

    const FIRST: &str = "ATOMG.E.OR.64.STRONG.GPU PT, R4, desc[UR6][R72.64], R2";
    const SECOND: &str = "@P1 ATOMG.E.OR.64.STRONG.GPU PT, R6, desc[UR4][R74.64], R2";

    #[test]
    fn atomics_are_together_until_one_result_is_used() {
        let code = |instructions, waits, together| Code {
            instructions,
            waits,
            together,
        };
        // The uniform register 5 is not the second half of the first result.
        let between = "LEA.HI.X R39, R13, UR5, RZ, 0x3, P1";
        let used = "LOP3.LUT R64, R5, R100, R164, 0x60, !PT";
        assert_eq!(of_lines(&[FIRST, between, SECOND, used]), code(4, 1, 2));
        assert_eq!(of_lines(&[FIRST, used, SECOND, used]), code(4, 2, 1));
        let stored = "@P0 STL.64 [R1], R4";
        assert_eq!(of_lines(&[FIRST, stored, SECOND]), code(3, 2, 1));
        let address = "ATOMG.E.OR.64.STRONG.GPU PT, R8, desc[UR4][R4.64], R2";
        assert_eq!(of_lines(&[FIRST, address]), code(2, 2, 1));
    }

    #[test]
    fn what_returns_nothing_is_no_wait() {
        let lost = "ATOMG.E.ADD.64.STRONG.GPU PT, RZ, desc[UR4][R46.64+0x8], R14";
        let red = "RED.E.ADD.STRONG.GPU desc[UR4][R2.64], R3";
        assert_eq!(of_lines(&[lost, red]).waits, 0);
        let nothing = counted(".text:\n  .L_1:\n        /* 0x0000000000007918 */\n");
        assert_eq!(nothing, Code::default());
    }
}
