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
use stm_machine::host::Pod;
use stm_machine::{Element, View};

// SAFETY: the views are of the owners' memory, which these write only while nobody has borrowed
// them; the layout is checked where there are several. Nobody else has preassigned nodes during
// the launch.
stm_machine::__lent! {
    |it|
    [T: Pod + Element, V: View<T>] &TxArray<D, T> => V:
        it.space(), it.view_for("the kernel's algorithm"), [it.address()];
    [T: Summand + Pod] &Sums<D, T> => TSums<T>:
        it.space(), Ok(it.view()), [it.address()];
    [A: Algorithm, R: Record] &Records<D, R> => TRecords<A, R>:
        it.space(), it.try_view::<A>(), [it.address()];
    [] &Pool<D> => TPool: it.space(), Ok(it.view()), [it.address()];
    [A: Algorithm, R: Record] &Nodes<D, R> => TNodes<A, R>:
        it.pool().space(), it.records().try_view::<A>().map(|_| it.view::<A>()),
        [it.pool().address(), it.records().address()];
    [A: Algorithm, R: Record] &mut PreassignedNodes<D, R> => TPreassigned<A, R>:
        it.records().space(), it.records().try_view::<A>().map(|_| it.view::<A>()), [];
}
