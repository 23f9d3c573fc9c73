//! A table to fill.

use stm_kernels::nw::layout::Table;

/// A table to fill.
#[derive(Clone, Copy, Debug)]
pub struct Pass<'s> {
    /// The codes of A, whose letters are the rows.
    pub a: &'s [u8],
    /// The codes of B, whose letters are the columns.
    pub b: &'s [u8],
    /// Whether both are read from their ends.
    pub backward: bool,
    /// What it costs to open a gap below letters of A that begins with the first row.
    pub first: i32,
}

impl<'s> Pass<'s> {
    /// Returns the cells of the table.
    pub const fn cells(&self) -> u64 {
        self.a.len() as u64 * self.b.len() as u64
    }

    /// Returns what kernels are told of it.
    pub(super) const fn table(&self) -> Table<'s> {
        Table {
            a: self.a,
            b: self.b,
            backward: self.backward,
            first: self.first,
        }
    }
}
