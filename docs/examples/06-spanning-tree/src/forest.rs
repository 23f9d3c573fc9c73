//! The host's side: rounds on a device, and the same by one thread.

#![cfg(not(target_arch = "nvptx64"))]

use crate::graph::Graph;
use crate::{NO_EDGE, choose, flatten, join, rank};
use std::time::Duration;
use stm_core::host::{Error, StmConfig};
use stm_core::prelude::*;

/// A spanning forest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forest {
    /// The numbers of its edges, sorted.
    pub edges: Vec<u32>,
    /// The sum of their weights.
    pub weight: u64,
}

impl Forest {
    fn of(graph: &Graph, mut edges: Vec<u32>) -> Self {
        edges.sort_unstable();
        let weights = edges.iter().map(|&e| u64::from(graph.weights[e as usize]));
        let weight = weights.sum();
        Self { edges, weight }
    }
}

/// Finds a minimum spanning forest on a device; also the time of its kernels and
/// the number of rounds.
///
/// # Errors
/// The device has too little memory, or reports another error.
pub fn on_device<D: Device>(
    device: &D,
    graph: &Graph,
    shape: Launch,
) -> Result<(Forest, Duration, u32), Error> {
    // The way from a vertex to its root may be long while trees are being joined.
    let mut config = StmConfig::default();
    config.capacity.reads = 4096;
    let mut stm = Stm::with(device, config)?;
    let vertices = graph.vertices as usize;
    let parents: Vec<u32> = (0..graph.vertices).collect();
    let parents = stm.array("parents", &parents)?;
    let best = stm.array("best", &vec![NO_EDGE; vertices])?;
    let ends = Buffer::from_slice(device, &graph.ends, "ends")?;
    let weights = Buffer::from_slice(device, &graph.weights, "weights")?;
    let mut taken = Buffer::zeroed(device, vertices, "taken")?;
    let (mut edges, mut time, mut rounds) = (Vec::new(), Duration::ZERO, 0);
    loop {
        rounds += 1;
        time += choose::launch(&mut stm, shape, &parents, &best, &ends, &weights)?.time;
        time += join::launch(&mut stm, shape, &parents, &best, &ends, &mut taken)?.time;
        time += flatten::launch(&mut stm, shape, &parents, &best)?.time;
        let found = taken.download()?;
        let before = edges.len();
        edges.extend(found.into_iter().filter(|&e| e != 0).map(|e| e - 1));
        if edges.len() == before {
            return Ok((Forest::of(graph, edges), time, rounds));
        }
    }
}

/// Finds a minimum spanning forest by one thread of the host: Boruvka's rounds
/// over the edges that are still between two trees.
pub fn on_host(graph: &Graph) -> Forest {
    fn roots(parents: &mut [u32], ends: u64) -> [u32; 2] {
        [ends as u32, (ends >> 32) as u32].map(|mut vertex| {
            while parents[vertex as usize] != vertex {
                let above = parents[parents[vertex as usize] as usize];
                parents[vertex as usize] = above;
                vertex = above;
            }
            vertex
        })
    }
    let mut parents: Vec<u32> = (0..graph.vertices).collect();
    let mut left: Vec<u32> = (0..graph.ends.len() as u32).collect();
    let mut edges = Vec::new();
    loop {
        let mut best = vec![NO_EDGE; parents.len()];
        left.retain(|&edge| {
            let [a, b] = roots(&mut parents, graph.ends[edge as usize]);
            let rank = rank(graph.weights[edge as usize], edge);
            for tree in [a, b] {
                let best = &mut best[tree as usize];
                *best = rank.min(*best);
            }
            a != b
        });
        if left.is_empty() {
            return Forest::of(graph, edges);
        }
        for rank in best.into_iter().filter(|&rank| rank != NO_EDGE) {
            let [a, b] = roots(&mut parents, graph.ends[rank as u32 as usize]);
            if a != b {
                parents[a as usize] = b;
                edges.push(rank as u32);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forest_of_several_trees_leaves_out_the_heaviest_edge_of_a_circle() {
        let text = "p sp 5 4\na 1 2 7\na 2 3 8\na 3 1 9\na 4 5 1\n";
        let graph = Graph::parse("test.gr", text).unwrap();
        let (edges, weight) = (vec![0, 1, 3], 16);
        assert_eq!(on_host(&graph), Forest { edges, weight });
    }
}
