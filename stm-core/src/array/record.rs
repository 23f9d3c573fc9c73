//! Records: structs of words as the elements of a transactional array.
//!
//! [`record!`](crate::record) makes a record type. An array of records has the layout of the algorithm. The
//! fields of a record lie together: first those of 64 bits, in the order of the struct, then those of 32.
//!
//! | layout | a 64-bit field | a 32-bit field | a record begins at a multiple of |
//! | --- | --- | --- | --- |
//! | [`Layout::Plain`] | 8 bytes | 4 bytes | 8 bytes, or 4 if it has no 64-bit field |
//! | [`Layout::Cells`] | a cell of 16 bytes | a cell of 8 bytes | 16 bytes, or 8 if it has no 64-bit field |
//!
//! Each field is a transactional word of its own: fields of a record conflict only if one stripe covers them.

use crate::algorithm::prelude::*;
use crate::hint::Sealed;
#[doc(hidden)]
pub use stm_machine::Element;
use stm_machine::Layout;

/// A struct whose fields are words, as the element of an array. [`record!`](crate::record) implements it; its
/// items are for that macro and the library.
///
/// ```
/// use stm_core::{Record, record};
///
/// record! { #[derive(Default)] pub struct Point { pub x: f32, pub y: f32 } }
///
/// /// A function for records of any type.
/// fn zeros<R: Record + Default>(count: usize) -> Vec<R> {
///     vec![R::default(); count]
/// }
/// assert_eq!(zeros::<Point>(2)[1], Point { x: 0.0, y: 0.0 });
/// ```
///
/// # Safety
/// [`Self::FIELDS`] has as many fields of 64 bits as [`Self::Wide`] counts, and as many of 32 as
/// [`Self::Narrow`]: the place of a field in memory is computed of them.
pub unsafe trait Record: Copy + Send + Sync + 'static {
    /// The names of the fields, and which of them have 64 bits.
    #[doc(hidden)]
    const FIELDS: &'static [(&'static str, bool)];
    /// The fields of 64 bits, as bits: `[u64; W]`.
    #[doc(hidden)]
    type Wide: Fields;
    /// The fields of 32 bits, as bits: `[u32; N]`.
    #[doc(hidden)]
    type Narrow: Fields;
    /// Returns the bits of the fields.
    #[doc(hidden)]
    fn split(self) -> (Self::Wide, Self::Narrow);
    /// Returns the record with these fields.
    #[doc(hidden)]
    fn join(wide: Self::Wide, narrow: Self::Narrow) -> Self;
}

/// The fields of one width of a record. It is sealed.
#[doc(hidden)]
pub trait Fields: Sealed + Copy + Send + Sync + 'static {
    /// The number of fields.
    const COUNT: u64;
    /// Makes fields of their bits.
    fn from_fn(field: impl FnMut(usize) -> u64) -> Self;
    /// Returns the bits of field `k`, or 0 past the end.
    fn get(&self, k: usize) -> u64;
    /// Reads the words of the fields, with their loads in flight together.
    ///
    /// # Safety
    /// For each field, `word` returns one of this width that is live, of an array of `A`.
    unsafe fn read<L: Lane, A: Algorithm>(
        tx: &mut Tx<'_, L, A>,
        word: impl Fn(u64) -> WordAddress,
    ) -> TxResult<Self>;
    /// Writes the words of the fields. If they are `captured`, nobody else reaches them before the commit.
    ///
    /// # Safety
    /// That of [`Self::read`].
    unsafe fn write<L: Lane, A: Algorithm>(
        self,
        tx: &mut Tx<'_, L, A>,
        word: impl Fn(u64) -> WordAddress,
        captured: bool,
    ) -> TxResult<()>;
}

impl<T: Element, const N: usize> Sealed for [T; N] {}
#[stm_core_macros::inlined]
impl<T: Element, const N: usize> Fields for [T; N] {
    const COUNT: u64 = N as u64;

    fn from_fn(mut field: impl FnMut(usize) -> u64) -> Self {
        core::array::from_fn(|k| T::from_bits64(field(k)))
    }

