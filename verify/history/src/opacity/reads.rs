//! Which reads of an attempt went to memory, and which to its own writes; of
//! those after own additions, what memory held.

use super::report::Finding;
use crate::history::{History, NumberMap, kind, sum};

/// A read that went to memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MemoryRead {
    pub(crate) word: u32,
    pub(crate) value: u64,
    /// Index among the attempt's events.
    pub(crate) event: u32,
}

#[derive(Clone, Copy)]
enum Own {
    /// Its value is this.
    Value(u64),
    /// Its value is what memory holds and this.
    More(u64),
    /// Floats were added.
    Unknown,
}

/// Own writes for which there is room from attempt to attempt.
const OWN_KEPT: usize = 64;

/// Splits attempts, one after the other, with the same scratch space.
#[derive(Default)]
pub(crate) struct Splitter {
    /// Reads from memory of the attempt split last, in program order.
    pub(crate) memory: Vec<MemoryRead>,
    /// What each word written or added to so far is.
    own: NumberMap<u32, Own>,
}

impl Splitter {
    /// Splits the events of attempt `i`; returns the first read that missed an own write.
    pub(crate) fn split(&mut self, history: &History, i: usize) -> Option<Finding> {
        let (words, (keys, values)) = (history.words(), history.columns(i));
        self.memory.clear();
        self.own.clear();
        self.own.shrink_to(OWN_KEPT);
        let mut lost = None;
        for (event, (&key, &value)) in (0_u32..).zip(keys.iter().zip(values)) {
            let word = key >> kind::BITS;
            let own = self.own.get(&word).copied().unwrap_or(Own::More(0));
            let plus = |a, b| sum(words.word(word), a, b);
            let own = match (key & kind::MASK, own) {
                (kind::READ, Own::Value(wrote)) => {
                    if wrote != value && lost.is_none() {
                        lost = Some(Finding::OwnWriteLost {
                            event,
                            word: words.word(word),
                            wrote,
                            read: value,
                        });
                    }
                    continue;
                }
                (kind::READ, Own::More(more)) => {
                    // Without additions the value is taken as it stands.
                    let before = plus(value, more.wrapping_neg());
                    let value = if more == 0 { value } else { before };
                    self.memory.push(MemoryRead { word, value, event });
                    continue;
                }
                (kind::READ, Own::Unknown) => continue,
                (kind::WRITE, _) => Own::Value(value),
                (kind::ADD, Own::Value(wrote)) => Own::Value(plus(wrote, value)),
                (kind::ADD, Own::More(more)) => Own::More(plus(more, value)),
                _ => Own::Unknown,
            };
            self.own.insert(word, own);
        }
        lost
    }
}
