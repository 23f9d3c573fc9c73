//! The owners of the containers ([`crate::collections`]), in the memory of a device, each with a capacity, a
//! layout that can be changed, and a name for errors. The host fills a container and empties it between
//! launches, and checks in doing so that no node is lost and none has leaked.

/// Writes what each container does with its parts: arrays, nodes and other containers; and lends it to
/// kernels as the view that the expression makes for an algorithm `A`.
macro_rules! container {
    (
        $owner:ident<$($of:ident: [$($bound:tt)*]),*> => $view:ident, |$it:ident| $make:expr;
        parts [$first:tt $($part:tt)*]; $(nodes $nodes:tt;)? $(lists $lists:tt by $place:ident;)? shown $($shown:tt)*
    ) => {
        stm_machine::shown!([D: Device, $($of),*] $owner<D, $($of),*>: $($shown),*; ..);

        impl<D: Device, $($of: $($bound)*),*> $owner<D, $($of),*> {
            $(
                /// Returns the number of nodes; of an ordered map, that of leaves.
                pub const fn capacity(&self) -> u64 {
                    self.$nodes.capacity()
                }

                /// Lets transactions store at once to nodes that are free now
                /// ([`Pool::refresh`](crate::host::Pool::refresh)).
                pub fn refresh(&mut self) -> Result {
                    self.$nodes.refresh()
                }
            )?

            $(
                /// Does what [`Lists::words`] does.
                pub fn words(&self) -> Result<Vec<(WordAddress, u64)>> {
                    self.$lists.words()
                }

                /// Replaces the contents as [`Lists::upload`]; of several values of a key, the last counts.
                pub fn upload(&mut self, entries: impl IntoIterator<Item = (K, V)>) -> Result {
                    let entries = entries.into_iter();
                    let entries = entries.map(|(key, value)| (self.$place(key), key, value));
                    self.$lists.fill(&entries.collect::<Vec<_>>())
                }
            )?

            /// Returns the number of bytes of device memory.
            pub fn bytes(&self) -> u64 {
                self.$first.bytes() $(+ self.$part.bytes())*
            }

            /// Changes the layout; the contents stay.
            pub fn arrange_as(&mut self, layout: Layout) -> Result {
                self.$first.arrange_as(layout)?;
                $(self.$part.arrange_as(layout)?;)*
                Ok(())
            }

            /// Lets the check after each launch of `stm` see the words of the container ([`Stm::watch`]).
            pub fn watch(&self, stm: &mut Stm<D>) {
                self.$first.watch(stm);
                $(self.$part.watch(stm);)*
            }

            /// Removes all contents; the positions of a queue count from 0 again.
            pub fn clear(&mut self) -> Result {
                self.$first.clear()?;
                $(self.$part.clear()?;)*
                Ok(())
            }

            /// Returns a view for transactions of algorithm `A`, as a kernel parameter, which must not be
            /// used after the container is freed.
            ///
            /// # Panics
            /// It panics if the layout is not the algorithm's.
            pub fn view<A: Algorithm>(&self) -> $view<A, $($of),*> {
                let $it = self;
                $make
            }

            /// Returns the address of the first part on the device, which stands for all of them.
            fn address(&self) -> *mut u8 {
                self.$first.address()
            }

            fn space(&self) -> u64 {
                self.$first.space()
            }

            /// Refuses another layout than that of algorithm `A`; all parts have one layout.
            fn check_layout<A: Algorithm>(&self) -> Result {
                self.$first.check_layout::<A>()
            }
        }

        // SAFETY: the view is of the container's memory, with a checked layout, written while not borrowed.
        stm_machine::__lent! {
            |it|
            [A: Algorithm, $($of: $($bound)*),*] &$owner<D, $($of),*> => $view<A, $($of),*>:
                it.space(), it.check_layout::<A>().map(|()| it.view::<A>()), [it.address()];
        }
    };
}

mod lists;
mod ordered;
mod queue;

pub use lists::{List, Lists, Map};
pub use ordered::OrderedMap;
pub use queue::Queue;

use crate::host::pool::Nodes;
use crate::host::prelude::*;

fn damaged(what: &str, found: &str) -> Error {
    let what = format!("{what}: {found}");
    Error::Corrupt { what }
}

/// Nodes of a pool, by index: a bit for each.
struct NodeSet(Vec<u32>);

impl NodeSet {
    fn of(nodes: u64) -> Self {
        Self(vec![0; nodes.div_ceil(u64::from(u32::BITS)) as usize])
    }

    /// Adds a node, and returns whether it was absent.
    fn insert(&mut self, index: u32) -> bool {
        let (word, bit) = ((index / u32::BITS) as usize, 1 << (index % u32::BITS));
        let absent = self.0[word] & bit == 0;
        self.0[word] |= bit;
        absent
    }

    fn contains(&self, index: u32) -> bool {
        let word = self.0.get((index / u32::BITS) as usize);
        word.is_some_and(|word| word >> (index % u32::BITS) & 1 != 0)
    }
}

/// Checks that the nodes that a container links to, by index, are exactly those that its pool has given out.
fn check_nodes<D: Device, R: Record>(nodes: &Nodes<D, R>, linked: &NodeSet) -> Result {
    for (word, taken) in (0..).zip(nodes.pool().taken_bits()?) {
        let differ = taken ^ linked.0[word as usize];
        if differ != 0 {
            let bit = differ.trailing_zeros();
            let wrong = ["is linked and free", "has leaked"][(taken >> bit & 1) as usize];
            let found = format!("node {} {wrong}", word * u32::BITS + bit);
            return Err(damaged(nodes.pool().name(), &found));
        }
    }
    Ok(())
}
