//! The command `bench nw`.

use super::console::{described, open};
use super::sync::told_of;
use crate::error::Result;
use crate::nw::measure::SCHEMES;
use crate::nw::plan::{PARTS, STM};
use crate::nw::reduction::{self, MEMORIES};
use crate::nw::{self, NwSpec};

/// The implementations of tables, and what each is.
fn implementations() -> impl Iterator<Item = (&'static str, &'static str)> {
    let schemes = SCHEMES.into_iter().map(|(name, _, about)| (name, about));
    schemes.chain([(STM, "a transaction for each cell")])
}

/// The memories of the hops.
fn memories() -> impl Iterator<Item = (&'static str, &'static str)> {
    MEMORIES.into_iter().map(|(name, about, _)| (name, about))
}

pub(super) fn help() -> String {
    let lists = [
        ("Parts", PARTS.to_vec()),
        ("Implementations of tables", implementations().collect()),
        ("Schemes of the reduction", reduction::described().collect()),
        ("Memories of the hops", memories().collect()),
    ];
    let lists = lists.map(|(head, all)| described(head, &all));
    format!("{}\n{HELP}", lists.join("\n"))
}

const HELP: &str = "\
Operations are cells of tables, hand-overs from warp to warp, and hops; each
point is verified. In table3 `diagonals` and `graph` have tiles of every side
that is not larger than the table needs, in sizes and tiles `graph` has every
side, and in the other parts those of 32 to 256.

DIR/nw.json is written after every point. After an interruption, or the end of
--for, the same command goes on where it stopped; --only adds to what is there.
`stamp report DIR` writes the page with the figures, the targets and the claims.

Examples:
  stamp bench nw --out results
  stamp bench nw --quick --out quick              small, on the CPU, seconds
  stamp bench nw --only table3,tiles --for 480 --out results";

/// Measures; `command` is how it was called. A wrong result makes it `false`.
pub(super) fn nw(spec: &NwSpec, command: &str) -> Result<bool> {
    let device = open(spec.bench.choice())?;
    let store = nw::bench(&device, spec, command)?;
    told_of(&store.document.0, &spec.only, &store.path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::AnyDevice;
    use crate::nw::plan::points;
    use crate::testing::has;
    use std::collections::BTreeSet;

    #[test]
    fn the_help_and_the_documents_name_every_part_and_implementation() {
        let points = points(&AnyDevice::cpu(), false);
        let measured: BTreeSet<&str> = points.iter().map(|p| p.implementation.as_str()).collect();
        let listed = implementations().chain(reduction::described());
        let listed = listed.chain(memories()).map(|(name, _)| name);
        assert_eq!(listed.collect::<BTreeSet<&str>>(), measured);
        let (help, document) = (help(), include_str!("../../../docs/stamp.md"));
        for (name, what) in PARTS {
            let first = what.split(' ').next().unwrap_or_default();
            has(&help, &format!("  {name} | {first}"));
        }
        for name in measured.into_iter().chain(PARTS.map(|(name, _)| name)) {
            has(document, &format!("`{name}`"));
        }
        assert!(help.lines().all(|line| line.chars().count() <= 80));
    }
}
