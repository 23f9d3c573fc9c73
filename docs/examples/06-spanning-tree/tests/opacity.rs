//! The rounds in simulations: the forest must be that of one thread.

use spanning_tree::forest::{on_device, on_host};
use spanning_tree::graph::Graph;
use verify::Check;

#[test]
fn the_forest_is_minimal_under_every_schedule() {
    Check::new(|sim, run| {
        let vertices = 2 + run.transactions() as u32 / 2;
        let graph = Graph::random(vertices, run.transactions() as u32, 7);
        let (found, _, _) = on_device(sim, &graph, run.shape())?;
        run.holds("the forest is that of one thread", found == on_host(&graph))
    })
    .cases(128)
    .run();
}
