//! Preassigned nodes: records that belong to the transactions of one loop, by their numbers.
//!
//! Transaction `i` has the records from `i * per_transaction` on. They cost no atomic operation, and plain
//! stores initialise them, as nobody else reaches them before the commit: if no transaction with the same
//! number (`StmRef::for_each_preassigned`) ran on them before. A header in device memory says who did:
//!
//! | word | meaning |
//! | --- | --- |
//! | 0 | the number of the launch that uses the nodes, 0 for none |
//! | 1 and following | a bit for each warp that has begun its loop, at the number of its first lane |
//!
//! A loop of another launch finds another number, and a second loop of one launch its own warp's bit: both
//! are faults, before anything is stored.

use crate::algorithm::prelude::*;
use crate::array::pool::Misuse;
use crate::array::record::{Record, TRecords};

/// A view of preassigned nodes, for a kernel's parameters; the host's
/// [`PreassignedNodes`](crate::host::PreassignedNodes) makes one.
///
/// ```
/// use stm_core::prelude::*;
///
/// stm_core::record! { pub struct Place { pub taken_by: u64 } }
///
/// /// Gives each transaction the place of its number.
/// #[kernel]
/// pub fn take_places(stm: &Stm, places: Preassigned<Place>) {
///     stm.each_preassigned(places.transactions(), places, |tx, i, mine| {
///         tx.init(&mine, 0, Place { taken_by: 10 * i })
///     });
/// }
///
/// # #[cfg(feature = "host")] fn main() -> Result<(), stm_core::host::Error> {
/// let cpu = Cpu::new();
/// let mut stm = Stm::on(&cpu)?;
/// let mut places =
///     stm_core::host::PreassignedNodes::<_, Place>::new(&cpu, stm_core::Layout::Cells, 1, 3, "places")?;
/// take_places::launch(&mut stm, Launch::new(1, 2), &mut places)?;
/// assert_eq!(places.records().download()?[2].taken_by, 20);
/// # Ok(()) }
/// # #[cfg(not(feature = "host"))] fn main() {}
/// ```
#[repr(C)]
pub struct TPreassigned<A, R> {
    header: *mut u64,
    pub(crate) records: TRecords<A, R>,
    per_transaction: u32,
    id: u32,
    transactions: u64,
}

stm_machine::handle!([A, R] TPreassigned<A, R>: records, per_transaction, transactions; ..);

/// Returns the number of 64-bit words of the header for so many transactions.
pub(crate) const fn header_words(transactions: u64) -> u64 {
    1 + transactions.div_ceil(64)
}

#[stm_core_macros::inlined]
impl<A: Algorithm, R: Record> TPreassigned<A, R> {
    /// Makes a view of records for `transactions` transactions.
    ///
    /// # Safety
    /// 1. `header` is aligned and points to live words, one and as many more as it takes for a bit of each
    ///    transaction, in the memory of the device whose kernels will use the view, all 0 while no
    ///    transaction that is still to run may find the records;
    /// 2. `records` has `per_transaction` records for each transaction, and no
    ///    transaction initialises them except through such a view;
    /// 3. the memory stays live while such a kernel runs.
    pub(crate) const unsafe fn from_raw(
        header: *mut u64,
        records: TRecords<A, R>,
        per_transaction: u32,
        id: u32,
        transactions: u64,
    ) -> Self {
        Self {
            header,
            records,
            per_transaction,
            id,
            transactions,
        }
    }

    /// Returns the records, for reads and writes. A node of another transaction may be accessed only by a
    /// link that was read: one that is being initialised is stored at once.
    pub const fn records(&self) -> &TRecords<A, R> {
        &self.records
    }

    /// Returns the number of records of a transaction.
    pub const fn per_transaction(&self) -> u32 {
        self.per_transaction
    }

    /// Returns the number of transactions that have records.
    pub const fn transactions(&self) -> u64 {
        self.transactions
    }

    pub(crate) const fn identity(&self) -> u64 {
        (self.id as u64) << 32 | self.records.len() & u32::MAX as u64
    }

    /// Claims the records for the loop of a warp whose first lane has this number in this launch.
    pub(crate) fn claim<L: Lane>(
        &self,
        lane: &L,
        launch: u64,
        first_lane: u64,
    ) -> Result<(), Misuse> {
        // SAFETY: the header is live and has a bit for each transaction (from_raw), and the number is below
        // theirs. Relaxed: the words carry no data, and the host writes them between launches.
        unsafe {
            let mut user = lane.load_relaxed_64(self.header);
            if user == 0 {
                user = lane.cas_relaxed_64(self.header, 0, launch);
            }
            if user != 0 && user != launch {
                return Err(Misuse::InUse);
            }
            let word = self.header.wrapping_add(1 + (first_lane / 64) as usize);
            let bit = 1 << (first_lane % 64);
            if lane.fetch_or_relaxed_64(word, bit) & bit == 0 {
                Ok(())
            } else {
                Err(Misuse::SecondLoop)
            }
        }
    }

    pub(crate) const fn of<'x>(&self, i: u64) -> Preassigned<'x, A, R> {
        Preassigned {
            records: self.records,
            first: i.wrapping_mul(self.per_transaction as u64),
            count: self.per_transaction,
            attempt: PhantomData,
        }
    }
}

/// The records of an attempt's transaction (`StmRef::for_each_preassigned`); they cannot leave it.
///
/// ```
/// use stm_core::prelude::*;
///
/// stm_core::record! { pub struct Half { pub of: u64 } }
///
/// /// Initialises both records of each transaction.
/// #[kernel]
/// pub fn halves(stm: &Stm, nodes: Preassigned<Half>) {
///     stm.each_preassigned(nodes.transactions(), nodes, |tx, i, mine| {
///         assert_eq!((mine.first(), mine.count()), (2 * i, 2));
///         (0..mine.count()).try_for_each(|k| tx.init(&mine, k, Half { of: i }))
///     });
/// }
///
/// # #[cfg(feature = "host")] fn main() -> Result<(), stm_core::host::Error> {
/// let cpu = Cpu::new();
/// let mut stm = Stm::on(&cpu)?;
/// let mut nodes =
///     stm_core::host::PreassignedNodes::<_, Half>::new(&cpu, stm_core::Layout::Cells, 2, 3, "halves")?;
/// halves::launch(&mut stm, Launch::new(1, 2), &mut nodes)?;
/// assert_eq!(nodes.records().download()?[5].of, 2);
/// # Ok(()) }
/// # #[cfg(not(feature = "host"))] fn main() {}
/// ```
pub struct Preassigned<'x, A, R> {
    pub(crate) records: TRecords<A, R>,
    first: u64,
    count: u32,
    attempt: PhantomData<&'x ()>,
}

stm_machine::handle!([A, R] Preassigned<'_, A, R>: first, count; ..);

#[stm_core_macros::inlined]
impl<A, R> Preassigned<'_, A, R> {
    /// Returns the index of the first record; the others follow it.
    pub const fn first(&self) -> u64 {
        self.first
    }

    /// Returns the number of records.
    pub const fn count(&self) -> u32 {
        self.count
    }
}
