//! Tables for people, and sentences of parts.

use crate::external_prelude::*;
use comfy_table::{CellAlignment, Table, presets};

pub(crate) fn terminal_columns() -> Option<usize> {
    terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| usize::from(width.0))
}

/// Rows, whose cells have tabs between them, as lines, the columns two spaces apart: the first `left`, and the
/// last if `last_left`, start at the left, and numbers end at the right.
pub(crate) fn align(rows: &[String], left: usize, last_left: bool) -> Vec<String> {
    let mut table = Table::new();
    let rows = rows.iter().map(|row| row.split('\t'));
    table.load_style(presets::NOTHING).add_rows(rows);
    let last = table.column_count().saturating_sub(1);
    for (c, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        if c >= left && !(last_left && c == last) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.lines().map(|line| line.trim_end().into()).collect()
}

/// The [`align`]ed rows as a text, each line behind `indent`.
pub(crate) fn aligned(indent: &str, rows: &[String], left: usize, last_left: bool) -> String {
    let lines = align(rows, left, last_left).into_iter();
    lines.map(|line| format!("{indent}{line}\n")).joined("")
}

/// A table of rows below a header, [`aligned`], behind what stands above it; nothing without rows.
pub(crate) fn titled(
    (above, indent, header): (&str, &str, &str),
    rows: impl Iterator<Item = String>,
    left: usize,
    last_left: bool,
) -> String {
    let rows: Vec<String> = iter::once(header.to_owned()).chain(rows).collect();
    let table = above.to_owned() + &aligned(indent, &rows, left, last_left);
    if rows.len() > 1 { table } else { String::new() }
}

/// What is said in one text.
pub(crate) trait Joined: Iterator<Item: Display> + Sized {
    /// Returns all parts, with a text between each two.
    fn joined(mut self, between: &str) -> String {
        join(&mut || self.next().map(|part| part.to_string()), between)
    }
}

impl<I: Iterator<Item: Display>> Joined for I {}

/// [`Joined::joined`] for any parts, compiled once.
fn join(next: &mut dyn FnMut() -> Option<String>, between: &str) -> String {
    let mut all = next().unwrap_or_default();
    iter::from_fn(next).for_each(|part| all.extend([between, &part]));
    all
}

/// A sentence of these parts, with what stands before and behind them; nothing if there is none.
pub(crate) fn sentence(
    before: &str,
    parts: impl Iterator<Item: Display>,
    (between, behind): (&str, &str),
) -> String {
    let all = parts.joined(between);
    let sentence = format!("{before}{all}{behind}");
    if all.is_empty() { all } else { sentence }
}

/// The values of each key, the keys in the order in which they first come.
pub(crate) fn grouped<K: PartialEq, V>(all: impl Iterator<Item = (K, V)>) -> Vec<(K, Vec<V>)> {
    let mut groups: Vec<(K, Vec<V>)> = Vec::new();
    for (key, value) in all {
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, values)) => values.push(value),
            None => groups.push((key, vec![value])),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::align;

    #[test]
    fn columns_are_two_spaces_apart_and_numbers_end_alike() {
        let rows = ["workload\ttx/s\taborts", "ra\t1.00M\tnone", "labyrinth\t9"];
        let rows = rows.map(str::to_owned);
        let lines = [
            "workload    tx/s  aborts",
            "ra         1.00M  none",
            "labyrinth      9",
        ];
        assert_eq!(align(&rows, 1, true), lines);
        let last_right = align(&rows, 1, false);
        assert_eq!(last_right[1], "ra         1.00M    none");
        assert!(align(&[], 1, true).is_empty());
    }
}
