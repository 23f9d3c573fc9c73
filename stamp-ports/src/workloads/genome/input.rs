//! The sizes of genome.

use super::gene::GENE_MAX;
use crate::devices::DeviceKind;
use crate::workloads::prelude::*;

/// Slots of the set for each different segment, at least: few of the slots that
/// an insertion looks at are taken.
const SLOTS_A_SEGMENT: u64 = 4;

/// Slots that an insertion looks at, at most. With a quarter of the slots
/// taken, the longest run of taken slots grows with the logarithm of their
/// number, to some 30 of a gene of [`GENE_MAX`] bases.
const LOOKS_MAX: u32 = 64;

/// Words that a link reads, and that it writes.
const LINK_WORDS: u32 = 4;

sizes! {
    /// Genome's parameters, by STAMP's letters; by default those of the paper's Table 1: 16 K
    /// shared words, STAMP's `-g16384`; STAMP's `-s64`; GN-1's 4 M transactions.
    Genome, options of "genome" {
        /// `-g`: bases of the gene.
        bases: u32 = 16 << 10, json "g", option
            /// Bases of the gene [default: 16K]
            #[arg(short, value_name = "N", value_parser = parse_count_32)]
            g;
        /// `-s`: bases of a segment.
        segment: u32 = 64, json "s", option
            /// Bases of a segment [default: 64]
            #[arg(short, value_name = "N", value_parser = parse_count_32)]
            s;
        /// `-n`: segments drawn, before holes are filled.
        segments: u32 = 4 << 20, json "n";
    }
}

impl Input for Genome {
    is_its_workload!();
    type Options = Options;

    const TAKES: &'static [SharedOption] = &[SharedOption::N];

    fn sized(occasion: Occasion) -> Self {
        let (bases, segment, segments) = match occasion {
            Occasion::Quick => (512, 16, 16 << 10),
            Occasion::Recording(DeviceKind::Cpu) => (2 << 10, 32, 16 << 10),
            Occasion::Recording(DeviceKind::Cuda) => (16 << 10, 64, 64 << 10),
            // A million different segments, so that GN-2 has as many transactions.
            Occasion::Paper => (1 << 20, 64, 4 << 20),
            slow if slow.is_slow() => (16 << 10, 64, 256 << 10),
            _ => return Self::default(),
        };
        Self {
            bases,
            segment,
            segments,
        }
    }

    fn with(self, options: &Self::Options, shared: &SharedOptions) -> Result<Self> {
        Ok(Genome {
            segments: shared.n.unwrap_or(self.segments),
            ..self.given(options)
        })
    }
}

impl Genome {
    /// Slots of the set; the parameters have been checked.
    pub(super) fn slots(&self) -> u64 {
        let places = u64::from(self.bases - self.segment) + 1;
        (places * SLOTS_A_SEGMENT).next_power_of_two()
    }
}

impl Sizes for Genome {
    fn parameters(&self) -> Vec<(&'static str, Value)> {
        self.named()
    }

    fn summary(&self) -> String {
        let bases = |n: u32| of(n.into(), "base");
        format!(
            "{}, {}, {} a segment",
            bases(self.bases),
            of(self.segments.into(), "segment"),
            bases(self.segment)
        )
    }

    fn capacity(&self) -> Capacity {
        sets(LOOKS_MAX, LINK_WORDS, 0)
    }

    fn transactions(&self) -> Option<u64> {
        Some(self.segments.into())
    }

    fn shared_words(&self, _transactions: u64) -> u64 {
        // The set, and the chains: a successor is two words.
        let places = u64::from(self.bases.saturating_sub(self.segment)) + 1;
        (places * SLOTS_A_SEGMENT).next_power_of_two() * 5
    }

    fn verifies(&self) -> Verifies {
        Verifies::final_state(
            "each segment is once in the set, and the chain of all of them is the gene",
        )
    }

    fn check(&self, _transactions: u64) -> Result<()> {
        let Self {
            bases,
            segment,
            segments,
        } = *self;
        refuse! {
            segment < 2 => "-s {segment} leaves segments nothing to overlap in: give 2 or more";
            bases < segment =>
                "-g {bases} is shorter than -s {segment}: a segment is a part of the gene";
            bases > GENE_MAX => "-g {bases} is too long: give at most {GENE_MAX}";
            segments == 0 => "-n 0 leaves nothing to put together: give 1 or more";
            segments > u32::MAX - GENE_MAX - 1 =>
                "-n {segments} is too many: give at most {}", u32::MAX - GENE_MAX - 1;
        }
        Ok(())
    }

    fn gpu_shape(&self, algorithm: Variant, processors: u32) -> Option<(u32, u32)> {
        // Few transactions at a time, each short; or many that seldom write.
        let without = matches!(algorithm, Variant::Cgl | Variant::Egpgv | Variant::Vbv);
        (!without).then_some((2 * processors, 256))
    }
}
