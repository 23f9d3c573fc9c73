//! Letters, and the codes that kernels use for them: a letter's code is its place in the
//! alphabet, so that a score is an element of a square table.

/// The letters that a scoring knows, each once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alphabet {
    letters: Vec<u8>,
    /// The code of each byte, or [`NONE`].
    codes: [u8; 256],
}

/// The code of a byte that is no letter.
const NONE: u8 = u8::MAX;

impl Alphabet {
    /// Makes an alphabet of letters, in upper case; a letter in lower case has the same code.
    /// Where the letters are those of nucleotides with one of T and U, the other is read as it.
    ///
    /// # Errors
    /// A letter that is there twice.
    pub fn new(letters: &[u8]) -> Result<Self, String> {
        let mut codes = [NONE; 256];
        for (code, &letter) in (0..).zip(letters) {
            if codes[usize::from(letter)] != NONE {
                return Err(format!(
                    "the letter {:?} is there twice",
                    char::from(letter)
                ));
            }
            codes[usize::from(letter)] = code;
            codes[usize::from(letter.to_ascii_lowercase())] = code;
        }
        if let Some((known, other)) = thymine_and_uracil(letters) {
            let code = codes[usize::from(known)];
            codes[usize::from(other)] = code;
            codes[usize::from(other.to_ascii_lowercase())] = code;
        }
        Ok(Self {
            letters: letters.to_vec(),
            codes,
        })
    }

    /// Returns the number of letters.
    pub fn len(&self) -> usize {
        self.letters.len()
    }

    /// Returns whether there are no letters.
    pub fn is_empty(&self) -> bool {
        self.letters.is_empty()
    }

    /// Returns the letter with a code.
    pub fn letter(&self, code: u8) -> Option<u8> {
        self.letters.get(usize::from(code)).copied()
    }

    /// Returns whether it has all letters of a sequence.
    pub fn has_all(&self, letters: &[u8]) -> bool {
        let is_known = |&letter: &u8| self.codes[usize::from(letter)] != NONE;
        letters.iter().all(is_known)
    }

    /// Returns the codes of a sequence.
    ///
    /// # Errors
    /// The first letter that is none of the alphabet's, with its place from 1 on.
    pub fn codes(&self, name: &str, letters: &[u8]) -> Result<Vec<u8>, String> {
        let mut codes = Vec::with_capacity(letters.len());
        for (place, &letter) in (1..).zip(letters) {
            match self.codes[usize::from(letter)] {
                NONE => {
                    return Err(format!(
                        "letter {place} of {name} is {:?}, which is none of {}",
                        char::from(letter),
                        String::from_utf8_lossy(&self.letters)
                    ));
                }
                code => codes.push(code),
            }
        }
        Ok(codes)
    }
}

/// The letters of the IUPAC for nucleotides and for sets of them, and X, which is N.
const NUCLEOTIDES: &[u8] = b"ACGTUSWRYKMBVHDNX";

/// Returns which of T and U an alphabet of nucleotides has, and the other, if it has one.
fn thymine_and_uracil(letters: &[u8]) -> Option<(u8, u8)> {
    let has = |letter: &u8| letters.contains(letter);
    let is_of_nucleotides =
        b"ACG".iter().all(has) && letters.iter().all(|letter| NUCLEOTIDES.contains(letter));
    match (has(&b'T'), has(&b'U')) {
        (true, false) if is_of_nucleotides => Some((b'T', b'U')),
        (false, true) if is_of_nucleotides => Some((b'U', b'T')),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_places_and_other_letters_are_named() {
        let dna = Alphabet::new(b"ACGT").unwrap();
        assert_eq!(dna.codes("a", b"GatC").unwrap(), [2, 0, 3, 1]);
        let error = dna.codes("chr1", b"ACN").unwrap_err();
        assert_eq!(error, "letter 3 of chr1 is 'N', which is none of ACGT");
        assert!(Alphabet::new(b"ACA").unwrap_err().contains("'A'"));
    }

    #[test]
    fn t_and_u_are_one_letter_where_nucleotides_have_one_of_them() {
        let codes = |alphabet: &[u8]| Alphabet::new(alphabet).unwrap().codes("a", b"Tu");
        assert_eq!(codes(b"ACGT").unwrap(), [3, 3]);
        assert_eq!(codes(b"ACGUN").unwrap(), [3, 3]);
        assert_eq!(codes(b"ACGTU").unwrap(), [3, 4]);
        // The T of proteins is threonine, and their U is another acid.
        assert!(
            codes(b"ACGTE")
                .unwrap_err()
                .contains("letter 2 of a is 'u'")
        );
    }
}
