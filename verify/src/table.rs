//! Tables of text.

use comfy_table::{CellAlignment, Table, presets};

/// Rows as lines, columns two spaces apart. The columns numbered in `numbers`
/// are aligned to the right.
pub(crate) fn lines(rows: Vec<Vec<String>>, numbers: &[usize]) -> Vec<String> {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).add_rows(rows);
    for (c, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        if numbers.contains(&c) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.lines().map(|line| line.trim_end().into()).collect()
}
