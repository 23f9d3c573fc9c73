//! PTX as statements: comments gone, labels and predicates taken off.

use std::collections::BTreeSet;

/// One instruction or directive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// Line on which it starts, counted from 1.
    pub line: usize,
    /// Its text without label, predicate and the closing semicolon, with single spaces.
    pub text: String,
}

impl Statement {
    /// The first word: the mnemonic with all its modifiers, or a directive.
    pub fn opcode(&self) -> &str {
        self.text.split(' ').next().unwrap_or("")
    }

    /// What follows the opcode.
    pub fn operands(&self) -> &str {
        self.text.split_once(' ').map_or("", |(_, rest)| rest)
    }

    /// Whether this is a directive (`.reg`, `.param`, …) and not an instruction.
    pub fn is_directive(&self) -> bool {
        self.text.starts_with('.') || self.text.starts_with(')')
    }

    /// Whether the opcode has `part` between its dots.
    pub fn has(&self, part: &str) -> bool {
        self.opcode().split('.').any(|p| p == part)
    }
}

/// `text` with a space for each character of a comment or string literal, so that offsets and lines stay.
pub fn blank_comments(text: &str) -> String {
    const BLANKED: [(&str, &str); 3] = [("//", "\n"), ("/*", "*/"), ("\"", "\"")];
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['/', '"']) {
        let begins = |(open, _): &&(&str, &str)| rest[at..].starts_with(open);
        let Some((open, close)) = BLANKED.iter().find(begins) else {
            out.push_str(&rest[..=at]);
            rest = &rest[at + 1..];
            continue;
        };
        let from = at + open.len();
        let end = rest[from..].find(close);
        let end = end.map_or(rest.len(), |length| from + length + close.len());
        out.push_str(&rest[..at]);
        let blank = |byte| if byte == b'\n' { '\n' } else { ' ' };
        out.extend(rest[at..end].bytes().map(blank));
        rest = &rest[end..];
    }
    out + rest
}

/// The statements of `text` in order, among them the header's directives, which end with their line.
pub fn statements(text: &str) -> Vec<Statement> {
    let blanked = blank_comments(text);
    let mut found = Vec::new();
    let mut current = String::new();
    let mut start = 1;
    for (index, line) in blanked.lines().enumerate() {
        let mut header = [".version", ".target", ".address_size"].iter();
        let is_header = header.any(|d| line.trim_start().starts_with(d));
        let end = if is_header { ';' } else { ' ' };
        let mut chars = line.chars().chain([end]).peekable();
        while let Some(c) = chars.next() {
            if current.trim().is_empty() {
                start = index + 1;
            }
            match c {
                // The registers of a vector, or of two halves, are in braces too.
                '{' if is_instruction(&current) => current.push(c),
                '}' if current.contains('{') => current.push(c),
                ';' | '{' | '}' => push(&mut found, start, &mut current),
                // As in `.shared::cluster`.
                ':' if chars.next_if_eq(&':').is_some() => current.push_str("::"),
                // A label.
                ':' => current.clear(),
                _ => current.push(c),
            }
        }
    }
    push(&mut found, start, &mut current);
    found
}

/// Whether a brace behind this text is an operand's: behind a mnemonic, and not the head of a function.
fn is_instruction(text: &str) -> bool {
    let mnemonic = text.split_whitespace().find(|word| !word.starts_with('@'));
    mnemonic.is_some_and(|word| word.starts_with(|c: char| c.is_ascii_lowercase()))
}

fn push(found: &mut Vec<Statement>, line: usize, current: &mut String) {
    let mut words: Vec<&str> = current.split_whitespace().collect();
    if words.first().is_some_and(|w| w.starts_with('@')) {
        words.remove(0);
    }
    if !words.is_empty() {
        let text = words.join(" ");
        found.push(Statement { line, text });
    }
    current.clear();
}

/// The identifiers of `text` without comments: symbols, registers, parameters and parts of mnemonics.
pub fn identifiers(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !is_identifier(c));
    words.filter(|word| !word.is_empty()).collect()
}

/// Whether `c` can stand in a PTX identifier.
pub fn is_identifier(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_predicates_comments_and_line_breaks_are_taken_off() {
        let text = "$L__BB_1:\n\t@!%p1 bra \t$L__BB_2; // then; more\n/* a;\nb */ st.global.b32 [%rd1],\n %r1;";
        let texts = statements(text).into_iter().map(|s| (s.line, s.text));
        let expected = [(2, "bra $L__BB_2"), (4, "st.global.b32 [%rd1], %r1")];
        assert!(texts.eq(expected.map(|(line, text)| (line, text.to_owned()))));
    }

    #[test]
    fn two_colons_are_a_part_of_a_mnemonic_and_no_label() {
        let text = "$L__BB_1: @%p1 ld.relaxed.cluster.shared::cluster.b64 %rd1, [at];";
        let statement = &statements(text)[0];
        assert_eq!(statement.opcode(), "ld.relaxed.cluster.shared::cluster.b64");
        assert!(statement.has("cluster") && statement.has("shared::cluster"));
    }

    #[test]
    fn braces_of_operands_are_part_of_their_instruction() {
        let text = ".func f()\n{\n\t{ .reg .b128 v; @%p1 mov.b128 {%rd1,\n %rd2}, v; }\n\tret;\n}\n.visible .entry a(\n)\n{ exit; }";
        let texts: Vec<String> = statements(text).into_iter().map(|s| s.text).collect();
        let expected =
            ".func f();.reg .b128 v;mov.b128 {%rd1, %rd2}, v;ret;.visible .entry a( );exit";
        assert_eq!(texts.join(";"), expected);
    }

    #[test]
    fn blanking_keeps_offsets_and_hides_strings() {
        let text = ".pragma \"a{;ü\"; // }\nret;";
        let blanked = blank_comments(text);
        assert_eq!(blanked.len(), text.len());
        assert_eq!(blanked.find("ret"), text.find("ret"));
        assert!(!blanked.contains(['{', '}', 'ü']));
    }

    #[test]
    fn parts_of_an_opcode_are_told_apart() {
        let statement = &statements("atom.relaxed.gpu.global.add.u32 %r1, [%rd1], %r2;")[0];
        assert!(statement.has("gpu") && !statement.has("glob"));
        assert_eq!(statement.operands(), "%r1, [%rd1], %r2");
    }
}
