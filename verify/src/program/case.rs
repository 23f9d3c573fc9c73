//! The data: a program, what the words of a silent one keep to, and the case that says how it is run.

use crate::prelude::*;
use clap::ValueEnum;
use std::ops::Range;

/// The most words of a program: a word's number is one digit in base 36.
pub const WORDS_MAX: u8 = 36;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Value {
    Const(u64),
    /// The write stores the value last read, or 0, plus this one (wrapping).
    LastPlus(u64),
    /// The write stores the value last read, or 0, with bit 0 flipped.
    Flip,
    /// The write stores 1 if the last value of every read before was 0, else 0.
    Claim,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Op {
    /// Reads one to three words together.
    Read(Vec<u8>),
    Write(u8, Value),
    Add(u8, Value),
    /// Reads one to three sums, together if they follow each other in one row.
    ReadSums(Vec<u8>),
    Act(Act, u8),
    /// Reads a word, which does not count as the value last read, and retries if it is odd (`true`) or even.
    RetryIf(u8, bool),
    /// Does the first operations, or the second ones if the first retry (`Tx::or_else`). Only [`Op::RetryIf`]
    /// retries in a program that is recorded, and in first operations alone, so no such transaction waits.
    Either(Vec<Op>, Vec<Op>),
}

/// What is done to a word, by its letter in the line of a case.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
#[repr(u8)]
pub enum Act {
    /// Inserts a node into the list of [`Invariant::Sorted`].
    Insert = b'i',
    /// Removes a node from that list.
    Remove = b'd',
    /// Makes the word 1, and waits until it is 0 ([`Invariant::Turns`]).
    Put = b'p',
    /// Makes the word 0, and waits until it is not.
    Take = b't',
    /// Allocates a node of the pool for the word ([`Invariant::Nodes`]), or frees the one it has.
    Toggle = b'n',
    /// Allocates a node, and frees the one that the word had.
    Replace = b'm',
    /// Writes the node of the word, if there is one.
    Update = b'u',
    /// Reads the node of the word, if there is one.
    Visit = b'v',
}

impl Act {
    pub const fn is_of_nodes(self) -> bool {
        matches!(
            self,
            Self::Toggle | Self::Replace | Self::Update | Self::Visit
        )
    }

    pub const fn is_of_turns(self) -> bool {
        matches!(self, Self::Put | Self::Take)
    }
}

impl Op {
    pub fn words(&self) -> &[u8] {
        match self {
            Self::Read(words) | Self::ReadSums(words) => words,
            Self::Write(word, _)
            | Self::Add(word, _)
            | Self::Act(_, word)
            | Self::RetryIf(word, _) => std::slice::from_ref(word),
            Self::Either(..) => &[],
        }
    }

    pub const fn is_of_sums(&self) -> bool {
        matches!(self, Self::Add(..) | Self::ReadSums(_))
    }
}

/// Returns operations, each before those of its alternatives.
pub fn flat(ops: &[Op]) -> Vec<&Op> {
    let mut all = Vec::new();
    for op in ops {
        all.push(op);
        if let Op::Either(first, second) = op {
            all.extend([first, second].into_iter().flat_map(|ops| flat(ops)));
        }
    }
    all
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Widths {
    #[value(name = "u32")]
    Narrow,
    #[value(name = "u64")]
    Wide,
    /// Those of even numbers have 64, the others 32; sums have 32.
    Mixed,
}

/// How transactions are called.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Loop {
    /// All lanes run transactions together, in rounds: `StmRef::for_each`.
    Each,
    /// Each lane runs its transactions on its own: `StmRef::atomically`.
    Own,
    /// The lanes of a warp run each transaction together: `StmRef::for_each_team`. Word `w` belongs
    /// to lane `w % lanes` of the team. The last ones ([`Program::singles`]) are run as in [`Self::Each`].
    Team,
    /// The threads of a block do: `StmRef::for_each_block_team`.
    Block,
    /// The first transactions of a launch that have the form are static updates: `StmRef::update_each`.
    /// Those after them are run as in [`Self::Each`].
    Update,
}

impl Loop {
    pub const fn is_of_teams(self) -> bool {
        matches!(self, Self::Team | Self::Block)
    }
}

pub(super) fn together(row: u32, sums: &[u8]) -> bool {
    let row_of = |sum: &u8| u32::from(*sum) / row;
    sums.windows(2)
        .all(|pair| pair[0] + 1 == pair[1] && row_of(&pair[0]) == row_of(&pair[1]))
}

/// Transactions, the words they share, and the launches that run them, on the same memory.
///
/// Transaction `i` of a launch belongs to the lane `i % lanes`; with `egpgv` in [`Loop::Each`], to the first
/// lane of block `i % blocks`; in [`Loop::Team`] or [`Loop::Block`], to the team `i % teams`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    pub blocks: u32,
    pub threads: u32,
    pub calls: Loop,
    pub launches: u32,
    /// How many of the last transactions of each launch lanes run alone where the others are of teams.
    pub singles: u32,
    /// The invariant that the transactions themselves check, unless the run is recorded.
    pub silent: Option<Invariant>,
    pub widths: Widths,
    /// Words of a stripe, a power of two.
    pub stripe_words: u32,
    /// Version locks, a power of two.
    pub locks: u64,
    /// Entries of the read set and of the write set.
    pub sets: (u32, u32),
    /// How often a read polls a locked stripe, and how often a commit tries to acquire its locks.
    pub retry_limits: (u32, u32),
    /// The words before the launch; one to [`WORDS_MAX`].
    pub initial: Vec<u64>,
    /// The sums before the launch; up to [`WORDS_MAX`].
    pub sums: Vec<u64>,
    /// Sums of a row, 1 or more; the last row may have more than the program names.
    pub row: u32,
    pub transactions: Vec<Vec<Op>>,
}

