//! Reads and writes of records.

use crate::algorithm::contract::{Algorithm, Tx};
use crate::array::record::{Field, Fields, Record, TRecords};
use crate::tx::abort::TxResult;
use stm_machine::{Element, Lane};

#[stm_core_macros::inlined]
impl<L: Lane, A: Algorithm> Tx<'_, L, A> {
    /// Reads the record `records[i]`. The loads of its fields of one width are in flight together.
    pub fn read_record<R: Record>(&mut self, records: &TRecords<A, R>, i: u64) -> TxResult<R> {
        self.within(i, records.len())?;
        // SAFETY: words of the record, which exists.
        let wide = unsafe { R::Wide::read(self, |k| records.word_at::<u64>(i, k)) }?;
        // SAFETY: as above.
        let narrow = unsafe { R::Narrow::read(self, |k| records.word_at::<u32>(i, k)) }?;
        Ok(R::join(wide, narrow))
    }

    /// Writes all fields of `records[i]` when the transaction commits. After an error some may be written.
    pub fn write_record<R: Record>(
        &mut self,
        records: &TRecords<A, R>,
        i: u64,
        record: R,
    ) -> TxResult<()> {
        self.within(i, records.len())?;
        self.put_record(records, i, record, false)
    }

    /// Writes all fields of a record that exists; if `captured`, nobody else reaches them before the commit.
    pub(crate) fn put_record<R: Record>(
        &mut self,
        records: &TRecords<A, R>,
        i: u64,
        record: R,
        captured: bool,
    ) -> TxResult<()> {
        let (wide, narrow) = record.split();
        // SAFETY: words of the record, which exists, as the caller has seen.
        unsafe { wide.write(self, |k| records.word_at::<u64>(i, k), captured) }?;
        // SAFETY: as above.
        unsafe { narrow.write(self, |k| records.word_at::<u32>(i, k), captured) }
    }

    /// Reads one field of the record `records[i]`.
    pub fn read_field<R: Record, T: Element>(
        &mut self,
        records: &TRecords<A, R>,
        i: u64,
        field: Field<R, T>,
    ) -> TxResult<T> {
        self.within(i, records.len())?;
        let [v] = self.read_words([records.word(i, field)])?;
        Ok(v)
    }

    /// Reads several fields of the record `records[i]`, of one type, with their loads in flight together.
    pub fn read_fields<R: Record, T: Element, const N: usize>(
        &mut self,
        records: &TRecords<A, R>,
        i: u64,
        fields: [Field<R, T>; N],
    ) -> TxResult<[T; N]> {
        const { assert!(N <= 32, "read_fields takes at most 32 fields") }
        self.within(i, records.len())?;
        self.read_words(fields.map(|field| records.word(i, field)))
    }

    /// Writes one field of the record `records[i]`.
    pub fn write_field<R: Record, T: Element>(
        &mut self,
        records: &TRecords<A, R>,
        i: u64,
        field: Field<R, T>,
        value: T,
    ) -> TxResult<()> {
        self.within(i, records.len())?;
        self.put::<T>(records.word(i, field), value.to_bits64())
    }
}
