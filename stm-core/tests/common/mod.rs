//! What several tests have in common; no test has a use for all of it.
#![allow(dead_code, unused_macros, unused_imports)]
#![allow(clippy::needless_pass_by_value)] // assertions about what a launch returns

use prelude::*;
use std::fmt::Debug;
use std::marker::PhantomData;
use stm_core_tests::closure::{self, Closure};

pub(crate) mod prelude {
    pub(crate) use super::{
        CpuTx, Item, NODES, Views, WORDS, World, array, assert_exhausted, assert_full,
        assert_past_the_end, config, launch, together,
    };
    pub(crate) use std::collections::{BTreeMap, BTreeSet};
    pub(crate) use std::time::Duration;
    pub(crate) use stm_core::algorithm::{Granule, HvSorting, Variant};
    pub(crate) use stm_core::host::{
        Capacity, Error, ForeignArray, Nodes, Pod, Pool, PreassignedNodes, Records, Result,
        RetryLimits, Statistics, Sums,
    };
    pub(crate) use stm_core::internal::lane::cpu::CpuLane;
    pub(crate) use stm_core::prelude::*;
    pub(crate) use stm_core::{
        Abort, Action, Kernel, Layout, Summand, TArray, TNodes, TPool, TPreassigned, TRecords,
        TSums, record, with_algorithm,
    };
    pub(crate) use stm_core_tests::{
        assert_is as assert_ends, assert_says, capacity, layout, under_all,
    };
}

/// Launches a closure with a transactional memory, as `Stm::launch` does with a kernel.
pub(crate) fn launch(stm: &mut Stm<Cpu>, kernel: impl Fn(&CpuLane<'_>)) -> Result<Statistics> {
    // SAFETY: the closure lives until the launch has ended.
    let launched = closure::with(kernel, |given| unsafe { stm.launch::<Closure>(given) });
    launched.map(|(_, statistics)| statistics)
}

pub(crate) type CpuTx<'t, 'l, A> = stm_core::Tx<'t, CpuLane<'l>, A>;

/// The words of each array of a [`World`], and the nodes of its pool, of which more have a name.
pub(crate) const WORDS: u64 = 64;
pub(crate) const NODES: u64 = 40;

record! {
    pub(crate) struct Item {
        pub(crate) key: u32,
        pub(crate) value: u64,
    }
}

/// A memory on the CPU, and its data: words of both widths, two sums in a row, plain words, and nodes of two pools.
pub(crate) struct World<A> {
    pub(crate) stm: Stm<Cpu>,
    pub(crate) words: TxArray<Cpu, u32>,
    pub(crate) wide: TxArray<Cpu, u64>,
    pub(crate) sums: Sums<Cpu, u32>,
    pub(crate) counts: Buffer<Cpu, u64>,
    pub(crate) nodes: Nodes<Cpu, Item>,
    pub(crate) other: Pool<Cpu>,
    of: PhantomData<A>,
}

pub(crate) struct Views<A: Algorithm> {
    pub(crate) stm: StmRef<A>,
    pub(crate) words: A::Array<u32>,
    pub(crate) wide: A::Array<u64>,
    pub(crate) sums: TSums<u32>,
    pub(crate) counts: TArray<u64>,
    pub(crate) nodes: TNodes<A, Item>,
    pub(crate) other: TPool,
}

impl<A: Algorithm> World<A> {
    /// Makes a memory for launches of this shape, all of whose words are 0, with the usual configuration but for
    /// what is changed.
    pub(crate) fn new(shape: Launch, change: impl FnOnce(&mut StmConfig)) -> Self {
        let (cpu, config) = (Cpu::new(), config(change));
        let mut world = Self {
            stm: Stm::new(&cpu, shape, config).unwrap(),
            words: array::<A, _>(&[0; WORDS as usize], "words"),
            wide: array::<A, _>(&[0; WORDS as usize], "wide words"),
            sums: Sums::zeroed(&cpu, 1, 2, "sums").unwrap(),
            counts: Buffer::zeroed(&cpu, 4, "counts").unwrap(),
            nodes: Nodes::new(&cpu, layout::<A>(), NODES, "the items").unwrap(),
            other: Pool::new(&cpu, 100, "the others").unwrap(),
            of: PhantomData,
        };
        world.stm.watch(&world.words);
        world.stm.watch(&world.wide);
        world.stm.watch_sums(&world.sums);
        world
    }

    pub(crate) fn launch(&mut self, body: impl Fn(&CpuLane<'_>, &Views<A>)) -> Result<Statistics> {
        let views = Views {
            stm: self.stm.handle::<A>(),
            words: self.words.view::<A>(),
            wide: self.wide.view::<A>(),
            sums: self.sums.view(),
            counts: self.counts.tarray(),
            nodes: self.nodes.view::<A>(),
            other: self.other.view(),
        };
        launch(&mut self.stm, |lane| body(lane, &views))
    }

    pub(crate) fn each(
        &mut self,
        transactions: u64,
        body: impl Fn(&mut CpuTx<'_, '_, A>, &Views<A>, u64) -> TxResult<()>,
    ) -> Result<Statistics> {
        self.launch(|lane, v| (v.stm).for_each(lane, 0..transactions, |tx, i| body(tx, v, i)))
    }

    pub(crate) fn words(&self) -> Vec<u32> {
        self.words.download().unwrap()
    }

    pub(crate) fn wide(&self) -> Vec<u64> {
        self.wide.download().unwrap()
    }

    pub(crate) fn counts(&self) -> Vec<u64> {
        self.counts.download().unwrap()
    }
}

pub(crate) fn array<A: Algorithm, T: Element + Pod>(
    values: &[T],
    what: &'static str,
) -> TxArray<Cpu, T> {
    stm_core_tests::array::<A, T, _>(&Cpu::new(), values, what)
}

/// Returns a launch whose blocks all run at the same time.
pub(crate) const fn together(blocks: u32, threads: u32) -> Launch {
    let mut launch = Launch::new(blocks, threads);
    launch.cooperative = true;
    launch
}

/// Asserts that a launch ended by an index past the end of so many elements.
#[track_caller]
pub(crate) fn assert_past_the_end<T: Debug>(ended: Result<T>, at: u64, size: u64) {
    assert_ends!(ended, Err(Error::OutOfRange { index, len, .. }) if (index, len) == (at, size));
}

/// Asserts that a launch ended by a set, or a log, that holds no more than so much.
#[track_caller]
pub(crate) fn assert_full<T: Debug>(ended: Result<T>, full: &str, most: u32) {
    assert_ends!(ended, Err(Error::CapacityExceeded { set, limit, .. }) if (set, limit) == (full, most));
}

/// Asserts that a launch ended by a pool of so many nodes that had no more.
#[track_caller]
pub(crate) fn assert_exhausted<T: Debug>(ended: Result<T>, pool: &str, of: u64) {
    assert_ends!(ended, Err(Error::PoolExhausted { what, nodes, .. }) if (what, nodes) == (pool, of));
}

pub(crate) fn config(change: impl FnOnce(&mut StmConfig)) -> StmConfig {
    let mut config = StmConfig::default();
    change(&mut config);
    config
}
