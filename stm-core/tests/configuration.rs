//! Tests of configurations and launches that are refused.
#![cfg(feature = "host")]

use stm_core::host::{Cpu, Error, Launch, Stm, StmConfig};
use stm_core::{Capacity, RetryLimits};

fn refused(config: StmConfig) -> String {
    Stm::new(&Cpu::new(), Launch::new(1, 1), config)
        .unwrap_err()
        .to_string()
}

#[test]
fn locks_must_be_a_power_of_two() {
    let text = refused(StmConfig {
        locks: 1000,
        ..StmConfig::default()
    });
    assert!(
        text.contains("1000") && text.contains("512") && text.contains("1024"),
        "{text}"
    );
    let text = refused(StmConfig {
        locks: 0,
        ..StmConfig::default()
    });
    assert!(text.contains("is 0") && text.contains("2^30"), "{text}");
    let text = refused(StmConfig {
        locks: 1 << 31,
        ..StmConfig::default()
    });
    assert!(text.contains("2^30"), "{text}");
}

#[test]
fn stripes_sets_and_waits_have_limits() {
    assert!(
        refused(StmConfig {
            stripe_bytes: 6,
            ..StmConfig::default()
        })
        .contains("stripe")
    );
    let capacity = Capacity {
        reads: 0,
        writes: 1,
        ..Capacity::DEFAULT
    };
    assert!(
        refused(StmConfig {
            capacity,
            ..StmConfig::default()
        })
        .contains("read set")
    );
    let retry_limits = RetryLimits {
        acquire_tries: 0,
        retries_max: 0,
        ..RetryLimits::DEFAULT
    };
    assert!(
        refused(StmConfig {
            retry_limits,
            ..StmConfig::default()
        })
        .contains("tries")
    );
}

#[test]
fn a_launch_of_nothing_and_one_beyond_the_limits_are_refused() {
    let cpu = Cpu::new();
    let new = |blocks, threads| {
        Stm::new(&cpu, Launch::new(blocks, threads), StmConfig::default()).map(|_| ())
    };
    assert!(matches!(
        new(0, 1),
        Err(Error::ZeroLaunch { what: "blocks", .. })
    ));
    assert!(matches!(
        new(1, 0),
        Err(Error::ZeroLaunch {
            what: "threads a block",
            ..
        })
    ));
    assert!(matches!(
        new(1, 4096),
        Err(Error::LaunchTooLarge {
            asked: 4096,
            limit: 1024,
            ..
        })
    ));
}

#[test]
fn metadata_too_large_for_memory_names_needed_and_available() {
    let capacity = Capacity {
        reads: 1 << 20,
        writes: 1 << 20,
        ..Capacity::DEFAULT
    };
    let config = StmConfig {
        capacity,
        ..StmConfig::default()
    };
    let Err(Error::OutOfMemory {
        needed, available, ..
    }) = Stm::new(&Cpu::new(), Launch::new(1 << 20, 1024), config)
    else {
        panic!("petabytes were found");
    };
    assert!(needed > available);
}
