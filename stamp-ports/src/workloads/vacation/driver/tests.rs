//! Tests of what the module does alone.

use super::super::model;
use super::*;
use crate::workloads::launcher::Launcher;
use crate::workloads::workload::Sizes;
use stm_core::algorithm::Fast;
use stm_core::array::Layout;
use stm_core::host::{Cpu, Launch, Stm, StmConfig};

const TRANSACTIONS: u64 = 3_000;

fn vacation(relations: u32, queries: u32, users_percent: u32) -> Vacation {
    Vacation {
        relations,
        queries,
        range_percent: 90,
        users_percent,
        transactions_max: TRANSACTIONS,
    }
}

/// Runs the tasks by one lane, and returns the data.
fn alone(device: &Cpu, vacation: &Vacation) -> VacationData<Cpu> {
    let mut data = vacation.prepare(device, 7, TRANSACTIONS).unwrap();
    let config = StmConfig {
        capacity: vacation.capacity(),
        ..StmConfig::default()
    };
    let mut stm = Stm::new(device, Launch::new(1, 1), config).unwrap();
    vacation.fit(device, &mut data, 1).unwrap();
    vacation.arrange(&mut data, Layout::Cells).unwrap();
    vacation.reset(&mut data).unwrap();
    let mut launcher = Launcher::new(device, &mut stm);
    vacation
        .run::<Cpu, Fast>(&mut data, &mut launcher, TRANSACTIONS)
        .unwrap();
    assert_eq!(launcher.finish().statistics.commits, TRANSACTIONS);
    data
}

#[test]
fn one_lane_does_what_an_agency_without_transactions_does() {
    let cpu = Cpu::new();
    for (relations, queries, users) in [(1, 1, 50), (20, 4, 60), (300, 10, 90), (40, 2, 0)] {
        let vacation = vacation(relations, queries, users);
        let mut data = alone(&cpu, &vacation);
        let found = data.left(TRANSACTIONS).unwrap();
        let expected = model::run(vacation.plan(7), TRANSACTIONS);
        let wrong = (0..).zip(found.notes.iter().zip(&expected.notes));
        let wrong = wrong.into_iter().find(|(_, (a, b))| a != b);
        assert_eq!(wrong, None, "{vacation:?}");
        assert_eq!(found.tables, expected.tables, "{vacation:?}");
        assert_eq!(found.customers, expected.customers, "{vacation:?}");
        assert_eq!(found.lists, expected.lists, "{vacation:?}");
        assert_eq!(vacation.verify(&mut data, TRANSACTIONS).unwrap(), None);
        assert_eq!(vacation.observed(&data).len(), 6);
    }
}

#[test]
fn another_run_begins_with_the_same_tables() {
    let cpu = Cpu::new();
    let vacation = vacation(30, 3, 50);
    let mut data = alone(&cpu, &vacation);
    assert!(
        data.lists()
            .download()
            .unwrap()
            .iter()
            .any(|l| !l.is_empty())
    );
    vacation.clear(&mut data).unwrap();
    let left = data.left(0).unwrap();
    let fresh = model::run(vacation.plan(7), 0);
    assert_eq!((left.tables, left.lists), (fresh.tables, fresh.lists));
    assert!(left.customers.values().all(|&by| by == 0));
    assert_eq!(left.customers.len(), 30);
    // Nobody has done anything, and nobody has noted anything.
    assert_eq!(vacation.verify(&mut data, TRANSACTIONS).unwrap(), None);
}
