//! Pool: the host's side.

use super::input::{NODES_A_LANE, Pool};
use super::section::section;
use crate::error::Result;
use crate::workloads::contender::Contender;
use crate::workloads::memory::Accessed;
use crate::workloads::workload::Workload;
use stm_core::StmRef;
use stm_core::algorithm::Algorithm;
use stm_core::host::{Device, Error as HostError, Pool as Nodes};
use stm_kernels::pool::{Pool as PoolKernel, PoolParams};

/// The pool.
pub struct PoolData<D: Device> {
    pool: Nodes<D>,
    /// Lanes that run transactions.
    lanes: u64,
}

impl Workload for Pool {
    type Data<D: Device> = PoolData<D>;
    type Kernel<A: Algorithm> = PoolKernel<A>;

    fn contenders() -> Vec<Contender<Self>> {
        vec![section()]
    }

    fn prepare<D: Device>(
        &self,
        device: &D,
        _seed: u64,
        _transactions_max: u64,
    ) -> Result<PoolData<D>> {
        Ok(PoolData {
            pool: Nodes::new(device, NODES_A_LANE, "the pool")?,
            lanes: 1,
        })
    }

    fn fit<D: Device>(&self, device: &D, data: &mut PoolData<D>, lanes: u64) -> Result<()> {
        if data.lanes != lanes {
            data.pool = Nodes::new(device, NODES_A_LANE * lanes, "the pool")?;
            data.lanes = lanes;
        }
        Ok(())
    }

    fn accessed<'d, D: Device>(&self, _data: &'d mut PoolData<D>) -> Vec<&'d mut dyn Accessed<D>> {
        vec![]
    }

    /// Each lane that ran a transaction holds the node of its last one.
    fn reset<D: Device>(&self, data: &mut PoolData<D>) -> Result<()> {
        Ok(data.pool.clear()?)
    }

    fn verify<D: Device>(
        &self,
        data: &mut PoolData<D>,
        transactions: u64,
    ) -> Result<Option<String>> {
        match data.pool.check(transactions.min(data.lanes)) {
            Ok(()) => Ok(None),
            Err(wrong @ HostError::PoolCount { .. }) => Ok(Some(wrong.to_string())),
            Err(error) => Err(error.into()),
        }
    }

    fn params<D: Device, A: Algorithm>(
        &self,
        data: &PoolData<D>,
        stm: StmRef<A>,
        transactions: u64,
    ) -> PoolParams<A> {
        PoolParams {
            stm,
            pool: data.pool.view(),
            transactions,
        }
    }
}