/// One lane and one word, and what a line leaves out.
impl Default for Program {
    fn default() -> Self {
        Self {
            blocks: 1,
            threads: 1,
            calls: Loop::Each,
            launches: 1,
            singles: 0,
            silent: None,
            widths: Widths::Narrow,
            stripe_words: 1,
            locks: 4,
            sets: (8, 8),
            retry_limits: (8, 8),
            initial: vec![0],
            sums: Vec::new(),
            row: 1,
            transactions: Vec::new(),
        }
    }
}

impl Program {
    /// Returns the words before the first launch, and after them the sums.
    pub fn memory(&self) -> impl Iterator<Item = u64> + '_ {
        self.initial.iter().chain(&self.sums).copied()
    }

    pub const fn lanes(&self) -> u32 {
        self.blocks * self.threads
    }

    /// Returns the operations of all transactions, those of alternatives too.
    pub fn ops(&self) -> impl Iterator<Item = &Op> {
        self.transactions.iter().flat_map(|ops| flat(ops))
    }

    /// Splits operations into the first one, or two that are done together, and the others.
    pub(super) fn split<'o>(&self, ops: &'o [Op]) -> Option<(&'o [Op], &'o [Op])> {
        let two = match ops {
            [] => return None,
            [Op::Write(a, _), Op::Write(b, _), ..] => a < b && self.is_wide(*a) == self.is_wide(*b),
            [Op::Add(a, _), Op::Add(b, _), ..] => together(self.row, &[*a, *b]),
            _ => false,
        };
        Some(ops.split_at(1 + usize::from(two)))
    }

    /// Returns the first lane and the number of lanes of the team that runs transaction `i` of a launch.
    pub(super) fn team(&self, width: u32, i: usize) -> (u32, u32) {
        let width = match self.calls {
            Loop::Block => self.threads,
            Loop::Each | Loop::Own | Loop::Team | Loop::Update => width,
        };
        let warps = self.threads.div_ceil(width);
        let teams = (self.blocks * warps) as usize;
        let team = (i % teams) as u32;
        let (block, first) = (team / warps, team % warps * width);
        let lanes = width.min(self.threads - first);
        (block * self.threads + first, lanes)
    }

    pub fn is_wide(&self, word: u8) -> bool {
        match self.widths {
            Widths::Narrow => false,
            Widths::Wide => true,
            Widths::Mixed => word.is_multiple_of(2),
        }
    }

    pub const fn sums_are_wide(&self) -> bool {
        matches!(self.widths, Widths::Wide)
    }

    /// Returns the bits that a word may have, or a sum, whose number comes after the words'.
    pub fn mask(&self, at: usize) -> u64 {
        let wide = match u8::try_from(at) {
            Ok(word) if at < self.initial.len() => self.is_wide(word),
            _ => self.sums_are_wide(),
        };
        if wide { u64::MAX } else { u64::from(u32::MAX) }
    }

    /// Returns the nodes that the pool needs for all words and what attempts of all lanes hold at a time.
    pub fn nodes(&self) -> u64 {
        let is_node = |op: &&Op| matches!(op, Op::Act(act, _) if act.is_of_nodes());
        let of = |ops: &Vec<Op>| flat(ops).into_iter().filter(is_node).count();
        let most = self.transactions.iter().map(of).max().unwrap_or(0);
        self.initial.len() as u64 + u64::from(self.lanes()) * most as u64
    }

    /// Returns how many of the first transactions of launch `k` are static updates, or run by teams.
    pub fn apart(&self, k: u32) -> usize {
        let transactions = self.transactions[self.launch(k)].iter();
        match self.calls {
            Loop::Each | Loop::Own => 0,
            Loop::Team | Loop::Block => transactions.len().saturating_sub(self.singles as usize),
            Loop::Update => transactions.take_while(|ops| update(ops).is_some()).count(),
        }
    }

    pub fn launch(&self, k: u32) -> Range<usize> {
        let (k, launches) = (k as usize, self.launches as usize);
        let first = |k: usize| self.transactions.len() * k / launches;
        first(k)..first(k + 1)
    }

    /// Returns the lane that runs transaction `i` of launch `k`, or leads the team that does.
    pub fn place(&self, variant: Variant, width: u32, k: u32, i: usize) -> u32 {
        let behind = i.checked_sub(self.apart(k));
        // The two loops each begin with the first lane.
        let of_loop = behind.unwrap_or(i);
        if self.calls.is_of_teams() && behind.is_none() {
            self.team(width, i).0
        } else if variant == Variant::Egpgv && matches!(self.calls, Loop::Each | Loop::Update) {
            (of_loop % self.blocks as usize) as u32 * self.threads
        } else {
            (of_loop % self.lanes() as usize) as u32
        }
    }
}

