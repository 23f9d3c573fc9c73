//! Finds a minimum spanning forest and compares it with that of one thread.
//!
//! `spanning-tree` makes a graph of 10,000 vertices and 100,000 edges, `spanning-tree VERTICES
//! EDGES [SEED]` one of this size, and `spanning-tree FILE.gr` or `FILE.mtx` reads one.

use spanning_tree::forest::{on_device, on_host};
use spanning_tree::graph::Graph;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;
use stm_core::prelude::*;

fn graph(arguments: &[String]) -> Result<Graph, String> {
    let number = |word: &String| {
        let number = word.replace('_', "").parse::<u32>();
        number.map_err(|_| format!("`{word}` is neither a number nor a file"))
    };
    match arguments {
        [] => Ok(Graph::random(10_000, 100_000, 1)),
        [file] if number(file).is_err() => Graph::read(Path::new(file)),
        [vertices, edges, seed @ ..] if seed.len() <= 1 => {
            let seed = seed.first().map_or(Ok(1), number)?;
            match (number(vertices)?, number(edges)?) {
                (vertices, edges) if vertices < 2 && edges > 0 || vertices == 0 => {
                    Err(format!("{vertices} vertices have no {edges} edges"))
                }
                (vertices, edges) => Ok(Graph::random(vertices, edges, seed.into())),
            }
        }
        _ => Err("usage: spanning-tree [VERTICES EDGES [SEED] | FILE.gr | FILE.mtx]".to_owned()),
    }
}

fn run<D: Device>(device: &D, graph: &Graph, shape: Launch) -> Result<(), String> {
    println!("{} vertices, {} edges", graph.vertices, graph.ends.len());
    let start = Instant::now();
    let expected = on_host(graph);
    let host = start.elapsed();
    println!("one thread: weight {} in {host:?}", expected.weight);
    let found = on_device(device, graph, shape).map_err(|error| error.to_string());
    let (found, time, rounds) = found?;
    let (name, weight) = (device.name(), found.weight);
    println!("{name}: weight {weight} in {time:?}, {rounds} rounds");
    let times = host.as_secs_f64() / time.as_secs_f64();
    println!("{times:.2} times as fast");
    let differ = || "the forests differ".to_owned();
    (found == expected).then_some(()).ok_or_else(differ)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = graph(&arguments).and_then(|graph| match Cuda::new(0) {
        Ok(gpu) => {
            let processors = gpu.limits().processors;
            run(&gpu, &graph, Launch::new(4 * processors, 256))
        }
        Err(why) => {
            println!("on the CPU, as {why}");
            run(&Cpu::new(), &graph, Launch::new(4, 2))
        }
    });
    let Err(error) = done else {
        return ExitCode::SUCCESS;
    };
    eprintln!("error: {error}");
    ExitCode::FAILURE
}
