//! The owners of channels in global memory.

use crate::channel::{DEPTH_LOG2_MAX, Global, RingShape, TChannels, TRings, words_of};
use crate::host::check_stop;
use core::marker::PhantomData;
use stm_machine::host::{Buffer, Device, Error, Launch};
use stm_machine::{Element, Kernel, Stop};

/// Channels for values of type `T` in the memory of a device. They are lent to a kernel as
/// `&Channels<D, T>`; [`TChannels::get`] waits for a value, and [`Rings`] has an example of the kind.
///
/// Blocks that wait for blocks with higher numbers must be resident together with them
/// (`Launch::cooperative`, [`Device::resident_blocks`]). A block that draws its work in order from a
/// counter waits only for blocks that have begun, and needs no such launch.
pub struct Channels<D: Device, T = u32> {
    words: Buffer<D, u64>,
    len: usize,
    stop: Stop,
    value: PhantomData<T>,
}

impl<D: Device, T: Element> Channels<D, T> {
    /// Makes `len` channels with tag 0, whose waits look at the flag `stop`
    /// ([`Watchdog::stop`](stm_machine::host::Watchdog::stop), or that of an `Stm`).
    pub fn new(device: &D, len: usize, stop: Stop) -> Result<Self, Error> {
        let words = len.saturating_mul(words_of::<T>() as usize);
        Ok(Self {
            words: Buffer::zeroed(device, words, "channels")?,
            len,
            stop,
            value: PhantomData,
        })
    }

    stm_machine::counted!("channels", usize, len);

    /// Returns the channels for the parameters of kernels. They are valid while this and the
    /// owner of the stop flag live.
    pub fn view(&self) -> TChannels<T> {
        // SAFETY: the words are aligned to 256 bytes and were zeroed; that they live while a
        // kernel runs is what the caller of a launch promises.
        unsafe {
            let space = Global::from_raw(self.words.as_mut_ptr());
            TChannels::from_raw(space, self.len as u64, self.stop)
        }
    }

    /// Copies all channels to the host, after a launch: the tag of each, and its value.
    pub fn download(&self) -> Result<std::vec::Vec<(u32, T)>, Error> {
        let words = self.words.download()?;
        let values = words.chunks(words_of::<T>() as usize).map(|words| {
            let bits = |word: &u64| word & 0xFFFF_FFFF;
            let high = words.get(1).map_or(0, bits);
            let value = T::from_bits64(high << 32 | bits(&words[0]));
            ((words[0] >> 32) as u32, value)
        });
        Ok(values.collect())
    }

    /// Makes all channels as they were when they were new.
    pub fn reset(&mut self) -> Result<(), Error> {
        self.words.clear()
    }
}

/// Rings for values of type `T` in the memory of a device: channels whose consumers
/// acknowledge what they take. They are lent to a kernel as `&Rings<D, T>`:
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
/// After a launch that ended with an error, or in which not all values were taken, call
/// [`Self::reset`].
pub struct Rings<D: Device, T = u32> {
    words: Buffer<D, u64>,
    shape: RingShape,
    stop: Stop,
    value: PhantomData<T>,
}

impl<D: Device, T: Element> Rings<D, T> {
    /// Makes empty rings, whose waits look at the flag `stop`.
    ///
    /// # Errors
    /// [`Error::BadConfig`] if the depth is above 2^[`DEPTH_LOG2_MAX`] or there are not 1 to 2^20
    /// consumers, or an error of the device.
    pub fn new(device: &D, shape: RingShape, stop: Stop) -> Result<Self, Error> {
        let (depth, consumers) = (shape.depth_log2, shape.consumers);
        let what = "the logarithm of a ring's depth";
        Error::unless(depth <= DEPTH_LOG2_MAX, what, depth, "0 to 20")?;
        let (fits, what) = (shape.is_right(), "the number of a ring's consumers");
        Error::unless(fits, what, consumers, "1 to 1048576")?;
        let words = shape.words::<T, Global>();
        let len = words.and_then(|words| usize::try_from(words).ok());
        let len = len.unwrap_or(usize::MAX);
        Ok(Self {
            words: Buffer::zeroed(device, len, "rings")?,
            shape,
            stop,
            value: PhantomData,
        })
    }

    /// Returns the shape.
    pub const fn shape(&self) -> RingShape {
        self.shape
    }

    /// Returns the rings for the parameters of kernels. They are valid while this and the
    /// owner of the stop flag live.
    pub fn view(&self) -> TRings<T> {
        // SAFETY: as for channels; `new` has asked for the words of the shape.
        unsafe {
            let space = Global::from_raw(self.words.as_mut_ptr());
            TRings::from_raw(space, self.shape, self.stop)
        }
    }

    /// Empties all rings.
    pub fn reset(&mut self) -> Result<(), Error> {
        self.words.clear()
    }
}

// SAFETY: the views are of the owners' memory, which is accessed by nobody else while it is
// borrowed; the stop flag is that of the launch (`check_launch`), and live.
stm_machine::__lent! {
    |it|
    [T: Element] &Channels<D, T> => TChannels<T>: it.words.space(), Ok(it.view()),
        [it.words.as_mut_ptr().cast()], {
        fn check_launch<K: Kernel>(&self, _launch: &Launch, stop: Stop) -> Result<(), Error> {
            check_stop(self.stop, stop, "channels")
        }
    };
    [T: Element] &Rings<D, T> => TRings<T>: it.words.space(), Ok(it.view()),
        [it.words.as_mut_ptr().cast()], {
        fn check_launch<K: Kernel>(&self, _launch: &Launch, stop: Stop) -> Result<(), Error> {
            check_stop(self.stop, stop, "channels")
        }
    };
}
