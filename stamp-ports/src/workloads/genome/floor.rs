//! GN-1 without transactions: without synchronisation, as critical sections, and the hash set
//! that one writes by hand.

use super::check::wrong_set;
use super::gene::Gene;
use super::input::Genome;
use crate::devices::AnyDevice;
use crate::error::Result;
use crate::workloads::contender::ContenderKind::{SpecialPurpose, Unsynchronised};
use crate::workloads::contender::{Contender, ContenderData};
use crate::workloads::critical::critical_section;
use crate::workloads::memory::check_memory;
use stm_core::host::Buffer;
use stm_kernels::floor::genome::{CasSet, CriticalSection, Floor, Params};
use stm_kernels::genome::{Segments, words_of};

/// The segments and the set.
struct Set {
    gene: Gene,
    words: Buffer<AnyDevice, u64>,
    slots: Buffer<AnyDevice, u32>,
}

impl Set {
    fn prepare(of: &Genome, device: &AnyDevice, seed: u64, _transactions: u64) -> Result<Self> {
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

impl ContenderData for Set {
    type Params = Params;

    /// The segments drawn, and those that fill holes.
    fn transactions(&self, _asked: u64) -> u64 {
        self.gene.starts.len() as u64
    }

    fn reset(&mut self) -> Result<()> {
        Ok(self.slots.clear()?)
    }

    fn params(&self, transactions: u64) -> Params {
        Params {
            segments: Segments {
                words: self.words.tarray(),
                bases: self.gene.segment,
            },
            slots: self.slots.tarray(),
            transactions,
        }
    }

    fn verify(&mut self, _transactions: u64) -> Result<Option<String>> {
        Ok(wrong_set(&self.gene, &self.slots.download()?))
    }
}

/// What is counted.
const SEGMENTS: (&str, fn(&Genome) -> f64) = ("segments", |_| 1.0);

/// The contenders of GN-1.
pub(super) fn contenders() -> Vec<Contender<Genome>> {
    vec![
        Contender::new::<Floor, _>(
            Unsynchronised,
            "GN-1, plain accesses",
            SEGMENTS,
            Set::prepare,
        ),
        // A look at each slot, and a compare-and-swap of a free one.
        Contender::new::<CasSet, _>(SpecialPurpose, "GN-1, CAS set", SEGMENTS, Set::prepare),
        critical_section::<CriticalSection, _, _>(SEGMENTS, Set::prepare)
            .named("GN-1, critical-section"),
    ]
}
