//! Values that go round threads through channels, on the CPU: every hop is counted.

use std::time::Duration;
use stm_core::Kernel;
use stm_core::host::{Buffer, Cpu, Error, Launch, Watchdog};
use stm_kernels::hops::{HopsCluster, HopsGlobal, HopsParams, HopsShared};
use stm_sync::host::Channels;

/// Makes two launches with tags of their own; returns the values in the end.
fn run<K: Kernel<Params = HopsParams>>(launch: Launch) -> Result<[u64; 2], Error> {
    let cpu = Cpu::new();
    let mut watchdog = Watchdog::new(&cpu, Some(Duration::from_mins(1)))?;
    let channels = Channels::new(&cpu, launch.blocks as usize, watchdog.stop())?;
    let mut ends = [0; 2];
    for (k, end) in (0..).zip(&mut ends) {
        let result = Buffer::<_, u64>::zeroed(&cpu, 2, "the result")?;
        let params = HopsParams {
            channels: channels.view(),
            result: result.tarray(),
            stop: watchdog.stop(),
            first_tag: 1 + 100 * k,
            rounds: 100,
        };
        // SAFETY: all of it lives until the launch has ended.
        unsafe { watchdog.launch::<K>(&cpu, &launch, &params) }?;
        let found = result.download()?;
        assert!(found[0] > 0);
        *end = found[1];
    }
    Ok(ends)
}

#[test]
fn a_value_goes_round_the_warps_of_a_block() {
    let launch = |threads, shared_bytes| Launch {
        shared_bytes,
        ..Launch::new(1, threads)
    };
    for threads in [1, 2, 5] {
        let found = run::<HopsShared>(launch(threads, 256));
        assert_eq!(found, Ok([100 * u64::from(threads); 2]));
    }
}

#[test]
fn a_value_goes_round_the_blocks_of_a_cluster() {
    for cluster in [1, 2, 4] {
        let launch = Launch {
            shared_bytes: 64,
            ..Launch::new(cluster, 2).with_cluster(cluster)
        };
        let found = run::<HopsCluster>(launch);
        assert_eq!(found, Ok([100 * u64::from(cluster); 2]));
    }
}

#[test]
fn a_value_goes_round_all_blocks() {
    for blocks in [1, 2, 5] {
        let launch = Launch {
            cooperative: true,
            ..Launch::new(blocks, 2)
        };
        let found = run::<HopsGlobal>(launch);
        assert_eq!(found, Ok([100 * u64::from(blocks); 2]));
    }
}
