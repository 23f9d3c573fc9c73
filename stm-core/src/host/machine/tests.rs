//! The paper's figures, and what follows from them.

use super::*;

/// Makes a column of the rows of table 1 in Stuart and Owens 2011.
const fn column(ms: [f64; 6]) -> Column {
    Column {
        volatile: Pair {
            contended: ms[0],
            uncontended: ms[1],
        },
        atomic: Pair {
            contended: ms[2],
            uncontended: ms[3],
        },
        after_atomic: Pair {
            contended: ms[4],
            uncontended: ms[5],
        },
    }
}

/// Table 1, at 30 multiprocessors with 8 blocks each.
const TESLA: Benchmarks = Benchmarks {
    blocks: 240,
    reads: column([0.848, 0.590, 78.407, 0.845, 0.923, 0.601]),
    writes: column([0.829, 0.226, 78.404, 0.991, 0.915, 0.228]),
};

/// Table 1, at 16 multiprocessors with 8 blocks each.
const FERMI: Benchmarks = Benchmarks {
    blocks: 128,
    reads: column([0.494, 0.043, 1.479, 0.437, 1.473, 0.125]),
    writes: column([0.175, 0.029, 1.470, 0.312, 0.824, 0.050]),
};

fn close(found: f64, printed: f64) {
    // The paper rounds most figures and cuts some.
    assert!((found - printed).abs() < 0.0101, "{found} for {printed}");
}

#[test]
fn the_ratios_of_the_papers_times_are_those_of_its_tables_2_and_3() {
    let table = |ratios: &Ratios, of_table_2: [f64; 3], of_table_3: [f64; 4]| {
        close(ratios.volatile, of_table_2[0]);
        close(ratios.atomic, of_table_2[1]);
        close(ratios.after_atomic, of_table_2[2]);
        close(ratios.atomic_to_volatile.contended, of_table_3[0]);
        close(ratios.atomic_to_volatile.uncontended, of_table_3[1]);
        close(ratios.after_atomic_to_volatile.contended, of_table_3[2]);
        close(ratios.after_atomic_to_volatile.uncontended, of_table_3[3]);
    };
    let tesla = Abstraction::of(&TESLA).unwrap();
    table(&tesla.reads, [1.44, 92.79, 1.54], [92.46, 1.43, 1.08, 1.02]);
    table(
        &tesla.writes,
        [3.67, 79.12, 4.01],
        [94.57, 4.38, 1.10, 1.01],
    );
    let fermi = Abstraction::of(&FERMI).unwrap();
    table(
        &fermi.reads,
        [11.49, 3.38, 11.78],
        [2.99, 10.16, 2.98, 2.91],
    );
    table(
        &fermi.writes,
        [6.03, 4.71, 16.48],
        [8.40, 10.76, 4.71, 1.72],
    );
    assert!(!tesla.lines_held() && fermi.lines_held());
}

#[test]
fn the_choices_for_tesla_and_fermi_are_those_of_the_papers_table_5() {
    let chosen = |benchmarks| {
        let choice = choose(&Abstraction::of(benchmarks).unwrap());
        (
            choice.barrier,
            choice.mutex,
            choice.semaphore_low,
            choice.semaphore_high,
        )
    };
    let tesla = (
        Kind::XiaoFeng,
        MutexKind::FetchAdd,
        SemaphoreKind::Sleeping,
        SemaphoreKind::Sleeping,
    );
    let fermi = (
        Kind::XiaoFeng,
        MutexKind::TasBackoff,
        SemaphoreKind::SpinBackoff,
        SemaphoreKind::Sleeping,
    );
    assert_eq!(chosen(&TESLA), tesla);
    assert_eq!(chosen(&FERMI), fermi);
}

/// The same times with every one of a column multiplied.
fn scaled(benchmarks: &Benchmarks, by: f64) -> Benchmarks {
    let pair = |p: Pair| Pair {
        contended: p.contended * by,
        uncontended: p.uncontended * by,
    };
    let column = |c: Column| Column {
        volatile: pair(c.volatile),
        atomic: pair(c.atomic),
        after_atomic: pair(c.after_atomic),
    };
    Benchmarks {
        blocks: benchmarks.blocks,
        reads: column(benchmarks.reads),
        writes: column(benchmarks.writes),
    }
}

#[test]
fn the_choice_depends_on_ratios_alone_and_follows_them() {
    for benchmarks in [TESLA, FERMI] {
        let one = choose(&Abstraction::of(&benchmarks).unwrap());
        let many = choose(&Abstraction::of(&scaled(&benchmarks, 1e3)).unwrap());
        assert_eq!(one.reasons, many.reasons);
    }
    // A Tesla whose atomics were as fast as its loads would better spin.
    let mut fast = TESLA;
    fast.reads.atomic = fast.reads.after_atomic;
    let choice = choose(&Abstraction::of(&fast).unwrap());
    assert_eq!(choice.mutex, MutexKind::TasBackoff);
    // A machine with free atomics and slow stores would better count.
    let mut counts = FERMI;
    counts.writes.volatile.uncontended = 9.0;
    counts.writes.volatile.contended = 9.0;
    counts.writes.atomic = Pair {
        contended: 0.01,
        uncontended: 0.01,
    };
    counts.reads.after_atomic = counts.reads.volatile;
    let choice = choose(&Abstraction::of(&counts).unwrap());
    assert!(
        matches!(choice.barrier, Kind::Counted | Kind::Grouped),
        "{choice:?}"
    );
}

