//! A user's own kernel, recorded on any device and judged: a GPU, the CPU, the simulator.
//!
//! A [`Recording`] has the buffers that a kernel's lanes fill, and the names and initial values of arrays:
//!
//! 1. make it for the device and the shape of the launches, with words for each lane ([`words_needed`]);
//! 2. name the arrays, when they hold what the first launch will find;
//! 3. have the [`Stm`](stm_core::host::Stm) observed by [`Recording::probe`], and launch, as often as one
//!    likes, while the host does not change the arrays;
//! 4. [`Recording::judge`].
//!
//! For a GPU the kernel needs PTX that records, as [`Error::PtxNotBuilt`](stm_core::host::Error::PtxNotBuilt)
//! says, and this crate its feature `cuda`. What a history from hardware proves, and what it cannot, is said
//! in [`stm_core::internal::observe::recorder`].
//!
//! ```
//! use stm_core::prelude::*;
//! use verify::recording::{Recording, words_needed};
//!
//! /// Counts.
//! #[kernel]
//! pub fn count<L: Lane, A: Algorithm>(lane: &L, stm: &StmRef<A>, counter: &A::Array<u32>, n: u64) {
//!     stm.for_each(lane, 0..n, |tx, _| {
//!         let count = tx.read(counter, 0)?;
//!         tx.write(counter, 0, count + 1)
//!     });
//! }
//!
//! # fn main() -> Result<(), verify::error::Error> {
//! let device = Cpu::new(); // or `Cuda::new(0)?`, with the feature `cuda`
//! let shape = Launch::new(2, 2);
//! let mut stm = Stm::on(&device)?;
//! let counter = stm.array("counter", &[0_u32])?;
//!
//! // 250 transactions of each thread, 8 attempts at each, with up to 2 events.
//! let words = words_needed(250 * 8, 2);
//! let mut recording = Recording::new(&device, &shape, words)?;
//! recording.name(&counter)?;
//! stm.observe(recording.probe());
//! count::launch(&mut stm, shape, &counter, 1_000)?;
//!
//! let judged = recording.judge("fast", "count")?;
//! assert!(judged.is_opaque(), "{judged}");
//! assert_eq!(judged.difference(&counter)?, None);
//! # Ok(())
//! # }
//! ```

use crate::prelude::*;
use std::fmt;
use stm_core::host::{Device, Launch};
use stm_core::internal::observe::HostProbe;

pub use stm_core::internal::observe::history_layout::words_needed;

/// The buffers of a recording in the memory of a device, and the names of what is recorded.
#[derive(Debug)]
pub struct Recording<D: Device> {
    device: String,
    records: Records<D>,
    names: Names,
}

impl<D: Device> Recording<D> {
    /// Allocates buffers of `words_per_lane` 64-bit words for each lane of launches of this shape.
    pub fn new(device: &D, launch: &Launch, words_per_lane: u64) -> Result<Self, Error> {
        Ok(Self {
            device: device.name(),
            records: Records::new(device, launch, words_per_lane)?,
            names: Names::default(),
        })
    }

    /// Names the words of an array and takes what it holds now for what it held before the first launch. What
    /// words without a name held is inferred.
    pub fn name(&mut self, array: &impl Named) -> Result<(), Error> {
        self.names.add(array.describe()?);
        Ok(())
    }

    /// Returns a probe for [`Stm::observe`](stm_core::host::Stm::observe): one launch at a time, while this lives.
    pub fn probe(&self) -> HostProbe {
        self.records.probe()
    }

    /// Judges what the launches since [`Self::clear`] have recorded. `algorithm` and `kernel` are for
    /// reports. [`Error::BufferFull`] says how many words a lane would have needed; [`Error::Impossible`] and
    /// [`Error::Record`] are of what no launch records.
    pub fn judge(&self, algorithm: &str, kernel: &str) -> Result<Judged, Error> {
        let header = Header::new(algorithm, kernel, &self.device);
        let initial = InitialMemory::of(self.names.values(), Rest::Inferred);
        let history = self.records.history(header, initial)?;
        let verdict = opacity::check(&history)?;
        Ok(Judged {
            history,
            verdict,
            names: self.names.clone(),
        })
    }

    /// Clears the buffers and forgets the arrays, which a next history names again.
    pub fn clear(&mut self) -> Result<(), Error> {
        self.names = Names::default();
        self.records.clear()
    }
}

/// A history with the verdict on it, whose text has the names of words and the numbers of transactions.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The history.
    pub history: History,
    /// The verdict.
    pub verdict: Verdict,
    /// The names of the words.
    pub names: Names,
}

impl Judged {
    /// Returns whether every attempt saw a state that existed while it ran.
    pub fn is_opaque(&self) -> bool {
        self.verdict.is_opaque()
    }

    /// Returns the first difference, in words, of what an array holds from what the commits have left.
    pub fn difference(&self, array: &impl Named) -> Result<Option<String>, Error> {
        let mut names = Names::default();
        names.add(array.describe()?);
        Ok(Left::by(&self.history).difference(&names, |word| Some(word.value)))
    }

    /// Returns a page that shows the history and what is wrong with it.
    pub const fn page(&self) -> Page<'_> {
        Page::of(&self.history, &self.names, Some(&self.verdict))
    }
}

impl fmt::Display for Judged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let attempts = format!("{} attempts saw", self.verdict.counts.attempts);
        if self.is_opaque() {
            return write!(f, "opaque: all {attempts} a state that existed");
        }
        let wrong = self.verdict.violations_total;
        writeln!(f, "not opaque: {wrong} of {attempts} no state that existed")?;
        for violation in &self.verdict.violations {
            let explained = Explained::of(violation, &self.history, &self.names);
            write!(f, "{explained}")?;
        }
        Ok(())
    }
}
