//! Arguments of a launch: what the host lends to a kernel.

use crate::array::io::{Input, Output};
use crate::array::plain::TArray;
use crate::host::buffer::{Buffer, Pod};
use crate::host::prelude::*;
use crate::lane::Stop;
use std::collections::BTreeSet;

/// Something that the host lends to a kernel on a device `D` for a launch, and the kernel receives as a `P`.
///
/// | the host lends | the kernel's parameter |
/// | --- | --- |
/// | `&TxArray<D, T>` | `&A::Array<T>` |
/// | `&Sums<D, T>` | `&TSums<T>` |
/// | `&Records<D, R>` | `&TRecords<A, R>` |
/// | `&Pool<D>`, `&Nodes<D, R>` | `&TPool`, `&TNodes<A, R>` |
/// | `&mut PreassignedNodes<D, R>` | `&TPreassigned<A, R>` |
/// | `&Map<D, K, V>` and the other containers | `&TMap<A, K, V>` … |
/// | `&ForeignArray<D, T>` | a view of plain elements: `&TArray<T>`, `&A::Array<T>` of an algorithm with plain arrays |
/// | `ForeignArray::as_input` | `&Input<T>` |
/// | `&mut ForeignArray<D, T>` | `&Output<T>` |
/// | `&Buffer<D, T>` | `&Input<T>`, or `&TArray<T>` |
/// | `&mut Buffer<D, T>` | `&Output<T>` |
/// | `&Locks<D, K>`, `&Combiners<D, N>` | `&TLocks<K>`, `&TCombiners<N>` |
/// | `&GridBarrier<D, B>`, `&Semaphores<D, S>` | `&TBarrier<B>`, `&TSemaphores<S>` |
/// | `&Channels<D, T>`, `&Rings<D, T>` | `&TChannels<T>`, `&TRings<T>` |
///
/// ```
/// use stm_machine::host::{Argument, Buffer, Cpu, Device};
/// use stm_machine::{Input, Output};
///
/// /// What a function of one's own takes that launches a kernel.
/// fn lend<D: Device>(
///     device: &D, from: impl Argument<D, Input<u32>>, to: impl Argument<D, Output<u32>>,
/// ) -> Result<(u64, u64), stm_machine::host::Error> {
///     Ok((from.parameter(device, "from")?.len(), to.parameter(device, "to")?.len()))
/// }
///
/// let cpu = Cpu::new();
/// let (from, mut to) = (Buffer::zeroed(&cpu, 3, "from")?, Buffer::zeroed(&cpu, 2, "to")?);
/// assert_eq!(lend(&cpu, &from, &mut to)?, (3, 2));
/// # Ok::<(), stm_machine::host::Error>(())
/// ```
///
/// # Safety
/// The parameter refers to memory of that device, in the layout of its type, which lives and is accessed by
/// nothing but kernels while the argument is borrowed, and which [`Self::hold`] takes unless it is borrowed
/// alone or only read.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed for a kernel's parameter of type `&{P}`",
    note = "an array of transactions is lent as `&TxArray`, plain input as `&Buffer`, results as `&mut Buffer`, and rows of sums, pools and records as references to their owners"
)]
pub unsafe trait Argument<D: Device, P> {
    /// Returns the kernel's parameter; [`Error::OtherDevice`] and [`Error::WrongLayout`] name it `what`.
    fn parameter(self, device: &D, what: &'static str) -> Result<P>;

    /// Takes for a launch what its kernel may change and others may borrow; [`Error::InUse`] if another
    /// launch has it, in which `what` names the argument.
    fn hold(&self, holds: &mut Holds, what: &'static str) -> Result;

    /// Refuses, with the errors of the argument's type, a launch of kernel `K` for which it was not made, by
    /// a memory whose stop flag is `stop`. Most are for any launch.
    fn check_launch<K: Kernel>(&self, launch: &Launch, stop: Stop) -> Result {
        let _ = (launch, stop);
        Ok(())
    }
}

type SpaceAddress = (u64, usize);

static IN_USE: Mutex<BTreeSet<SpaceAddress>> = Mutex::new(BTreeSet::new());

/// What one launch, or several in order, have in use until this is dropped: no two launches at a time share
/// what kernels change, as each would trust versions and locks of its own. One launch may take an array for
/// two parameters, and launches in order take it again.
///
/// ```
/// use stm_machine::host::{Argument, Buffer, Cpu, Error, Holds};
/// use stm_machine::TArray;
///
/// let words = Buffer::<_, u32>::zeroed(&Cpu::new(), 3, "words")?;
/// let hold = |holds: &mut Holds| Argument::<Cpu, TArray<u32>>::hold(&&words, holds, "words");
/// let (mut first, mut second) = (Holds::new(), Holds::new());
/// hold(&mut first)?;
/// hold(&mut first)?; // for another parameter
/// second.take(1, words.as_mut_ptr().cast(), "words of another address space")?;
/// assert_eq!(hold(&mut second), Err(Error::InUse { what: "words" }));
/// drop(first); // the launch has ended
/// hold(&mut second)?;
/// # Ok::<(), stm_machine::host::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Holds(Vec<SpaceAddress>);

impl Holds {
    /// Makes it for a launch that has nothing in use yet.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Takes, unless it has it, the memory that begins at `address` of an address space; [`Error::InUse`]
    /// with the argument's name `what` if another launch has it.
    pub fn take(&mut self, space: u64, address: *mut u8, what: &'static str) -> Result {
        let place = (space, address.addr());
        if self.0.contains(&place) {
            return Ok(());
        }
        if !locked(&IN_USE).insert(place) {
            return Err(Error::InUse { what });
        }
        self.0.push(place);
        Ok(())
    }
}

impl Drop for Holds {
    fn drop(&mut self) {
        locked(&IN_USE).retain(|place| !self.0.contains(place));
    }
}

/// Refuses memory that kernels on the device do not reach.
pub fn on<D: Device>(device: &D, space: u64, what: &'static str) -> Result {
    if space == device.space() {
        return Ok(());
    }
    let device = device.id();
    Err(Error::OtherDevice { what, device })
}

/// Implements [`Argument`] for what is lent on a device `D`. A row has the generic parameters, the type that
/// is lent and the kernel's, and, of the value `$it` that is lent, the address space, the parameter, and the
/// addresses of what a launch takes for itself ([`Argument::hold`]). A comment says why that is safe.
#[doc(hidden)]
#[macro_export]
macro_rules! __lent {
    (|$it:ident| $(
        [$($generic:tt)*] $lent:ty => $view:ty:
            $space:expr, $value:expr, [$($address:expr),*] $(, { $($more:tt)* })?;
    )*) => {$(
        // SAFETY: the row's.
        unsafe impl<D: $crate::host::Device, $($generic)*> $crate::host::Argument<D, $view>
            for $lent
        {
            fn parameter(self, device: &D, what: &'static str) -> $crate::host::Result<$view> {
                let $it = self;
                $crate::host::on(device, $space, what)?;
                $value
            }

            #[allow(unused_variables)]
            fn hold(&self, holds: &mut $crate::host::Holds, what: &'static str) -> $crate::host::Result {
                let $it = self;
                $(holds.take($space, $address, what)?;)*
                Ok(())
            }

            $($($more)*)?
        }
    )*};
}

// SAFETY: the views are of the buffer's memory, which has one layout, and which is written only
// while nobody has borrowed it; for an output nobody else has the buffer during the launch.
__lent! {
    |it|
    [T: Pod + Element] &Buffer<D, T> => TArray<T>: it.space(), Ok(it.tarray()), [it.as_mut_ptr().cast()];
    [T: Pod + Element] &Buffer<D, T> => Input<T>: it.space(), Ok(Input::of(it.tarray())), [];
    [T: Pod + Element] &mut Buffer<D, T> => Output<T>: it.space(), Ok(Output::of(it.tarray())), [];
}
