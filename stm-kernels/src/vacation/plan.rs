//! What the transactions do, and what the tables hold at first: both follow from the seed.

use super::resource::{PLACES_AN_UPDATE, Price, Resource};
use crate::draw::{below, draw};
use stm_core::Plain;

/// The number of tables with records to reserve: cars, flights, rooms, in this order.
pub const TABLES: u32 = 3;

pub const FLIGHTS: u32 = 1;

/// The most queries or updates of a transaction: STAMP's default.
pub const QUERIES_MAX: u32 = 10;

pub const CUSTOMERS: u32 = TABLES;

/// The most records of a table: 32 bits count those of all tables, and their chains.
pub const RELATIONS_MAX: u32 = 1 << 27;

/// The number of bits of a record's number in its key.
const ID_BITS: u32 = 30;

/// The draw of the first query of a transaction; the task is draw 0.
const QUERIES: u32 = 1;

/// The draw of the first table's record at first.
const INITIAL: u32 = 1 << 16;

/// Returns the key of a record among the records of all tables, which is also that of
/// its reservation in the list of a customer.
#[inline(always)]
pub const fn record_key(table: u32, id: u32) -> u32 {
    table << ID_BITS | id
}

/// Returns the table and the number of the record with a key.
#[inline(always)]
pub const fn record_of(key: u32) -> (u32, u32) {
    (key >> ID_BITS, key & ((1 << ID_BITS) - 1))
}

/// The tasks of a run, which are numbered from 0, on records and customers numbered from 1.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Plain)]
pub struct VacationPlan {
    seed: u64,
    /// The records and customers that tasks choose among.
    range: u32,
    queries: u32,
    users_percent: u32,
    pub relations: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Task {
    Reserve,
    Delete,
    Update,
}

impl VacationPlan {
    /// Makes the plan of tasks on tables of `relations` records, of which tasks choose among
    /// `range_percent` in a hundred. A task has up to `queries` queries or updates, and
    /// `users_percent` in a hundred tasks make reservations.
    ///
    /// # Panics
    /// It panics for percentages above 100, for none or more than
    /// [`RELATIONS_MAX`] records, and for none or more than [`QUERIES_MAX`] queries.
    pub const fn new(
        seed: u64,
        relations: u32,
        queries: u32,
        range_percent: u32,
        users_percent: u32,
    ) -> Self {
        assert!(
            range_percent <= 100 && users_percent <= 100,
            "shares are up to 100 per cent"
        );
        assert!(
            1 <= relations && relations <= RELATIONS_MAX,
            "records are from 1 to RELATIONS_MAX"
        );
        assert!(
            1 <= queries && queries <= QUERIES_MAX,
            "queries are from 1 to QUERIES_MAX"
        );
        let range = (relations as u64 * range_percent as u64 + 50) / 100;
        Self {
            seed,
            range: if range == 0 { 1 } else { range as u32 },
            queries,
            users_percent,
            relations,
        }
    }

    pub const fn initial(&self, table: u32, id: u32) -> Resource {
        let bits = draw(self.seed, id as u64, INITIAL + table);
        let hundreds = 1 + below(bits, 5);
        let price = Price::numbered(below(bits << 32, Price::DIFFERENT));
        Resource::new(hundreds * PLACES_AN_UPDATE, price)
    }

