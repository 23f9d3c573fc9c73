//! Findings in the words of the program that was run: its transactions by their numbers, its words by their
//! names, as `accounts[17]` where the history has an address. Arrays are [`Named`]: they say which words they
//! have. [`Names`] collects arrays and finds the name of a word. [`Explained`] tells a violation by them.

use crate::history::{Header, History, InitialMemory};
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
    /// Says whether transactions alone write it, so that it holds what the commits have left; an attempt that
    /// aborts may leave something in a node.
    pub transactional: bool,
}

impl NamedArray {
    /// Returns an array of words, of which number `i` has the number `bits(i)` in a history.
    pub(crate) fn of<T: Element>(
        (name, shape, layout): (&str, Shape, Layout),
        values: Vec<T>,
        bits: impl Fn(usize) -> u64,
    ) -> Self {
        let named = |(i, value): (usize, T)| {
            let word = bits(i);
            let wide = word & 1 != 0;
            // The cell of a word of 64 bits begins with its version.
            let before = 8 * u64::from(wide && layout == Layout::Cells);
            NamedWord {
                word,
                value: value.to_bits64(),
                value_at: (word & !1) + before,
                wide,
            }
        };
        Self {
            name: name.to_owned(),
            shape,
            words: values.into_iter().enumerate().map(named).collect(),
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

impl<D: Device, T: Pod + Element> Named for TxArray<D, T> {
    fn describe(&self) -> Result<NamedArray, host::Error> {
        let what = (self.name(), Shape::Elements, self.layout());
        let bits = |i| self.word(i).bits();
        Ok(NamedArray::of(what, self.download()?, bits))
    }
}

impl<D: Device, T: Pod + Element> Named for Buffer<D, T> {
    fn describe(&self) -> Result<NamedArray, host::Error> {
        let start = self.as_mut_ptr().cast_const();
        let bits = |i| stm_core::internal::WordAddress::of(start.wrapping_add(i)).bits();
        let what = (self.name(), Shape::Elements, Layout::Plain);
        // Plain accesses may write it too.
        Ok(NamedArray::of(what, self.download()?, bits).not_transactional())
    }
}

impl<D: Device, T: Pod + Summand> Named for Sums<D, T> {
    fn describe(&self) -> Result<NamedArray, host::Error> {
        let columns = self.row_len();
        let len = columns as usize;
        let bits = |i| self.word(i / len, (i % len) as u32).bits();
        let what = (self.name(), Shape::Rows(columns), Layout::Plain);
        Ok(NamedArray::of(what, self.download()?, bits))
    }
}

impl<D: Device, R: Record> Named for Records<D, R> {
    fn describe(&self) -> Result<NamedArray, host::Error> {
        let shape = Shape::Fields(Self::field_names());
        let what = (self.name(), shape, self.layout());
        let (at, values): (Vec<_>, Vec<u64>) = self.words()?.into_iter().unzip();
        Ok(NamedArray::of(what, values, |i| at[i].bits()))
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

    /// Takes what `newest` returns for the values of the words, and forgets arrays without, which are freed.
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

    /// Returns the words of all arrays, with what they held when the arrays were added.
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

impl Explained<'_> {
    fn attempt(&self, i: usize) -> String {
        let transaction = self.history.transaction(i);
        let transaction = transaction.map(|n| format!("transaction {n}, "));
        format!("{}attempt {i}", transaction.unwrap_or_default())
    }

    fn described(&self, at: &AttemptRef) -> String {
        let (name, lane, number) = (self.attempt(at.attempt), at.lane, at.number_in_lane);
        let outcome = at.outcome;
        format!("{name} (thread {lane}, its attempt {number}; {outcome})")
    }

    fn commit(&self, by: CommitRef) -> String {
        let (version, name, lane) = (by.version, self.attempt(by.attempt), by.lane);
        format!("commit {version} ({name}, thread {lane})")
    }

    fn held(&self, held: &Held) -> String {
        let since = held.set_by.map(|by| self.commit(by));
        let since = since.unwrap_or_else(|| "initial memory".into());
        let until = |by: CommitRef| format!(" until {} wrote {}", self.commit(by), by.value);
        let until = held.overwritten_by.map(until).unwrap_or_default();
        format!("{}, from {since}{until}", held.points)
    }

    fn read(&self, f: &mut fmt::Formatter<'_>, read: &ReadEvidence) -> fmt::Result {
        let name = self.names.of(read.word);
        writeln!(f, "  event {} read {} from {name}", read.event, read.value)?;
        for held in &read.holds {
            writeln!(f, "    held in {}", self.held(held))?;
        }
        if read.holds_left_out > 0 {
            writeln!(f, "    and in {} more intervals", read.holds_left_out)?;
        }
        for held in &read.elsewhere {
            writeln!(f, "    held only outside: in {}", self.held(held))?;
        }
        if read.holds.is_empty() && read.elsewhere.is_empty() {
            let writer = read.never_visible_write_by.as_ref();
            let writer = writer.map(|writer| self.described(writer));
            let lost =
                "and no other attempt wrote it: does a plain access, or is an addition lost?";
            match writer {
                Some(by) => writeln!(f, "    never held; written, but not made visible, by {by}")?,
                None => writeln!(f, "    never held, {lost}")?,
            }
        }
        if read.initial_unknown {
            f.write_str("    (the word's initial value is unknown and taken for any)\n")?;
        }
        Ok(())
    }
}

impl fmt::Display for Explained<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (attempt, begin) = (&self.violation.attempt, self.violation.begin);
        let end = self.violation.end.map(|end| format!(", {end} at end"));
        let (attempt, end) = (self.described(attempt), end.unwrap_or_default());
        writeln!(f, "{attempt}: clock {begin} at begin{end}")?;
        match &self.violation.finding {
            Finding::OwnWriteLost {
                event,
                word,
                wrote,
                read,
            } => {
                let name = self.names.of(*word);
                writeln!(
                    f,
                    "  event {event} read {read} from {name}, to which the attempt had written {wrote}"
                )
            }
            Finding::NoCommonPoint {
                points,
                reads_total,
                reads,
            } => {
                let of = format!("{} of its {reads_total} reads", reads.len());
                writeln!(f, "  no point in {points} satisfies {of}:")?;
                reads.iter().try_for_each(|read| self.read(f, read))
            }
        }
    }
}

/// Without the names of the program: attempts have their index in the history, words their address.
impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let empty = History::new(Header::default(), InitialMemory::ZERO);
        write!(f, "{}", Explained::of(self, &empty, &Names::default()))
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
