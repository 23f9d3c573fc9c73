//! Memory that a workload's data takes: refused before any of it is made, and
//! read back as a history wants it; and launch shapes that depend on the device alone.

use crate::error::{Error, Result};
use stm_core::collections::{List, Lists, Map, OrderedMap};
use stm_core::host::{self, Cpu, Device, Pod, Records, Stm, Sums, TxArray};
use stm_core::internal::WordAddress;
use stm_core::internal::host::Limits;
use stm_core::{Element, Layout, Summand};
use stm_kernels::ht::{HtNode, HtPoolNode};

/// The most words that a transaction reads, or writes: what a set holds.
pub const SET_WORDS_MAX: u32 = 1 << 20;

/// What transactions access of a workload's data: an array, sums, records or a container.
pub trait Accessed<D: Device> {
    /// Changes the layout.
    fn arrange(&mut self, layout: Layout) -> Result<()>;

    /// Lets the check after a launch cover the words.
    fn watch(&self, stm: &mut Stm<D>);

    /// Returns the words that are not zero with what they hold, where a reset leaves any.
    fn words(&self) -> Result<Vec<(WordAddress, u64)>>;
}

impl<D: Device, T: Element + Pod> Accessed<D> for TxArray<D, T> {
    fn arrange(&mut self, layout: Layout) -> Result<()> {
        Ok(self.arrange_as(layout)?)
    }

    fn watch(&self, stm: &mut Stm<D>) {
        stm.watch(self);
    }

    fn words(&self) -> Result<Vec<(WordAddress, u64)>> {
        let values = self.download()?.into_iter().map(Element::to_bits64);
        let words = (0..).map(|i| self.word(i)).zip(values);
        Ok(words.filter(|(_, value)| *value != 0).collect())
    }
}

impl<D: Device, T: Element + Pod + Summand> Accessed<D> for Sums<D, T> {
    fn arrange(&mut self, _layout: Layout) -> Result<()> {
        Ok(())
    }

    fn watch(&self, stm: &mut Stm<D>) {
        stm.watch_sums(self);
    }

    fn words(&self) -> Result<Vec<(WordAddress, u64)>> {
        let values = self.download()?.into_iter().map(Element::to_bits64);
        let (row, at) = (self.row_len(), 0u32..);
        let words = at
            .map(|i| self.word((i / row) as usize, i % row))
            .zip(values);
        Ok(words.filter(|(_, value)| *value != 0).collect())
    }
}

/// What returns the words of a container.
type WordsOf<T> = fn(&T) -> std::result::Result<Vec<(WordAddress, u64)>, host::Error>;

macro_rules! accessed {
    ($($owner:ty, $watch:expr, $words:expr;)*) => {
        $(
            impl<D: Device> Accessed<D> for $owner {
                fn arrange(&mut self, layout: Layout) -> Result<()> {
                    Ok(self.arrange_as(layout)?)
                }

                fn watch(&self, stm: &mut Stm<D>) {
                    $watch(self, stm);
                }

                fn words(&self) -> Result<Vec<(WordAddress, u64)>> {
                    let words: WordsOf<Self> = $words;
                    Ok(words(self)?)
                }
            }
        )*
    };
}

accessed! {
    List<D, u32, u32>, List::watch, |_| Ok(Vec::new());
    OrderedMap<D, u32, u32>, OrderedMap::watch, |_| Ok(Vec::new());
    Map<D, u32, u32>, Map::watch, Map::words;
    Lists<D, u32, u32>, Lists::watch, Lists::words;
    Records<D, HtNode>, |records, stm: &mut Stm<D>| stm.watch_records(records), |_| Ok(Vec::new());
    Records<D, HtPoolNode>, |records, stm: &mut Stm<D>| stm.watch_records(records), |_| Ok(Vec::new());
}

/// Makes an array of zeros for transactions, in the plain layout.
pub fn zeros<D: Device, T: Element + Pod>(
    device: &D,
    len: u64,
    what: &'static str,
) -> Result<TxArray<D, T>> {
    Ok(TxArray::zeroed(device, Layout::Plain, len as usize, what)?)
}

/// Refuses data that the device or the host has no room for, before any of it
/// is made. `host_bytes` is what the input and its verification take.
pub fn check_memory<D: Device>(
    device: &D,
    name: &str,
    device_bytes: u64,
    host_bytes: u64,
    fix: &'static str,
) -> Result<()> {
    let on_host = device.id() == "cpu";
    let host_needed = host_bytes.saturating_add(if on_host { device_bytes } else { 0 });
    check_host_memory(
        &format!("the data of {name} and its verification"),
        host_needed,
        fix,
    )?;
    let available = device.available_bytes()?;
    if device_bytes > available {
        return Err(Error::TooLarge {
            what: format!("the data of {name} on {}", device.id()),
            needed: device_bytes,
            available,
            fix,
        });
    }
    Ok(())
}

/// Refuses what the host has no room for.
pub fn check_host_memory(what: &str, needed: u64, fix: &'static str) -> Result<()> {
    let available = Cpu::new().available_bytes()?;
    if needed > available {
        return Err(Error::TooLarge {
            what: format!("{what} on the host"),
            needed,
            available,
            fix,
        });
    }
    Ok(())
}

/// Says in an implementation of `Workload` which fields of the data transactions access.
macro_rules! accessed {
    ($($field:ident),+) => {
        fn accessed<'d, D: Device>(
            &self,
            data: &'d mut Self::Data<D>,
        ) -> Vec<&'d mut dyn $crate::workloads::memory::Accessed<D>> {
            vec![$(&mut data.$field),+]
        }
    };
}
pub(super) use accessed;

/// Blocks and threads of a kernel without transactions, of the kind whose
/// threads do not wait for each other: enough to fill the device.
pub fn filling(limits: &Limits) -> (u32, u32) {
    if limits.warp_width == 1 {
        (limits.processors, 1)
    } else {
        (
            8 * limits.processors,
            (8 * limits.warp_width).min(limits.threads_max),
        )
    }
}
