//! What a workload is to the program: an input to make, a kernel for each
//! algorithm to launch, and a result to verify.

use crate::error::{Error, Result};
use crate::timed::Timed;
use serde_json::Value;
use std::time::Duration;
use stm_core::algorithm::{
    Algorithm, Cgl, Egpgv, Fast, FastTable, HvBackoff, HvSorting, TbvSorting, Vbv,
};
use stm_core::host::{Cpu, Device, Pod, Shared};
use stm_core::logs::Capacity;
use stm_core::word::WordAddress;
use stm_core::{Element, Kernel, StmRef};

/// The workloads' names, with a line about each.
pub const WORKLOADS: [(&str, &str); 7] = [
    (
        "ra",
        "random array: each transaction reads and changes random words",
    ),
    (
        "ht",
        "hash table: each transaction inserts several keys, all or none",
    ),
    (
        "bank",
        "transfers between accounts, audits that sum up a range of them",
    ),
    (
        "eigenbench",
        "every characteristic of a transaction, each set alone",
    ),
    (
        "genome",
        "puts a gene together: drops duplicate segments, links the others",
    ),
    (
        "labyrinth",
        "routes paths through a grid: each transaction claims one path",
    ),
    (
        "kmeans",
        "k-means: each transaction adds a point to its nearest centre",
    ),
];

/// A workload with its parameters.
pub trait Workload {
    /// Its data on a device, and what the host needs to verify it.
    type Data<D: Device>;

    /// Its name at the command line and in JSON.
    fn name(&self) -> &'static str;

    /// Its parameters, by their names in JSON.
    fn parameters(&self) -> Vec<(&'static str, u64)>;

    /// Those of its parameters that are no whole numbers.
    fn more_parameters(&self) -> Vec<(&'static str, Value)> {
        Vec::new()
    }

    /// What the last run found beside its verification, by its names in JSON.
    fn observed<D: Device>(&self, _data: &Self::Data<D>) -> Vec<(&'static str, Value)> {
        Vec::new()
    }

    /// What a transaction reads and writes, at most.
    fn capacity(&self) -> Capacity;

    /// The capacity that every input with these parameters fits, to tell a
    /// user whose sets were too small; [`capacity`](Self::capacity), unless
    /// that is a guess.
    fn capacity_max(&self) -> Capacity {
        self.capacity()
    }

    /// Transactions of a run where the input says how many; `None` where the
    /// caller does.
    fn transactions(&self) -> Option<u64> {
        None
    }

    /// Whether a warp makes each transaction, with an algorithm that has teams.
    fn by_warps(&self) -> bool {
        false
    }

    /// Dynamic shared memory that a block needs, in bytes.
    fn shared_bytes(&self) -> u32 {
        0
    }

    /// How many transactions commit in a right run of so many, once it has
    /// run; `None` if [`verify`](Self::verify) has to tell.
    ///
    /// # Errors
    /// Of the device.
    fn commits_expected<D: Device>(
        &self,
        _data: &Self::Data<D>,
        transactions: u64,
    ) -> Result<Option<u64>> {
        Ok(Some(transactions))
    }

    /// 32-bit words that transactions share.
    fn shared_words(&self, transactions: u64) -> u64;

    /// Whether the parameters make sense together.
    ///
    /// # Errors
    /// One line that names the parameter and the fix.
    fn check(&self, transactions: u64) -> Result<()>;

    /// Allocates the data for up to `transactions_max` transactions. The
    /// parameters have been checked.
    ///
    /// # Errors
    /// Too little memory on the host or the device, or an error of the device.
    fn prepare<D: Device>(
        &self,
        device: &D,
        seed: u64,
        transactions_max: u64,
    ) -> Result<Self::Data<D>>;

    /// Makes the data fit for launches in which so many lanes run
    /// transactions: number `n` runs `n`, `n + lanes`, `n + 2 lanes` and so on.
    /// Called before [`clear`](Self::clear) and [`reset`](Self::reset), for
    /// workloads with data of each lane's own.
    ///
    /// # Errors
    /// Too little memory on the host or the device, or an error of the device.
    fn fit<D: Device>(&self, _device: &D, _data: &mut Self::Data<D>, _lanes: u64) -> Result<()> {
        Ok(())
    }

    /// The words that transactions access and that are not zero before a run,
    /// each with its value: what a history of the run starts from. Called after
    /// [`reset`](Self::reset).
    ///
    /// # Errors
    /// Of the device.
    fn initial<D: Device>(&self, _data: &Self::Data<D>) -> Result<Vec<(WordAddress, u64)>> {
        Ok(Vec::new())
    }

    /// Whether the host changes such words between two launches of a run. Then
    /// each launch is a history of its own, and starts as a run does.
    fn is_reset_between_launches(&self) -> bool {
        false
    }

    /// Lays out the arrays that transactions share as algorithm `A` wants them,
    /// for a transactional memory that has not used them yet. Called after
    /// [`fit`](Self::fit), for workloads whose arrays are
    /// [`Shared`].
    ///
    /// # Errors
    /// Too little memory on the host or the device, or an error of the device.
    fn arrange<D: Device, A: Algorithm>(&self, _data: &mut Self::Data<D>) -> Result<()> {
        Ok(())
    }

    /// Makes the data fit for another launch whose result nobody looks at: a
    /// cheaper [`reset`](Self::reset).
    ///
    /// # Errors
    /// Of the device.
    fn clear<D: Device>(&self, data: &mut Self::Data<D>) -> Result<()>;

    /// Puts the data into its state before a launch.
    ///
    /// # Errors
    /// Of the device.
    fn reset<D: Device>(&self, data: &mut Self::Data<D>) -> Result<()>;

    /// Checks what a launch of so many transactions left: `None` if it is
    /// right, else what is wrong, on one line.
    ///
    /// # Errors
    /// Of the device.
    fn verify<D: Device>(
        &self,
        data: &mut Self::Data<D>,
        transactions: u64,
    ) -> Result<Option<String>>;
}

/// A workload's kernel for one algorithm, or several kernels.
pub trait Launches<A: Algorithm>: Workload {
    /// The kernel; of several, the first.
    type Kernel: Kernel;

