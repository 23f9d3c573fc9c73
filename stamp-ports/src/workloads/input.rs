//! What a workload works on, as a plain value: sizes that have defaults and can
//! be checked, and from which the workload itself is made.

use super::shared_options::{SharedOption, SharedOptions};
use crate::devices::DeviceKind;
use crate::error::{Error, Result};
use clap::Args;
use std::fmt::Debug;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// The occasion for which an input's defaults are sized.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Occasion {
    /// `stamp run` and `stamp tune`: the sizes of the paper's Table 1.
    Measurement,
    /// `stamp bench paper`: the transactions of the paper's Table 1, too.
    Paper,
    /// A run without arguments: as large, except for inputs that are run whole, which are small.
    Demonstration(DeviceKind),
    /// `bench floor`: as for a demonstration, in as few passes as will do.
    Floor(DeviceKind),
    /// `bench paper --quick`: small.
    Quick,
    /// `stamp record`: the records of a run fit a buffer, and its checker fits
    /// the host.
    Recording(DeviceKind),
}

impl Occasion {
    /// Whether an input that is run whole would take too long at the full size.
    pub const fn is_slow(self) -> bool {
        matches!(self, Self::Demonstration(_) | Self::Floor(DeviceKind::Cpu))
    }
}

/// Where data come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin<T> {
    /// They are drawn.
    Drawn(T),
    /// They are read from a file in STAMP's format.
    File(PathBuf),
}

impl<T> Origin<T> {
    /// Returns the origin that options ask for: the file, or what `draw` makes of the default.
    ///
    /// # Errors
    /// A file, and `given` an option for what is drawn, which errors call `drawn`.
    pub fn with(
        self,
        file: Option<&PathBuf>,
        drawn: &str,
        given: &[(&str, Option<u32>)],
        draw: impl FnOnce(T) -> T,
    ) -> Result<Self> {
        let Some(path) = file else {
            return Ok(match self {
                Self::Drawn(base) => Self::Drawn(draw(base)),
                Self::File(path) => Self::File(path),
            });
        };
        if let Some((option, value)) = given.iter().find_map(|&(o, v)| Some((o, v?))) {
            return Err(Error::Usage(format!(
                "{option} {value} is for {drawn}, and --input brings its own: leave one of them out"
            )));
        }
        Ok(Self::File(path.clone()))
    }
}

/// Returns the name of a file without its folder, which is nobody else's: the report may be
/// published.
pub fn file_name(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into()
}

/// The lines of a file of text that a workload reads. What breaks off inside a line is found by
/// its missing line break.
pub struct Lines {
    /// The longest line, in bytes: without a limit, rubbish could be one line as long as memory.
    pub bytes_max: u64,
    /// What a line is, for messages.
    pub expected: &'static str,
    /// Whether a line that begins with `#` may have anything in it.
    pub has_comments: bool,
}

impl Lines {
    /// Gives each line of a file, with its number, to `take`. Returns how many there are.
    ///
    /// # Errors
    /// [`Error::Unreadable`]; [`Error::BadInput`] with the first line that is no text or that
    /// `take` refuses.
    pub fn read(
        &self,
        path: &Path,
        mut take: impl FnMut(&str, u64) -> std::result::Result<(), String>,
    ) -> Result<u64> {
        let unreadable = |source| Error::Unreadable {
            path: path.to_owned(),
            source,
        };
        let mut input = BufReader::new(File::open(path).map_err(unreadable)?);
        let (mut bytes, mut lines) = (Vec::new(), 0);
        loop {
            bytes.clear();
            let mut limited = (&mut input).take(self.bytes_max);
            if limited.read_until(b'\n', &mut bytes).map_err(unreadable)? == 0 {
                return Ok(lines);
            }
            lines += 1;
            let text = self.text_of(&bytes);
            text.and_then(|text| take(text, lines))
                .map_err(|what| bad_input(path, (lines, what)))?;
        }
    }

