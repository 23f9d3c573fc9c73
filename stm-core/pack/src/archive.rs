//! Many blocks in one file.

use crate::Damaged;
use std::collections::BTreeMap;
use std::fmt::Write as _;

const FIRST: &str = "stm-core-pack 1";

/// Puts blocks, by name, into an archive.
///
/// # Panics
/// It panics if a name has a space or a line end in it.
pub fn archive(blocks: &BTreeMap<String, Vec<u8>>) -> Vec<u8> {
    let mut head = format!("{FIRST}\n");
    for (name, block) in blocks {
        let is_name = !name.contains([' ', '\n']);
        assert!(is_name, "{name:?} is no name of a block");
        let _ = writeln!(head, "{name} {}", block.len());
    }
    head.push('\n');
    let mut bytes = head.into_bytes();
    for block in blocks.values() {
        bytes.extend(block);
    }
    bytes
}

/// Returns the blocks of an archive, by name.
///
/// # Errors
/// [`Damaged`] if the bytes are not what [`archive`] has made. What is wrong inside a block is found
/// when it is unpacked.
pub fn blocks(archive: &[u8]) -> Result<BTreeMap<&str, &[u8]>, Damaged> {
    let wrong = |what: String| Damaged(what);
    let end = archive.windows(2).position(|pair| pair == b"\n\n");
    let end = end.ok_or_else(|| wrong("an archive has no head".to_owned()))?;
    let head = std::str::from_utf8(&archive[..end])
        .map_err(|_| wrong("an archive's head is no text".to_owned()))?;
    let lines = head.strip_prefix(FIRST).ok_or_else(|| {
        let line = head.lines().next().unwrap_or_default();
        wrong(format!("an archive begins with `{line}`, not `{FIRST}`"))
    })?;
    let mut rest = &archive[end + 2..];
    let mut found = BTreeMap::new();
    for line in lines.lines().skip(1) {
        let row = line.split_once(' ');
        let row = row.and_then(|(name, length)| Some((name, length.parse().ok()?)));
        let (name, length) = row.ok_or_else(|| wrong(format!("`{line}` in an archive's head")))?;
        let (block, behind) = rest
            .split_at_checked(length)
            .ok_or_else(|| wrong(format!("an archive is cut off in `{name}`")))?;
        found.insert(name, block);
        rest = behind;
    }
    let more = || wrong("an archive goes on behind its last block".to_owned());
    rest.is_empty().then_some(found).ok_or_else(more)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_come_back_and_what_is_cut_off_or_unknown_is_named() {
        let all = [("ht", vec![]), ("ra", vec![1, 10, 10])];
        let bytes = archive(
            &all.clone()
                .map(|(name, block)| (name.to_owned(), block))
                .into(),
        );
        let found = blocks(&bytes).unwrap().into_iter();
        assert!(found.eq(all.iter().map(|(name, block)| (*name, &block[..]))));
        assert_eq!(blocks(&archive(&BTreeMap::new())).unwrap(), BTreeMap::new());
        for length in 0..bytes.len() {
            assert!(blocks(&bytes[..length]).is_err(), "{length}");
        }
        for (bytes, named) in [
            (&b"PK 7\nra 1\n\nx"[..], "`PK 7`"),
            (b"stm-core-pack 1\nra many\n\nx", "`ra many`"),
            (b"stm-core-pack 1\nra 2\n\nx", "cut off in `ra`"),
            (b"stm-core-pack 1\nra 1\n\nxy", "behind its last block"),
        ] {
            let error = blocks(bytes).unwrap_err().to_string();
            assert!(error.contains(named), "{error}");
        }
    }
}
