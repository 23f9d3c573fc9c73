//! A workload as its options describe it: sizes with defaults for each occasion, and files that are read.

use crate::devices::DeviceKind;
use crate::error::{Error, Result};
use crate::external_prelude::*;
use crate::numbers::{parse_count, parse_count_32};
use clap::{ArgMatches, FromArgMatches};
use std::fmt::Debug;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};

/// The occasion for which a workload's defaults are sized.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Occasion {
    /// `stamp run` and `stamp tune`: the sizes of the paper's Table 1.
    Measurement,
    /// `stamp bench paper`: the transactions of the paper's Table 1, too.
    Paper,
    /// A run without arguments: as large, but inputs that are run whole are small.
    Demonstration(DeviceKind),
    /// `bench floor`: as for a demonstration, in as few passes as will do.
    Floor(DeviceKind),
    /// `bench paper --quick`: small.
    Quick,
    /// `stamp record`: the records of a run fit a buffer, and its checker fits the host.
    Recording(DeviceKind),
}

/// Returns the name of a file without its folder, as a report may be published.
pub fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into()
}

/// The lines of a file of text. What breaks off inside a line is found by its missing line break.
pub struct Lines {
    /// The longest line, in bytes: without a limit, rubbish could be one line as long as memory.
    pub bytes_max: u64,
    /// What a line is, for messages.
    pub expected: &'static str,
    /// Whether a line that begins with `#` may have anything in it.
    pub has_comments: bool,
}

impl Lines {
    /// Gives each line, with its number, to `take`. Returns how many there are; the error is of the first
    /// that is no text or that `take` refuses.
    pub fn read(
        &self,
        path: &Path,
        mut take: impl FnMut(&str, u64) -> Result<(), String>,
    ) -> Result<u64> {
        let unreadable = |error| {
            let (path, fix) = (path.display(), "give --input a file that can be read");
            Error::Usage(format!("cannot read {path}: {error}: {fix}"))
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
    fn text_of<'b>(&self, bytes: &'b [u8]) -> Result<&'b str, String> {
        let expected = self.expected;
        let strange = |b: &u8| !(matches!(b, b'\t' | b'\n' | b'\r') || (b' '..=b'~').contains(b));
        let is_comment = self.has_comments && bytes.trim_ascii_start().starts_with(b"#");
        let strange = bytes.iter().position(strange).filter(|_| !is_comment);
        let at = strange.unwrap_or_default();
        let is_whole = bytes.last() == Some(&b'\n');
        wrong! {
            strange.is_some() =>
                "byte 0x{:02x} in column {} is no plain text: expected {expected}", bytes[at], at + 1;
            !is_whole && bytes.len() as u64 >= self.bytes_max =>
                "the line is too long: expected {expected}, of {} bytes at most", self.bytes_max;
            !is_whole => "the file ends inside this line: expected a line break at its end";
        }
        // A comment may be in any encoding; nobody reads it.
        Ok(str::from_utf8(bytes).unwrap_or("#"))
    }
}

pub fn bad_input(path: &Path, (line, what): (u64, String)) -> Error {
    Error::Usage(format!("{}, line {line}: {what}", path.display()))
}

/// Returns a word of a file for a message, shortened if it is long.
pub fn quoted(word: &str) -> String {
    const SHOWN: usize = 32;
    match word.get(..SHOWN) {
        Some(start) if word.len() > SHOWN => format!("{:?}", format!("{start}...")),
        _ => format!("{word:?}"),
    }
}

