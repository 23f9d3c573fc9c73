//! Whatever a kernel's arguments are called, they do not meet the names of the macro's own.

use crate::common::prelude::*;

/// The names that the macro's functions and blocks have, and some that they might get.
const NAMES: [&str; 12] = [
    "stm", "shape", "queue", "device", "params", "lane", "launches", "watchdog", "kernel", "entry",
    "env", "done",
];

/// Adds up its arguments, which have those names.
#[kernel]
#[allow(clippy::too_many_arguments)]
fn named(
    memory: &Stm,
    stm: Cells<u32>,
    shape: Input<u32>,
    queue: Output<u32>,
    device: u32,
    params: u32,
    lane: u32,
    launches: u32,
    watchdog: u32,
    kernel: u32,
    entry: u32,
    env: u32,
    done: u32,
) {
    memory.into(queue).each(0..queue.len(), |tx, i| {
        let values = device + params + lane + launches + watchdog + kernel + entry + env + done;
        let shape = shape.get(memory.lane(), i).unwrap_or(0);
        Ok(tx.read(stm, i)? + shape + values)
    });
}

#[test]
fn arguments_may_have_the_names_that_the_macro_uses() {
    let cpu = Cpu::new();
    let mut stm = Stm::on(&cpu).unwrap();
    let words = stm.array("words", &[1u32, 2]).unwrap();
    let shape = Buffer::from_slice(&cpu, &[10u32, 20], "the shape").unwrap();
    let mut queue = Buffer::zeroed(&cpu, 2, "the queue").unwrap();
    let launch = Launch::new(1, 2);
    named::launch(
        &mut stm, launch, &words, &shape, &mut queue, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    )
    .unwrap();
    assert_eq!(queue.download().unwrap(), [20, 31]);
    stm.in_order(|enqueued| {
        let words = &words;
        named::enqueue(
            enqueued, launch, words, &shape, &mut queue, 2, 2, 2, 2, 2, 2, 2, 2, 2,
        )
    })
    .unwrap();
    assert_eq!(queue.download().unwrap(), [29, 40]);
}

#[test]
fn the_names_of_the_macro_are_among_those() {
    let code = [
        include_str!("../macros/src/kernel.rs"),
        include_str!("../macros/src/signature.rs"),
    ];
    let mut seen = 0;
    for line in code.iter().flat_map(|code| code.lines()) {
        // A parameter or a variable of the code that is made, whose types are named in full.
        let Some((name, ty)) = line.trim().split_once(": ") else {
            continue;
        };
        let is_name = name.chars().all(|c| c.is_lowercase() || c == '_');
        let is_made = ["&::stm_", "&mut ::stm_", "::stm_", "&D"];
        if is_made.iter().any(|start| ty.starts_with(start)) && is_name {
            let there = NAMES.contains(&name);
            assert!(there, "{name} is not among the names of the test: {line}");
            seen += 1;
        }
    }
    assert!(seen >= 8, "{seen} names found");
}
