//! The twelve memory benchmarks of Stuart and Owens 2011 (section 3), the machine abstraction that follows
//! from them, and the rates of random accesses. In each benchmark one thread of each block makes the same
//! accesses. They are *contended* if all go to one word, else each thread has a word with 256 bytes of its
//! own; they are *volatile* (loads and stores) or *atomic*; the last four are volatile ones after a single
//! atomic, which show whether atomics that wait in a queue *hold* the line. The times themselves do not
//! matter, but their ratios do.

use super::bench::{Machine, median, net};
use crate::numbers::bytes as in_bytes;
use crate::prelude::*;
use Operation::{Add, Load, Store, Swap};
use Width::{Bits32, Bits64, Bits128};
use stm_kernels::machine::{
    Accesses, AccessesParams, Operation, RandomAccesses, RandomAccessesParams, Width,
};

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct GridTimes {
    pub why: String,
    /// Threads of a block, of which one makes accesses.
    pub threads: u32,
    pub accesses: u32,
    /// The times of all accesses in nanoseconds, without that of a launch which makes none.
    pub times_ns: Benchmarks,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Rate {
    pub bytes: u64,
    /// `load`, `store`, `add` or `swap`.
    pub operation: String,
    pub bits: u32,
    pub threads: u64,
    pub per_s: f64,
}

/// The words of 256 bytes, which each thread has for its own without contention.
const STRIDE: u32 = 64;

impl Machine<'_> {
    pub(super) fn grids(&self) -> Result<Vec<GridTimes>> {
        self.progress.step("compiling the memory benchmarks");
        self.device.prepare::<Accesses>(Observation::Silent)?;
        let p = self.device.limits().processors;
        let of_gpu = vec![
            ("Fermi of the paper", 8 * 16),
            ("Tesla of the paper", 8 * 30),
            ("a block a multiprocessor", p),
            ("eight blocks a multiprocessor", 8 * p),
        ];
        let grids = (self.kind).either(vec![("a block a core", p)], of_gpu);
        let accesses = self.kind.either(4_000_000, 1000);
        let grids = grids.into_iter().map(|(why, blocks)| {
            (self.progress).step(format!("memory benchmarks of {blocks} blocks"));
            Ok(GridTimes {
                why: why.into(),
                threads: self.kind.either(1, 128),
                accesses,
                times_ns: self.benchmarks(blocks, accesses)?,
            })
        });
        grids.collect()
    }

    fn benchmarks(&self, blocks: u32, accesses: u32) -> Result<Benchmarks> {
        let (device, count) = (self.device, blocks as usize);
        let words = Buffer::zeroed(device, count * STRIDE as usize, "the words accessed")?;
        let results = Buffer::zeroed(device, count, "the results of accesses")?;
        let launch = Launch::new(blocks, self.kind.either(1, 128));
        let time = |operation, after_atomic, stride, accesses| {
            let params = AccessesParams {
                words: words.tarray(),
                results: results.tarray(),
                accesses,
                stride,
                operation,
                after_atomic,
                zero: 0,
            };
            median(self.times, || {
                // SAFETY: the buffers outlive the launch, and have a word for each block at this stride.
                unsafe { device.launch::<Accesses>(&launch, &params) }
            })
        };
        let empty: Duration = time(Load, false, STRIDE, 0)?;
        let pair = |operation, after_atomic| -> Result<Pair> {
            let of = |stride| time(operation, after_atomic, stride, accesses);
            Ok(Pair {
                contended: net(of(0)?, empty),
                uncontended: net(of(STRIDE)?, empty),
            })
        };
        let column = |volatile, atomic| -> Result<Column> {
            Ok(Column {
                volatile: pair(volatile, false)?,
                atomic: pair(atomic, false)?,
                after_atomic: pair(volatile, true)?,
            })
        };
        Ok(Benchmarks {
            blocks,
            reads: column(Load, Add)?,
            writes: column(Store, Swap)?,
        })
    }

    /// Measures all operations at all widths over all sizes that fit into half of the memory.
    pub(super) fn rates(&self) -> Result<Vec<Rate>> {
        let (device, p) = (self.device, self.device.limits().processors);
        self.progress.step("compiling the random accesses");
        device.prepare::<RandomAccesses>(Observation::Silent)?;
        // On a GPU as many threads as fit on a multiprocessor of 2,048.
        let (blocks, threads, accesses) = (self.kind).either((p, 1, 1 << 20), (16 * p, 128, 64));
        let most = if self.quick { 1 << 18 } else { u32::MAX };
        let accesses = accesses.min(most);
        let launch = Launch::new(blocks, threads);
        let all = lanes((blocks, threads));
        let results = Buffer::zeroed(device, all as usize, "the results of accesses")?;
        let mut rates = Vec::new();
        for mib in (self.kind).either(&[4, 32, 64][..], &[4, 32, 64, 1024]) {
            let bytes = mib << 20;
            if bytes > device.available_bytes()? / 2 {
                continue;
            }
            let words = Buffer::zeroed(device, (bytes / 8) as usize, "the words accessed")?;
            for (operation, name, (width, bits)) in OPERATIONS
                .into_iter()
                .flat_map(|(operation, name)| WIDTHS.map(|width| (operation, name, width)))
            {
                let (adds, wide) = (operation == Add, bits == 128);
                let is_there = !wide || !adds && device.atomics_bits() == 128;
                if !is_there || self.quick && (adds || wide) {
                    continue;
                }
                (self.progress).step(format!("{name} of {bits} bits in {}", in_bytes(bytes)));
                let time = |accesses| {
                    let params = RandomAccessesParams {
                        words: words.tarray(),
                        results: results.tarray(),
                        accesses,
                        operation,
                        width,
                        zero: 0,
                    };
                    median(self.times, || {
                        // SAFETY: the buffers outlive the launch; the words are a power of two and zero.
                        unsafe { device.launch::<RandomAccesses>(&launch, &params) }
                    })
                };
                let ns = net(time(accesses)?, time(0)?);
                rates.push(Rate {
                    bytes,
                    operation: name.into(),
                    bits,
                    threads: all,
                    per_s: all as f64 * f64::from(accesses) / ns * 1e9,
                });
            }
        }
        Ok(rates)
    }
}

