//! The queue in hundreds of simulations, full and empty by turns.

use queue::pass_on;
use stm_core::prelude::*;
use verify::Check;

#[test]
fn every_value_is_taken_once() {
    Check::new(|sim, run| {
        let counts = TxArray::from_slice(sim, run.layout(), &[0u32; 2], "the counts")?;
        let ring = TxArray::from_slice(sim, run.layout(), &[0u32; 2], "the ring")?;
        run.name(&counts)?;
        run.name(&ring)?;
        // As many consumers as producers, so that nobody waits for ever.
        let transactions = 2 * run.transactions();
        let mut values = Buffer::zeroed(sim, transactions as usize, "the values")?;
        let mut stm = run.stm(sim)?;
        // With an odd number of threads one would have both roles, and could wait
        // for what it does later itself; without this line the check finds that.
        let shape = Launch::new(run.shape().blocks, 2 * run.shape().threads);
        pass_on::launch(&mut stm, shape, &counts, &ring, &mut values)?;
        let mut taken: Vec<u32> = values.download()?.into_iter().skip(1).step_by(2).collect();
        taken.sort_unstable();
        let once = taken.into_iter().eq((0..transactions as u32).step_by(2));
        run.holds("every value is taken once", once)
    })
    .with_waiting()
    .transactions(1..=8)
    .cases(128)
    .run();
}