    fn get(&self, k: usize) -> u64 {
        <[T]>::get(self, k).map_or(0, |v| v.to_bits64())
    }

    unsafe fn read<L: Lane, A: Algorithm>(
        tx: &mut Tx<'_, L, A>,
        word: impl Fn(u64) -> WordAddress,
    ) -> TxResult<Self> {
        const { assert!(N <= 32, "a record has at most 32 fields of one width") }
        if N == 0 {
            return Ok([T::from_bits64(0); N]);
        }
        tx.read_words(core::array::from_fn(|k| word(k as u64)))
    }

    unsafe fn write<L: Lane, A: Algorithm>(
        self,
        tx: &mut Tx<'_, L, A>,
        word: impl Fn(u64) -> WordAddress,
        captured: bool,
    ) -> TxResult<()> {
        if N == 0 {
            return Ok(());
        }
        let words = core::array::from_fn(|k| word(k as u64));
        let bits = core::array::from_fn(|k| self[k].to_bits64());
        tx.put_words::<T, N>(words, bits, N as u32, captured)
    }
}

/// A field of type `T` of the record `R`, as `Account::balance()` by [`record!`](crate::record).
///
/// ```
/// use stm_core::prelude::*;
///
/// stm_core::record! { pub struct Account { pub owner: u32, pub balance: u64 } }
///
/// /// Pays interest of one in ten; the owner's word is not touched.
/// #[kernel]
/// pub fn pay_interest(stm: &Stm, accounts: Records<Account>) {
///     stm.each(0..accounts.len(), |tx, i| {
///         let balance = tx.read_field(accounts, i, Account::balance())?;
///         tx.write_field(accounts, i, Account::balance(), balance + balance / 10)
///     });
/// }
///
/// # #[cfg(feature = "host")] fn main() -> Result<(), stm_core::host::Error> {
/// let cpu = Cpu::new();
/// let mut stm = Stm::on(&cpu)?;
/// let data = [Account { owner: 7, balance: 200 }];
/// let accounts = stm_core::host::Records::from_slice(&cpu, stm_core::Layout::Cells, &data, "accounts")?;
/// pay_interest::launch(&mut stm, Launch::new(1, 1), &accounts)?;
/// assert_eq!(accounts.download()?, [Account { owner: 7, balance: 220 }]);
/// # Ok(()) }
/// # #[cfg(not(feature = "host"))] fn main() {}
/// ```
pub struct Field<R, T> {
    /// The number of fields of the same width before it.
    position: u32,
    of: PhantomData<fn() -> (R, T)>,
}

stm_machine::handle!([R, T] Field<R, T>: position; ..);

impl<R: Record, T: Element> Field<R, T> {
    /// Names field `k` of the record.
    ///
    /// # Panics
    /// It panics if there is no such field of the width of `T`. The macro evaluates it at compile time.
    #[doc(hidden)]
    pub const fn of(k: usize) -> Self {
        assert!(R::FIELDS[k].1 == T::WIDE, "a field of another width");
        let (mut before, mut position) = (0, 0);
        while before < k {
            position += (R::FIELDS[before].1 == T::WIDE) as u32;
            before += 1;
        }
        Self::at(position)
    }
}

impl<R, T> Field<R, T> {
    /// Names the field of type `T` that has so many fields of the same width before it.
    pub(crate) const fn at(position: u32) -> Self {
        Self {
            position,
            of: PhantomData,
        }
    }

    /// Returns the number of fields of the same width before it.
    #[doc(hidden)]
    pub const fn position(self) -> u32 {
        self.position
    }
}

/// Returns how many fields have 64 bits, or 32.
#[doc(hidden)]
pub const fn count(fields: &[(&str, bool)], wide: bool) -> usize {
    let mut same = 0;
    let mut k = 0;
    while k < fields.len() {
        if fields[k].1 == wide {
            same += 1;
        }
        k += 1;
    }
    same
}

