//! What every shipped PTX file must satisfy, and what a `lane_` entry must be. The compiler is not trusted
//! with memory orders (LLVM 22 drops those of most read-modify-writes, and `core`'s atomics are
//! system-scoped), and a trap kills the CUDA context of the user's process. No test on the CPU would show it.

pub use crate::files::{BASE, Target, WIDE, is_wide, target_of};
use crate::split::{Item, Kind, Module};
use crate::statement::{Statement, blank_comments, statements};
use std::collections::BTreeSet;
use std::fmt;

/// Bytes of stack a function may have. A transaction's logs live in buffers and its state in registers; the
/// stack has arrays that are indexed at run time: addresses, values, stripes and versions of a `read_many`,
/// 448 bytes for 16 words, and the compiler's copies of them; with a versioned algorithm, another 1,536 for
/// its first entries, 768 for sums and 64 for its place at the gate, and of a kernel with teams and single
/// lanes up to twice that. Above this, something else moved to the stack.
pub const LOCAL_BYTES_MAX: usize = 3600;

/// A broken rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Line, counted from 1.
    pub line: usize,
    /// What is wrong there.
    pub what: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}

/// The compiler version that a file records in its first line.
pub fn recorded_version(text: &str) -> Option<&str> {
    let comment = text.lines().next()?.strip_prefix("// ")?;
    (comment.starts_with("rustc ") && comment.contains("LLVM")).then_some(comment)
}

/// What a shipped file breaks; nothing for a good one.
pub fn shipped(text: &str) -> Vec<Finding> {
    let statements = statements(text);
    let mut findings = header(text, &statements);
    let defined = defined_functions(text);
    for statement in &statements {
        let line = statement.line;
        let what = match local_bytes(statement) {
            Some(bytes) if bytes > LOCAL_BYTES_MAX => Some(format!(
                "{bytes} bytes of local memory, above {LOCAL_BYTES_MAX}"
            )),
            None if statement.text.contains(".extern .func") => {
                Some(format!("a function outside the module: {}", statement.text))
            }
            _ if statement.is_directive() => None,
            _ => instruction(statement, &defined),
        };
        findings.extend(what.map(|what| Finding { line, what }));
    }
    findings
}

/// Bytes of the stack frame of each function that has one, with its line.
pub fn local_frames(text: &str) -> Vec<(usize, usize)> {
    let frame = |s: &Statement| Some((s.line, local_bytes(s)?));
    statements(text).iter().filter_map(frame).collect()
}

fn local_bytes(statement: &Statement) -> Option<usize> {
    if statement.opcode() != ".local" {
        return None;
    }
    let (_, size) = statement.text.rsplit_once('[')?;
    // A size that is not a number cannot be shown to be small.
    let bytes = size.trim_end_matches([']', ' ']).parse();
    Some(bytes.unwrap_or(usize::MAX))
}

fn header(text: &str, statements: &[Statement]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let target = target_of(text);
    if recorded_version(text).is_none() {
        let what = "no comment that records the compiler's version".to_owned();
        findings.push(Finding { line: 1, what });
    }
    for (directive, value) in [
        (".version", target.isa),
        (".target", target.gpu),
        (".address_size", "64"),
    ] {
        let found = statements.iter().filter(|s| s.opcode() == directive);
        let (line, what) = match found.collect::<Vec<_>>()[..] {
            [one] if one.operands() == value => continue,
            [] => (1, format!("no {directive}")),
            [.., last] => {
                let what = format!("{} is not {directive} {value}, once", last.text);
                (last.line, what)
            }
        };
        findings.push(Finding { line, what });
    }
    findings
}

fn instruction(statement: &Statement, defined: &BTreeSet<String>) -> Option<String> {
    let opcode = statement.opcode();
    let base = opcode.split('.').next().unwrap_or("");
    let any = |parts: &[&str]| parts.iter().any(|p| statement.has(p));
    let why = match base {
        "trap" | "brkpt" => {
            "ends the whole CUDA context; a panic becomes this, such as that of an index or of a \
             division or remainder by a variable: use `get`, `checked_div`, `checked_rem`"
        }
        "membar" => "names no order: use fence with an order and a scope",
        _ if any(&["sys"]) => "is system-scoped",
        "ld" | "st" if any(&["volatile"]) => "is volatile, which is relaxed at system scope",
        "atom" | "red" if !any(&["relaxed", "acquire", "release", "acq_rel"]) => "names no order",
        "fence" if !any(&["acq_rel", "sc"]) => "names no order",
        "atom" | "red" | "fence" if !any(&["gpu", "cta"]) => "names no scope of gpu or cta",
        "call" => return call(statement, defined),
        _ => return None,
    };
    Some(format!("`{opcode}` {why}"))
}

/// What is wrong with a call: it must name a function that this file defines.
fn call(statement: &Statement, defined: &BTreeSet<String>) -> Option<String> {
    let operands = statement.operands();
    // `call (result), name, (arguments)` or `call name, (arguments)`.
    let result = operands.strip_prefix('(');
    let result = result.and_then(|rest| rest.split_once("), "));
    let behind = result.map_or(operands, |(_, behind)| behind);
    let name = behind.split([',', ' ']).next().unwrap_or("");
    let wrong = || format!("a call of `{name}`, which this file does not define");
    (!defined.contains(name)).then(wrong)
}

