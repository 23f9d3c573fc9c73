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

/// What the host passes to a kernel: one value, of these names and types as far as they are known.
#[derive(Clone, Copy)]
pub(crate) struct Passed {
    names: &'static str,
    shape: Shape,
}

impl Passed {
    pub(crate) const fn to<K: Kernel>() -> Self {
        let (bytes, align) = (size_of::<K::Params>(), align_of::<K::Params>());
        let (names, shape) = (K::PARAMETERS, Shape { bytes, align });
        Self { names, shape }
    }

    /// Does what [`check_parameters`] does, compiled once for all kernels.
    pub(crate) fn check(self, ptx: &str, entry: &str) -> Result {
        check_names(self.names, ptx, entry)?;
        self.shape.check(ptx, entry)
    }
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
        let Some(list) = declared(ptx, entry) else {
            return Ok(());
        };
        let found = match list[..] {
            [] => Self { bytes: 0, align: 1 },
            [one] => parameter(one),
            _ => {
                return Err(Error::OtherParameters {
                    entry: entry.to_owned(),
                    built: list.join(", "),
                    passed: "one, by value",
                });
            }
        };
        // An empty struct is no parameter at all.
        if found == self || (found.bytes, self.bytes) == (0, 0) {
            return Ok(());
        }
        Err(Error::StalePtx {
            entry: entry.to_owned(),
            declared: found.bytes,
            declared_align: found.align,
            passed: self.bytes,
            passed_align: self.align,
        })
    }
}

/// Returns the parameters of an entry point, or `None` if the text has no such entry point.
fn declared<'a>(ptx: &'a str, entry: &str) -> Option<Vec<&'a str>> {
    let list = ptx.match_indices(".entry").find_map(|(at, word)| {
        let rest = ptx[at + word.len()..].trim_start().strip_prefix(entry)?;
        let list = rest.trim_start();
        // Nothing else follows the name, so that it is the whole name.
        if list.starts_with('{') || rest.starts_with('.') {
            return Some("");
        }
        list.strip_prefix('(')?.split(')').next()
    })?;
    let parameters = list.split(',').map(str::trim);
    Some(parameters.filter(|p| !p.is_empty()).collect())
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
/// does: [`Error::StalePtx`] is another size or alignment, [`Error::OtherParameters`] are other names or types,
/// or several parameters.
pub fn check_parameters<K: Kernel>(ptx: &str, entry: &str) -> Result {
    Passed::to::<K>().check(ptx, entry)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    const PTX: &str = include_str!("parameters.txt");

    #[test]
    fn ptx_with_other_parameters_than_the_text_declares_is_refused_and_named() {
        for (entry, bytes, align, many) in [
            ("pay", 56, 8, Some(1)),
            ("pay_more", 72, 8, Some(1)),
            ("one", 8, 8, Some(1)),
            ("nothing", 0, 1, Some(0)),
            ("bare", 0, 1, Some(0)),
            ("pa", 5, 1, None),
            ("more", 5, 1, None),
        ] {
            let found = declared(PTX, entry).map(|list| list.len());
            assert_eq!(found, many, "{entry}");
            Shape { bytes, align }.check(PTX, entry).unwrap();
        }
        for (bytes, align) in [(64, 8), (56, 16), (0, 1)] {
            let error = Shape { bytes, align }.check(PTX, "pay").unwrap_err();
            let (error, bytes) = (error.to_string(), bytes.to_string());
            let named = ["pay", "56", &bytes].map(|part| error.contains(part));
            assert_eq!(named, [true; 3], "{error}");
        }
        // Together they have the size of what is passed, but it is one value that is.
        let error = Shape {
            bytes: 28,
            align: 8,
        }
        .check(PTX, "some")
        .unwrap_err();
        let several = "(.param .u32 a, .param .u64 b, .param .align 4 .b8 c[12])";
        assert!(error.to_string().contains(several), "{error}");
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
