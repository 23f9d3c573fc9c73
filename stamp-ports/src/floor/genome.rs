//! GN-1's floor, and the hash set that one writes by hand.

use super::contender::{Contender, Kind};
use crate::error::Result;
use crate::genome::Genome;
use crate::genome::check::wrong_set;
use crate::genome::gene::Gene;
use crate::workload::check_memory;
use stm_core::host::{Buffer, Device};
use stm_kernels::floor::genome::{CasSet as CasSetKernel, Floor, Params};
use stm_kernels::genome::{Segments, words_of};

/// The segments and the set.
pub struct Set<D: Device> {
    gene: Gene,
    words: Buffer<D, u64>,
    slots: Buffer<D, u32>,
}

impl<D: Device> std::fmt::Debug for Set<D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Set").finish_non_exhaustive()
    }
}

impl<D: Device> Set<D> {
    fn prepare(of: &Genome, device: &D, seed: u64) -> Result<Self> {
        let words = u64::from(words_of(of.segment));
        let most = u64::from(of.segments) + u64::from(of.bases);
        let bytes = most * words * 8 + of.slots() * 4;
        let host = bytes + most * 4 + u64::from(of.bases) * 80;
        check_memory(device, "genome", bytes, host, "use a smaller -n or -g")?;
        let gene = Gene::generate(seed, of.bases, of.segment, of.segments)?;
        let packed = gene.packed();
        Ok(Self {
            words: Buffer::from_slice(device, &packed, "the segments of genome")?,
            slots: Buffer::zeroed(device, of.slots() as usize, "the set of genome")?,
            gene,
        })
    }
}

macro_rules! contender {
    ($(#[$doc:meta])* $name:ident: $kernel:ident, $label:literal, $kind:ident) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name;

        impl Contender for $name {
            type Of = Genome;
            type Data<D: Device> = Set<D>;
            type Kernel = $kernel;

            const NAME: &'static str = $label;
            const KIND: Kind = Kind::$kind;
            const OPERATIONS: &'static str = "segments";

            fn operations(_of: &Genome) -> f64 {
                1.0
            }

            fn prepare<D: Device>(
                of: &Genome,
                device: &D,
                seed: u64,
                _transactions: u64,
            ) -> Result<Set<D>> {
                Set::prepare(of, device, seed)
            }

            /// The segments drawn, and those that fill holes.
            fn transactions<D: Device>(data: &Set<D>, _asked: u64) -> u64 {
                data.gene.starts.len() as u64
            }

            fn reset<D: Device>(_of: &Genome, data: &mut Set<D>) -> Result<()> {
                Ok(data.slots.clear()?)
            }

            fn params<D: Device>(_of: &Genome, data: &Set<D>, transactions: u64) -> Params {
                Params {
                    segments: Segments {
                        words: data.words.tarray(),
                        bases: data.gene.segment,
                    },
                    slots: data.slots.tarray(),
                    transactions,
                }
            }

            fn verify<D: Device>(
                _of: &Genome,
                data: &mut Set<D>,
                _transactions: u64,
            ) -> Result<Option<String>> {
                Ok(wrong_set(&data.gene, &data.slots.download()?))
            }
        }
    };
}

contender!(
    /// The accesses of GN-1 with nothing that synchronises.
    Plain: Floor, "GN-1, plain accesses", Floor
);
contender!(
    /// A look at each slot, and a compare-and-swap of a free one.
    CasSet: CasSetKernel, "GN-1, CAS set", SpecialPurpose
);
