//! The kernel in hundreds of simulations: every attempt must see a state that
//! existed, and every number must be drawn once.

use counter::draw;
use stm_core::prelude::*;
use verify::Check;

#[test]
fn each_number_is_drawn_once_and_every_attempt_sees_a_state() {
    Check::new(|sim, run| {
        let counter = TxArray::from_slice(sim, run.layout(), &[0u32], "counter")?;
        run.name(&counter)?;
        let mut drawn = Buffer::zeroed(sim, run.transactions() as usize, "drawn")?;
        let mut stm = run.stm(sim)?;
        draw::launch(&mut stm, run.shape(), &counter, &mut drawn)?;
        let mut drawn = drawn.download()?;
        drawn.sort_unstable();
        let all = drawn.into_iter().map(u64::from).eq(0..run.transactions());
        run.holds("each number is drawn once", all)
    })
    .run();
}