fn defined_functions(text: &str) -> BTreeSet<String> {
    let Ok(module) = Module::parse(text) else {
        return BTreeSet::new();
    };
    let functions = module.items.iter().filter(|i| i.kind == Kind::Function);
    let defined = functions.filter(|i| blank_comments(i.text).contains('{'));
    defined.map(|i| i.name.to_owned()).collect()
}

/// The instructions of an entry that touch memory, other lanes, control flow or a special register, in order:
/// the mnemonic, and the register's name. What only moves or computes registers, loads parameters or converts
/// an address is left out; whatever is not known to do just that is kept. `None` if there is no such entry.
pub fn effects(text: &str, entry: &str) -> Option<Vec<String>> {
    let module = Module::parse(text).ok()?;
    let is_it = |i: &&Item<'_>| i.kind == Kind::Entry && i.name == entry;
    let (_, body) = module.items.iter().find(is_it)?.text.split_once('{')?;
    let statements = statements(body);
    let instructions = statements.iter().filter(|s| !s.is_directive());
    Some(instructions.filter_map(effect).collect())
}

fn effect(statement: &Statement) -> Option<String> {
    const PURE: &str = "add and cvt max min mul not or selp setp shl shr sub";
    let opcode = statement.opcode();
    let base = opcode.split('.').next().unwrap_or("");
    let mut moves = ["ld.param.", "cvta.to.global."].iter();
    let moves = moves.any(|first| opcode.starts_with(first));
    if opcode == "ret" || moves || PURE.split(' ').any(|pure| pure == base) {
        return None;
    }
    if base == "mov" {
        // Of several in braces the last: all are of one kind.
        let source = statement.operands().rsplit(", ").next().unwrap_or("");
        let source = source.trim_matches(['{', '}']);
        let name = source
            .strip_prefix('%')?
            .trim_end_matches(|c: char| c.is_ascii_digit());
        // The machine's register, and not one that LLVM allocated.
        let is_special = !["p", "rs", "r", "rd"].contains(&name);
        return is_special.then(|| format!("{opcode} {source}"));
    }
    Some(opcode.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "// rustc 1.96.0, LLVM 22.1.8; built by cargo xtask ptx\n.version 7.0\n.target sm_70\n.address_size 64\n\n.func f()\n{\n\tret;\n}\n.visible .entry a()\n{\n\t.local .align 8 .b8 __local_depot[16];\n\tatom.acquire.gpu.global.cas.b32 %r1, [%rd1], %r2, %r3;\n\tfence.acq_rel.gpu;\n\tcall.uni f, ();\n\tmov.u32 %r9, %tid.x;\n\tmov.b32 %r9, %r8;\n\tret;\n}\n";

    #[test]
    fn a_good_file_passes() {
        assert_eq!(shipped(GOOD), []);
        assert_eq!(local_frames(GOOD), [(12, 16)]);
        let version = "rustc 1.96.0, LLVM 22.1.8; built by cargo xtask ptx";
        assert_eq!(recorded_version(GOOD), Some(version));
    }

    #[test]
    fn each_broken_instruction_is_found_on_its_line() {
        let bytes = LOCAL_BYTES_MAX + 1;
        let large = format!(".local .align 8 .b8 __local_depot[{bytes}];");
        for line in include_str!("rules.txt").lines().chain([&large[..]]) {
            let text = GOOD.replace("fence.acq_rel.gpu;", line);
            let findings = shipped(&text);
            assert_eq!(findings.len(), 1, "{line}: {findings:?}");
            assert_eq!(findings[0].line, 14, "{line}");
        }
    }

    #[test]
    fn a_declared_but_undefined_function_is_found() {
        let text = GOOD.replace(".func f()\n{\n\tret;\n}\n", ".extern .func f();\n");
        assert_eq!(shipped(&text).len(), 2, "the declaration and the call");
    }

    #[test]
    fn each_line_of_the_header_counts() {
        for (old, new) in [
            ("7.0", "7.8"),
            ("sm_70", "sm_75"),
            ("size 64", "size 32"),
            ("// rustc", "// made by"),
            (".target sm_70\n", ""),
        ] {
            assert_eq!(shipped(&GOOD.replacen(old, new, 1)).len(), 1, "{old}");
        }
    }

    #[test]
    fn accesses_of_128_bits_need_a_newer_gpu_and_nothing_else_does() {
        let wide = GOOD.replace(
            "fence.acq_rel.gpu;",
            "{ .reg .b128 v; ld.relaxed.gpu.global.b128 v, [%rd1];\n\tmov.b128 {%rd2, %rd3}, v; mov.b128 v, {%rd4, %rd5}; }",
        );
        assert_eq!(shipped(&wide).len(), 2, "version and target");
        let newer = |text: &str| text.replace("7.0", "8.3").replace("sm_70", "sm_90");
        assert_eq!(shipped(&newer(&wide)), []);
        assert_eq!(shipped(&newer(GOOD)).len(), 2);
        let effects = effects(&wide, "a").unwrap();
        let expected = ["ld.relaxed.gpu.global.b128", "call.uni"];
        assert_eq!(effects[1..3], expected, "{effects:?}");
    }

    #[test]
    fn effects_keep_what_is_not_plainly_pure() {
        let expected =
            "atom.acquire.gpu.global.cas.b32; fence.acq_rel.gpu; call.uni; mov.u32 %tid.x";
        assert_eq!(effects(GOOD, "a").unwrap().join("; "), expected);
        assert_eq!(effects(GOOD, "b"), None);
    }
}
