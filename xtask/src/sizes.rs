//! The ceilings of device code (`xtask/sizes.txt`): lines of PTX, machine instructions, registers, bytes of
//! spills and waits for atomics. Code that grows is fetched, compiled by each user's driver, and spilled, and
//! no test fails; so a change that needs more says so, by a new row. Instructions and waits are what
//! `nvdisasm` shows. A lane that locks several words sends all of its atomics before it uses what one of them
//! returns, so it waits once. `ptxas` may move the use of one before the next, and the lane waits for each:
//! that made a queue three times slower, and neither lines, registers nor spills showed it
//! (`docs/lab-notes/2026-11-25-turns.md`). An atomic that returns something begins a wait, or joins the one
//! before if nothing in between uses a result of that. The stack of a function in PTX shows what the compiler
//! could not keep in registers. A transaction that is there made vacation half as fast, and nothing else told
//! of it (`docs/lab-notes/2026-11-26-rounds.md`).

use crate::build;
use crate::prelude::*;
use crate::ptxas::{self, Usage};
use crate::weight::ceilings;

const FILE: &str = "xtask/sizes.txt";

const COLUMNS: [&str; 6] = [
    "lines of PTX",
    "instructions",
    "registers",
    "bytes of spills",
    "waits for atomics",
    "bytes of stack",
];

pub(crate) fn committed(architectures: &[&str], tree: &Tree) -> Result {
    ptxas::command(&build::unpacked(tree)?, architectures, tree)?;
    check(tree)
}

pub(crate) fn check(tree: &Tree) -> Result {
    let ceilings = ceilings(&tree.read(FILE)?, FILE, COLUMNS)?;
    let assembler = ptxas::find(tree)?;
    let programs = (&*assembler, &*disassembler(&assembler)?);
    let dir = build::unpacked(tree)?;
    let cubin = tree.target.join("sizes.cubin");
    println!("On {}, each number with its ceiling:", ptxas::REPORTED);
    println!(
        "module                        lines instructions registers    spills  waits     stack together"
    );
    let mut wrong = Vec::new();
    for (module, at_most) in &ceilings {
        let (has, together) = size(programs, &dir, module, &cubin)?;
        let [lines, instructions, registers, spills, waits, stack] =
            [0, 1, 2, 3, 4, 5].map(|i| format!("{}/{}", has[i], at_most[i]));
        println!(
            "{module:<23} {lines:>11} {instructions:>12} {registers:>9} {spills:>9} {waits:>6} {stack:>9} {together:>8}"
        );
        wrong.extend(complaints(module, has, *at_most));
    }
    let advice =
        format!("if it must be so, change the row in {FILE} and say why in the change's lab note");
    Error::unless_empty(&wrong, &advice)
}

/// Assembles a module and disassembles the cubin by two programs. Returns counts, and the most atomics a
/// wait.
fn size(
    (assembler, disassembler): (&Path, &Path),
    dir: &Path,
    module: &str,
    cubin: &Path,
) -> Result<([u64; 6], u32), Error> {
    let file = dir.join(format!("{module}.ptx"));
    if !file.is_file() {
        return Error::check(format!("{FILE} names {module}, which is not committed"));
    }
    let text = read(&file)?;
    let remarks = ptxas::one(assembler, &file, ptxas::REPORTED, "-O3", cubin);
    let entries = ptxas::parse(&remarks.map_err(Error::Check)?);
    let most = |of: fn(&Usage) -> u32| entries.iter().map(of).max().unwrap_or(0);
    let code = said(Command::new(disassembler).arg("-c").arg(cubin));
    let code = counted(&code.map_err(Error::Check)?);
    let frames = stm_core_build::rules::local_frames(&text).into_iter();
    let has = [
        text.lines().count() as u64,
        code.instructions.into(),
        most(|e| e.registers).into(),
        most(|e| e.spill_bytes).into(),
        code.waits.into(),
        frames.map(|(_, bytes)| bytes as u64).max().unwrap_or(0),
    ];
    Ok((has, code.together))
}

fn complaints(module: &str, has: [u64; 6], at_most: [u64; 6]) -> Vec<String> {
    let all = COLUMNS.iter().zip(has).zip(at_most);
    let above = all.filter(|((_, has), at_most)| has > at_most);
    let complaint = |((what, has), at_most)| format!("{module}: {has} {what}, above {at_most}");
    above.map(complaint).collect()
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Code {
    instructions: u32,
    /// Waits for atomics, in the order of the text: what stands in a loop counts once.
    waits: u32,
    together: u32,
}

pub(crate) fn disassembler(assembler: &Path) -> Result<PathBuf> {
    let program = assembler.with_file_name("nvdisasm");
    let there = program.is_file().then(|| program.clone());
    let text = format!(
        "there is no {}: `pip install nvidia-cuda-nvdisasm` in the version of nvidia-cuda-nvcc puts \
         it beside ptxas, and a CUDA toolkit has it there",
        program.display()
    );
    there.ok_or(Error::Lacks(text))
}

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

/// Returns the numbers of the registers in a text, without the uniform ones and the one that is always zero.
fn registers(text: &str) -> impl Iterator<Item = u32> + '_ {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    words.filter_map(|word| word.strip_prefix('R')?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read_and_a_bad_row_is_named() {
        let parse = |text: &str| ceilings(text, FILE, COLUMNS);
        let text = "# a comment\n\nra/fast 100 80 40 0 3 16 # as measured\n";
        let row = ("ra/fast".to_owned(), [100, 80, 40, 0, 3, 16]);
        assert_eq!(parse(text).unwrap(), [row]);
        for bad in ["ra/fast 1 2 3 4 5", "1 2 3 4 5 6"] {
            let said = parse(&format!("# one\n{bad}\n")).unwrap_err().to_string();
            assert!(said.contains("sizes.txt:2") && said.contains(bad), "{said}");
        }
        let all = parse(include_str!("../sizes.txt")).unwrap();
        for workload in ["ra", "bank", "ht", "eigenbench", "map", "list", "queue"] {
            let module = format!("{workload}/fast");
            assert!(all.iter().any(|(name, _)| *name == module), "{module}");
        }
    }

    #[test]
    fn what_is_above_its_ceiling_is_named_with_both_numbers() {
        let at_most = [100, 80, 40, 0, 3, 16];
        assert!(complaints("ra/fast", at_most, at_most).is_empty());
        assert_eq!(
            complaints("ra/fast", [101, 80, 39, 0, 4, 17], at_most),
            [
                "ra/fast: 101 lines of PTX, above 100",
                "ra/fast: 4 waits for atomics, above 3",
                "ra/fast: 17 bytes of stack, above 16"
            ]
        );
    }

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
