//! The sizes of vacation.

use crate::workloads::prelude::*;
use stm_kernels::vacation::{QUERIES_MAX, RELATIONS_MAX, TABLES, VacationPlan};

sizes! {
    /// Vacation's parameters, with STAMP's letters; by default STAMP's `vacation-low++`:
    /// `-n2 -q90 -u98 -r1048576 -t4194304`. Its `-t` is `--transactions`.
    Vacation, options of "vacation" {
        relations: u32 = 1 << 20, json "r", option
            /// Cars, flights, rooms and customers, so many of each [default: 1M]
            #[arg(short, long, value_name = "N", value_parser = parse_count_32)]
            relations,
            // STAMP's size for simulators, and its default. The buffers of a recording
            // have room for the longest lists, so these are to be short.
            when Occasion::Quick | Occasion::Recording(_) => 16 << 10,
            Occasion::Demonstration(_) | Occasion::Floor(DeviceKind::Cpu) => 64 << 10;
        queries: u32 = 2, json "n", by |_, shared| shared.n;
        range_percent: u32 = 90, json "q", option
            /// Share of them that tasks choose among, in per cent [default: 90]
            #[arg(short = 'q', long, value_name = "PERCENT", value_parser = parse_percent)]
            range_percent;
        users_percent: u32 = 98, json "u", option
            /// Share of tasks that make reservations, in per cent; the others delete
            /// customers and change tables [default: 98]
            #[arg(short = 'u', long, value_name = "PERCENT", value_parser = parse_percent)]
            users_percent;
        /// The most transactions of a launch, from which follows how long the lists of
        /// customers become; the caller says how many a launch has.
        transactions_max: u64 = 4 << 20, by |_, shared| shared.transactions,
            when Occasion::Quick | Occasion::Recording(_) => 128 << 10,
            Occasion::Demonstration(_) | Occasion::Floor(DeviceKind::Cpu) => 1 << 20;
    } takes [n, transactions]
}

/// Nodes of a chain that a search has room for: of two chains for each record, one in 10^12 is longer.
const NODES_READ: u32 = 12;

/// Words that an insertion writes, and that a removal does.
const INSERTION: u32 = 4;

/// Words of a search: the head of a chain, and three of each node.
const SEARCH: u32 = 1 + 3 * NODES_READ;

impl Vacation {
    pub(super) fn plan(&self, seed: u64) -> VacationPlan {
        let (range, users) = (self.range_percent, self.users_percent);
        VacationPlan::new(seed, self.relations, self.queries, range, users)
    }

    /// The records that tasks choose among.
    fn range(&self) -> u64 {
        let range = u64::from(self.relations) * u64::from(self.range_percent) + 50;
        (range / 100).max(1)
    }

    fn reservations_a_task(&self) -> u64 {
        self.queries.min(TABLES).into()
    }

    /// The most reservations of a customer: one of each record.
    fn list_most(&self) -> u64 {
        u64::from(TABLES) * self.range()
    }

    /// The reservations of a customer that no run will see exceeded: those of the busiest one's tasks, if
    /// nobody is deleted. Their number has the distribution of Poisson; six deviations and eight more are
    /// exceeded by one customer in 10^9 or fewer.
    fn list_likely(&self) -> u64 {
        let tasks = self.transactions_max as f64 * f64::from(self.users_percent) / 100.0;
        let mean = tasks / self.range() as f64;
        let tasks = (mean + 6.0 * mean.sqrt() + 8.0).ceil() as u64;
        let tasks = tasks.min(self.transactions_max);
        (tasks.saturating_mul(self.reservations_a_task())).min(self.list_most())
    }

    /// The nodes of all lists, at most.
    pub(super) fn list_nodes(&self, transactions: u64) -> u64 {
        let all = self.range().saturating_mul(self.list_most());
        all.min(transactions.saturating_mul(self.reservations_a_task()))
    }

