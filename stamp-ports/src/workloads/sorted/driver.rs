//! Sorted: the host's side.

use super::input::Sorted;
use crate::error::Result;
use crate::workloads::contender::Contender;
use crate::workloads::memory::{Accessed, check_memory};
use crate::workloads::workload::Workload;
use stm_core::StmRef;
use stm_core::algorithm::Algorithm;
use stm_core::array::Layout;
use stm_core::collections::List;
use stm_core::host::{Buffer, Device, Error as HostError};
use stm_kernels::sorted::{Sorted as SortedKernel, SortedParams};

/// The list, and the keys in the order of their insertions.
pub struct SortedData<D: Device> {
    list: List<D, u32, u32>,
    keys_host: Vec<u32>,
    keys: Buffer<D, u32>,
}

impl Sorted {
    /// Makes the empty list with a node for each key, and one more for each lane.
    fn list<D: Device>(&self, device: &D, lanes: u64) -> Result<List<D, u32, u32>> {
        let nodes = u64::from(self.keys) + lanes;
        let entry_points = self.entry_points as usize;
        let bits = self.range_bits();
        let list =
            List::with_entry_points(device, Layout::Plain, nodes, entry_points, bits, "the list");
        Ok(list?)
    }
}

impl Workload for Sorted {
    type Data<D: Device> = SortedData<D>;
    type Kernel<A: Algorithm> = SortedKernel<A>;

    fn contenders() -> Vec<Contender<Self>> {
        super::locked::contenders()
    }

    fn prepare<D: Device>(
        &self,
        device: &D,
        seed: u64,
        _transactions_max: u64,
    ) -> Result<SortedData<D>> {
        let keys = u64::from(self.keys);
        let bytes = keys * 20 + u64::from(self.entry_points) * 8;
        check_memory(
            device,
            "sorted",
            bytes,
            bytes + keys * 48,
            "use fewer --list-keys",
        )?;
        let keys_host = self.keys(seed);
        Ok(SortedData {
            list: self.list(device, 0)?,
            keys: Buffer::from_slice(device, &keys_host, "the keys")?,
            keys_host,
        })
    }

    fn fit<D: Device>(&self, device: &D, data: &mut SortedData<D>, lanes: u64) -> Result<()> {
        if data.list.capacity() != u64::from(self.keys) + lanes {
            data.list = self.list(device, lanes)?;
        }
        Ok(())
    }

    fn accessed<'d, D: Device>(&self, data: &'d mut SortedData<D>) -> Vec<&'d mut dyn Accessed<D>> {
        vec![&mut data.list]
    }

    fn reset<D: Device>(&self, data: &mut SortedData<D>) -> Result<()> {
        Ok(data.list.clear()?)
    }

    fn verify<D: Device>(&self, data: &mut SortedData<D>, _: u64) -> Result<Option<String>> {
        match data.list.download() {
            Ok(found) => Ok(Self::wrong(&data.keys_host, found)),
            Err(HostError::Corrupt { what }) => Ok(Some(what)),
            Err(error) => Err(error.into()),
        }
    }

    fn params<D: Device, A: Algorithm>(
        &self,
        data: &SortedData<D>,
        stm: StmRef<A>,
        transactions: u64,
    ) -> SortedParams<A> {
        SortedParams {
            stm,
            entries: data.list.view::<A>(),
            keys: data.keys.tarray(),
            transactions,
        }
    }
}
