//! RA's floors, and RA by atomic additions.

use super::contender::{Contender, Kind};
use crate::error::Result;
use crate::ra::{Ra, difference};
use crate::workload::check_memory;
use stm_core::Element;
use stm_core::host::{Buffer, Device, Pod};
use stm_kernels::floor::ra::{Additions, CellsFloor, Floor, Params};
use stm_kernels::ra::RaPlan;

/// The array of words of type `T`, and what it must become.
pub struct Array<D: Device, T> {
    plan: RaPlan,
    initial: Vec<T>,
    words: Buffer<D, T>,
    expected: Vec<u32>,
}

impl<D: Device, T> std::fmt::Debug for Array<D, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Array").finish_non_exhaustive()
    }
}

impl<D: Device, T: Pod + Element + From<u32>> Array<D, T> {
    fn prepare(of: &Ra, device: &D, seed: u64, transactions: u64) -> Result<Self> {
        let (words, bytes) = (u64::from(of.words), size_of::<T>() as u64);
        let host = words * (4 + 2 * bytes);
        check_memory(device, "ra", words * bytes, host, "use fewer --words")?;
        let initial = of.initial(seed).into_iter().map(T::from).collect();
        Ok(Self {
            plan: of.plan(seed),
            initial,
            words: Buffer::zeroed(device, of.words as usize, "the array of ra")?,
            expected: of.replay(seed, transactions),
        })
    }

    fn reset(&mut self) -> Result<()> {
        Ok(self.words.upload(&self.initial)?)
    }

    fn params(&self, of: &Ra, transactions: u64) -> Params<T> {
        Params {
            words: self.words.tarray(),
            words_drawn: of.words,
            reads: of.reads,
            writes: of.writes,
            transactions,
            plan: self.plan,
        }
    }

    /// Compares the low 32 bits, which are all that the amounts are added to
    /// in either width.
    fn verify(&self) -> Result<Option<String>> {
        let words = self.words.download()?.into_iter();
        let words: Vec<u32> = words.map(|word| word.to_bits64() as u32).collect();
        Ok(difference(&words, &self.expected))
    }
}

macro_rules! contender {
    ($(#[$doc:meta])* $name:ident: $word:ty, $kernel:ident, $label:literal, $kind:ident) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name;

        impl Contender for $name {
            type Of = Ra;
            type Data<D: Device> = Array<D, $word>;
            type Kernel = $kernel;

            const NAME: &'static str = $label;
            const KIND: Kind = Kind::$kind;
            const OPERATIONS: &'static str = "reads and writes";

            fn operations(of: &Ra) -> f64 {
                f64::from(of.reads) + f64::from(of.writes)
            }

            fn prepare<D: Device>(
                of: &Ra,
                device: &D,
                seed: u64,
                transactions: u64,
            ) -> Result<Array<D, $word>> {
                Array::prepare(of, device, seed, transactions)
            }

            fn reset<D: Device>(_of: &Ra, data: &mut Array<D, $word>) -> Result<()> {
                data.reset()
            }

            fn params<D: Device>(
                of: &Ra,
                data: &Array<D, $word>,
                transactions: u64,
            ) -> Params<$word> {
                data.params(of, transactions)
            }

            fn verify<D: Device>(
                _of: &Ra,
                data: &mut Array<D, $word>,
                _transactions: u64,
            ) -> Result<Option<String>> {
                data.verify()
            }
        }
    };
}

contender!(
    /// The accesses with nothing that synchronises.
    Plain: u32, Floor, "plain accesses", Floor
);
contender!(
    /// The same with 64-bit words, as cells have them.
    PlainCells: u64, CellsFloor, "plain, 64-bit words", Floor
);
contender!(
    /// An atomic addition for each word written.
    AtomicAdds: u32, Additions, "atomic adds", SpecialPurpose
);
