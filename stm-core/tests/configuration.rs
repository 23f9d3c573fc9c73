//! Tests of configurations and launches that are refused, and of the registry of algorithms.
#![cfg(feature = "host")]

mod common;

use common::{assert_ends, capacity, config};
use stm_core::algorithm::{Algorithm, Variant};
use stm_core::host::{Cpu, Error, Launch, Stm, StmConfig};
use stm_core::with_algorithm;

/// Asserts that the default configuration is refused after a change, with a text
/// that has these parts.
#[track_caller]
fn refused(change: impl FnOnce(&mut StmConfig), parts: &[&str]) {
    let stm = Stm::new(&Cpu::new(), Launch::new(1, 1), config(change));
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
    let new = |blocks, threads| {
        let shape = Launch::new(blocks, threads);
        Stm::new(&Cpu::new(), shape, StmConfig::default()).map(|_| ())
    };
    assert_ends!(new(0, 1), Err(Error::ZeroLaunch { what: "blocks", .. }));
    assert_ends!(
        new(1, 0),
        Err(Error::ZeroLaunch {
            what: "threads a block",
            ..
        })
    );
    assert_ends!(
        new(1, 4096),
        Err(Error::LaunchTooLarge {
            asked: 4096,
            limit: 1024,
            ..
        })
    );
}

#[test]
fn metadata_too_large_for_memory_names_needed_and_available() {
    let config = config(|c| c.capacity = capacity(1 << 20, 1 << 20));
    let Err(Error::OutOfMemory {
        needed, available, ..
    }) = Stm::new(&Cpu::new(), Launch::new(1 << 20, 1024), config)
    else {
        panic!("petabytes were found");
    };
    assert!(needed > available);
}

#[test]
fn every_line_names_the_type_that_names_it() {
    for &variant in Variant::ALL {
        assert_eq!(with_algorithm!(variant, A => A::VARIANT), variant);
        assert_eq!(Variant::from_name(variant.name()), Some(variant));
        assert_eq!(with_algorithm!(variant, A => A::TEAMS), variant.has_teams());
    }
    assert_eq!(Variant::from_name("vbw"), None);
}
