//! Reads and writes of records.

use crate::algorithm::prelude::*;
use crate::array::record::{Field, Fields, Record, TRecords};

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

    /// Reads two fields of the record `records[i]`, with the loads in flight together if they have one width.
    pub(crate) fn read_two<R: Record, T: Element, U: Element>(
        &mut self,
        records: &TRecords<A, R>,
        i: u64,
        (first, second): (Field<R, T>, Field<R, U>),
    ) -> TxResult<(T, U)> {
        self.within(i, records.len())?;
        let words = [records.word(i, first), records.word(i, second)];
        let [first, second] = match (T::WIDE, U::WIDE) {
            (false, false) => self.read_words::<u32, 2>(words)?.map(u64::from),
            (true, true) => self.read_words::<u64, 2>(words)?,
            _ => {
                let [first] = self.read_words::<T, 1>([words[0]])?;
                let [second] = self.read_words::<U, 1>([words[1]])?;
                return Ok((first, second));
            }
        };
        Ok((T::from_bits64(first), U::from_bits64(second)))
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