    fn capacity_with(&self, list: u64) -> Capacity {
        let most = u64::from(SET_WORDS_MAX);
        let words = |n: u64| n.min(most) as u32;
        let search = u64::from(SEARCH);
        let (queries, reserved) = (u64::from(self.queries), self.reservations_a_task());
        // Of each reservation the key, the link and the price, and the head and two
        // nodes of its record's chain, or more of some.
        let cancelled = list * 10 + 4 * search;
        let searched = (queries + 1) * search + 1 + 2 * list;
        let written = u64::from(INSERTION) * (queries.max(reserved) + 1) + reserved;
        sets(
            words(searched.max(search + 1 + cancelled)),
            words(written.max(u64::from(INSERTION) + 1 + list)),
            words((queries + 2).max(list + 2)),
        )
    }
}

impl Sizes for Vacation {
    fn facts(&self, transactions: u64) -> Facts {
        let relations = u64::from(self.relations);
        let mut parameters = self.named();
        parameters.sort_by_key(|&(letter, _)| letter);
        Facts {
            parameters,
            summary: format!(
                "{} a table, {} % of them in use, {} a task, {} % reservations",
                of(relations, "record"),
                self.range_percent,
                match self.queries {
                    1 => "1 query".to_owned(),
                    n => format!("1 to {n} queries"),
                },
                self.users_percent
            ),
            capacity: self.capacity_with(self.list_likely()),
            capacity_max: Some(self.capacity_with(self.list_most())),
            transactions_max: self.transactions_max,
            // A node has three words, and there are two chains for each record.
            shared_words: (u64::from(TABLES) + 1) * relations * 5
                + relations
                + 3 * self.list_nodes(transactions),
            verifies: Covers::FinalState.that(
                "places, reservations and customers are what the tasks noted, in any order of \
                 them",
            ),
            ..Facts::default()
        }
    }

    fn check(&self, transactions: u64) -> Result<()> {
        refuse! {
            self.relations == 0 => "--relations 0 leaves nothing to reserve: give 1 or more";
            self.relations > RELATIONS_MAX =>
                "--relations {} is too many: give at most {RELATIONS_MAX}", self.relations;
            self.queries == 0 => "-n 0 leaves a task nothing to do: give 1 or more queries";
            self.queries > QUERIES_MAX =>
                "-n {} is too many queries for a task: give at most {QUERIES_MAX}", self.queries;
        }
        for (option, percent, fix) in [
            ("--range-percent", self.range_percent, "from 1 to 100"),
            ("--users-percent", self.users_percent, "from 0 to 100"),
        ] {
            let none = option == "--range-percent" && percent == 0;
            refuse! {
                none || percent > 100 =>
                    "{option} {percent} is no share of a hundred: give one {fix}";
            }
        }
        refuse! {
            transactions > u64::from(u32::MAX - 1) =>
                "{transactions} tasks are too many: values of 32 bits tell {} apart, so use fewer \
                 --transactions", u32::MAX - 1;
            // A pool has 2^31 nodes at most.
            self.list_nodes(transactions) > 1 << 30 =>
                "{transactions} tasks may make {} reservations, more than the {} that lists have \
                 nodes for: use fewer --transactions", self.list_nodes(transactions), 1 << 30;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_have_room_for_the_longest_lists_of_stamps_sizes() {
        let low = Vacation::default();
        let high = Vacation {
            queries: 4,
            range_percent: 60,
            users_percent: 90,
            ..low
        };
        assert_eq!((low.list_likely(), high.list_likely()), (50, 87));
        assert_eq!(low.capacity().reads, 686);
        assert_eq!(high.capacity().actions, 89);
        // Few tasks cannot make long lists, and few records neither.
        let few = Vacation {
            transactions_max: 3,
            ..low
        };
        assert_eq!(few.list_likely(), 6);
        let small = Vacation {
            relations: 2,
            range_percent: 100,
            ..low
        };
        assert_eq!((small.list_likely(), small.list_nodes(1 << 20)), (6, 12));
        for input in [low, high, few, small] {
            let (likely, most) = (input.capacity(), input.capacity_max().unwrap());
            assert!(likely.reads <= most.reads && likely.actions <= most.actions);
        }
    }
}