    #[inline(always)]
    pub const fn transaction(&self, i: u64) -> VacationTransaction {
        let bits = draw(self.seed, i, 0);
        // Sixteen bits each, and the upper half.
        let percent = ((bits as u32 & 0xffff) * 100) >> 16;
        let queries = 1 + (((bits as u32 >> 16) * self.queries) >> 16);
        let task = if percent < self.users_percent {
            Task::Reserve
        } else if percent % 2 == 1 {
            Task::Delete
        } else {
            Task::Update
        };
        VacationTransaction {
            plan: *self,
            number: i,
            task,
            queries: if matches!(task, Task::Delete) {
                0
            } else {
                queries
            },
            customer: 1 + below(bits, self.range),
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct VacationTransaction {
    plan: VacationPlan,
    number: u64,
    pub task: Task,
    /// The number of its queries or updates; a deletion has none.
    pub queries: u32,
    /// The customer of a reservation or a deletion.
    pub customer: u32,
}

/// A query of a reservation, or one update.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Query {
    pub table: u32,
    pub id: u32,
    pub adds: bool,
    pub price: Price,
}

#[stm_core::inlined]
impl VacationTransaction {
    /// Returns whether the task looks its customer up; a reservation if it has `found` something.
    pub(super) const fn has_customer(&self, found: bool) -> bool {
        match self.task {
            Task::Reserve => found,
            Task::Delete => true,
            Task::Update => false,
        }
    }

    pub const fn query(&self, k: u32) -> Query {
        let bits = draw(self.plan.seed, self.number, QUERIES + k);
        let low = bits as u32;
        Query {
            table: ((low & 0xffff) * TABLES) >> 16,
            id: 1 + below(bits, self.plan.range),
            adds: low >> 31 != 0,
            price: Price::numbered(((low >> 16 & 0x7fff) * Price::DIFFERENT) >> 15),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::counts;

    #[test]
    fn tasks_follow_the_percentages_and_reach_every_record() {
        let plan = VacationPlan::new(3, 50, 4, 60, 90);
        assert_eq!(plan.range, 30);
        let all = || (0..40_000).map(|i| plan.transaction(i));
        let [reserve, others @ ..]: [u32; 3] = counts(all().map(|me| me.task as u32));
        assert!((35_700..36_300).contains(&reserve), "{reserve}");
        assert!(others.iter().all(|&n| n.abs_diff(2_000) < 250));
        let customers: [u32; 30] = counts(all().map(|me| me.customer - 1));
        assert!(customers.iter().all(|&n| n > 0));
        let [none, some @ ..]: [u32; 5] = counts(all().map(|me| me.queries));
        assert!(none == others[0] && some.iter().all(|&n| n.abs_diff(9_500) < 500));
        // 95,000 queries.
        let queries = || all().flat_map(|me| (0..me.queries).map(move |k| me.query(k)));
        let asked: [u32; 90] = counts(queries().map(|query| 30 * query.table + query.id - 1));
        assert!(asked.iter().all(|&n| n.abs_diff(1_055) < 200), "{asked:?}");
        let prices: [u32; 5] = counts(queries().map(|query| query.price.number()));
        assert!(prices.iter().all(|&n| n.abs_diff(19_000) < 1_000));
        let adds = queries().filter(|query| query.adds).count();
        assert!((46_000..49_000).contains(&adds), "{adds}");
    }

    #[test]
    fn every_share_of_users_and_every_range_is_possible() {
        for percent in [0, 1, 99, 100] {
            let plan = VacationPlan::new(7, 1, 1, percent, percent);
            assert_eq!(plan.range, 1);
            let is = |task| (0..5_000).filter(move |&i| plan.transaction(i).task == task);
            let reserve = is(Task::Reserve).count();
            assert!(reserve.abs_diff(50 * percent as usize) < 40, "{reserve}");
            // STAMP's rule: above 99 per cent of users the odd number 99 is left.
            assert_eq!(is(Task::Update).count() == 0, percent >= 99);
        }
    }

    #[test]
    fn keys_name_the_table_and_the_record() {
        for table in 0..=CUSTOMERS {
            for id in [1, 77, RELATIONS_MAX] {
                assert_eq!(record_of(record_key(table, id)), (table, id));
            }
        }
        assert!(record_key(0, RELATIONS_MAX) < record_key(1, 1));
    }

    #[test]
    fn tables_begin_with_up_to_500_free_places_at_all_prices() {
        let plan = VacationPlan::new(5, 1_000, 2, 90, 98);
        let mut seen = [[false; 5]; 5];
        for table in 0..TABLES {
            for id in 1..=1_000 {
                let record = plan.initial(table, id);
                assert_eq!((record.used(), record.free() % 100), (0, 0));
                let hundreds = record.free() as usize / 100;
                seen[hundreds - 1][record.price().number() as usize] = true;
            }
        }
        assert_eq!(seen, [[true; 5]; 5]);
    }
}
