//! Shortens the numbers of registers and labels. LLVM numbers the registers of an entry by their definitions,
//! so code that stands in two texts has other numbers in each, and its repetition is hidden. As distances
//! from the last definition in their class, most are the same. What was defined long ago keeps its number,
//! since it is used again and again. `%r12` becomes `%r+1` where `%r11` was defined last, `%r-3` where `%r15`
//! was, and stays `%r12` where that is `FAR` away. Reading goes through the text in the same order, so it
//! knows the same last ones.

use std::collections::BTreeMap;
use std::ops::Range;

/// Definitions back from which a number stays as it is.
#[cfg(feature = "pack")]
const FAR: i64 = 20;

const DEFINES_NOTHING: [&str; 4] = ["st", "bra", "bar", "red"];

#[cfg(feature = "pack")]
pub(crate) fn shortened(text: &str) -> String {
    walk(text, &|number, last| {
        let number = number.parse::<i64>().ok()?;
        let distance = number.checked_sub(last)?;
        let short = (distance >= -FAR).then(|| format!("{distance:+}"));
        Some((number, short.unwrap_or_else(|| number.to_string())))
    })
    // A number of more than 64 bits: it is no text of a compiler.
    .unwrap_or_else(|| text.to_owned())
}

/// Reverses `shortened`; nothing if a number cannot be one.
pub(crate) fn restored(text: &str) -> Option<String> {
    walk(text, &|number, last| {
        let value: i64 = number.parse().ok()?;
        let is_distance = number.starts_with(['+', '-']);
        let number = value.checked_add(if is_distance { last } else { 0 })?;
        Some((number, number.to_string()))
    })
}

/// Returns a number's value and what to write for it, given it and the one defined last in its class.
type Turned = dyn Fn(&str, i64) -> Option<(i64, String)>;

fn walk(text: &str, turned: &Turned) -> Option<String> {
    let mut written = String::with_capacity(text.len());
    // The number that was defined last, for each class.
    let mut last: BTreeMap<&str, i64> = BTreeMap::new();
    for line in text.split_inclusive('\n') {
        if line.contains(".entry ") || line.contains(".func ") {
            last.clear();
        }
        let definition = definition(line);
        let mut defined = None;
        let mut rest = line;
        let mut count = 0;
        while let Some((class, number)) = next(rest) {
            let class = &rest[class];
            let before = last.get(class).copied().unwrap_or(0);
            let (value, short) = turned(&rest[number.clone()], before)?;
            written.push_str(&rest[..number.start]);
            written.push_str(&short);
            if definition == Some(count) {
                defined = Some((class, value));
            }
            count += 1;
            rest = &rest[number.end..];
        }
        written.push_str(rest);
        // Only now, as the operands are read before.
        last.extend(defined);
    }
    Some(written)
}

/// Which of the numbers of a line is that of a definition: the first behind the predicate.
fn definition(line: &str) -> Option<usize> {
    if line.starts_with('$') {
        return Some(0);
    }
    let code = line.strip_prefix('\t')?;
    let (predicates, code) = match code.strip_prefix('@') {
        Some(predicated) => (1, predicated.split_once(' ')?.1),
        None => (0, code),
    };
    let nothing = DEFINES_NOTHING.iter().any(|start| code.starts_with(start));
    (!nothing).then_some(predicates)
}

/// Returns the places of the class and of the number, with its sign, of the next register or label.
fn next(text: &str) -> Option<(Range<usize>, Range<usize>)> {
    let bytes = text.as_bytes();
    let mut from = 0;
    loop {
        let start = from + text[from..].find(['%', '$'])?;
        let tail = &bytes[start + 1..];
        let letters = match tail.strip_prefix(b"L__BB") {
            _ if bytes[start] == b'%' => run(tail, u8::is_ascii_lowercase),
            Some(label) => {
                let function = run(label, u8::is_ascii_digit);
                let bar = label.get(function) == Some(&b'_');
                if bar { 6 + function } else { 0 }
            }
            None => 0,
        };
        let behind = &tail[letters..];
        let sign = usize::from(matches!(behind.first(), Some(b'+' | b'-')));
        let digits = run(&behind[sign..], u8::is_ascii_digit);
        if letters > 0 && digits > 0 {
            let end = start + 1 + letters;
            return Some((start..end, end..end + sign + digits));
        }
        from = start + 1;
    }
}

fn run(bytes: &[u8], is: fn(&u8) -> bool) -> usize {
    bytes.iter().take_while(|byte| is(byte)).count()
}

#[cfg(all(test, feature = "pack"))]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_distances_from_the_last_definition_of_their_class() {
        for (text, short) in [
            (
                "\tadd.s32 \t%r5, %r4, %r1;\n\tadd.s32 \t%r6, %r5, %rd5;\n",
                "\tadd.s32 \t%r+5, %r+4, %r+1;\n\tadd.s32 \t%r+1, %r+0, %rd+5;\n",
            ),
            // A store and a jump define nothing, a predicate is no definition.
            (
                "\tst.b32 \t[%rd9], %r2;\n\t@%p3 bra \t$L__BB_4;\n\t@%p3 mov.u32 \t%r2, %tid.x;\n$L__BB_4:\n\tbra \t$L__BB_5;\n",
                "\tst.b32 \t[%rd+9], %r+2;\n\t@%p+3 bra \t$L__BB_+4;\n\t@%p+3 mov.u32 \t%r+2, %tid.x;\n$L__BB_+4:\n\tbra \t$L__BB_+1;\n",
            ),
            // What is far away keeps its number.
            (
                "\tmov.u32 \t%r40, %r3;\n\tmov.u32 \t%r41, %r3;\n",
                "\tmov.u32 \t%r+40, %r+3;\n\tmov.u32 \t%r+1, %r3;\n",
            ),
            // Each entry begins anew, and what has no number is left alone.
            (
                "\tmov.u32 \t%r40, 1;\n.visible .entry a(\n\tmov.u32 \t%r1, %SPL;\n",
                "\tmov.u32 \t%r+40, 1;\n.visible .entry a(\n\tmov.u32 \t%r+1, %SPL;\n",
            ),
        ] {
            assert_eq!(shortened(text), short);
            assert_eq!(restored(short).as_deref(), Some(text));
        }
    }

    #[test]
    fn a_number_that_cannot_be_is_no_text() {
        assert_eq!(restored("%r99999999999999999999"), None);
        assert_eq!(restored("\tmov \t%r+9223372036854775807;\n%r+1"), None);
    }
}
