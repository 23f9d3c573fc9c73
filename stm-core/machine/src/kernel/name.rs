//! Names made at compile time.

/// The longest entry name that [`EntryName`] holds.
const ENTRY_MAX: usize = 64;

/// An entry name that is made of two parts at compile time, for kernels that are generic over an algorithm.
#[derive(Clone, Copy, Debug)]
pub struct EntryName {
    bytes: [u8; ENTRY_MAX],
    len: usize,
}

impl EntryName {
    /// Joins `kernel` and `variant` by an underscore and replaces hyphens by underscores.
    ///
    /// # Panics
    /// It panics if the name is longer than 64 bytes.
    pub const fn new(kernel: &str, variant: &str) -> Self {
        let parts = [kernel, "_", variant];
        let (mut bytes, mut len, mut part) = ([0; ENTRY_MAX], 0, 0);
        while part < parts.len() {
            let (text, mut i) = (parts[part].as_bytes(), 0);
            while i < text.len() {
                bytes[len] = if text[i] == b'-' { b'_' } else { text[i] };
                len += 1;
                i += 1;
            }
            part += 1;
        }
        Self { bytes, len }
    }

    /// Returns a name in camel case with hyphens: `no-e1` of `NoE1`. It panics if that is too long.
    pub(crate) const fn hyphened(name: &str) -> Self {
        let (text, mut bytes, mut len, mut i) = (name.as_bytes(), [0; ENTRY_MAX], 0, 0);
        while i < text.len() {
            if i != 0 && text[i].is_ascii_uppercase() {
                bytes[len] = b'-';
                len += 1;
            }
            bytes[len] = text[i].to_ascii_lowercase();
            len += 1;
            i += 1;
        }
        Self { bytes, len }
    }

    /// Returns the name.
    ///
    /// # Panics
    /// It never panics, as the name is made of strings.
    pub const fn as_str(&self) -> &str {
        let (text, _) = self.bytes.split_at(self.len);
        match core::str::from_utf8(text) {
            Ok(text) => text,
            Err(_) => panic!("an entry name is text"),
        }
    }
}
