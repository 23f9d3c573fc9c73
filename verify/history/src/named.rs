//! Findings in the words of the program that was run: its transactions by their numbers, its words
//! by their names. A finding says `accounts[17]` where the history has an address.
//!
//! An array of the host's side implements [`Named`]: it says how it is called,
//! which words it has, and what they hold. [`Names`] collects arrays and finds
//! the name of a word. [`Explained`] tells a violation by them.

use crate::history::{History, Outcome};
use crate::opacity::report::{AttemptRef, CommitRef, Finding, Held, ReadEvidence, Violation};
use std::fmt;
use stm_core::host::{self, Buffer, Device, Nodes, Pod, PreassignedNodes, Records, Sums, TxArray};
use stm_core::{Element, Layout, Record, Summand};

/// How the words of an array are called.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Shape {
    /// By their index: `accounts[17]`.
    Elements,
    /// By row and column, with this many columns: `sums[3][1]`.
    Rows(u32),
    /// By index and field, with these fields: `entries[3].key`.
    Fields(Vec<&'static str>),
}

/// A word of an array.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NamedWord {
    /// The number by which a history names it.
    pub word: u64,
    /// What it holds, zero-extended.
    pub value: u64,
    /// The address of its value in the memory of the device.
    pub value_at: u64,
    /// Says whether the value has 64 bits.
    pub wide: bool,
}

/// An array as a check of histories sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedArray {
    /// Its name.
    pub name: String,
    /// How its words are called.
    pub shape: Shape,
    /// Its words, by ascending address.
    pub words: Vec<NamedWord>,
    /// Says whether transactions alone write it, so that it holds what the
    /// commits have left; an attempt that aborts may leave something in a node.
    pub transactional: bool,
}

impl NamedArray {
    fn of(name: &str, shape: Shape, words: impl Iterator<Item = NamedWord>) -> Self {
        Self {
            name: name.to_owned(),
            shape,
            words: words.collect(),
            transactional: true,
        }
    }

    fn not_transactional(self) -> Self {
        Self {
            transactional: false,
            ..self
        }
    }
}

/// An array whose words a history may name.
pub trait Named {
    /// Describes the array as it is now.
    fn describe(&self) -> Result<NamedArray, host::Error>;
}

fn word(bits: u64, value: u64, wide: bool, layout: Layout) -> NamedWord {
    // The cell of a word of 64 bits begins with its version.
    let before = 8 * u64::from(wide && layout == Layout::Cells);
    NamedWord {
        word: bits,
        value,
        value_at: (bits & !1) + before,
        wide,
    }
}

impl<D: Device, T: Pod + Element> Named for TxArray<D, T> {
    fn describe(&self) -> Result<NamedArray, host::Error> {
        let named =
            |(i, v): (usize, T)| word(self.word(i).bits(), v.to_bits64(), T::WIDE, self.layout());
        let words = self.download()?.into_iter().enumerate().map(named);
        Ok(NamedArray::of(self.name(), Shape::Elements, words))
    }
}

impl<D: Device, T: Pod + Element> Named for Buffer<D, T> {
    fn describe(&self) -> Result<NamedArray, host::Error> {
        let start = self.as_mut_ptr().cast_const();
        let named = |(i, v): (usize, T)| {
            let bits = stm_core::internal::WordAddress::of(start.wrapping_add(i)).bits();
            word(bits, v.to_bits64(), T::WIDE, Layout::Plain)
        };
        let words = self.download()?.into_iter().enumerate().map(named);
        // Plain accesses may write it too.
        Ok(NamedArray::of(self.name(), Shape::Elements, words).not_transactional())
    }
}

impl<D: Device, T: Pod + Summand> Named for Sums<D, T> {
    fn describe(&self) -> Result<NamedArray, host::Error> {
        let columns = self.row_len();
        let named = |(i, v): (usize, T)| {
            let (row, column) = (i / columns as usize, i % columns as usize);
            let bits = self.word(row, column as u32).bits();
            word(bits, v.to_bits64(), T::WIDE, Layout::Plain)
        };
        let words = self.download()?.into_iter().enumerate().map(named);
        Ok(NamedArray::of(self.name(), Shape::Rows(columns), words))
    }
}

impl<D: Device, R: Record> Named for Records<D, R> {
    fn describe(&self) -> Result<NamedArray, host::Error> {
        let layout = self.layout();
        let words = self.words()?.into_iter();
        let named = words.map(|(at, value)| word(at.bits(), value, at.bits() & 1 != 0, layout));
        let shape = Shape::Fields(Self::field_names());
        Ok(NamedArray::of(self.name(), shape, named))
    }
}

