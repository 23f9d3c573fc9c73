//! What the words of a silent program keep to.

/// What the words of a silent program keep to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Invariant {
    /// All words hold the same value, and all sums do: torn reads.
    Equal,
    /// Words 0 and 1 hold 0 and 1 in either order, and so do words 2 and 3, and
    /// so on: torn reads of values that come back.
    Toggle,
    /// The total of all words stands still: lost updates.
    Total,
    /// At most one word holds 1, the others 0: write skew.
    Exclusive,
    /// Word 0 is the head of a list whose node `k` is word `k`; each word holds
    /// the next node, which is greater than its own, or 0: torn and lost links.
    Sorted,
    /// Each word names a node of a pool that no other word names, or none; a
    /// node that is found through a word says so, and all its fields belong to
    /// one write. The nodes that no word names are free.
    Nodes,
    /// Each word is put and taken in turn, 1 and 0, and whoever finds it so
    /// already waits by `Tx::retry`. If everybody waits, nothing that anybody
    /// has read has changed.
    Turns,
}

impl Invariant {
    /// All invariants.
    pub const ALL: [Self; 7] = [
        Self::Equal,
        Self::Toggle,
        Self::Total,
        Self::Exclusive,
        Self::Sorted,
        Self::Nodes,
        Self::Turns,
    ];

    /// Returns the name in a replay line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::Toggle => "toggle",
            Self::Total => "total",
            Self::Exclusive => "exclusive",
            Self::Sorted => "sorted",
            Self::Nodes => "nodes",
            Self::Turns => "turns",
        }
    }

    /// Returns the invariant with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|i| i.name() == name)
    }
}
