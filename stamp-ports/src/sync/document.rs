//! What is asked for, and what is found.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A point to be measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// `mutex`, `barrier` or `semaphore`.
    pub part: String,
    /// The name of a kind or of an algorithm, or that of a peer, as `cuda::binary_semaphore`.
    pub implementation: String,
    /// The blocks of the grid.
    pub blocks: u32,
    /// The threads of a block.
    pub threads: u32,
    /// What else there is to say, as the count of a semaphore.
    pub parameters: BTreeMap<String, u64>,
}

/// A point as it was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// `mutex`, `barrier` or `semaphore`.
    pub part: String,
    /// The name of a kind or of an algorithm, or that of a peer, as `cuda::binary_semaphore`.
    pub implementation: String,
    /// The blocks of the grid.
    pub blocks: u32,
    /// The threads of a block.
    pub threads: u32,
    /// What else there is to say, as the count of a semaphore.
    pub parameters: BTreeMap<String, u64>,
    /// The operations of a launch: sections, waits of the grid, or entries.
    pub operations: u64,
    /// The launches that were timed.
    pub repeat: u32,
    /// The time of a launch in milliseconds, the median.
    pub ms: f64,
    /// The shortest time.
    pub ms_min: f64,
    /// The longest time.
    pub ms_max: f64,
    /// Operations a second at the median.
    pub per_s: f64,
    /// The most operations of a block in the median launch, where blocks may differ.
    pub most: Option<u64>,
    /// The fewest operations of a block in the median launch.
    pub fewest: Option<u64>,
    /// Whether the result was right.
    pub verified: bool,
    /// What a reader has to know, above all why there is no time.
    pub note: Option<String>,
}

impl Point {
    /// Returns whether this is the point asked for.
    pub fn answers(&self, asked: &Asked) -> bool {
        self.part == asked.part
            && self.implementation == asked.implementation
            && (self.blocks, self.threads) == (asked.blocks, asked.threads)
            && self.parameters == asked.parameters
    }

    /// Returns the point with a note, or without one.
    #[must_use]
    pub fn noted(mut self, note: Option<String>) -> Self {
        self.note = note;
        self
    }

    /// Returns the point for something that could not be measured, which `why` explains.
    pub fn without_time(asked: &Asked, why: String) -> Self {
        Self {
            part: asked.part.clone(),
            implementation: asked.implementation.clone(),
            blocks: asked.blocks,
            threads: asked.threads,
            parameters: asked.parameters.clone(),
            operations: 0,
            repeat: 0,
            ms: 0.0,
            ms_min: 0.0,
            ms_max: 0.0,
            per_s: 0.0,
            most: None,
            fewest: None,
            verified: false,
            note: Some(why),
        }
    }
}