    /// Its parameters for a launch of so many transactions on the data.
    fn params<D: Device>(
        &self,
        data: &Self::Data<D>,
        stm: StmRef<A>,
        transactions: u64,
    ) -> <Self::Kernel as Kernel>::Params;

    /// Compiles all kernels, and returns the time that took.
    ///
    /// # Errors
    /// Of the device.
    fn compile<D: Device>(&self, device: &D) -> Result<Duration> {
        Ok(device.prepare::<Self::Kernel>()?)
    }

    /// One run: a launch of the kernel. A workload of several launches makes
    /// them all here, and what it does between them is not timed.
    ///
    /// # Errors
    /// Of a launch.
    fn run<D: Device>(
        &self,
        data: &mut Self::Data<D>,
        timed: &mut Timed<'_, D, A::Probe>,
        transactions: u64,
    ) -> Result<()> {
        let params = self.params(data, timed.handle::<A>(), transactions);
        // SAFETY: the parameters hold this memory's handle, for `A` alone, and
        // views of buffers that `data` keeps and nothing else uses.
        unsafe { timed.launch::<Self::Kernel>(&params)? };
        Ok(())
    }
}

/// A workload that runs with every algorithm.
pub trait AllAlgorithms:
    Launches<Cgl>
    + Launches<Egpgv>
    + Launches<Vbv>
    + Launches<TbvSorting>
    + Launches<HvSorting>
    + Launches<HvBackoff>
    + Launches<Fast>
    + Launches<FastTable>
{
}

impl<W> AllAlgorithms for W where
    W: Launches<Cgl>
        + Launches<Egpgv>
        + Launches<Vbv>
        + Launches<TbvSorting>
        + Launches<HvSorting>
        + Launches<HvBackoff>
        + Launches<Fast>
        + Launches<FastTable>
{
}

/// The most words that a transaction reads, or writes: what a set holds.
pub const SET_WORDS_MAX: u32 = 1 << 20;

/// The words of a buffer and what they hold: for [`Workload::initial`].
///
/// # Errors
/// Of the device.
pub fn words_of<D: Device, T: Element + Pod>(
    array: &Shared<D, T>,
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
    let host_available = Cpu::new().available_bytes()?;
    if host_needed > host_available {
        return Err(Error::TooLarge {
            what: format!("the data of {name} and its verification on the host"),
            needed: host_needed,
            available: host_available,
            fix,
        });
    }
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
