//! Tests of configurations and launches that are refused.
#![cfg(feature = "host")]

mod common;

use common::capacity;
use stm_core::host::{Cpu, Error, Launch, Stm, StmConfig};

/// Asserts that the default configuration is refused after a change, with a text
/// that has these parts.
#[track_caller]
fn refused(change: impl FnOnce(&mut StmConfig), parts: &[&str]) {
    let mut config = StmConfig::default();
    change(&mut config);
    let stm = Stm::new(&Cpu::new(), Launch::new(1, 1), config);
    let text = stm.unwrap_err().to_string();
    assert!(parts.iter().all(|part| text.contains(part)), "{text}");
}

#[test]
fn locks_must_be_a_power_of_two() {
    refused(|config| config.locks = 1000, &["1000", "512", "1024"]);
    refused(|config| config.locks = 0, &["is 0", "2^30"]);
    refused(|config| config.locks = 1 << 31, &["2^30"]);
}

#[test]
fn stripes_sets_and_waits_have_limits() {
    refused(|config| config.stripe_bytes = 6, &["stripe"]);
    refused(|config| config.capacity = capacity(0, 1), &["read set"]);
    let limits = |config: &mut StmConfig| {
        config.retry_limits.acquire_tries = 0;
        config.retry_limits.retries_max = 0;
    };
    refused(limits, &["tries"]);
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
    let capacity = capacity(1 << 20, 1 << 20);
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