impl<D: Device, R: Record> Named for Nodes<D, R> {
    fn describe(&self) -> Result<NamedArray, host::Error> {
        Ok(self.records().describe()?.not_transactional())
    }
}

impl<D: Device, R: Record> Named for PreassignedNodes<D, R> {
    fn describe(&self) -> Result<NamedArray, host::Error> {
        Ok(self.records().describe()?.not_transactional())
    }
}

/// The arrays of a run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Names {
    arrays: Vec<NamedArray>,
}

impl Names {
    /// Adds an array. It takes the place of those with words of its own, which have been freed.
    pub fn add(&mut self, array: NamedArray) {
        let range = |array: &NamedArray| {
            let first = array.words.first()?.word & !1;
            Some((first, array.words.last()?.word | 1))
        };
        if let Some((first, last)) = range(&array) {
            self.arrays
                .retain(|old| range(old).is_none_or(|(from, to)| to < first || last < from));
        }
        self.arrays.push(array);
    }

    /// Takes what `newest` returns for the values of the words, and forgets the
    /// arrays for which it returns nothing, which have been freed.
    pub fn refresh(&mut self, newest: impl Fn(&NamedWord) -> Option<u64>) {
        self.arrays.retain_mut(|array| {
            array.words.iter_mut().all(|word| {
                let value = newest(word);
                word.value = value.unwrap_or(word.value);
                value.is_some()
            })
        });
    }

    /// Returns all arrays.
    pub fn arrays(&self) -> &[NamedArray] {
        &self.arrays
    }

    /// Returns the words of all arrays, with what they held when the arrays were
    /// added, as the initial memory of a history wants them.
    pub fn values(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let words = self.arrays.iter().flat_map(|array| &array.words);
        words.map(|word| (word.word, word.value))
    }

    /// Returns the name of a word, or its address if no array has it.
    pub fn of(&self, word: u64) -> WordName<'_> {
        let found = self.arrays.iter().find_map(|array| {
            let at = array.words.binary_search_by_key(&word, |w| w.word).ok()?;
            Some((array, at))
        });
        WordName { word, found }
    }
}

/// The name of a word, as text.
#[derive(Clone, Copy, Debug)]
pub struct WordName<'a> {
    word: u64,
    found: Option<(&'a NamedArray, usize)>,
}

impl fmt::Display for WordName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((array, at)) = self.found else {
            return write!(f, "word 0x{:x}", self.word);
        };
        let name = &array.name;
        match &array.shape {
            Shape::Elements => write!(f, "{name}[{at}]"),
            Shape::Rows(columns) => {
                let columns = *columns as usize;
                write!(f, "{name}[{}][{}]", at / columns, at % columns)
            }
            Shape::Fields(fields) => {
                let n = fields.len().max(1);
                let field = fields.get(at % n).copied().unwrap_or_default();
                write!(f, "{name}[{}].{field}", at / n)
            }
        }
    }
}

/// A violation, with the history that it is in and the names of its words.
#[derive(Clone, Copy, Debug)]
pub struct Explained<'a> {
    /// The violation.
    pub violation: &'a Violation,
    /// The history.
    pub history: &'a History,
    /// The names.
    pub names: &'a Names,
}

impl<'a> Explained<'a> {
    /// Returns a violation with its history and the names.
    pub const fn of(violation: &'a Violation, history: &'a History, names: &'a Names) -> Self {
        Self {
            violation,
            history,
            names,
        }
    }
}

/// Names the transaction of an attempt: `transaction 3`, or the attempt if that is not known.
pub(crate) fn transaction(history: &History, attempt: usize) -> String {
    match history.transaction(attempt) {
        Some(n) => format!("transaction {n}"),
        None => format!("attempt {attempt}"),
    }
}

/// Says how an attempt ended, as a part of a sentence.
pub(crate) fn outcome(outcome: Outcome) -> String {
    match outcome {
        Outcome::Committed { version } => format!("committed as version {version}"),
        Outcome::CommittedReadOnly => "committed without a write".into(),
        Outcome::Running => "had not ended".into(),
        aborted @ Outcome::Aborted { .. } => aborted.to_string(),
    }
}

