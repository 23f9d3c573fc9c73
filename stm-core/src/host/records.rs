//! An array of records.

use crate::algorithm::contract::Algorithm;
use crate::array::record::{Field, Fields, Record, TRecords, offset, stride};
use crate::host::arranged::{Arranged, Form};
use crate::host::tx_array::{decode, encode};
use core::marker::PhantomData;
use std::prelude::v1::*;
use stm_machine::host::{Device, Error};
use stm_machine::{Element, Layout, WordAddress};

/// `len` records of type `R` in the memory of a device, for transactions of any algorithm, as the
/// elements of a [`TxArray`](super::TxArray) are.
///
/// ```
/// use stm_core::Layout;
/// use stm_core::host::{Cpu, Records};
///
/// stm_core::record! { pub struct Particle { pub at: f64, pub hits: u32 } }
///
/// let mut particles = Records::zeroed(&Cpu::new(), Layout::Cells, 2, "particles")?;
/// particles.upload(&[Particle { at: 0.5, hits: 0 }, Particle { at: 1.5, hits: 3 }])?;
/// assert_eq!(particles.download()?[1].hits, 3);
/// assert_eq!(Records::<Cpu, Particle>::field_names(), ["at", "hits"]);
/// # Ok::<(), stm_core::host::Error>(())
/// ```
pub type Records<D, R> = Arranged<D, Structs<R>>;

/// Says that the items of an array are records.
#[derive(Debug)]
pub struct Structs<R>(PhantomData<R>);

impl<R: Record> Form for Structs<R> {
    type Item = R;
    type View<A: Algorithm> = TRecords<A, R>;

    fn layout<A: Algorithm>() -> Layout {
        TRecords::<A, R>::LAYOUT
    }
    fn stride(layout: Layout) -> usize {
        stride::<R>(layout) as usize
    }
    fn encode(bytes: &mut Vec<u8>, layout: Layout, record: R) {
        let (wide, narrow) = record.split();
        for k in 0..R::Wide::COUNT as usize {
            encode(bytes, layout, wide.get(k));
        }
        for k in 0..R::Narrow::COUNT as usize {
            encode(bytes, layout, narrow.get(k) as u32);
        }
    }
    fn decode(layout: Layout, bytes: &[u8]) -> Option<R> {
        let mut held = false;
        let mut found = |bits: Option<u64>| {
            held |= bits.is_none();
            bits.unwrap_or(0)
        };
        let wide = R::Wide::from_fn(|k| {
            let at = offset::<R, u64>(layout, k as u64);
            found(decode::<u64>(layout, &bytes[at as usize..]))
        });
        let narrow = R::Narrow::from_fn(|k| {
            let at = offset::<R, u32>(layout, k as u64);
            found(decode::<u32>(layout, &bytes[at as usize..]).map(u64::from))
        });
        (!held).then(|| R::join(wide, narrow))
    }
    fn held(i: usize, what: &str) -> String {
        format!("a cell of record {i} of {what} is held")
    }
    unsafe fn view<A: Algorithm>(start: *mut u8, len: u64) -> TRecords<A, R> {
        // SAFETY: the caller promises it.
        unsafe { TRecords::from_start(start, len) }
    }
}

impl<D: Device, R: Record> Records<D, R> {
    /// Returns the number of bytes that records take, or `None` if it does not fit the type.
    pub fn bytes_of(len: u64, layout: Layout) -> Option<u64> {
        len.checked_mul(stride::<R>(layout))
    }

    /// Returns the word by which a history names a field of record `i`.
    pub fn word<T: Element>(&self, i: usize, field: Field<R, T>) -> WordAddress {
        self.word_at::<T>(i, field.position() as usize)
    }

    fn word_at<T: Element>(&self, i: usize, position: usize) -> WordAddress {
        let at =
            i as u64 * stride::<R>(self.layout()) + offset::<R, T>(self.layout(), position as u64);
        let place = self.memory.address().wrapping_add(at as usize);
        WordAddress::of(place.cast_const().cast::<T>())
    }

    /// Returns the words of all fields and the bits that they hold. Its errors are those of
    /// [`Self::download`].
    pub fn words(&self) -> Result<Vec<(WordAddress, u64)>, Error> {
        let mut words = Vec::new();
        for (i, record) in self.download()?.into_iter().enumerate() {
            let (wide, narrow) = record.split();
            for k in 0..R::Wide::COUNT as usize {
                words.push((self.word_at::<u64>(i, k), wide.get(k)));
            }
            for k in 0..R::Narrow::COUNT as usize {
                words.push((self.word_at::<u32>(i, k), narrow.get(k)));
            }
        }
        Ok(words)
    }

    /// Returns the names of the fields, in the order in which `words` lists those of one record.
    pub fn field_names() -> Vec<&'static str> {
        let of = |wide| R::FIELDS.iter().filter(move |field| field.1 == wide);
        of(true).chain(of(false)).map(|field| field.0).collect()
    }
}
