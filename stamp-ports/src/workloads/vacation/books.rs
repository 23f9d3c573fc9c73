//! What records and customers must have, as it follows from the tasks.

use stm_kernels::vacation::{Price, TABLES, VacationPlan};

/// What is known of a record.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordAccount {
    /// Its places after all updates.
    pub(super) places: i64,
    /// The reservations of it that the lists have.
    pub(super) held: u32,
    /// A bit for each price that it had at some time.
    prices: u8,
}

impl RecordAccount {
    /// Says whether the record had a price at some time.
    pub(super) const fn had(&self, price: Price) -> bool {
        price.number() < Price::DIFFERENT && self.prices >> price.number() & 1 != 0
    }

    pub(super) const fn add_price(&mut self, price: Price) {
        self.prices |= 1 << price.number();
    }
}

/// What is known of a customer.
#[derive(Clone, Copy, Debug)]
pub(super) struct CustomerAccount {
    /// 1 if it is there.
    pub(super) there: i64,
    pub(super) added: u32,
    pub(super) deleted: u32,
    /// The sum of the prices of its reservations.
    pub(super) bill: i64,
    /// The sum of their digests, of which 31 bits count.
    pub(super) digest: u32,
}

/// The accounts of all records and customers.
#[derive(Debug)]
pub(super) struct Books {
    tables: [Vec<RecordAccount>; TABLES as usize],
    customers: Vec<CustomerAccount>,
}

impl Books {
    /// Opens the books as they are before the first task.
    pub(super) fn new(plan: &VacationPlan) -> Self {
        let ids = || 1..=plan.relations();
        let table = |number| {
            let initial = ids().map(|id| plan.initial(number, id));
            let accounts = initial.map(|record| RecordAccount {
                places: record.total().into(),
                held: 0,
                prices: 1 << record.price().number(),
            });
            accounts.collect()
        };
        let customer = CustomerAccount {
            there: 1,
            added: 0,
            deleted: 0,
            bill: 0,
            digest: 0,
        };
        Self {
            tables: [table(0), table(1), table(2)],
            customers: vec![customer; plan.relations() as usize],
        }
    }

    /// Says whether there can be a record or customer of this number.
    pub(super) const fn is_relation(&self, id: u32) -> bool {
        id >= 1 && id as usize <= self.customers.len()
    }

    /// Returns the account of a record that there can be.
    pub(super) fn record(&self, table: u32, id: u32) -> &RecordAccount {
        &self.tables[table as usize][id as usize - 1]
    }

    pub(super) fn record_mut(&mut self, table: u32, id: u32) -> &mut RecordAccount {
        &mut self.tables[table as usize][id as usize - 1]
    }

    /// Returns the account of a customer that there can be.
    pub(super) fn customer(&self, id: u32) -> &CustomerAccount {
        &self.customers[id as usize - 1]
    }

    pub(super) fn customer_mut(&mut self, id: u32) -> &mut CustomerAccount {
        &mut self.customers[id as usize - 1]
    }
}