/// Returns the three words that a static update reads, and what it writes to two of them, if anything.
pub(super) fn update(ops: &[Op]) -> Option<([u8; 3], Option<[Value; 2]>)> {
    let [Op::Read(words), rest @ ..] = ops else {
        return None;
    };
    let words: [u8; 3] = words[..].try_into().ok()?;
    match rest {
        [] => Some((words, None)),
        [Op::Write(a, first), Op::Write(b, second)] if [*a, *b] == words[..2] => {
            Some((words, Some([*first, *second])))
        }
        _ => None,
    }
}

/// Everything that decides a run. Its text, by `Display`, replays it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Case {
    pub variant: Variant,
    pub mutant: Option<Mutant>,
    pub program: Program,
    /// The simulation; its own `mutant` is not used.
    pub sim: SimConfig,
}

impl Case {
    /// Returns what to print when a run fails: the command that replays it.
    pub fn command(&self) -> String {
        format!("cargo run -p verify -- replay '{self}'")
    }
}

/// What the words of a silent program keep to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, ValueEnum)]
pub enum Invariant {
    /// All words hold the same value, and all sums do: torn reads.
    Equal,
    /// Words 0 and 1 hold 0 and 1 in either order, and so on: torn reads of values that come back.
    Toggle,
    /// The total of all words stands still: lost updates.
    Total,
    /// At most one word holds 1, the others 0: write skew.
    Exclusive,
    /// Word 0 is the head of a list whose node `k` is word `k`; each word holds the next node, which is
    /// greater than its own, or 0: torn and lost links.
    Sorted,
    /// Each word names a node of a pool that no other word names, or none; a node that is found through a
    /// word says so, and all its fields belong to one write. The nodes that no word names are free.
    Nodes,
    /// Each word is put and taken in turn, 1 and 0, and whoever finds it so waits by `Tx::retry`. If
    /// everybody waits, nothing that anybody has read has changed.
    Turns,
}
