//! Arguments of a launch: what the owners of transactional data lend to a kernel.

use crate::algorithm::contract::Algorithm;
use crate::array::pool::{TNodes, TPool};
use crate::array::preassigned::TPreassigned;
use crate::array::record::{Record, TRecords};
use crate::array::sums::{Summand, TSums};
use crate::host::pool::{Nodes, Pool, PreassignedNodes};
use crate::host::records::Records;
use crate::host::sums::Sums;
use crate::host::tx_array::TxArray;
use stm_machine::Element;
use stm_machine::View;
use stm_machine::host::{Argument, Device, Error, Pod, on};

// SAFETY: the view is of the array's memory, and `view_for` checks its layout;
// the array writes it only while nobody has borrowed it.
unsafe impl<D: Device, T: Pod + Element, V: View<T>> Argument<D, V> for &TxArray<D, T> {
    fn parameter(self, device: &D, what: &'static str) -> Result<V, Error> {
        on(device, self.space(), what)?;
        self.view_for("the kernel's algorithm")
    }
}

// SAFETY: as above; rows of sums have one layout.
unsafe impl<D: Device, T: Summand + Pod> Argument<D, TSums<T>> for &Sums<D, T> {
    fn parameter(self, device: &D, what: &'static str) -> Result<TSums<T>, Error> {
        on(device, self.space(), what)?;
        Ok(self.view())
    }
}

// SAFETY: as above; `try_view` checks the layout.
unsafe impl<D: Device, A: Algorithm, R: Record> Argument<D, TRecords<A, R>> for &Records<D, R> {
    fn parameter(self, device: &D, what: &'static str) -> Result<TRecords<A, R>, Error> {
        on(device, self.space(), what)?;
        self.try_view::<A>()
    }
}

// SAFETY: as above; a pool has one layout.
unsafe impl<D: Device> Argument<D, TPool> for &Pool<D> {
    fn parameter(self, device: &D, what: &'static str) -> Result<TPool, Error> {
        on(device, self.space(), what)?;
        Ok(self.view())
    }
}

// SAFETY: as for records and pools.
unsafe impl<D: Device, A: Algorithm, R: Record> Argument<D, TNodes<A, R>> for &Nodes<D, R> {
    fn parameter(self, device: &D, what: &'static str) -> Result<TNodes<A, R>, Error> {
        on(device, self.pool().space(), what)?;
        self.records().try_view::<A>()?;
        Ok(self.view::<A>())
    }
}

// SAFETY: as for records; nobody else has the nodes during the launch.
unsafe impl<D: Device, A: Algorithm, R: Record> Argument<D, TPreassigned<A, R>>
    for &mut PreassignedNodes<D, R>
{
    fn parameter(self, device: &D, what: &'static str) -> Result<TPreassigned<A, R>, Error> {
        on(device, self.records().space(), what)?;
        self.records().try_view::<A>()?;
        Ok(self.view::<A>())
    }
}
