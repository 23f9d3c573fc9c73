//! The rounds in simulations: the forest must be that of one thread.

use spanning_tree::forest::{on_device, on_host};
use spanning_tree::graph::Graph;
use verify::Check;

#[test]
fn the_forest_is_minimal_under_every_schedule() {
    Check::new(|sim, run| {
        // From one vertex without an edge on; the program itself compares a large graph.
        let edges = run.transactions() as u32 - 1;
        let graph = Graph::random(1 + edges.div_ceil(2), edges, 7);
        let (found, _, _) = on_device(sim, &graph, run.shape())?;
        run.holds("the forest is that of one thread", found == on_host(&graph))
    })
    .cases(128)
    .run();
}
