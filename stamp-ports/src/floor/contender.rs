//! What a floor or a rival is to the program: a kernel without transactions
//! that does a workload's work.

use crate::error::Result;
use crate::workload::Workload;
use serde::Serialize;
use stm_core::Kernel;
use stm_core::host::Device;

/// What a contender is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The workload's accesses with nothing that synchronises.
    Floor,
    /// Written by hand for one workload.
    SpecialPurpose,
}

impl Kind {
    /// As in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Floor => "floor",
            Self::SpecialPurpose => "special-purpose",
        }
    }
}

/// A kernel that does a workload's work without transactions.
pub trait Contender {
    /// The workload.
    type Of: Workload;
    /// Its data on a device, and what the host needs to verify it.
    type Data<D: Device>;
    /// The kernel.
    type Kernel: Kernel;

    /// Its name within the workload.
    const NAME: &'static str;
    /// What it is.
    const KIND: Kind;
    /// What is counted as an operation, in the plural.
    const OPERATIONS: &'static str;

    /// Operations of a transaction, on average.
    fn operations(of: &Self::Of) -> f64;

    /// Allocates the data for so many transactions. The workload's parameters
    /// have been checked.
    ///
    /// # Errors
    /// Too little memory on the host or the device, or an error of the device.
    fn prepare<D: Device>(
        of: &Self::Of,
        device: &D,
        seed: u64,
        transactions: u64,
    ) -> Result<Self::Data<D>>;

    /// Transactions of a launch, if the input says how many and not the caller.
    fn transactions<D: Device>(_data: &Self::Data<D>, asked: u64) -> u64 {
        asked
    }

    /// Makes the data fit for so many lanes, before [`reset`](Self::reset): for
    /// workloads with data of each lane's own.
    ///
    /// # Errors
    /// Too little memory on the device, or an error of the device.
    fn fit<D: Device>(
        _of: &Self::Of,
        _device: &D,
        _data: &mut Self::Data<D>,
        _lanes: u64,
    ) -> Result<()> {
        Ok(())
    }

    /// Puts the data into its state before a launch.
    ///
    /// # Errors
    /// Of the device.
    fn reset<D: Device>(of: &Self::Of, data: &mut Self::Data<D>) -> Result<()>;

    /// The kernel's parameters for a launch of so many transactions.
    fn params<D: Device>(
        of: &Self::Of,
        data: &Self::Data<D>,
        transactions: u64,
    ) -> <Self::Kernel as Kernel>::Params;

    /// What is wrong with what a launch of so many transactions left, on one
    /// line; `None` if it is right. Of a floor, that is told and no error.
    ///
    /// # Errors
    /// Of the device.
    fn verify<D: Device>(
        of: &Self::Of,
        data: &mut Self::Data<D>,
        transactions: u64,
    ) -> Result<Option<String>>;

    /// What a reader of the figures has to know about the last launch, beside
    /// its verification.
    ///
    /// # Errors
    /// Of the device.
    fn note<D: Device>(_of: &Self::Of, _data: &Self::Data<D>) -> Result<Option<String>> {
        Ok(None)
    }
}
