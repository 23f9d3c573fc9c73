//! Vacation as critical sections, on a table and chains without versions. What they leave is
//! checked as what transactions leave.

use super::check::Left;
use super::input::Vacation;
use crate::workloads::plain::{PlainChains, PlainEntries, PlainTable, Whole};
use crate::workloads::prelude::*;
use stm_kernels::floor::plain::table::filled;
use stm_kernels::floor::vacation::{CriticalSection, Params};
use stm_kernels::vacation::{TABLES, VacationPlan};

/// The agency, and what the tasks noted.
pub(super) struct Data {
    plan: VacationPlan,
    tables: PlainTable,
    /// The slots of the tables as they are before the first task.
    initial: Vec<u64>,
    lists: PlainChains,
    notes: Buffer<AnyDevice, u64>,
}

impl Data {
    pub(super) fn prepare(
        of: &Vacation,
        device: &AnyDevice,
        seed: u64,
        transactions: u64,
    ) -> Result<Self> {
        let relations = u64::from(of.relations);
        let records = (u64::from(TABLES) + 1) * relations;
        let list_nodes = of.list_nodes(transactions);
        let bytes = records * PlainTable::KEY_BYTES
            + list_nodes * PlainChains::KEY_BYTES
            + relations * 4
            + transactions * 8;
        let host_bytes = bytes + records * 96 + list_nodes * 16 + relations * 48;
        let fix = "use fewer --relations or --transactions";
        check_memory(device, "vacation", bytes, host_bytes, fix)?;
        let plan = of.plan(seed);
        let lists = "the reservations of vacation";
        Ok(Self {
            tables: PlainTable::with_room(device, records, "the tables of vacation")?,
            initial: filled(records, super::initial(&plan)),
            lists: PlainChains::with_chains(device, relations, list_nodes, lists)?,
            notes: Buffer::zeroed(device, transactions as usize, "the notes of vacation")?,
            plan,
        })
    }

    /// Copies what the tasks left, or says what is wrong with it.
    pub(super) fn left(&self, transactions: u64) -> Result<Whole<Left>> {
        let mut notes = self.notes.download()?;
        notes.truncate(transactions as usize);
        let (records, lists) = (self.tables.entries()?, self.lists.lists()?);
        Ok(records.and_then(|records| Ok(Left::new(self.plan, records, lists?, notes))))
    }
}

impl ContenderData for Data {
    type Params = Params;

    fn reset(&mut self) -> Result<()> {
        self.tables.upload(&self.initial)?;
        self.lists.clear()?;
        Ok(self.notes.clear()?)
    }

    fn params(&self, transactions: u64) -> Params {
        Params {
            tables: self.tables.view(),
            lists: self.lists.view(),
            notes: self.notes.tarray(),
            transactions,
            plan: self.plan,
        }
    }

    fn verify(&mut self, transactions: u64) -> Verdict {
        Ok(match self.left(transactions)? {
            Ok(left) => left.check().err(),
            Err(wrong) => Some(wrong),
        })
    }
}

/// The contender.
pub(super) fn section() -> Contender<Vacation> {
    critical_section::<CriticalSection, _, _>(("tasks", |_| 1.0), Data::prepare)
}

#[cfg(test)]
mod tests {
    use super::super::model;
    use super::*;
    use crate::workloads::contender::ContenderKind::CriticalSection as Section;

    #[test]
    fn sections_of_one_lane_do_what_an_agency_without_transactions_does() {
        const TASKS: u64 = 3_000;
        let device = AnyDevice::cpu();
        model::agrees(TASKS, |of| {
            let mut data = Data::prepare(of, &device, 7, TASKS).unwrap();
            launch(&device, &mut data, TASKS);
            assert_eq!(data.verify(TASKS).unwrap(), None);
            data.left(TASKS).unwrap().unwrap()
        });
        assert_eq!(section().kind, Section);
    }

    /// Runs the sections by one lane.
    fn launch(device: &AnyDevice, data: &mut Data, tasks: u64) {
        use crate::workloads::exclusion::one_lock;
        use stm_core::host::{Device, Launch};
        use stm_kernels::floor::Guarded;
        data.reset().unwrap();
        let lock = one_lock(device).unwrap();
        let params = Guarded {
            lock: lock.view(),
            work: data.params(tasks),
        };
        // SAFETY: the parameters are views of what `data` and `lock` keep.
        unsafe { device.launch::<CriticalSection>(&Launch::new(1, 1), &params) }.unwrap();
        assert_eq!(lock.wrong().unwrap(), None);
    }
}