#[test]
fn what_was_measured_overrules_what_was_expected() {
    let expected = choose(&Abstraction::of(&FERMI).unwrap());
    let measured = |times: &[_]| expected.clone().with_measured_barriers(128, times);
    assert_eq!(measured(&[]), expected);
    // Without a time of the expected one, there is nothing to compare.
    let alone = measured(&[(Kind::Led, 1.0)]);
    let slower = measured(&[(Kind::Led, 2.0), (Kind::XiaoFeng, 1.0)]);
    for choice in [&alone, &slower] {
        assert_eq!(choice.barrier, expected.barrier);
        assert_eq!(choice.reasons, expected.reasons);
    }
    let faster = [(Kind::Tree, 3.0), (Kind::XiaoFeng, 3.0), (Kind::Led, 1.5)];
    let choice = measured(&faster);
    assert_eq!(choice.barrier, Kind::Led);
    assert!(choice.reasons[0].contains("xiao-feng") && choice.reasons[0].contains("2.00"));
    assert_eq!(choice.reasons[1..], expected.reasons[1..]);

    let (sleeping, tickets) = (SemaphoreKind::Sleeping, SemaphoreKind::Tickets);
    let high = [(tickets, 2.0), (sleeping, 5.0)];
    let choice = expected.clone().with_measured_semaphores(&[], &high);
    assert_eq!(choice.semaphore_low, expected.semaphore_low);
    assert_eq!(choice.semaphore_high, tickets);
    assert!(choice.reasons[3].contains("sleeping") && choice.reasons[3].contains("2.50"));
    assert_eq!(choice.reasons[..3], expected.reasons[..3]);
}

#[test]
fn a_barrier_is_chosen_for_each_number_of_blocks() {
    let choice = choose(&Abstraction::of(&FERMI).unwrap());
    assert_eq!(choice.barrier_for(7), Kind::XiaoFeng);
    let choice = choice
        .with_measured_barriers(1056, &[(Kind::Led, 1.0), (Kind::Counted, 2.0)])
        .with_measured_barriers(132, &[(Kind::Led, 2.0), (Kind::Counted, 1.0)])
        .with_measured_barriers(264, &[(Kind::Tree, 2.0), (Kind::Grouped, 1.0)]);
    // The abstraction is of another number of blocks.
    assert_eq!(choice.barrier, Kind::XiaoFeng);
    for (blocks, kind) in [
        (1, Kind::Counted),
        (132, Kind::Counted),
        (133, Kind::Grouped),
        (264, Kind::Grouped),
        (1000, Kind::Led),
        (1056, Kind::Led),
        (5000, Kind::Led),
    ] {
        assert_eq!(choice.barrier_for(blocks), kind, "{blocks}");
    }
}

#[test]
fn only_mutexes_that_serve_all_blocks_alike_are_chosen_by_their_times() {
    use MutexKind::{FetchAdd, TasBackoff, Ticket};
    let mutex = |kind, time, most_to_fewest| MeasuredMutex {
        kind,
        time,
        most_to_fewest,
    };
    let expected = choose(&Abstraction::of(&TESLA).unwrap());
    let measured = |mutexes: &[_]| expected.clone().with_measured_mutexes(mutexes);
    assert_eq!(measured(&[]), expected);
    // The fastest is not fair, and the one expected is the next.
    let unfair = mutex(TasBackoff, 1.0, 1300.0);
    assert_eq!(measured(&[unfair, mutex(FetchAdd, 2.0, 1.0)]), expected);
    let choice = measured(&[unfair, mutex(FetchAdd, 3.0, 1.0), mutex(Ticket, 1.5, 2.0)]);
    assert_eq!(choice.mutex, Ticket);
    assert!(choice.reasons[1].contains("fetch-add") && choice.reasons[1].contains("2.00"));
    assert_eq!(choice.reasons[2..], expected.reasons[2..]);
    // Without one that is fair, the ratios decide.
    let none = mutex(FetchAdd, 2.0, f64::INFINITY);
    assert_eq!(measured(&[none, unfair]), expected);

    let spins = choose(&Abstraction::of(&FERMI).unwrap());
    let choice = |unfairness| {
        let mutexes = [mutex(TasBackoff, 1.0, unfairness), mutex(Ticket, 1.5, 1.0)];
        spins.clone().with_measured_mutexes(&mutexes)
    };
    // A lock without an order was fair by chance.
    assert_eq!(choice(1.9).mutex, Ticket);
    assert!(choice(1.9).reasons[1].contains("in no order"));
    assert_eq!(choice(2.1).mutex, Ticket);
    assert!(choice(2.1).reasons[1].contains("2.1 times as often"));
    assert!(choice(f64::INFINITY).reasons[1].contains("no section"));
}

#[test]
fn times_that_are_none_make_no_abstraction() {
    assert_eq!(Abstraction::of(&Benchmarks { blocks: 0, ..FERMI }), None);
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let mut benchmarks = FERMI;
        benchmarks.writes.after_atomic.contended = bad;
        assert_eq!(Abstraction::of(&benchmarks), None, "{bad}");
    }
}
