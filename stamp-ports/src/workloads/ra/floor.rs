//! The random array without transactions: without synchronisation, by atomic additions, and
//! as critical sections.

use super::{Ra, difference};
use crate::workloads::prelude::*;
use stm_core::Element;
use stm_core::host::Pod;
use stm_kernels::floor::ra::{Additions, CellsFloor, CriticalSection, Floor, Params};
use stm_kernels::ra::RaPlan;

/// The array of words of type `T`, and what it must become.
struct Array<T> {
    of: Ra,
    seed: u64,
    plan: RaPlan,
    initial: Vec<T>,
    words: Buffer<AnyDevice, T>,
    expected: Expectation<Vec<u32>>,
}

impl<T: Pod + Element + From<u32>> Array<T> {
    fn prepare(of: &Ra, device: &AnyDevice, seed: u64, _: u64) -> Result<Self> {
        let (words, bytes) = (u64::from(of.words), size_of::<T>() as u64);
        let host = words * (4 + 2 * bytes);
        check_memory(device, "ra", words * bytes, host, "use fewer --words")?;
        let initial = of.initial(seed).into_iter().map(T::from).collect();
        Ok(Self {
            of: *of,
            seed,
            plan: of.plan(seed),
            initial,
            words: Buffer::zeroed(device, of.words as usize, "the array of ra")?,
            expected: Expectation::default(),
        })
    }
}

impl<T: Pod + Element> ContenderData for Array<T> {
    type Params = Params<T>;

    fn reset(&mut self) -> Result<()> {
        Ok(self.words.upload(&self.initial)?)
    }

    fn params(&self, transactions: u64) -> Params<T> {
        Params {
            words: self.words.tarray(),
            words_drawn: self.of.words,
            reads: self.of.reads,
            writes: self.of.writes,
            transactions,
            plan: self.plan,
        }
    }

    /// Compares the low 32 bits, which are all that the amounts are added to
    /// in either width.
    fn verify(&mut self, transactions: u64) -> Verdict {
        let words = self.words.download()?.into_iter();
        let words: Vec<u32> = words.map(|word| word.to_bits64() as u32).collect();
        let (of, seed) = (self.of, self.seed);
        let expected = (self.expected).after(transactions, || of.replay(seed, transactions));
        Ok(difference(&words, expected))
    }
}

/// What is counted.
const ACCESSES: (&str, fn(&Ra) -> f64) = ("reads and writes", |of| {
    f64::from(of.reads) + f64::from(of.writes)
});

/// The contenders of the random array.
pub(super) fn contenders() -> Vec<Contender<Ra>> {
    vec![
        unsynchronised::<Floor, _, _>(ACCESSES, Array::<u32>::prepare),
        // As wide as cells are.
        unsynchronised::<CellsFloor, _, _>(ACCESSES, Array::<u64>::prepare)
            .named("plain, 64-bit words"),
        open::<Additions, _, _>(
            (SpecialPurpose, "atomic adds"),
            ACCESSES,
            Array::<u32>::prepare,
        ),
        critical_section::<CriticalSection, _, _>(ACCESSES, Array::<u32>::prepare),
    ]
}
