//! The comparison of a kernel's parameters as its PTX declares them with those that the host passes. The
//! driver copies as many bytes as the PTX declares, so PTX of other sources would run with other values,
//! unnoticed. Size and alignment are in the text; that of `#[kernel]` has names and types as well, so that an
//! exchange of two parameters of one size shows too.

use crate::host::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    bytes: usize,
    align: usize,
}

/// What the second line of a text begins with that records its parameters.
const PARAMETERS: &str = "// parameters: ";

/// Compares the names and types of the parameters with those that the text records, if both are known.
fn check_names(passed: &'static str, ptx: &str, entry: &str) -> Result {
    let second = ptx.lines().nth(1);
    match second.and_then(|line| line.strip_prefix(PARAMETERS)) {
        Some(built) if !passed.is_empty() && built != passed => Err(Error::OtherParameters {
            entry: entry.to_owned(),
            built: built.to_owned(),
            passed,
        }),
        _ => Ok(()),
    }
}

impl Shape {
    /// Compares the shape with that of an entry point in the text. If it has none, the driver says so.
    fn check(self, ptx: &str, entry: &str) -> Result {
        match declared(ptx, entry) {
            // An empty struct is no parameter at all.
            Some(Self { bytes: 0, .. }) if self.bytes == 0 => Ok(()),
            Some(found) if found != self => Err(Error::StalePtx {
                entry: entry.to_owned(),
                declared: found.bytes,
                declared_align: found.align,
                passed: self.bytes,
                passed_align: self.align,
            }),
            _ => Ok(()),
        }
    }
}

/// Returns the shape of all parameters of an entry point, or `None` if the text has no such entry point.
fn declared(ptx: &str, entry: &str) -> Option<Shape> {
    let list = ptx.match_indices(".entry").find_map(|(at, word)| {
        let rest = ptx[at + word.len()..].trim_start().strip_prefix(entry)?;
        let list = rest.trim_start();
        // Nothing else follows the name, so that it is the whole name.
        if list.starts_with('{') || rest.starts_with('.') {
            return Some("");
        }
        list.strip_prefix('(')?.split(')').next()
    })?;
    let none = Shape { bytes: 0, align: 1 };
    let parameters = list.split(',').map(str::trim).filter(|p| !p.is_empty());
    Some(parameters.map(parameter).fold(none, |sum, one| Shape {
        bytes: sum.bytes.next_multiple_of(one.align) + one.bytes,
        align: sum.align.max(one.align),
    }))
}

/// Returns the shape of one parameter, such as `.param .align 8 .b8 name[56]` or `.param .u64 name`.
fn parameter(text: &str) -> Shape {
    let mut words = text.split_whitespace();
    let (mut unit, mut align) = (1, None);
    while let Some(word) = words.next() {
        if word == ".align" {
            align = words.next().and_then(|n| n.parse().ok());
        } else if let Some(ty) = word.strip_prefix('.')
            && let Ok(bits) = ty.trim_matches(char::is_alphabetic).parse::<usize>()
        {
            unit = bits / 8;
        }
    }
    let count = (text.split_once('[')).and_then(|(_, rest)| rest.trim_end().strip_suffix(']'));
    let count = count.map_or(Some(1), |n| n.trim().parse().ok());
    let (bytes, align) = (unit * count.unwrap_or(0), align.unwrap_or(unit).max(1));
    Shape { bytes, align }
}

/// Checks that an entry point's PTX declares the parameters that the host passes to `K`, as a launch on a GPU
/// does: [`Error::StalePtx`] is another size or alignment, [`Error::OtherParameters`] are other names or types.
pub fn check_parameters<K: Kernel>(ptx: &str, entry: &str) -> Result {
    check_names(K::PARAMETERS, ptx, entry)?;
    let (bytes, align) = (size_of::<K::Params>(), align_of::<K::Params>());
    Shape { bytes, align }.check(ptx, entry)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    const PTX: &str = include_str!("parameters.txt");

    #[test]
    fn ptx_with_other_parameters_than_the_text_declares_is_refused_and_named() {
        let shape = |bytes, align| Some(Shape { bytes, align });
        for (entry, expected) in [
            ("pay", shape(56, 8)),
            ("pay_more", shape(72, 8)),
            ("one", shape(8, 8)),
            ("some", shape(28, 8)),
            ("nothing", shape(0, 1)),
            ("bare", shape(0, 1)),
            ("pa", None),
            ("more", None),
        ] {
            assert_eq!(declared(PTX, entry), expected, "{entry}");
            let passed = expected.unwrap_or(Shape { bytes: 5, align: 1 });
            passed.check(PTX, entry).unwrap();
        }
        for (bytes, align) in [(64, 8), (56, 16), (0, 1)] {
            let error = Shape { bytes, align }.check(PTX, "pay").unwrap_err();
            let (error, bytes) = (error.to_string(), bytes.to_string());
            let named = ["pay", "56", &bytes].map(|part| error.contains(part));
            assert_eq!(named, [true; 3], "{error}");
        }
    }

    #[test]
    fn an_exchange_of_two_parameters_is_refused_by_their_names() {
        let text = "// rustc 1.96.0\n// parameters: a:u32,b:u32\n.version 7.0\n";
        check_names("a:u32,b:u32", text, "pay").unwrap();
        check_names("", text, "pay").unwrap();
        check_names("b:u32,a:u32", PTX, "pay").unwrap();
        let error = check_names("b:u32,a:u32", text, "pay").unwrap_err();
        let error = error.to_string();
        for part in ["pay", "a:u32,b:u32", "b:u32,a:u32"] {
            assert!(error.contains(part), "{error}");
        }
    }
}
