//! A toy: a place for one value.

use crate::algorithm::contract::{Algorithm, Tx};
use crate::tx::abort::TxResult;
use stm_machine::{Element, Lane};

#[cfg(all(not(target_arch = "nvptx64"), feature = "host"))]
pub use host::Toy;

/// A place for one value, small enough to be a kernel parameter. The host's `Toy` makes one.
#[repr(C)]
#[derive(Debug)]
pub struct TToy<A: Algorithm, T: Element> {
    count: A::Array<u32>,
    value: A::Array<T>,
}

#[allow(clippy::expl_impl_clone_on_copy)] // a derive would require `A: Clone`
impl<A: Algorithm, T: Element> Clone for TToy<A, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<A: Algorithm, T: Element> Copy for TToy<A, T> {}

impl<A: Algorithm, T: Element> TToy<A, T> {
    /// Puts a value into the place, and returns whether that was free.
    ///
    /// # Errors
    /// The errors are those of [`Tx::read`] and [`Tx::write`].
    #[inline(always)]
    pub fn put<L: Lane>(&self, tx: &mut Tx<'_, L, A>, value: T) -> TxResult<bool> {
        if tx.read(&self.count, 0)? != 0 {
            return Ok(false);
        }
        tx.write(&self.count, 0, 1)?;
        tx.write(&self.value, 0, value)?;
        Ok(true)
    }

    /// Takes the value, if there is one. Its errors are those of [`Self::put`].
    #[inline(always)]
    pub fn take<L: Lane>(&self, tx: &mut Tx<'_, L, A>) -> TxResult<Option<T>> {
        if tx.read(&self.count, 0)? == 0 {
            return Ok(None);
        }
        tx.write(&self.count, 0, 0)?;
        tx.read(&self.value, 0).map(Some)
    }
}

/// The owner of the place, in the memory of a device.
#[cfg(all(not(target_arch = "nvptx64"), feature = "host"))]
mod host {
    use super::TToy;
    use crate::algorithm::contract::Algorithm;
    use crate::host::TxArray;
    use core::fmt;
    use stm_machine::host::{Argument, Device, Error, Holds, Pod};
    use stm_machine::{Element, Layout};

    /// A place for one value ([`TToy`]).
    pub struct Toy<D: Device, T> {
        count: TxArray<D, u32>,
        value: TxArray<D, T>,
    }

    impl<D: Device, T> fmt::Debug for Toy<D, T> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.debug_struct("Toy").finish_non_exhaustive()
        }
    }

    impl<D: Device, T: Pod + Element> Toy<D, T> {
        /// Makes a free place; `what` names it in an error.
        pub fn new(device: &D, layout: Layout, what: &'static str) -> Result<Self, Error> {
            Ok(Self {
                count: TxArray::zeroed(device, layout, 1, what)?,
                value: TxArray::zeroed(device, layout, 1, what)?,
            })
        }

        /// Copies the value to the host, if there is one.
        pub fn download(&self) -> Result<Option<T>, Error> {
            let value = self.value.download()?[0];
            Ok((self.count.download()?[0] != 0).then_some(value))
        }
    }

    // SAFETY: the view is of the container's memory, whose device and layout the arrays check.
    unsafe impl<D: Device, A: Algorithm, T: Pod + Element> Argument<D, TToy<A, T>> for &Toy<D, T> {
        fn parameter(self, device: &D, what: &'static str) -> Result<TToy<A, T>, Error> {
            let count = Argument::<D, A::Array<u32>>::parameter(&self.count, device, what)?;
            let value = Argument::<D, A::Array<T>>::parameter(&self.value, device, what)?;
            Ok(TToy { count, value })
        }

        fn hold(&self, holds: &mut Holds, what: &'static str) -> Result<(), Error> {
            // One array stands for both.
            Argument::<D, A::Array<u32>>::hold(&&self.count, holds, what)
        }
    }
}
