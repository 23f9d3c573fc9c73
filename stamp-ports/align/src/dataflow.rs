//! Tables filled on a device by one launch, in which values flow from warp to warp; and a device as what fills
//! tables, by this or by diagonals of tiles.

use super::align::LastRow;
use super::diagonals::{Cut, Tables};
use super::scorer::{Costs, Scorer, fill_whole, last_rows};
use crate::matrix::Scoring;
use crate::{Pass, Result};
use std::time::Duration;
use stm_kernels::nw::layout::StripLayout;
use stm_kernels::nw::strips::{self, StripsParams, shared_words};
use stm_machine::Kernel;
use stm_machine::host::{Buffer, Device, Launch, Watchdog};
use stm_sync::host::Channels;

/// Warps of a multiprocessor with few tables, whose strips wait for each other: one for each of its four
/// schedulers, as two that share one only slow each other.
const WARPS_OF_FEW: u32 = 4;

/// Warps of a multiprocessor with many tables, whose strips do not wait for each other.
const WARPS_OF_MANY: u32 = 16;

/// Tables in a device's memory.
pub struct Strips<D: Device> {
    device: D,
    layout: StripLayout,
    costs: Costs<D>,
    descriptions: Buffer<D, u32>,
    letters: Buffer<D, u32>,
    channels: Channels<D, u32>,
    next: Buffer<D, u32>,
    watchdog: Watchdog<D>,
    launch: Launch,
    /// The tag of the last launch.
    tag: u32,
}

impl<D: Device> Strips<D> {
    /// Makes the tables of passes, none of which has an empty sequence.
    pub fn new(device: &D, passes: &[Pass<'_>], scoring: &Scoring) -> Result<Self> {
        let (limits, costs) = (device.limits(), Costs::new(device, scoring)?);
        let layout = StripLayout::new(passes, limits.warp_width, costs.affine);
        let warps = match limits.warp_width {
            // Threads of the CPU that wait take its cores from others.
            1 => 1,
            _ if passes.len() >= 4 * limits.processors as usize => WARPS_OF_MANY,
            _ => WARPS_OF_FEW,
        };
        let blocks = layout.count.min(warps * limits.processors);
        let watchdog = Watchdog::new(device, None)?;
        Ok(Self {
            descriptions: Buffer::from_slice(device, &layout.strips, "strips")?,
            letters: Buffer::from_slice(device, &layout.letters, "letters of sequences")?,
            channels: Channels::new(device, layout.channels, watchdog.stop())?,
            next: Buffer::zeroed(device, 1, "the next strip")?,
            watchdog,
            launch: Launch {
                shared_bytes: 4 * shared_words(costs.alphabet, limits.warp_width),
                ..Launch::new(blocks, limits.warp_width)
            },
            device: device.clone(),
            costs,
            tag: 0,
            layout,
        })
    }

    fn run<K: Kernel<Params = StripsParams>>(&mut self, params: &StripsParams) -> Result<Duration> {
        let (device, launch) = (&self.device, &self.launch);
        device.prepare::<K>(launch.probe.observation())?;
        // SAFETY: the parameters are views of buffers of this value, which nothing else uses meanwhile.
        Ok(unsafe { self.watchdog.launch::<K>(device, launch, params)? })
    }

    /// Fills the tables, and returns the time of the launch.
    pub fn fill(&mut self) -> Result<Duration> {
        self.next.clear()?;
        // New tags, unless there are none left.
        let end = self.tag.checked_add(2 * self.layout.tags);
        if end.is_none() {
            self.channels.reset()?;
        }
        self.tag = end.map_or(0, |end| end - self.layout.tags);
        let params = StripsParams {
            strips: self.descriptions.tarray(),
            letters: self.letters.tarray(),
            scores: self.costs.scores.tarray(),
            channels: self.channels.view(),
            next: self.next.tarray(),
            count: self.layout.count,
            alphabet: self.costs.alphabet,
            open: self.costs.open,
            tag: self.tag,
        };
        if self.costs.affine {
            self.run::<strips::Strips<true>>(&params)
        } else {
            self.run::<strips::Strips<false>>(&params)
        }
    }

    /// Returns the blocks of the launch, of a warp each.
    pub const fn blocks(&self) -> u32 {
        self.launch.blocks
    }

    /// Returns the bytes that the tables and the sequences take of the device's memory.
    pub fn bytes(&self) -> u64 {
        let scores = &self.costs.scores;
        let words = [&self.descriptions, &self.letters, scores, &self.next];
        let words: u64 = words.iter().map(|buffer| 4 * buffer.len() as u64).sum();
        words + 8 * self.layout.channels as u64
    }

    /// Returns the last rows of the tables of these passes; one that the launch has not filled is empty.
    pub fn last_rows(&self, passes: &[Pass<'_>]) -> Result<Vec<LastRow>> {
        let found = self.channels.download()?;
        Ok(last_rows(passes, |i, pass| {
            let found = (self.tag, &found[..]);
            self.layout.last_row(i, pass, found, self.costs.extend)
        }))
    }
}

/// A device that fills tables.
#[derive(Clone, Debug)]
pub struct OnDevice<D> {
    /// The device.
    pub device: D,
    /// How tables are cut that are filled by diagonals of tiles; without it they are filled by dataflow.
    pub cut: Option<Cut>,
}

impl<D: Device> Scorer for OnDevice<D> {
    fn name(&self) -> String {
        self.device.id()
    }

    fn last_rows(&mut self, passes: &[Pass<'_>], scoring: &Scoring) -> Result<Vec<LastRow>> {
        fill_whole(passes, scoring, |whole| {
            if let Some(cut) = self.cut {
                let tables = Tables::new(&self.device, cut, whole, scoring)?;
                tables.fill()?;
                return tables.last_rows(whole);
            }
            let mut strips = Strips::new(&self.device, whole, scoring)?;
            strips.fill()?;
            strips.last_rows(whole)
        })
    }
}
