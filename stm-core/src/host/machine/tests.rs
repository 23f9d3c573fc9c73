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
        MutexKind::FetchAndAdd,
        SemaphoreKind::Sleeping,
        SemaphoreKind::Sleeping,
    );
    let fermi = (
        Kind::XiaoFeng,
        MutexKind::SpinBackoff,
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
    assert_eq!(choice.mutex, MutexKind::SpinBackoff);
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
        matches!(choice.barrier, Kind::Counted | Kind::Counted8),
        "{choice:?}"
    );
}

#[test]
fn what_was_measured_overrules_what_was_expected() {
    let expected = choose(&Abstraction::of(&FERMI).unwrap());
    let measured = |times: &[_]| expected.clone().with_measured_barriers(times);
    assert_eq!(measured(&[]), expected);
    // Without a time of the expected one, there is nothing to compare.
    assert_eq!(measured(&[(Kind::Led, 1.0)]), expected);
    let slower = [(Kind::Led, 2.0), (Kind::XiaoFeng, 1.0)];
    assert_eq!(measured(&slower), expected);
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
fn times_that_are_none_make_no_abstraction() {
    assert_eq!(Abstraction::of(&Benchmarks { blocks: 0, ..FERMI }), None);
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let mut benchmarks = FERMI;
        benchmarks.writes.after_atomic.contended = bad;
        assert_eq!(Abstraction::of(&benchmarks), None, "{bad}");
    }
}
