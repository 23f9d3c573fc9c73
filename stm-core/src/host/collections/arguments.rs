//! Containers as arguments of launches.

use super::{List, Lists, Map, OrderedMap, Queue};
use crate::algorithm::contract::Algorithm;
use crate::collections::{Key, TList, TLists, TMap, TOrderedMap, TQueue};
use crate::host::tx_array::TxArray;
use stm_machine::Element;
use stm_machine::host::Argument;
use stm_machine::host::Device;
use stm_machine::host::Error;
use stm_machine::host::Pod;

/// Checks that a part of a container is on the device, in the layout of
/// algorithm `A`. All its parts are in one place and have one layout.
fn check<D: Device, A: Algorithm>(
    part: &TxArray<D, u32>,
    device: &D,
    what: &'static str,
) -> Result<(), Error> {
    Argument::<D, A::Array<u32>>::parameter(part, device, what).map(|_| ())
}

macro_rules! arguments {
    ($($owner:ident => $view:ident;)*) => {
        $(
            // SAFETY: the view is of the container's memory, whose device and
            // layout have been checked; the container writes it only while nobody
            // has borrowed it.
            unsafe impl<D: Device, A: Algorithm, K: Key, V: Element> Argument<D, $view<A, K, V>>
                for &$owner<D, K, V>
            {
                fn parameter(
                    self,
                    device: &D,
                    what: &'static str,
                ) -> Result<$view<A, K, V>, Error> {
                    check::<D, A>(self.head(), device, what)?;
                    Ok(self.view::<A>())
                }
            }
        )*
    };
}

arguments! {
    Lists => TLists;
    List => TList;
    Map => TMap;
    OrderedMap => TOrderedMap;
}

// SAFETY: as above.
unsafe impl<D: Device, A: Algorithm, T: Pod + Element> Argument<D, TQueue<A, T>> for &Queue<D, T> {
    fn parameter(self, device: &D, what: &'static str) -> Result<TQueue<A, T>, Error> {
        check::<D, A>(self.head(), device, what)?;
        Ok(self.view::<A>())
    }
}
