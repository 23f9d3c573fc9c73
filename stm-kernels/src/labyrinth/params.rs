//! What the host hands to the routers, and what it gets back.

use stm_core::{TArray, algorithm::Algorithm};

/// A cell that belongs to no path and no request.
pub const FREE: u32 = 0;
/// A cell that is an end of a request, and on no path yet.
pub const RESERVED: u32 = u32::MAX - 1;
pub const WALL: u32 = u32::MAX;

#[inline(always)]
pub const fn cell_of_path(request: u32) -> u32 {
    request + 1
}

/// The largest number of requests of a launch, so that the values of their cells are below the marks.
pub const REQUESTS_MAX: u32 = 1 << 30;

pub const UNSETTLED: u32 = 0;
pub const UNROUTED: u32 = u32::MAX;
/// The flag in the result of a request whose path is too long; the other bits are its cells.
pub const TOO_LONG: u32 = 1 << 31;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct LabyrinthWork<A: Algorithm> {
    /// The cells; [`GridSize::cells`](super::GridSize::cells) of them.
    pub grid: A::Array<u32>,
    pub work: RouterParams,
}

/// What routers work on beside the grid.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RouterParams {
    /// The source and the destination of each request, as cells; constant.
    pub requests: TArray<u32>,
    /// For each request the number of cells of its path, or [`UNROUTED`], or [`TOO_LONG`] and the
    /// number; [`UNSETTLED`] at the start.
    pub results: TArray<u32>,
    /// The cells of each path from its source on, `path_cells_max` words for each request.
    pub paths: TArray<u32>,
    /// The memory of the routers: two words a cell for each block.
    pub routers: TArray<u32>,
    /// The next request, 0 at the start; one word.
    pub next: TArray<u32>,
    /// [`CLOCK_WORDS`] words for each block, 0 at the start: the time that its claims took, in
    /// ticks of [`Lane::clock`](stm_core::Lane::clock), their number, and the time of all its work.
    pub clocks: TArray<u64>,
    /// The number of requests of the launch, at most [`REQUESTS_MAX`].
    pub count: u32,
    /// The distance from a cell to the next in y.
    pub row: u32,
    /// The distance from a cell to the next in z.
    pub plane: u32,
    /// The largest number of cells of a path, for which the sets and `paths` have room.
    pub path_cells_max: u32,
}

pub const CLOCK_WORDS: u64 = 3;
