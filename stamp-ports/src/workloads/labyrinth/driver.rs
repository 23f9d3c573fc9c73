//! LB, labyrinth: the host's side.
//!
//! Transactions are the paths: each that is routed commits once. A claim that
//! found a cell taken cancels itself, and is counted as an abort by `user`.

use super::check::{Left, Routed, check, initial_grid};
use super::claims::Claims;
use super::data::LabyrinthData;
use super::input::{Claim, Labyrinth};
use super::maze::cell;
use super::section;
use crate::error::Result;
use crate::numbers::{digits3, of};
use crate::workloads::contender::Contender;
use crate::workloads::launcher::Launcher;
use crate::workloads::memory::{Accessed, check_memory};
use crate::workloads::workload::Workload;
use serde_json::Value;
use std::time::Duration;
use stm_core::StmRef;
use stm_core::algorithm::Algorithm;
use stm_core::array::Layout;
use stm_core::host::{Buffer, Device, TxArray};
use stm_core::observe::Observation;
use stm_kernels::labyrinth::{
    Labyrinth as Router, LabyrinthByBlock, LabyrinthParams, UNROUTED, UNSETTLED,
};

/// Nearly all of the time is the expansion of routes, which is the same with and without
/// transactions.
impl Workload for Labyrinth {
    type Data<D: Device> = LabyrinthData<D>;
    type Kernel<A: Algorithm> = Router<A>;

    fn contenders() -> Vec<Contender<Self>> {
        vec![section::contender()]
    }

    fn observed<D: Device>(&self, data: &LabyrinthData<D>) -> Vec<(&'static str, Value)> {
        let Routed {
            routed,
            unrouted,
            cells,
            longest,
        } = data.routed;
        let claims = data.claims;
        let counts = [
            ("routed", routed),
            ("unrouted", unrouted),
            ("path_cells", cells),
            ("longest_path", longest),
            ("claims", claims.count),
            ("claim_ticks", claims.ticks),
            ("router_ticks", claims.worked),
        ];
        let mut all = counts.map(|(name, n)| (name, n.into())).to_vec();
        all.push(("claim_us", claims.microseconds(data.time).into()));
        all.push(("claim_share", claims.share().into()));
        all
    }

    fn remarks<D: Device>(&self, data: &LabyrinthData<D>) -> Vec<(&'static str, String)> {
        let mut remarks = Vec::new();
        let Routed {
            routed, unrouted, ..
        } = data.routed;
        if unrouted > 0 {
            let all = of(routed + unrouted, "path");
            remarks.push((
                "Paths without a route, as others bar every way",
                format!("{unrouted} of {all}"),
            ));
        }
        if data.claims.count > 0 {
            let (us, share) = (data.claims.microseconds(data.time), data.claims.share());
            remarks.push((
                "One claim of a path, and the share of claims in the routers' time",
                format!("{} us ({} %)", digits3(us), digits3(share * 100.0)),
            ));
        }
        remarks
    }

    /// Each path is one commit; [`verify`](Workload::verify) checks the paths.
    fn commits_expected<D: Device>(
        &self,
        data: &LabyrinthData<D>,
        _transactions: u64,
    ) -> Result<Option<u64>> {
        let results = data.results.download()?;
        let routed = |&&result: &&u32| result != UNROUTED && result != UNSETTLED;
        Ok(Some(results.iter().filter(routed).count() as u64))
    }

    fn prepare<D: Device>(
        &self,
        device: &D,
        _seed: u64,
        _transactions_max: u64,
    ) -> Result<LabyrinthData<D>> {
        let bytes = self.maze.size.cells() * 4;
        let fix = "use a smaller grid";
        check_memory(device, "labyrinth", bytes, 4 * bytes, fix)?;
        let initial = initial_grid(&self.maze);
        let ends: Vec<u32> = self
            .maze
            .requests
            .iter()
            .flat_map(|r| [r.source, r.destination])
            .map(|end| cell(self.maze.size, end))
            .collect();
        let zeros = |len, what| Buffer::zeroed(device, len, what);
        Ok(LabyrinthData {
            grid: TxArray::zeroed(
                device,
                Layout::Plain,
                initial.len(),
                "the grid of labyrinth",
            )?,
            requests: Buffer::from_slice(device, &ends, "the requests of labyrinth")?,
            results: zeros(self.maze.requests.len(), "the results of labyrinth")?,
            next: zeros(1, "the queue of labyrinth")?,
            clocks: Buffer::zeroed(device, 0, "the clocks of labyrinth")?,
            time: Duration::ZERO,
            claims: Claims::default(),
            routers: zeros(0, "the routers of labyrinth")?,
            paths: zeros(0, "the paths of labyrinth")?,
            path_cells_max: 0,
            routed: Routed::default(),
            initial,
        })
    }

    fn accessed<'d, D: Device>(
        &self,
        data: &'d mut LabyrinthData<D>,
    ) -> Vec<&'d mut dyn Accessed<D>> {
        vec![&mut data.grid]
    }

    fn reset<D: Device>(&self, data: &mut LabyrinthData<D>) -> Result<()> {
        data.grid.upload(&data.initial)?;
        data.results.clear()?;
        data.routed = Routed::default();
        data.clocks.clear()?;
        data.time = Duration::ZERO;
        data.claims = Claims::default();
        Ok(data.next.clear()?)
    }

    fn verify<D: Device>(
        &self,
        data: &mut LabyrinthData<D>,
        _transactions: u64,
    ) -> Result<Option<String>> {
        let left = Left {
            grid: &data.grid.download()?,
            results: &data.results.download()?,
            paths: &data.paths.download()?,
            room: data.path_cells_max as usize,
        };
        match check(&self.maze, &left) {
            Err(what) => Ok(Some(what)),
            Ok(routed) => {
                data.routed = routed;
                data.claims = Claims::of(&data.clocks.download()?);
                Ok(None)
            }
        }
    }

    fn compile<D: Device, A: Algorithm>(
        &self,
        device: &D,
        observation: Observation,
    ) -> Result<Duration> {
        Ok(match self.claim {
            Claim::Block if A::TEAMS => device.prepare::<LabyrinthByBlock<A>>(observation)?,
            Claim::Warp | Claim::Block => device.prepare::<Router<A>>(observation)?,
        })
    }

    fn params<D: Device, A: Algorithm>(
        &self,
        data: &LabyrinthData<D>,
        stm: StmRef<A>,
        transactions: u64,
    ) -> LabyrinthParams<A> {
        LabyrinthParams {
            stm,
            grid: data.grid.view::<A>(),
            work: data.router_params(self, transactions),
        }
    }

    fn run<D: Device, A: Algorithm>(
        &self,
        data: &mut LabyrinthData<D>,
        launcher: &mut Launcher<'_, D>,
        transactions: u64,
    ) -> Result<()> {
        data.begin(launcher)?;
        let params = self.params(data, launcher.handle::<A>(), transactions);
        // SAFETY: the parameters hold this memory's handle, for `A` alone, and
        // views of buffers that `data` keeps and nothing else uses.
        unsafe {
            match self.claim {
                Claim::Block if A::TEAMS => launcher.launch::<LabyrinthByBlock<A>>(&params)?,
                Claim::Warp | Claim::Block => launcher.launch::<Router<A>>(&params)?,
            }
        };
        data.end(launcher)
    }
}

#[cfg(test)]
mod tests;