/// Returns the number of bytes from one record to the next.
pub const fn stride<R: Record>(layout: Layout) -> u64 {
    let (wide, narrow) = (layout.stride::<u64>() as u64, layout.stride::<u32>() as u64);
    let bytes = wide * R::Wide::COUNT + narrow * R::Narrow::COUNT;
    if R::Wide::COUNT == 0 {
        bytes
    } else {
        bytes.next_multiple_of(wide)
    }
}

/// Returns the word of a field of record `i`, which has so many fields of its width before it.
#[inline(always)]
pub(crate) fn place<R: Record, T: Element>(
    start: *mut u8,
    layout: Layout,
    i: u64,
    position: u64,
) -> WordAddress {
    let at = i
        .wrapping_mul(stride::<R>(layout))
        .wrapping_add(offset::<R, T>(layout, position));
    let word = start.wrapping_add(at as usize);
    WordAddress::of(word.cast_const().cast::<T>())
}

pub(crate) const fn offset<R: Record, T: Element>(layout: Layout, position: u64) -> u64 {
    let (wide, narrow) = (layout.stride::<u64>() as u64, layout.stride::<u32>() as u64);
    if T::WIDE {
        wide * position
    } else {
        wide * R::Wide::COUNT + narrow * position
    }
}

/// A view of an array of records; the host's [`Records`](crate::host::Records) makes one. [`Tx::read_record`]
/// and [`Tx::write_record`] access whole records, [`Tx::read_field`] and [`Tx::write_field`] fields.
///
/// ```
/// use stm_core::prelude::*;
///
/// stm_core::record! { pub struct Pair { pub left: u32, pub right: u64 } }
///
/// /// Exchanges the two fields of each record.
/// #[kernel]
/// pub fn exchange(stm: &Stm, pairs: Records<Pair>) {
///     stm.each(0..pairs.len(), |tx, i| {
///         let Pair { left, right } = tx.read_record(pairs, i)?;
///         tx.write_record(pairs, i, Pair { left: right as u32, right: left.into() })
///     });
/// }
///
/// # #[cfg(feature = "host")] fn main() -> Result<(), stm_core::host::Error> {
/// let cpu = Cpu::new();
/// let mut stm = Stm::on(&cpu)?;
/// let data = [Pair { left: 1, right: 2 }];
/// let pairs = stm_core::host::Records::from_slice(&cpu, stm_core::Layout::Cells, &data, "pairs")?;
/// exchange::launch(&mut stm, Launch::new(1, 1), &pairs)?;
/// assert_eq!(pairs.download()?, [Pair { left: 2, right: 1 }]);
/// # Ok(()) }
/// # #[cfg(not(feature = "host"))] fn main() {}
/// ```
#[repr(C)]
pub struct TRecords<A, R> {
    start: *mut u8,
    len: u64,
    of: PhantomData<fn() -> (A, R)>,
}

stm_machine::handle!([A, R] TRecords<A, R>: start, len; ..);

#[stm_core_macros::inlined]
impl<A: Algorithm, R: Record> TRecords<A, R> {
    /// The layout of the array.
    pub const LAYOUT: Layout = <A::Array<u32> as View<u32>>::LAYOUT;

    /// Makes a view of `len` records that begin at `start`.
    ///
    /// # Safety
    /// 1. `start` is aligned to 16 bytes and points to `len` live records of this layout, in the memory of
    ///    the device whose kernels will use the view;
    /// 2. they stay live while such a kernel runs;
    /// 3. while it runs, transactions are the only accesses to them, and all
    ///    views of one word are of the same width.
    pub const unsafe fn from_start(start: *mut u8, len: u64) -> Self {
        Self {
            start,
            len,
            of: PhantomData,
        }
    }

    stm_machine::counted!("records", u64, len);

    /// Returns the word of a field of record `i`, which may be accessed only if `i < len()`.
    pub fn word<T: Element>(&self, i: u64, field: Field<R, T>) -> WordAddress {
        self.word_at::<T>(i, u64::from(field.position))
    }

