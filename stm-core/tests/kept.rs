//! Nothing that a kernel receives outlives its launch: what refers to memory is neither `Send` nor
//! `Sync`, so no static, no other thread and no panic carries it away.

#[macro_use]
#[path = "kernels/stay.rs"]
mod stay;

use stm_core::algorithm::Fast;
use stm_core::array::{Field, Preassigned};
use stm_core::{
    Action, Input, Output, StmRef, TArray, TCells, TNodes, TPool, TPreassigned, TRecords, TSums,
    collections as c,
};

stm_core::record! {
    /// A record.
    pub struct Pair {
        /// The first field.
        pub a: u32,
        /// The second.
        pub b: u64,
    }
}

stay!(
    StmRef<Fast>,
    TArray<u32>,
    TCells<u32>,
    TSums<u64>,
    TRecords<Fast, Pair>,
    TPool,
    TNodes<Fast, Pair>,
    TPreassigned<Fast, Pair>,
    Preassigned<'static, Fast, Pair>,
    Input<u32>,
    Output<u32>,
    Action,
    stm_machine::Stop,
    c::TQueue<Fast, u32>,
    c::TList<Fast, u32, u32>,
    c::TLists<Fast, u32, u32>,
    c::TMap<Fast, u32, u32>,
    c::TOrderedMap<Fast, u32, u32>,
);

#[test]
fn a_field_is_one_of_its_record() {
    assert_eq!(
        format!("{:?}", Field::<Pair, u64>::of(1)),
        format!("{:?}", Pair::b())
    );
    let third = std::panic::catch_unwind(|| Field::<Pair, u32>::of(2));
    third.unwrap_err();
    let narrow = std::panic::catch_unwind(|| Field::<Pair, u32>::of(1));
    narrow.unwrap_err();
}
