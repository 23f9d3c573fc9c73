//! What records and customers must have, as it follows from the tasks.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicI64, AtomicU8, AtomicU32};
use stm_kernels::vacation::{Price, TABLES, VacationPlan};

#[derive(Debug)]
pub(super) struct RecordAccount {
    /// Its places after all updates.
    pub(super) places: AtomicI64,
    /// The reservations of it that the lists have.
    pub(super) held: AtomicU32,
    /// A bit for each price that it had at some time.
    prices: AtomicU8,
}

impl RecordAccount {
    pub(super) fn had(&self, price: Price) -> bool {
        price.number() < Price::DIFFERENT && self.prices.load(Relaxed) >> price.number() & 1 != 0
    }

    pub(super) fn add_price(&self, price: Price) {
        self.prices.fetch_or(1 << price.number(), Relaxed);
    }
}

#[derive(Debug, Default)]
pub(super) struct CustomerAccount {
    pub(super) added: AtomicU32,
    pub(super) deleted: AtomicU32,
    /// The sum of the prices of its reservations.
    pub(super) bill: AtomicI64,
    /// The sum of their digests, of which 31 bits count.
    pub(super) digest: AtomicU32,
}

#[derive(Debug)]
pub(super) struct Books {
    tables: [Vec<RecordAccount>; TABLES as usize],
    pub(super) customers: Vec<CustomerAccount>,
}

impl Books {
    pub(super) fn new(plan: &VacationPlan) -> Self {
        let ids = || 1..=plan.relations();
        let table = |number| {
            let initial = ids().map(|id| plan.initial(number, id));
            let accounts = initial.map(|record| RecordAccount {
                places: AtomicI64::new(record.total().into()),
                held: AtomicU32::new(0),
                prices: AtomicU8::new(1 << record.price().number()),
            });
            accounts.collect()
        };
        Self {
            tables: [table(0), table(1), table(2)],
            customers: ids().map(|_| CustomerAccount::default()).collect(),
        }
    }

    pub(super) fn record(&self, table: u32, id: u32) -> &RecordAccount {
        &self.tables[table as usize][id as usize - 1]
    }

    pub(super) fn customer(&self, id: u32) -> &CustomerAccount {
        &self.customers[id as usize - 1]
    }
}