impl Explained<'_> {
    fn commit(&self, by: CommitRef) -> String {
        let name = transaction(self.history, by.attempt);
        format!("{name} (thread {}, version {})", by.lane, by.version)
    }

    fn held(&self, held: &Held) -> String {
        let since = held.set_by.map_or_else(
            || "from the start".into(),
            |by| format!("from the commit of {}", self.commit(by)),
        );
        let until = held.overwritten_by.map_or_else(
            || "to the end".into(),
            |by| format!("until {} wrote {}", self.commit(by), by.value),
        );
        format!("{since} {until}")
    }

    fn read(&self, f: &mut fmt::Formatter<'_>, read: &ReadEvidence) -> fmt::Result {
        let name = self.names.of(read.word);
        write!(f, "  it read {} from {name}, which ", read.value)?;
        if read.holds.is_empty() && read.elsewhere.is_empty() {
            write!(f, "never held it")?;
            match read.never_visible_write_by {
                Some(AttemptRef { attempt, .. }) => {
                    let writer = transaction(self.history, attempt);
                    write!(
                        f,
                        "; {writer} wrote it (attempt {attempt}), and did not commit it"
                    )?;
                }
                None => write!(f, ", and which no transaction wrote: does a plain access?")?,
            }
            return writeln!(f);
        }
        let (when, all) = if read.holds.is_empty() {
            ("held it at other times only: ", &read.elsewhere)
        } else {
            ("held it ", &read.holds)
        };
        let all: Vec<String> = all.iter().map(|held| self.held(held)).collect();
        write!(f, "{when}{}", all.join("; again "))?;
        if read.holds_left_out > 0 {
            write!(f, "; and {} times more", read.holds_left_out)?;
        }
        if read.initial_unknown {
            write!(f, " (what it held at first is not known)")?;
        }
        writeln!(f)
    }
}

impl fmt::Display for Explained<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let AttemptRef { attempt, lane, .. } = self.violation.attempt;
        let name = transaction(self.history, attempt);
        let end = outcome(self.violation.attempt.outcome);
        write!(f, "{name} (thread {lane}, attempt {attempt}; {end})")?;
        match &self.violation.finding {
            Finding::OwnWriteLost {
                word, wrote, read, ..
            } => {
                let word = self.names.of(*word);
                writeln!(f, " wrote {wrote} to {word} and then read {read} from it")
            }
            Finding::NoCommonPoint {
                points,
                reads_total,
                reads,
            } => {
                writeln!(
                    f,
                    " saw no state that existed: its place is in {points} of the clock, where no \
                     point satisfies {} of its {reads_total} reads",
                    reads.len(),
                )?;
                reads.iter().try_for_each(|read| self.read(f, read))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stm_core::host::Cpu;

    stm_core::record! {
        /// A record of both widths, whose fields do not lie in their order.
        struct Entry {
            key: u32,
            weight: f64,
            next: u32,
        }
    }

    fn text(array: &impl Named, word: u64) -> String {
        let mut names = Names::default();
        names.add(array.describe().unwrap());
        names.of(word).to_string()
    }

    #[test]
    fn words_have_the_names_that_a_user_would_write() {
        let cpu = Cpu::new();
        for layout in [Layout::Plain, Layout::Cells] {
            let narrow = TxArray::from_slice(&cpu, layout, &[7_u32; 20], "accounts").unwrap();
            assert_eq!(text(&narrow, narrow.word(17).bits()), "accounts[17]");
            let wide = TxArray::from_slice(&cpu, layout, &[7_u64; 20], "wide").unwrap();
            assert_eq!(text(&wide, wide.word(19).bits()), "wide[19]");
            let entries = Records::<_, Entry>::zeroed(&cpu, layout, 5, "entries").unwrap();
            for (bits, name) in [
                (entries.word(3, Entry::next()).bits(), "entries[3].next"),
                (entries.word(4, Entry::weight()).bits(), "entries[4].weight"),
                (entries.word(0, Entry::key()).bits(), "entries[0].key"),
            ] {
                assert_eq!(text(&entries, bits), name);
            }
        }
        let plain = Buffer::from_slice(&cpu, &[1_u64, 2], "plain").unwrap();
        let second = plain.as_mut_ptr() as u64 + 8 + 1;
        assert_eq!(text(&plain, second), "plain[1]");
        let sums = Sums::<_, u32>::zeroed(&cpu, 4, 3, "sums").unwrap();
        assert_eq!(text(&sums, sums.word(2, 1).bits()), "sums[2][1]");
        assert_eq!(text(&sums, 0x40), "word 0x40");
    }

    #[test]
    fn an_array_takes_the_place_of_a_freed_one() {
        let cpu = Cpu::new();
        let array = TxArray::from_slice(&cpu, Layout::Cells, &[7_u32; 4], "first").unwrap();
        let mut names = Names::default();
        let first = array.describe().unwrap();
        names.add(first.clone());
        names.add(NamedArray {
            name: "second".into(),
            ..first
        });
        assert_eq!(names.arrays().len(), 1);
        assert_eq!(names.of(array.word(2).bits()).to_string(), "second[2]");
    }
}
