//! Memory that a workload's data takes: refused before any of it is made, and
//! read back as a history wants it.

use crate::error::{Error, Result};
use stm_core::Element;
use stm_core::host::{Cpu, Device, Pod, TxArray};
use stm_core::memory::WordAddress;

/// The most words that a transaction reads, or writes: what a set holds.
pub const SET_WORDS_MAX: u32 = 1 << 20;

/// Returns the words of an array and what they hold, for
/// [`Workload::initial`](super::workload::Workload::initial).
///
/// # Errors
/// The device's errors.
pub fn words_of<D: Device, T: Element + Pod>(
    array: &TxArray<D, T>,
) -> Result<Vec<(WordAddress, u64)>> {
    let values = array.download()?;
    let words = values.iter().map(|value| value.to_bits64());
    Ok((0..).map(|i| array.word(i)).zip(words).collect())
}

/// Refuses data that the device or the host has no room for, before any of it
/// is made. `host_bytes` is what the input and its verification take.
///
/// # Errors
/// [`Error::TooLarge`], or an error of the device.
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
///
/// # Errors
/// [`Error::TooLarge`].
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
