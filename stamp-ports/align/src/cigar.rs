//! An alignment as text: short, and letter above letter.

use super::align::Op;
use std::fmt::Write as _;

/// Returns an alignment in CIGAR: runs of equal letters (`=`), of other pairs (`X`), of
/// letters of A alone (`I`) and of B alone (`D`), each with its length. `a` and `b` are codes,
/// as a T and a U may be equal.
pub fn cigar(ops: &[Op], a: &[u8], b: &[u8]) -> String {
    let mut text = String::new();
    let mut run: Option<(char, usize)> = None;
    for (symbol, ..) in columns(ops, a, b) {
        match &mut run {
            Some((same, length)) if *same == symbol => *length += 1,
            _ => {
                write_run(&mut text, run);
                run = Some((symbol, 1));
            }
        }
    }
    write_run(&mut text, run);
    text
}

fn write_run(text: &mut String, run: Option<(char, usize)>) {
    if let Some((symbol, length)) = run {
        // Writing to a String cannot fail.
        let _ = write!(text, "{length}{symbol}");
    }
}

/// A column of an alignment: the symbol, and a letter or a gap of each sequence.
type Column = (char, Option<u8>, Option<u8>);

/// The columns of an alignment.
fn columns<'x>(ops: &'x [Op], a: &'x [u8], b: &'x [u8]) -> impl Iterator<Item = Column> + 'x {
    let (mut a, mut b) = (a.iter().copied(), b.iter().copied());
    ops.iter().map(move |op| match op {
        Op::Pair => {
            let (x, y) = (a.next(), b.next());
            (if x == y { '=' } else { 'X' }, x, y)
        }
        Op::OnlyA => ('I', a.next(), None),
        Op::OnlyB => ('D', None, b.next()),
    })
}

/// The longest name that stands before a line whole.
const NAME_MAX: usize = 24;

/// Returns a name, or its beginning if it is long.
fn label(name: &str) -> String {
    if name.chars().count() <= NAME_MAX {
        return name.to_owned();
    }
    let kept = name.chars().take(NAME_MAX - 3);
    kept.chain("...".chars()).collect()
}

/// A sequence of an alignment.
#[derive(Clone, Copy, Debug)]
pub struct Side<'x> {
    /// Its name.
    pub name: &'x str,
    /// Its letters.
    pub letters: &'x [u8],
    /// Their codes, as many.
    pub codes: &'x [u8],
}

/// Returns an alignment for people: lines of `width` columns, each with the places of its
/// first and last letters, and `|` between letters that are equal. Long names are cut.
pub fn lines(ops: &[Op], of_a: &Side<'_>, of_b: &Side<'_>, width: usize) -> String {
    let (a, b) = (of_a.letters, of_b.letters);
    let (name_a, name_b) = (label(of_a.name), label(of_b.name));
    let equal = columns(ops, of_a.codes, of_b.codes).map(|column| column.0);
    let shown = columns(ops, a, b).zip(equal);
    let columns: Vec<Column> = shown.map(|((_, x, y), symbol)| (symbol, x, y)).collect();
    let names = name_a.chars().count().max(name_b.chars().count());
    let digits = a.len().max(b.len()).to_string().len();
    let (mut at_a, mut at_b) = (0, 0);
    let mut text = String::new();
    for chunk in columns.chunks(width.max(1)) {
        let row = |side: fn(&Column) -> Option<u8>| -> String {
            chunk
                .iter()
                .map(|c| side(c).map_or('-', char::from))
                .collect()
        };
        let (above, under) = (row(|c| c.1), row(|c| c.2));
        let marks: String = chunk
            .iter()
            .map(|c| if c.0 == '=' { '|' } else { ' ' })
            .collect();
        let (ends_a, ends_b) = (
            at_a + chunk.iter().filter(|c| c.1.is_some()).count(),
            at_b + chunk.iter().filter(|c| c.2.is_some()).count(),
        );
        let first = |from: usize, to: usize| if to > from { from + 1 } else { from };
        if !text.is_empty() {
            text.push('\n');
        }
        let _ = writeln!(
            text,
            "{name_a:names$} {:>digits$} {above} {ends_a}",
            first(at_a, ends_a)
        );
        let _ = writeln!(text, "{:names$} {:digits$} {}", "", "", marks.trim_end());
        let _ = writeln!(
            text,
            "{name_b:names$} {:>digits$} {under} {ends_b}",
            first(at_b, ends_b)
        );
        (at_a, at_b) = (ends_a, ends_b);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use Op::{OnlyA, OnlyB, Pair};

    const OPS: [Op; 7] = [Pair, Pair, OnlyA, Pair, OnlyB, OnlyB, Pair];

    #[test]
    fn runs_are_counted() {
        assert_eq!(cigar(&OPS, b"ACGTA", b"ACCGGA"), "2=1I1X2D1=");
        assert_eq!(cigar(&[], b"", b""), "");
    }

    #[test]
    fn people_see_letters_above_letters_and_places() {
        let side = |name, letters, codes| Side {
            name,
            letters,
            codes,
        };
        let a = side("a", b"ACGTA", b"ACGTA");
        let text = lines(&OPS, &a, &side("bb", b"ACCGGA", b"ACCGGA"), 4);
        let right = "a  1 ACGT 4\n     ||\nbb 1 AC-C 3\n\na  5 --A 5\n       |\nbb 4 GGA 6\n";
        assert_eq!(text, right);
    }

    #[test]
    fn codes_say_what_is_equal_and_long_names_are_cut() {
        let long = "n".repeat(120);
        let side = |name, letters| Side {
            name,
            letters,
            codes: &[0, 1],
        };
        let text = lines(&[Pair, Pair], &side(&long, b"AT"), &side("b", b"AU"), 60);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], format!("{}... 1 AT 2", "n".repeat(21)));
        assert_eq!(lines[1].trim(), "||");
        assert_eq!(lines[0].find("AT"), lines[2].find("AU"));
    }
}
