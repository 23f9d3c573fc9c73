//! The owners of channels in global memory.

use super::owner::{Owner, Reference};
use crate::channel::{DEPTH_LOG2_MAX, Global, RingShape, TChannels, TRings, words_of};
use std::vec::Vec;
use stm_machine::host::{Device, Error, Result};
use stm_machine::{Element, Stop};

/// Channels for values of type `T` in the memory of a device, lent to a kernel as `&Channels<D, T>`;
/// [`TChannels::get`] waits for a value, and [`Rings`] has an example of the kind. Blocks that wait for
/// blocks with higher numbers must be resident with them (`Launch::cooperative`,
/// [`Device::resident_blocks`]); those that draw their work in order from a counter need not.
pub type Channels<D, T = u32> = Owner<D, TChannels<T>>;

impl<T: Element> Reference<()> for TChannels<T> {
    fn stop(&self) -> Option<(Stop, &'static str)> {
        Some((self.stop, "channels"))
    }
}

impl<D: Device, T: Element> Channels<D, T> {
    /// Makes `len` channels with tag 0, whose waits look at the flag `stop`, of a
    /// [`Watchdog`](stm_machine::host::Watchdog::stop) or an `Stm`.
    pub fn new(device: &D, len: usize, stop: Stop) -> Result<Self> {
        let len = len as u64;
        let bytes = len.checked_mul(8 * words_of::<T>());
        // SAFETY: the words are aligned to 256 bytes and zero, and the caller of a launch keeps them alive.
        Self::of(device, "channels", [bytes], (), |[start]| unsafe {
            TChannels::from_raw(Global::from_raw(start.cast()), len, stop)
        })
    }

    stm_machine::counted!("channels", usize, view.len() as usize);

    /// Copies all channels to the host, after a launch: the tag of each, and its value.
    pub fn download(&self) -> Result<Vec<(u32, T)>> {
        let of_one = 2 * words_of::<T>() as usize;
        let words = self.words(0..self.len() * of_one)?;
        let values = words.chunks(of_one).map(|words| {
            let high = words.get(2).map_or(0, |&high| u64::from(high) << 32);
            (words[1], T::from_bits64(high | u64::from(words[0])))
        });
        Ok(values.collect())
    }
}

/// Rings for values of type `T` in the memory of a device: channels whose consumers acknowledge what they
/// take, lent to a kernel as `&Rings<D, T>`:
///
/// ```
/// use std::time::Duration;
/// use stm_machine::host::{Buffer, Cpu, Launch, Watchdog};
/// use stm_machine::{Lane, Output, kernel};
/// use stm_sync::host::Rings;
/// use stm_sync::channel::{RingShape, TRings};
///
/// /// Block 0 sends squares, and block 1 adds them up.
/// #[kernel]
/// pub fn squares<L: Lane>(
///     lane: &L, rings: &TRings<u64>, sum: &Output<u64>, values: u64,
/// ) {
///     let Some(ring) = rings.get(0) else { return };
///     if lane.block_index() == 0 {
///         let mut sender = ring.sender(lane);
///         for i in 0..values {
///             if sender.send(i * i).is_err() { return; }
///         }
///     } else if let Some(mut receiver) = ring.receiver(lane, 0) {
///         let mut all = 0;
///         for _ in 0..values {
///             let Ok(square) = receiver.take() else { return };
///             all += square;
///         }
///         sum.set(lane, 0, all);
///     }
/// }
///
/// # fn main() -> Result<(), stm_machine::host::Error> {
/// let device = Cpu::new();
/// let mut watchdog = Watchdog::new(&device, Some(Duration::from_secs(10)))?;
/// let rings = Rings::new(&device, RingShape::one_to_one(1, 3), watchdog.stop())?;
/// let mut sum = Buffer::zeroed(&device, 1, "the sum")?;
/// let shape = Launch { cooperative: true, ..Launch::new(2, 1) };
/// squares::launch(&device, &mut watchdog, shape, &rings, &mut sum, 100)?;
/// assert_eq!(sum.download()?, [328_350u64]);
/// # Ok(()) }
/// ```
///
/// After an error, or a launch in which not all values were taken, call [`reset`](Owner::reset).
pub type Rings<D, T = u32> = Owner<D, TRings<T>>;

impl<T: Element> Reference<()> for TRings<T> {
    fn stop(&self) -> Option<(Stop, &'static str)> {
        Some((self.ring.stop, "channels"))
    }
}

impl<D: Device, T: Element> Rings<D, T> {
    /// Makes empty rings, whose waits look at the flag `stop`; [`Error::BadConfig`] if the depth is above
    /// 2^[`DEPTH_LOG2_MAX`] or there are not 1 to 2^20 consumers.
    pub fn new(device: &D, shape: RingShape, stop: Stop) -> Result<Self> {
        let (depth, consumers) = (shape.depth_log2, shape.consumers);
        let what = "the logarithm of a ring's depth";
        Error::unless(depth <= DEPTH_LOG2_MAX, what, depth, "0 to 20")?;
        let (fits, what) = (shape.is_right(), "the number of a ring's consumers");
        Error::unless(fits, what, consumers, "1 to 1048576")?;
        let words = shape.words::<T, Global>();
        let bytes = words.and_then(|words| words.checked_mul(8));
        // SAFETY: as for channels; these are the words of the shape.
        Self::of(device, "rings", [bytes], (), |[start]| unsafe {
            TRings::from_raw(Global::from_raw(start.cast()), shape, stop)
        })
    }

    /// Returns the shape.
    pub const fn shape(&self) -> RingShape {
        self.view.ring.shape
    }
}