    /// Returns a line's text, if it is text and whole.
    fn text_of<'b>(&self, bytes: &'b [u8]) -> std::result::Result<&'b str, String> {
        let expected = self.expected;
        let strange = |b: &u8| !(matches!(b, b'\t' | b'\n' | b'\r') || (b' '..=b'~').contains(b));
        let is_comment = self.has_comments && bytes.trim_ascii_start().starts_with(b"#");
        if let Some(at) = bytes.iter().position(strange)
            && !is_comment
        {
            let (byte, column) = (bytes[at], at + 1);
            return Err(format!(
                "byte 0x{byte:02x} in column {column} is no plain text: expected {expected}"
            ));
        }
        let is_whole = bytes.last() == Some(&b'\n');
        wrong! {
            !is_whole && bytes.len() as u64 >= self.bytes_max =>
                "the line is too long: expected {expected}, of {} bytes at most", self.bytes_max;
            !is_whole => "the file ends inside this line: expected a line break at its end";
        }
        // A comment may be in any encoding; nobody reads it.
        Ok(str::from_utf8(bytes).unwrap_or("#"))
    }
}

/// Returns the error for a line of a file, which has this number.
pub fn bad_input(path: &Path, (line, what): (u64, String)) -> Error {
    Error::BadInput {
        path: path.to_owned(),
        line,
        what,
    }
}

/// Returns a word of a file for a message, shortened if it is long.
pub fn quoted(word: &str) -> String {
    const SHOWN: usize = 32;
    match word.get(..SHOWN) {
        Some(start) if word.len() > SHOWN => format!("{:?}", format!("{start}...")),
        _ => format!("{word:?}"),
    }
}

/// The options of a workload that has none of its own.
#[derive(Args, Clone, Copy, Debug, Default)]
#[group(skip)]
pub struct NoOptions {}

/// Says in an implementation of [`Input`] that the input is the workload: nothing has to be read
/// or drawn to make it.
macro_rules! is_its_workload {
    () => {
        type Workload = Self;

        fn make(&self, _seed: u64) -> $crate::error::Result<Self> {
            Ok(*self)
        }
    };
}
pub(super) use is_its_workload;

/// Declares an input of plain sizes, by a row for each: its default; its name in JSON, if the row
/// says it all; and the option that takes its place, if there is one, with its help. Options that
/// take no size's place may follow.
macro_rules! sizes {
    (
        $(#[$about:meta])*
        $Input:ident, options of $workload:literal {
            $(
                $(#[$doc:meta])*
                $size:ident: $type:ty = $default:expr $(, json $json:literal)?
                    $(, option $(#[$help:meta])* $option:ident)?;
            )*
        }
        $(and { $($(#[$about_other:meta])* $other:ident: $other_type:ty;)* })?
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $Input {
            $($(#[$doc])* pub $size: $type,)*
        }

        impl Default for $Input {
            fn default() -> Self {
                Self { $($size: $default,)* }
            }
        }

        #[doc = concat!("The options of `", $workload, "`.")]
        #[derive(Args, Debug, Clone, Copy, Default)]
        #[group(skip)]
        pub struct Options {
            $($($(#[$help])* $option: Option<$type>,)?)*
            $($($(#[$about_other])* $other: Option<$other_type>,)*)?
        }

        impl $Input {
            /// Returns the input with the sizes that options give.
            fn given(mut self, options: &Options) -> Self {
                $($(
                    if let Some(given) = options.$option {
                        self.$size = given;
                    }
                )?)*
                self
            }

            /// Returns the sizes by their names in JSON.
            fn named(&self) -> Vec<(&'static str, Value)> {
                vec![$($(($json, self.$size.into()),)?)*]
            }
        }
    };
}
pub(super) use sizes;

/// A workload's input.
pub trait Input: Clone + Debug + Default + 'static {
    /// What is made from it.
    type Workload;

    /// Its own options at the command line.
    type Options: Args + Clone + Debug + Default;

    /// The shared options that it takes as well, besides the seed.
    const TAKES: &'static [SharedOption];

    /// Whether the threads of a block work together, and one of them runs the
    /// transactions.
    const BY_BLOCKS: bool = false;

    /// Returns the input for an occasion, where the caller says nothing else.
    /// [`Default`] is the one of a measurement.
    #[must_use]
    fn sized(_occasion: Occasion) -> Self {
        Self::default()
    }

    /// Returns the input with what the options say in place of its values.
    ///
    /// # Errors
    /// Options that contradict each other.
    fn with(self, options: &Self::Options, shared: &SharedOptions) -> Result<Self>;

    /// Reads or draws what the input names.
    ///
    /// # Errors
    /// A file that is not of its format, or sizes from which nothing can be
    /// drawn, on one line.
    fn make(&self, seed: u64) -> Result<Self::Workload>;
}
