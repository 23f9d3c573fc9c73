#![doc = include_str!("../README.md")]

mod numbers;

use lzma_rust2::LzipReader;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Read as _;

/// Bytes that are no block or no archive, with what is wrong with them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("packed PTX is damaged: {0}")]
pub struct Damaged(String);

/// Packs texts, by name, into a block. It panics if a name has a line end in it.
#[cfg(feature = "pack")]
pub fn pack(texts: &BTreeMap<String, String>) -> Vec<u8> {
    use lzma_rust2::{LzipOptions, LzipWriter, LzmaOptions};
    use std::io::Write as _;
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
    let mut options = LzipOptions::with_preset(9);
    // How far it looks back at most. The largest kernel has five million bytes.
    options.lzma_options.dict_size = 8 << 20;
    options.lzma_options.nice_len = LzmaOptions::NICE_LEN_MAX;
    options.lzma_options.depth_limit = 1000;
    let mut writer = LzipWriter::new(Vec::new(), options);
    let written = writer.write_all(head.as_bytes());
    let written = written.and_then(|()| writer.finish());
    written.expect("a vector takes all that is written")
}

/// Returns all texts of a block, by name; bytes that `pack` has not made are [`Damaged`].
pub fn unpack(block: &[u8]) -> Result<BTreeMap<String, String>, Damaged> {
    let wrong = |what: &str| Damaged(what.to_owned());
    let mut all = String::new();
    let read = LzipReader::new(block).read_to_string(&mut all);
    read.map_err(|error| wrong(&error.to_string()))?;
    let (head, body) = all
        .split_once("\n\n")
        .or_else(|| all.strip_prefix('\n').map(|body| ("", body)))
        .ok_or_else(|| wrong("a block has no head"))?;
    let parts = parts(["a block", "text"], head.lines(), body.as_bytes(), |line| {
        let (form, rest) = line.split_once(' ')?;
        let (length, name) = rest.split_once(' ')?;
        ["s", "t"].contains(&form).then_some(((name, form), length))
    })?;
    let texts = parts.into_iter().map(|((name, form), bytes)| {
        let packed = std::str::from_utf8(bytes).map_err(|_| wrong("a block is cut off"))?;
        let text = match form {
            "s" => numbers::restored(packed),
            _ => Some(packed.to_owned()),
        };
        let text = text.ok_or_else(|| wrong(&format!("{name} has a number that cannot be")))?;
        Ok((name.to_owned(), text))
    });
    texts.collect()
}

/// Cuts the body of a container into parts by the lines of its head, of which `read` returns name and length.
fn parts<'a, N>(
    [whole, part]: [&str; 2],
    head: impl Iterator<Item = &'a str>,
    mut body: &'a [u8],
    read: impl Fn(&'a str) -> Option<(N, &'a str)>,
) -> Result<Vec<(N, &'a [u8])>, Damaged> {
    let mut found = Vec::new();
    for line in head {
        let row = read(line).and_then(|(name, length)| Some((name, length.parse().ok()?)));
        let (name, length) = row.ok_or_else(|| Damaged(format!("`{line}` in {whole}'s head")))?;
        let cut = body.split_at_checked(length);
        let (bytes, rest) =
            cut.ok_or_else(|| Damaged(format!("{whole} is cut off in `{line}`")))?;
        found.push((name, bytes));
        body = rest;
    }
    let more = || Damaged(format!("{whole} goes on behind its last {part}"));
    body.is_empty().then_some(found).ok_or_else(more)
}

const FIRST: &str = "stm-core-pack 1";

/// Puts blocks, by name, into an archive. It panics if a name has a space or a line end in it.
pub fn archive(blocks: &BTreeMap<String, Vec<u8>>) -> Vec<u8> {
    let mut head = format!("{FIRST}\n");
    for (name, block) in blocks {
        let is_name = !name.contains([' ', '\n']);
        assert!(is_name, "{name:?} is no name of a block");
        let _ = writeln!(head, "{name} {}", block.len());
    }
    head.push('\n');
    let mut bytes = head.into_bytes();
    bytes.extend(blocks.values().flatten());
    bytes
}

/// Returns the blocks of an archive, by name; bytes that [`archive`] has not made are [`Damaged`]. What is
/// wrong inside a block is found when it is unpacked.
pub fn blocks(archive: &[u8]) -> Result<BTreeMap<&str, &[u8]>, Damaged> {
    let wrong = |what: &str| Damaged(what.to_owned());
    let end = archive.windows(2).position(|pair| pair == b"\n\n");
    let (head, body) = archive.split_at(end.ok_or_else(|| wrong("an archive has no head"))?);
    let head = std::str::from_utf8(head).map_err(|_| wrong("an archive's head is no text"))?;
    let lines = head.strip_prefix(FIRST).ok_or_else(|| {
        let line = head.lines().next().unwrap_or_default();
        wrong(&format!("an archive begins with `{line}`, not `{FIRST}`"))
    })?;
    let (lines, whole) = (lines.lines().skip(1), ["an archive", "block"]);
    let found = parts(whole, lines, &body[2..], |line| line.split_once(' '))?;
    Ok(found.into_iter().collect())
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

    #[test]
    fn blocks_come_back_and_what_is_cut_off_or_unknown_is_named() {
        let all = [("ht", vec![]), ("ra", vec![1, 10, 10])];
        let owned = all.clone().map(|(name, block)| (name.to_owned(), block));
        let bytes = archive(&owned.into());
        let found = blocks(&bytes).unwrap().into_iter();
        assert!(found.eq(all.iter().map(|(name, block)| (*name, &block[..]))));
        assert_eq!(blocks(&archive(&BTreeMap::new())).unwrap(), BTreeMap::new());
        for length in 0..bytes.len() {
            assert!(blocks(&bytes[..length]).is_err(), "{length}");
        }
        for (bytes, named) in [
            (&b"PK 7\nra 1\n\nx"[..], "`PK 7`"),
            (b"stm-core-pack 1\nra many\n\nx", "`ra many`"),
            (b"stm-core-pack 1\nra 2\n\nx", "cut off in `ra 2`"),
            (b"stm-core-pack 1\nra 1\n\nxy", "behind its last block"),
        ] {
            let error = blocks(bytes).unwrap_err().to_string();
            assert!(error.contains(named), "{error}");
        }
    }

    proptest! {
        #[test]
        fn any_texts_come_back(texts in prop::collection::btree_map("[a-z.-]{0,9}", "(\t|\n|%r|%rd|\\$L__BB_|@%p1 |[0-9]|[+-]|st |[a-z ,])*", 0..4)) {
            prop_assert_eq!(unpack(&pack(&texts)).unwrap(), texts);
        }
    }
}
