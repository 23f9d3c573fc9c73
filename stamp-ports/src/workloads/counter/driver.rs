//! Counter: the host's side.

use super::input::Counter;
use crate::error::Result;
use crate::workloads::contender::Contender;
use crate::workloads::memory::{Accessed, check_memory};
use crate::workloads::workload::Workload;
use stm_core::StmRef;
use stm_core::algorithm::Algorithm;
use stm_core::array::Layout;
use stm_core::host::{Buffer, Device, TxArray};
use stm_kernels::counter::{Counter as CounterKernel, CounterParams};

/// The counters, and which of them each item names.
pub struct CounterData<D: Device> {
    words: TxArray<D, u32>,
    items: Buffer<D, u32>,
}

impl Workload for Counter {
    type Data<D: Device> = CounterData<D>;
    type Kernel<A: Algorithm> = CounterKernel<A>;

    fn contenders() -> Vec<Contender<Self>> {
        super::locked::contenders()
    }

    fn prepare<D: Device>(
        &self,
        device: &D,
        _seed: u64,
        _transactions_max: u64,
    ) -> Result<CounterData<D>> {
        let bytes = 4 * (self.words() as u64 + u64::from(self.items));
        check_memory(device, "counter", bytes, bytes, "use fewer --items")?;
        let layout = Layout::Plain;
        Ok(CounterData {
            words: TxArray::zeroed(device, layout, self.words(), "the counters")?,
            items: Buffer::from_slice(device, &self.items(), "the items")?,
        })
    }

    fn accessed<'d, D: Device>(
        &self,
        data: &'d mut CounterData<D>,
    ) -> Vec<&'d mut dyn Accessed<D>> {
        vec![&mut data.words]
    }

    fn reset<D: Device>(&self, data: &mut CounterData<D>) -> Result<()> {
        Ok(data.words.clear()?)
    }

    fn verify<D: Device>(&self, data: &mut CounterData<D>, _: u64) -> Result<Option<String>> {
        Ok(self.wrong(&data.words.download()?, true))
    }

    fn params<D: Device, A: Algorithm>(
        &self,
        data: &CounterData<D>,
        stm: StmRef<A>,
        transactions: u64,
    ) -> CounterParams<A> {
        CounterParams {
            stm,
            words: data.words.view::<A>(),
            items: data.items.tarray(),
            transactions,
            plan: self.plan(),
        }
    }
}
