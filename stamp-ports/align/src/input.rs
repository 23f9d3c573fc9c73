//! Files of text: what other programs put before it, around it and at the ends of its lines.

/// Returns the text without a byte order mark.
///
/// # Errors
/// One line: bytes that are no text but that of another format, with what to do.
pub fn plain(bytes: &[u8]) -> Result<&[u8], String> {
    match bytes {
        [0x1f, 0x8b, ..] => {
            Err("it is compressed with gzip: decompress it first, with gunzip".to_owned())
        }
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => {
            Err("it is text in UTF-16: store it in ASCII or UTF-8".to_owned())
        }
        [0xef, 0xbb, 0xbf, text @ ..] | text => Ok(text),
    }
}

/// Returns the lines of a text, which end with a newline, a carriage return, or both.
pub fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let end = text.iter().position(|&byte| matches!(byte, b'\n' | b'\r'));
        let Some(end) = end else {
            rest = None;
            return Some(text);
        };
        let ends_with_both = text[end..].starts_with(b"\r\n");
        rest = Some(&text[end + 1 + usize::from(ends_with_both)..]);
        Some(&text[..end])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_as_on_every_system() {
        let found: Vec<&[u8]> = lines(b"a\nb\r\nc\rd\n\re").collect();
        assert_eq!(found, [&b"a"[..], b"b", b"c", b"d", b"", b"e"]);
        assert_eq!(lines(b"").count(), 1);
    }

    #[test]
    fn marks_are_skipped_and_other_formats_named() {
        assert_eq!(plain(b"\xef\xbb\xbf>a").unwrap(), b">a");
        assert!(plain(b"\x1f\x8b\x08").unwrap_err().contains("gunzip"));
        assert!(plain(b"\xff\xfe>\0").unwrap_err().contains("UTF-16"));
    }
}
