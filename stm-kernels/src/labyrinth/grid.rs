//! The layout of a grid's cells in memory; the host uses it too.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GridSize {
    pub x: u32,
    pub y: u32,
    pub z: u32,
}

impl GridSize {
    /// The largest number of cells of a grid, including walls between rows and planes.
    pub const CELLS_MAX: u64 = 1 << 30;

    /// Returns the distance from a cell to the next in y.
    pub const fn row(self) -> u64 {
        self.x as u64 + 1
    }

    /// Returns the distance from a cell to the next in z.
    pub const fn plane(self) -> u64 {
        self.row() * (self.y as u64 + 1)
    }

    /// Returns the number of all cells, including the walls after each row and each plane.
    pub const fn cells(self) -> u64 {
        self.plane().saturating_mul(self.z as u64)
    }

    /// Returns the number of cells that a path may use.
    pub const fn inner_cells(self) -> u64 {
        (self.x as u64 * self.y as u64).saturating_mul(self.z as u64)
    }

    pub const fn index(self, x: u32, y: u32, z: u32) -> u32 {
        (self.plane() * z as u64 + self.row() * y as u64 + x as u64) as u32
    }

    /// Returns the place of a cell: x, y, z.
    pub const fn place(self, cell: u32) -> (u32, u32, u32) {
        let cell = cell as u64;
        let in_plane = cell % self.plane();
        (
            (in_plane % self.row()) as u32,
            (in_plane / self.row()) as u32,
            (cell / self.plane()) as u32,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_cells_are_each_others_inverse_and_no_step_wraps_around() {
        let size = GridSize { x: 5, y: 3, z: 2 };
        assert_eq!(size.cells(), 6 * 4 * 2);
        assert_eq!(size.inner_cells(), 30);
        let mut last = None;
        for z in 0..2 {
            for y in 0..3 {
                for x in 0..5 {
                    let cell = size.index(x, y, z);
                    assert!(last < Some(cell), "cells ascend, and none twice");
                    last = Some(cell);
                    assert_eq!(size.place(cell), (x, y, z));
                }
            }
        }
        // One past the last of a row or a plane is not inside the grid.
        assert_eq!(size.place(size.index(4, 0, 0) + 1).0, 5);
        assert_eq!(size.place(size.index(0, 2, 0) + size.row() as u32).1, 3);
        assert_eq!(size.place(size.index(0, 1, 0) - 1).0, 5);
        assert_eq!(size.place(size.index(0, 0, 1) - size.row() as u32).1, 3);
    }
}
