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

use crate::host::pool::Pool;
use crate::host::prelude::*;

fn damaged(what: &str, found: &str) -> Error {
    let what = format!("{what}: {found}");
    Error::Corrupt { what }
}

/// Checks that the nodes that a container links to are exactly those that its pool has given out; `linked` says
/// of each node, by index, whether the container does.
fn check_nodes<D: Device>(pool: &Pool<D>, linked: &[bool]) -> Result {
    let taken = pool.are_taken()?.into_iter();
    let linked = linked.iter().copied().chain(core::iter::repeat(false));
    let differs = |(_, (taken, linked)): &(usize, (bool, bool))| taken != linked;
    let Some((index, (taken, _))) = taken.zip(linked).enumerate().find(differs) else {
        return Ok(());
    };
    let wrong = ["is linked and free", "has leaked"][usize::from(taken)];
    Err(damaged(pool.name(), &format!("node {index} {wrong}")))
}
