//! STAMP's format of points: a line of text for each, its number and then its
//! coordinates, separated by blanks, tabs or commas. The number means nothing.
//!
//! STAMP reads what `atof` makes of it; here every character must make sense.
//! A file that breaks off inside a line is found by its missing line break.

use super::points::{MAGNITUDE_MAX, Points};
use crate::error::Result;
use crate::workloads::input::{Lines, bad_input, quoted};
use std::fmt::Write as _;
use std::path::Path;

/// What a line should be.
const EXPECTED: &str = "a point's number and its coordinates";

/// What its lines are.
const LINES: Lines = Lines {
    bytes_max: 1 << 20,
    expected: EXPECTED,
    has_comments: false,
};

/// Reads a file of points.
///
/// # Errors
/// [`Error::Unreadable`](crate::Error::Unreadable);
/// [`Error::BadInput`](crate::Error::BadInput) with the line and what was expected there.
pub fn read(path: &Path) -> Result<Points> {
    let (mut values, mut dims) = (Vec::new(), None);
    LINES.read(path, |text, line| {
        match (point(text, &mut values)?, dims) {
            (0, _) => {}
            (count, None) => dims = Some((count, line)),
            (count, Some((first, at))) => wrong! {
                count != first => "{count} coordinates: expected {first}, as in line {at}";
            },
        }
        Ok(())
    })?;
    let none = || format!("the file has no points: expected {EXPECTED} on each line");
    let (dims, _) = dims.ok_or_else(|| bad_input(path, (1, none())))?;
    Ok(Points::new(dims, values))
}

/// Reads a line and appends its coordinates. Returns how many there are, 0 for a blank line.
fn point(text: &str, values: &mut Vec<f32>) -> Result<usize, String> {
    let mut words = text
        .split(|c: char| c.is_ascii_whitespace() || c == ',')
        .filter(|word| !word.is_empty());
    let Some(number) = words.next() else {
        return Ok(0);
    };
    wrong! {
        number.parse::<u64>().is_err() =>
            "{} is no point's number: expected a whole number, then coordinates", quoted(number);
    }
    let before = values.len();
    for (word, k) in words.zip(1..) {
        let x: f32 = word
            .parse()
            .ok()
            .filter(|x: &f32| !x.is_nan())
            .ok_or_else(|| format!("coordinate {k} is {}: expected a number", quoted(word)))?;
        wrong! {
            x.abs() > MAGNITUDE_MAX =>
                "coordinate {k} is {}: expected a number of magnitude {MAGNITUDE_MAX:e} or less",
                quoted(word);
        }
        values.push(x);
    }
    match values.len() - before {
        0 => Err(format!(
            "point {number} has no coordinates: expected one or more after its number"
        )),
        count => Ok(count),
    }
}

/// The text of a file of these points. Read again, it gives the same bits.
pub fn text(points: &Points) -> String {
    let mut text = String::new();
    for (point, number) in points.iter().zip(1u64..) {
        // Writing to a String cannot fail.
        let _ = write!(text, "{number}");
        for x in point {
            let _ = write!(text, " {x}");
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::has;
    use std::fs;

    fn of(bytes: &[u8]) -> Result<Points> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("points.txt");
        fs::write(&path, bytes).unwrap();
        read(&path)
    }

    fn refused(bytes: &[u8], line: u64, parts: &str) {
        let text = of(bytes).unwrap_err().to_string();
        assert!(!text.contains('\n'), "{text}");
        let place = format!("points.txt, line {line}: ");
        assert!(text.contains(&place), "{text} lacks {place}");
        has(&text, parts);
    }

    #[test]
    fn what_is_written_is_read_again_bit_for_bit() {
        let points = Points::generate(3, 300, 7, 5);
        assert_eq!(of(text(&points).as_bytes()).unwrap(), points);
    }

    #[test]
    fn blanks_tabs_commas_blank_lines_and_carriage_returns_are_read_as_stamp_reads_them() {
        let points = of(b"1 0.5 -2e3\n\n 7,\t+1.25, 4\r\n9\t1\t2 \n").unwrap();
        assert_eq!(
            points,
            Points::new(2, vec![0.5, -2000.0, 1.25, 4.0, 1.0, 2.0])
        );
    }

    #[test]
    fn truncated_files_are_refused_with_the_line() {
        refused(b"", 1, "no points | expected a point's number");
        refused(b"\n\n", 1, "no points");
        refused(b"1 2 3\n2 4 5", 2, "ends inside | line break");
        refused(b"1 2 3\n2 4\n", 2, "1 coordinates | expected 2 | line 1");
        refused(b"1 2 3\n2\n", 2, "point 2 has no coordinates");
    }

    #[test]
    fn every_truncation_of_a_file_is_refused_unless_whole_lines_are_left() {
        let whole = text(&Points::generate(3, 4, 3, 2));
        for len in 0..whole.len() {
            let part = &whole.as_bytes()[..len];
            let lines = part.last() == Some(&b'\n');
            assert_eq!(of(part).is_ok(), lines, "{len} bytes");
        }
    }

    #[test]
    fn ragged_lines_are_refused_with_both_lengths() {
        refused(
            b"\n1 2 3\n2 4 5\n3 6 7 8\n",
            4,
            "3 coordinates | expected 2 | line 2",
        );
    }

    #[test]
    fn what_is_no_finite_number_is_refused() {
        let (number, small) = ("expected a number", "1e15 or less");
        for (bad, said) in [
            ("nan NaN -nan", number),
            ("inf -inf infinity 1e39 -2e15", small),
            ("0x10 1.2.3 --1 1e abc 1;2", number),
        ] {
            for bad in bad.split(' ') {
                let file = format!("1 0 0\n2 0 {bad}\n");
                let parts = format!("coordinate 2 | {bad} | {said}");
                refused(file.as_bytes(), 2, &parts);
            }
        }
        refused(b"x 1 2\n", 1, "\"x\" is no point's number");
        refused(b"0.5 1 2\n", 1, "\"0.5\" is no point's number");
    }

    #[test]
    fn binary_rubbish_is_refused_with_line_and_column() {
        refused(b"1 2 3\n2 \x004 5\n", 2, "0x00 | column 3");
        refused(b"\x7fELF\x02\x01", 1, "0x7f | column 1 | no plain text");
        refused("1 2 3\n2 4 ½\n".as_bytes(), 2, "0xc2 | column 5");
        let long = vec![b'1'; LINES.bytes_max as usize + 1];
        refused(&long, 1, "too long");
        let mut number = b"1 ".to_vec();
        number.extend([b'z'; 5000]);
        number.push(b'\n');
        refused(&number, 1, "zzz... | expected a number");
    }

    #[test]
    fn a_file_that_cannot_be_opened_is_named() {
        let error = read(Path::new("no/such/file.txt")).unwrap_err();
        assert_eq!(error.status(), 2);
        assert!(error.to_string().contains("no/such/file.txt"), "{error}");
        assert!(read(Path::new(".")).is_err());
    }
}
