//! Packs the PTX of kernels: the texts of one kernel become a *block*, and the blocks of many
//! kernels an *archive*.
//!
//! A block is a member of lzip (LZMA, with a checksum) over a list of names and lengths and the
//! texts behind it, in which `numbers.rs` has shortened the numbers of registers and labels. The
//! texts of one kernel, one for each algorithm, repeat each other, so they are compressed together;
//! a program unpacks one kernel without the others.
//!
//! An archive is a head of text, `stm-core-pack 1`, a line `NAME BYTES` for each block and an empty
//! line, and then the blocks. The same texts always give the same bytes.
//!
//! Programs that only read blocks do without the feature `pack`.
//!
//! ```
//! use std::collections::BTreeMap;
//! use stm_core_pack::{pack, unpack};
//!
//! let text = "\tadd.u64 \t%rd3, %rd2, 8;\n".to_owned();
//! let texts = BTreeMap::from([("fast".to_owned(), text)]);
//! let block = pack(&texts);
//! assert_eq!(unpack(&block)?, texts);
//! # Ok::<(), stm_core_pack::Damaged>(())
//! ```

mod archive;
mod numbers;

pub use archive::{archive, blocks};

use lzma_rust2::LzipReader;
use std::collections::BTreeMap;
use std::io::Read as _;

/// Bytes that are no block or no archive, with what is wrong with them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("packed PTX is damaged: {0}")]
pub struct Damaged(String);

/// Bytes that a block looks back at most. The largest kernel has five million.
#[cfg(feature = "pack")]
const WINDOW: u32 = 8 << 20;

/// Packs texts, by name, into a block.
///
/// # Panics
/// It panics if a name has a line end in it.
#[cfg(feature = "pack")]
pub fn pack(texts: &BTreeMap<String, String>) -> Vec<u8> {
    use std::fmt::Write as _;
    let (mut head, mut body) = (String::new(), String::new());
    for (name, text) in texts {
        assert!(!name.contains('\n'), "{name:?} is no name of a text");
        let short = numbers::shortened(text);
        // What does not come back as it was stays as it is.
        let (form, short) = match numbers::restored(&short) {
            Some(restored) if restored == *text => ('s', short),
            _ => ('t', text.clone()),
        };
        let _ = writeln!(head, "{form} {} {name}", short.len());
        body.push_str(&short);
    }
    head.push('\n');
    head.push_str(&body);
    compressed(head.as_bytes())
}

/// Returns all texts of a block, by name.
///
/// # Errors
/// [`Damaged`] if the bytes are not what `pack` has made.
pub fn unpack(block: &[u8]) -> Result<BTreeMap<String, String>, Damaged> {
    let wrong = |what: &str| Damaged(what.to_owned());
    let mut all = String::new();
    let read = LzipReader::new(block).read_to_string(&mut all);
    read.map_err(|error| wrong(&error.to_string()))?;
    let (head, mut body) = all
        .split_once("\n\n")
        .or_else(|| all.strip_prefix('\n').map(|body| ("", body)))
        .ok_or_else(|| wrong("a block has no head"))?;
    let mut found = BTreeMap::new();
    for line in head.lines() {
        let mut fields = line.splitn(3, ' ');
        let (form, length, name) = (fields.next(), fields.next(), fields.next());
        let length = length.and_then(|length| length.parse().ok());
        let (Some(form @ ("s" | "t")), Some(length), Some(name)) = (form, length, name) else {
            return Err(wrong(&format!("`{line}` in a block's head")));
        };
        let (packed, rest) = body
            .split_at_checked(length)
            .ok_or_else(|| wrong("a block is cut off"))?;
        let text = match form {
            "s" => numbers::restored(packed),
            _ => Some(packed.to_owned()),
        };
        let text = text.ok_or_else(|| wrong(&format!("{name} has a number that cannot be")))?;
        found.insert(name.to_owned(), text);
        body = rest;
    }
    let more = || wrong("a block goes on behind its last text");
    body.is_empty().then_some(found).ok_or_else(more)
}

#[cfg(feature = "pack")]
fn compressed(bytes: &[u8]) -> Vec<u8> {
    use lzma_rust2::{LzipOptions, LzipWriter, LzmaOptions};
    use std::io::Write as _;
    let mut options = LzipOptions::with_preset(9);
    options.lzma_options.dict_size = WINDOW;
    options.lzma_options.nice_len = LzmaOptions::NICE_LEN_MAX;
    options.lzma_options.depth_limit = 1000;
    let mut writer = LzipWriter::new(Vec::new(), options);
    let written = writer.write_all(bytes).and_then(|()| writer.finish());
    written.expect("a vector takes all that is written")
}

#[cfg(all(test, feature = "pack"))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXT: &str = "// rustc\n.visible .entry ra_fast(\n)\n{\n\t.reg .b32 \t%r<9>;\n\
                        \tmov.u32 \t%r1, %tid.x;\n\t@%p1 bra \t$L__BB_2;\n\
                        \tld.v2.b32 \t{%r7, %r8}, [%SPL+24];\n$L__BB_2:\n\tst.b32 \t[%rd1], %r7;\n}\n";

    fn texts() -> BTreeMap<String, String> {
        let text = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        BTreeMap::from([
            text("fast", TEXT),
            text("fast-wide", "%r007 cannot be shortened, %r+1 neither"),
            text("none", ""),
        ])
    }

    #[test]
    fn texts_come_back_and_always_give_the_same_bytes() {
        let block = pack(&texts());
        assert_eq!(pack(&texts()), block);
        assert_eq!(unpack(&block).unwrap(), texts());
        assert_eq!(unpack(&pack(&BTreeMap::new())).unwrap(), BTreeMap::new());
    }

    #[test]
    fn every_byte_that_is_changed_or_cut_off_is_an_error_or_changes_nothing() {
        let block = pack(&texts());
        for at in 0..block.len() {
            assert!(unpack(&block[..at]).is_err(), "cut off at {at}");
            let mut changed = block.clone();
            changed[at] ^= 0x10;
            let same = unpack(&changed).map_or(true, |found| found == texts());
            assert!(same, "{at}");
        }
        assert!(unpack(b"no block").is_err());
    }

    proptest! {
        #[test]
        fn any_texts_come_back(texts in prop::collection::btree_map("[a-z.-]{0,9}", "(\t|\n|%r|%rd|\\$L__BB_|@%p1 |[0-9]|[+-]|st |[a-z ,])*", 0..4)) {
            prop_assert_eq!(unpack(&pack(&texts)).unwrap(), texts);
        }
    }
}