    pub(crate) fn word_at<T: Element>(&self, i: u64, position: u64) -> WordAddress {
        place::<R, T>(self.start, Self::LAYOUT, i, position)
    }
}

/// Makes structs that can be elements of a transactional array ([`Record`](crate::array::Record)), with
/// fields of `u32`, `i32`, `f32`, `u64`, `i64` or `f64`, and for each field a function that names it for
/// [`Tx::read_field`](crate::Tx::read_field) and [`Tx::write_field`](crate::Tx::write_field).
///
/// ```
/// stm_core::record! {
///     /// An entry of a list.
///     pub struct Entry {
///         /// The key.
///         pub key: u32,
///         /// The link to the next entry.
///         pub next: u32,
///         /// The value.
///         pub value: f64,
///     }
/// }
///
/// use stm_core::{Lane, TRecords, Tx, TxResult, algorithm::Algorithm};
///
/// fn double<L: Lane, A: Algorithm>(
///     tx: &mut Tx<'_, L, A>,
///     entries: &TRecords<A, Entry>,
///     i: u64,
/// ) -> TxResult<u32> {
///     let Entry { next, value, .. } = tx.read_record(entries, i)?;
///     tx.write_field(entries, i, Entry::value(), 2.0 * value)?;
///     Ok(next)
/// }
/// ```
#[macro_export]
macro_rules! record {
    ($($(#[$meta:meta])* $vis:vis struct $name:ident {
        $($(#[$field_meta:meta])* $field_vis:vis $field:ident: $ty:ty),* $(,)?
    })*) => {
        $(
            $(#[$meta])*
            #[repr(C)]
            #[derive(Clone, Copy, Debug, PartialEq)]
            $vis struct $name {
                $($(#[$field_meta])* $field_vis $field: $ty,)*
            }

            const _: () = {
                use $crate::internal::array::record as __record;

                #[allow(non_camel_case_types, clippy::enum_variant_names)]
                enum Number {
                    $($field,)*
                }
                #[allow(dead_code)]
                impl $name {
                    $(
                        #[doc = concat!("Names the field `", stringify!($field), "`.")]
                        // `inlined` would have debug builds inline it too, as it is short.
                        #[cfg_attr(any(target_arch = "nvptx64", not(debug_assertions)), inline(always))]
                        $field_vis const fn $field() -> __record::Field<Self, $ty> {
                            const { __record::Field::of(Number::$field as usize) }
                        }
                    )*
                }

                // SAFETY: the names, the widths and the counts are of the same fields.
                #[$crate::internal::inlined]
                unsafe impl __record::Record for $name {
                    const FIELDS: &'static [(&'static str, bool)] =
                        &[$((stringify!($field), <$ty as __record::Element>::WIDE)),*];
                    type Wide = [u64; __record::count(Self::FIELDS, true)];
                    type Narrow = [u32; __record::count(Self::FIELDS, false)];

                    fn split(self) -> (Self::Wide, Self::Narrow) {
                        let mut wide = [0u64; __record::count(Self::FIELDS, true)];
                        let mut narrow = [0u32; __record::count(Self::FIELDS, false)];
                        $({
                            const AT: usize = $name::$field().position() as usize;
                            let bits = __record::Element::to_bits64(self.$field);
                            if <$ty as __record::Element>::WIDE {
                                if let Some(field) = wide.get_mut(AT) {
                                    *field = bits;
                                }
                            } else if let Some(field) = narrow.get_mut(AT) {
                                *field = bits as u32;
                            }
                        })*
                        (wide, narrow)
                    }

                    fn join(wide: Self::Wide, narrow: Self::Narrow) -> Self {
                        Self {
                            $($field: {
                                const AT: usize = $name::$field().position() as usize;
                                let bits = if <$ty as __record::Element>::WIDE {
                                    __record::Fields::get(&wide, AT)
                                } else {
                                    __record::Fields::get(&narrow, AT)
                                };
                                <$ty as __record::Element>::from_bits64(bits)
                            },)*
                        }
                    }
                }
            };
        )*
    };
}