const OPERATIONS: [(Operation, &str); 4] = [
    (Load, "load"),
    (Store, "store"),
    (Add, "add"),
    (Swap, "swap"),
];

const WIDTHS: [(Width, u32); 3] = [(Bits32, 32), (Bits64, 64), (Bits128, 128)];

/// The times of one kind of access, contended and not, in one unit for all of a machine.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Pair {
    pub contended: f64,
    pub uncontended: f64,
}

impl Pair {
    pub(crate) fn ratio(&self) -> f64 {
        self.contended / self.uncontended
    }

    #[must_use]
    pub(crate) fn over(&self, other: &Self) -> Self {
        Self {
            contended: self.contended / other.contended,
            uncontended: self.uncontended / other.uncontended,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Column {
    pub volatile: Pair,
    pub atomic: Pair,
    /// Loads or stores after one atomic.
    pub after_atomic: Pair,
}

impl Column {
    pub(crate) fn ratios(&self) -> Value {
        json!({
            "volatile": self.volatile.ratio(),
            "atomic": self.atomic.ratio(),
            "after_atomic": self.after_atomic.ratio(),
            "atomic_to_volatile": self.atomic.over(&self.volatile),
            "after_atomic_to_volatile": self.after_atomic.over(&self.volatile),
        })
    }
}

#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Benchmarks {
    /// The number of blocks, of which one thread each makes accesses.
    pub blocks: u32,
    pub reads: Column,
    pub writes: Column,
}

impl Benchmarks {
    /// Returns the times of reads and of writes, of each kind of accesses.
    pub(crate) const fn pairs(&self) -> [[Pair; 2]; 3] {
        let (r, w) = (&self.reads, &self.writes);
        [
            [r.volatile, w.volatile],
            [r.atomic, w.atomic],
            [r.after_atomic, w.after_atomic],
        ]
    }

    /// Returns the abstraction of a machine, if there are blocks and all ratios are numbers (section 4 there).
    pub(crate) fn abstraction(&self) -> Option<Self> {
        let positive = |time: f64| time.is_finite() && time > 0.0;
        let pairs = self.pairs();
        let mut pairs = pairs.as_flattened().iter();
        let is_one = pairs.all(|pair| positive(pair.contended) && positive(pair.uncontended));
        (is_one && self.blocks > 0).then_some(*self)
    }

    /// Returns whether contended loads take at least twice as long after an atomic.
    pub(crate) fn lines_held(&self) -> bool {
        self.reads.after_atomic.over(&self.reads.volatile).contended >= 2.0
    }

    /// Returns the ratios of an abstraction as JSON, and what follows from them, as how many times as long as a load an
    /// atomic read of a word with rivals takes.
    pub(crate) fn ratios(&self) -> Value {
        let (reads, writes) = (&self.reads, &self.writes);
        let to_load = |pair: Pair| pair.over(&reads.volatile).contended;
        json!({
            "blocks": self.blocks, "reads": reads.ratios(), "writes": writes.ratios(),
            "write_to_read": writes.volatile.uncontended / reads.volatile.uncontended,
            "lines_held": self.lines_held(),
            "atomic_to_poll": to_load(reads.atomic) / to_load(reads.after_atomic),
        })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    //! The paper's figures, and what follows from them.

    use super::*;

    const fn pair(contended: f64, uncontended: f64) -> Pair {
        Pair {
            contended,
            uncontended,
        }
    }

    /// Makes a column of the rows of table 1 in Stuart and Owens 2011.
    const fn column(ms: [f64; 6]) -> Column {
        Column {
            volatile: pair(ms[0], ms[1]),
            atomic: pair(ms[2], ms[3]),
            after_atomic: pair(ms[4], ms[5]),
        }
    }

    /// Table 1, at 30 multiprocessors with 8 blocks each.
    pub(crate) const TESLA: Benchmarks = Benchmarks {
        blocks: 240,
        reads: column([0.848, 0.590, 78.407, 0.845, 0.923, 0.601]),
        writes: column([0.829, 0.226, 78.404, 0.991, 0.915, 0.228]),
    };

    /// Table 1, at 16 multiprocessors with 8 blocks each.
    pub(crate) const FERMI: Benchmarks = Benchmarks {
        blocks: 128,
        reads: column([0.494, 0.043, 1.479, 0.437, 1.473, 0.125]),
        writes: column([0.175, 0.029, 1.470, 0.312, 0.824, 0.050]),
    };

    #[test]
    fn the_ratios_of_the_papers_times_are_those_of_its_tables_2_and_3() {
        let [tesla, fermi] = [TESLA, FERMI];
        // Three ratios of table 2, and then four of table 3.
        for (of, printed) in [
            (tesla.reads, [1.44, 92.79, 1.54, 92.46, 1.43, 1.08, 1.02]),
            (tesla.writes, [3.67, 79.12, 4.01, 94.57, 4.38, 1.10, 1.01]),
            (fermi.reads, [11.49, 3.38, 11.78, 2.99, 10.16, 2.98, 2.91]),
            (fermi.writes, [6.03, 4.71, 16.48, 8.40, 10.76, 4.71, 1.72]),
        ] {
            let of = of.ratios();
            let found = ["volatile", "atomic", "after_atomic"].map(|name| &of[name]);
            let pairs = ["atomic_to_volatile", "after_atomic_to_volatile"].map(|name| &of[name]);
            let pairs = pairs.map(|pair| [&pair["contended"], &pair["uncontended"]]);
            for (found, printed) in found.into_iter().chain(pairs.concat()).zip(printed) {
                let found = found.as_f64().unwrap();
                // The paper rounds most figures and cuts some.
                assert!((found - printed).abs() < 0.0101, "{found} for {printed}");
            }
        }
        assert!(!tesla.lines_held() && fermi.lines_held());
    }

    #[test]
    fn times_that_are_none_make_no_abstraction() {
        assert_eq!((Benchmarks { blocks: 0, ..FERMI }).abstraction(), None);
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let mut benchmarks = FERMI;
            benchmarks.writes.after_atomic.contended = bad;
            assert_eq!(benchmarks.abstraction(), None, "{bad}");
        }
    }
}