/// Declares a workload of plain sizes, by a row for each: its default; its name in JSON; the option that
/// takes its place, with its help, or what all options say of it; and what it is for an occasion. A `count` has
/// its name in JSON and as an option, whose help is what the size is, and its default in words; the long help
/// may say more. Options that take no size's place may follow.
///
/// The workload takes the shared options of a list; the method behind `then` completes what the rows make of
/// all options. Or it is the shape of what a workload draws.
macro_rules! sizes {
    (@of $what:literal: $value:expr) => {
        $value
    };
    (
        $(#[$about:meta])* $Input:ident, options of $workload:literal { $($rows:tt)* }
        $(and { $($others:tt)* })? takes [$($takes:ident),*] $(then $complete:ident)?
    ) => {
        sizes! {
            @pub Options $(#[$about])* $Input, $workload { $($rows)* } $(and { $($others)* })?
        }

        impl Input for $Input {
            type Options = Options;

            const TAKES: &'static [&'static str] = &[$(stringify!($takes)),*];

            fn new(
                occasion: Occasion,
                options: &Options,
                shared: &SharedOptions,
            ) -> Result<Self> {
                let of = Self::for_occasion(occasion).given(options, shared);
                $(let of = of.$complete(options, shared)?;)?
                Ok(of)
            }
        }
    };
    ($(#[$about:meta])* $Input:ident, shape of $($sizes:tt)*) => {
        sizes! { @ Shape $(#[$about])* $Input, $($sizes)* }
    };
    (
        @$visible:vis $Options:ident
        $(#[$about:meta])*
        $Input:ident, $workload:literal {
            $(
                $(#[$doc:meta])*
                $size:ident: $type:ty = $default:expr $(, json $json:literal)?
                    $(, count $what:literal [$in_words:literal] $(, long $long:literal)?)?
                    $(, option $(#[$help:meta])* $option:ident)?
                    $(, by $by:expr)?
                    $(, when $($occasion:pat => $other_size:expr),+)?;
            )*
        }
        $(and { $($(#[$about_other:meta])* $other:ident: $other_type:ty;)* })?
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $Input {
            $($(#[$doc])* $(#[doc = concat!($what, ".")])? pub $size: $type,)*
        }

        impl Default for $Input {
            fn default() -> Self {
                Self::for_occasion(Occasion::Measurement)
            }
        }

        #[doc = concat!("The options of `", $workload, "`.")]
        #[derive(Args, Debug, Clone, Copy, Default)]
        #[group(skip)]
        $visible struct $Options {
            $(
                $(
                    #[arg(
                        long, value_name = "N", value_parser = parse_count_32,
                        help = concat!($what, " [default: ", $in_words, "]"),
                        $(long_help = concat!(
                            $what, " [default: ", $in_words, "]\n\n",
                            $long, " [default: ", $in_words, "]",
                        ),)?
                    )]
                    $size: Option<$type>,
                )?
                $($(#[$help])* $option: Option<$type>,)?
            )*
            $($($(#[$about_other])* $other: Option<$other_type>,)*)?
        }

        impl $Input {
            #[allow(unused_mut, unused_variables, reason = "there may be no options")]
            fn given(mut self, options: &$Options, shared: &SharedOptions) -> Self {
                $(
                    $(self.$size = sizes!(@of $what: options.$size).unwrap_or(self.$size);)?
                    $(self.$size = options.$option.unwrap_or(self.$size);)?
                    $(
                        let by: fn(&$Options, &SharedOptions) -> Option<$type> = $by;
                        self.$size = by(options, shared).unwrap_or(self.$size);
                    )?
                )*
                self
            }

            #[allow(unused_variables, reason = "there may be no sizes")]
            pub const fn for_occasion(occasion: Occasion) -> Self {
                Self {
                    $($size: match occasion {
                        $($($occasion => $other_size,)+)?
                        _ => $default,
                    },)*
                }
            }

            /// Returns the sizes by their names in JSON.
            #[allow(dead_code, reason = "a shape is reported as that of what was drawn")]
            fn named(&self) -> Vec<(&'static str, Value)> {
                known([$(
                    $(($json, self.$size.into()),)?
                    $((sizes!(@of $what: stringify!($size)), self.$size.into()),)?
                )*])
            }
        }
    };
}
pub(super) use sizes;

pub trait Input: Clone + Debug + 'static {
    type Options: Args + Clone + Debug + Default;

    /// The fields of the shared options that it takes, besides the seed.
    const TAKES: &'static [&'static str];

    /// Makes the workload that options describe, or the occasion where they say nothing.
    fn new(occasion: Occasion, options: &Self::Options, shared: &SharedOptions) -> Result<Self>;

    /// Draws it anew from a seed, if it is drawn.
    fn redrawn(&self, _seed: u64) -> Result<Self> {
        Ok(self.clone())
    }
}

pub const SEED: u64 = 1;

/// The options of workloads at the command line, as they are given.
#[derive(Debug, Clone, Default)]
pub struct WorkloadArgs {
    pub shared: SharedOptions,
    /// What a command line gives for all.
    pub(super) given: Option<ArgMatches>,
}

impl WorkloadArgs {
    /// Makes the workload that these options and its own describe.
    pub(super) fn made<W: Input>(&self, of: Occasion) -> Result<W> {
        let given = self.given.as_ref();
        let own = given.map(W::Options::from_arg_matches).transpose();
        let own = own.map_err(|error| Error::Usage(error.to_string()))?;
        W::new(of, &own.unwrap_or_default(), &self.shared)
    }
}

/// The options that several workloads share, each by its own meaning.
#[derive(Parser, Debug, Clone)]
#[group(skip)]
pub struct SharedOptions {
    /// labyrinth: paths; genome: segments; kmeans: fewest clusters; vacation: queries of a task
    ///
    /// labyrinth: paths to route [default: 512]; genome: segments drawn
    /// [default: 4M]; kmeans: fewest clusters, each number up to -m is run
    /// [default: as -m]; vacation: queries of a task, at most [default: 2]
    #[arg(short, value_name = "N", value_parser = parse_count_32)]
    pub n: Option<u32>,
    /// A file in STAMP's format [default: a generated input]
    ///
    /// A file in STAMP's format, for labyrinth or kmeans [default: a generated input]
    #[arg(short, long, value_name = "FILE")]
    pub input: Option<PathBuf>,
    /// Transactions of a launch [default: 1M]
    ///
    /// Transactions of a launch, where the input does not say how many there are [default: 1M]
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub transactions: Option<u64>,
    /// Add to sums that are not read
    ///
    /// In kmeans and bank, points and transfers are added to sums that they do not read; under fast
    /// and fast-table additions do not conflict with each other, audits and additions do
    #[arg(long)]
    pub adds: bool,
    /// Make transactions static updates
    ///
    /// In ra, ht, bank, eigenbench and counter, transactions are static updates,
    /// whose words are known before the first is read; of the variant fast, in ra
    /// with 16 reads and 16 writes, in ht with 4 keys, in bank with --audit-share 0,
    /// in eigenbench with 32 hot reads and writes alone, in counter without --rounds
    #[arg(long = "static")]
    pub is_static: bool,
    /// With --static, keep numbers in elements of 64 bits
    ///
    /// In ra and bank with --static, each number is in an element of 64 bits, whose
    /// other half has its bits inverted
    #[arg(long)]
    pub wide: bool,
    /// Different keys of map or ordered [default: 1M] or list [default: 64]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    pub keys: Option<u32>,
    /// Lookups in a hundred operations [default: 20]
    ///
    /// Lookups in a hundred operations of map, ordered or list; the others insert
    /// and remove in equal parts [default: 20]
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent::<0>)]
    pub lookups: Option<u32>,
    /// Consecutive operations of one kind [default: 1]
    ///
    /// Consecutive operations of map, list or ordered that are of one kind: with
    /// 32 all lanes of a warp do the same [default: 1]
    #[arg(long, value_name = "N", value_parser = parse_alike)]
    pub alike: Option<u32>,
    /// Seed of the data
    #[arg(long, value_name = "S", value_parser = parse_count, default_value_t = SEED)]
    pub seed: u64,
}

impl Default for SharedOptions {
    fn default() -> Self {
        Self::parse_from([""])
    }
}

/// Reads a share of at least so many per cent.
pub fn parse_percent<const LEAST: u32>(text: &str) -> Result<u32, String> {
    let number = text.strip_suffix('%').unwrap_or(text);
    let digits = number.bytes().all(|b| b.is_ascii_digit());
    match number.parse::<u32>() {
        Ok(percent) if digits && (LEAST..=100).contains(&percent) => Ok(percent),
        _ => Err(format!(
            "{text:?} is no share: give a whole number of per cent from {LEAST} to 100, such as 10"
        )),
    }
}

fn parse_alike(text: &str) -> Result<u32, String> {
    let alike = parse_count_32(text)?;
    wrong! {
        !alike.is_power_of_two() =>
            "{alike} is no power of two: give one, such as 1, or 32 for all lanes of a warp";
    }
    Ok(alike)
}
