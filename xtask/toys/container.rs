//! A toy: a place for one value.

use crate::algorithm::contract::{Algorithm, Tx};
use crate::tx::abort::TxResult;
use stm_machine::{Element, Lane};

#[cfg(all(not(target_arch = "nvptx64"), feature = "host"))]
pub use host::Toy;

/// A place for one value, small enough to be a kernel parameter. The host's `Toy` makes one.
#[repr(C)]
pub struct TToy<A: Algorithm, T: Element> {
    value: A::Array<T>,
}

stm_machine::handle!([A: Algorithm, T: Element] TToy<A, T>: value);

impl<A: Algorithm, T: Element> TToy<A, T> {
    /// Puts a value into the place, and returns the one that was there.
    #[inline(always)]
    pub fn swap<L: Lane>(&self, tx: &mut Tx<'_, L, A>, value: T) -> TxResult<T> {
        let before = tx.read(&self.value, 0)?;
        tx.write(&self.value, 0, value)?;
        Ok(before)
    }
}

/// The owner of the place, in the memory of a device.
#[cfg(all(not(target_arch = "nvptx64"), feature = "host"))]
mod host {
    use super::TToy;
    use crate::algorithm::contract::Algorithm;
    use crate::host::TxArray;
    use stm_machine::host::{Device, Error, Pod};
    use stm_machine::{Element, Layout};

    /// A place for one value ([`TToy`]).
    pub struct Toy<D: Device, T>(TxArray<D, T>);

    impl<D: Device, T: Pod + Element> Toy<D, T> {
        /// Makes a place whose value is zero; `what` names it in an error.
        pub fn new(device: &D, layout: Layout, what: &'static str) -> Result<Self, Error> {
            TxArray::zeroed(device, layout, 1, what).map(Self)
        }

        /// Copies the value to the host.
        pub fn download(&self) -> Result<T, Error> {
            Ok(self.0.download()?[0])
        }
    }

    // SAFETY: the view is of the container's memory, whose layout the array checks.
    stm_machine::__lent! {
        |it|
        [A: Algorithm, T: Pod + Element] &Toy<D, T> => TToy<A, T>:
            it.0.space(), it.0.try_view::<A>().map(|value| TToy { value }), [it.0.address()];
    }
}
