//! Arrays whose layout is a value: of elements, and of records.

use crate::array::record::{Field, Fields, TRecords, offset, place, stride};
use crate::host::inspect::{Allocation, Items, OWNED_CELL, word};
use crate::host::prelude::*;
use crate::host::stm::Stm;
use crate::memory::version::CellWord;
use std::borrow::Cow;
use stm_machine::View;

/// Returns the layout of an algorithm's arrays, which is one for elements of all types and for records.
const fn layout_of<A: Algorithm>() -> Layout {
    <A::Array<u32> as View<u32>>::LAYOUT
}

/// What the items of an array are, and how they lie in a layout. There are [`Elements`] and [`Structs`].
#[allow(missing_docs)] // the trait has no public name
pub trait Form {
    type Item: Copy + Send + Sync;
    type View<A: Algorithm>;

    /// How many numbers of 64 bits an item has, and how many of 32, which lie behind them.
    const NUMBERS: [usize; 2];
    /// What an unfinished item is called, and what it is.
    const HELD: [&'static str; 2];

    fn stride(layout: Layout) -> usize;
    /// Returns where number `k` of those as wide as `T` begins in an item.
    fn offset<T: Element>(layout: Layout, k: usize) -> usize;
    /// Returns the numbers of all items, one after the other.
    fn bytes(items: &[Self::Item]) -> Cow<'_, [u8]>;
    /// Makes so many items of the numbers that a function stores.
    fn filled(len: usize, fill: impl FnOnce(&mut [u8]) -> Result) -> Result<Vec<Self::Item>>;
    /// # Safety
    /// There are so many items at the address, aligned and in the layout of the algorithm.
    unsafe fn view<A: Algorithm>(start: *mut u8, len: u64) -> Self::View<A>;
}

/// `len` items in the memory of a device, for transactions of any algorithm: the layout is a value
/// and can be changed; a launch under an algorithm with another one is [`Error::WrongLayout`].
/// [`TxArray`] and [`Records`] are such arrays.
///
/// ```
/// use stm_core::Layout;
/// use stm_core::algorithm::HvSorting;
/// use stm_core::prelude::*;
///
/// let mut words = TxArray::from_slice(&Cpu::new(), Layout::Cells, &[1u32, 2, 3], "words")?;
/// assert_eq!(words.bytes(), 24); // a version beside each value
/// words.arrange::<HvSorting>()?;
/// assert_eq!((words.layout(), words.bytes()), (Layout::Plain, 12));
/// assert_eq!(words.download()?, [1, 2, 3]);
/// # Ok::<(), stm_core::host::Error>(())
/// ```
#[derive(Debug)]
pub struct Arranged<D: Device, F> {
    pub(super) device: D,
    pub(super) memory: Allocation<D::Memory>,
    /// Where a copy to foreign memory puts the number of an owned cell plus one, once there was such a copy.
    pub(super) owned: Option<Buffer<D, u64>>,
    layout: Layout,
    len: usize,
    what: &'static str,
    form: PhantomData<F>,
}

impl<D: Device, F: Form> Arranged<D, F> {
    /// Makes an array of zeros; `what` names the array in an error.
    pub fn zeroed(device: &D, layout: Layout, len: usize, what: &'static str) -> Result<Self> {
        let [wide, narrow] = F::NUMBERS;
        let numbers = (0..wide).map(|k| (F::offset::<u64>(layout, k), 8));
        let numbers = numbers.chain((0..narrow).map(|k| (F::offset::<u32>(layout, k), 4)));
        let are_cells = layout == Layout::Cells;
        // In a cell of 128 bits the version comes first.
        let value = |(at, bytes)| (at + if are_cells && bytes == 8 { 8 } else { 0 }, bytes);
        let items = Items {
            what,
            len,
            stride: F::stride(layout),
            values: numbers.clone().map(value).collect(),
            words: numbers.filter(|_| are_cells).map(|(at, _)| at).collect(),
            is_unfinished: |word| CellWord(word).is_locked(),
            named: F::HELD,
        };
        Ok(Self {
            device: device.clone(),
            memory: Allocation::zeroed(device, items)?,
            owned: None,
            layout,
            len,
            what,
            form: PhantomData,
        })
    }

    /// Makes an array with a copy of `data`.
    pub fn from_slice(
        device: &D,
        layout: Layout,
        data: &[F::Item],
        what: &'static str,
    ) -> Result<Self> {
        let mut array = Self::zeroed(device, layout, data.len(), what)?;
        array.upload(data)?;
        Ok(array)
    }

    /// Returns the number of bytes of device memory.
    pub fn bytes(&self) -> u64 {
        self.memory.bytes() as u64
    }

    /// Changes the layout to that of algorithm `A`; items keep their values, and versions are zero.
    pub fn arrange<A: Algorithm>(&mut self) -> Result {
        self.arrange_as(layout_of::<A>())
    }

    /// Does the same as [`Self::arrange`], given a layout.
    pub fn arrange_as(&mut self, layout: Layout) -> Result {
        if layout == Layout::Plain && self.layout == layout {
            return Ok(());
        }
        let data = self.download()?;
        if self.layout != layout {
            let other = Self::zeroed(&self.device, layout, self.len, self.what)?;
            self.memory.replace(&other.memory);
            self.layout = layout;
        }
        self.upload(&data)
    }

    /// Replaces all items.
    ///
    /// # Panics
    /// It panics if `data` has another length.
    pub fn upload(&mut self, data: &[F::Item]) -> Result {
        let len = self.len;
        assert_eq!(data.len(), len, "upload of another length than the array's");
        self.upload_first(data)
    }

    pub(super) fn upload_first(&mut self, data: &[F::Item]) -> Result {
        self.memory.upload(&F::bytes(data))
    }

    /// Sets all items to zero.
    pub fn clear(&mut self) -> Result {
        self.memory.clear()
    }

    /// Copies all items to the host.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if a transaction owns a cell, which no launch leaves.
    pub fn download(&self) -> Result<Vec<F::Item>> {
        F::filled(self.len, |bytes| self.memory.download(bytes))
    }

    /// Returns a view for transactions of algorithm `A`, as a kernel parameter. It must not be used after the
    /// array is freed, which the caller of `Device::launch` promises.
    ///
    /// # Panics
    /// It panics if the layout is not the algorithm's ([`Self::arrange`]); [`Self::try_view`] returns an
    /// error.
    pub fn view<A: Algorithm>(&self) -> F::View<A> {
        let view = self.try_view::<A>();
        view.unwrap_or_else(|error| panic!("{error}"))
    }

    /// Does the same as [`Self::view`]; another layout than the algorithm's is [`Error::WrongLayout`].
    pub fn try_view<A: Algorithm>(&self) -> Result<F::View<A>> {
        self.check_layout_is(layout_of::<A>(), A::NAME)?;
        // SAFETY: there are `len` aligned items of this layout, which the caller of `launch` keeps alive.
        Ok(unsafe { F::view(self.memory.address(), self.len as u64) })
    }

    pub(super) fn check_layout<A: Algorithm>(&self) -> Result {
        self.check_layout_is(layout_of::<A>(), "the kernel's algorithm")
    }

    pub(super) fn watch(&self, stm: &mut Stm<D>) {
        stm.watch(self);
    }
}

impl<D: Device, F> Arranged<D, F> {
    stm_machine::counted!("items", usize, len);

    /// Returns the name that errors use.
    pub const fn name(&self) -> &'static str {
        self.what
    }

    /// Returns the layout.
    pub const fn layout(&self) -> Layout {
        self.layout
    }

    pub(super) fn check_layout_is(&self, layout: Layout, algorithm: &'static str) -> Result {
        let what = self.what;
        let wrong = Error::WrongLayout { what, algorithm };
        (self.layout == layout).then_some(()).ok_or(wrong)
    }

    pub(crate) fn address(&self) -> *mut u8 {
        self.memory.address()
    }

    pub(crate) fn space(&self) -> u64 {
        self.device.space()
    }
}

/// `len` elements of `T` in the memory of a device, for transactions of any algorithm: the layout can be
/// changed. Cells may go from one [`Stm`] to another, but two launches at a time must not share them.
///
/// ```
/// use stm_core::prelude::*;
///
/// let mut stm = Stm::on(&Cpu::new())?;
/// let mut words = stm.array("the words", &[1_u32, 2, 3])?;
/// words.upload(&[4, 5, 6])?;
/// assert_eq!(words.download()?, [4, 5, 6]);
/// # Ok::<(), stm_core::host::Error>(())
/// ```
pub type TxArray<D, T> = Arranged<D, Elements<T>>;

/// Says that the items of an array are elements.
#[derive(Debug)]
pub struct Elements<T>(PhantomData<T>);

impl<T: Pod + Element> Form for Elements<T> {
    type Item = T;
    type View<A: Algorithm> = A::Array<T>;

    const NUMBERS: [usize; 2] = [T::WIDE as usize, !T::WIDE as usize];
    const HELD: [&'static str; 2] = OWNED_CELL;

    fn stride(layout: Layout) -> usize {
        layout.stride::<T>()
    }
    fn offset<U: Element>(_: Layout, _: usize) -> usize {
        0
    }
    fn bytes(elements: &[T]) -> Cow<'_, [u8]> {
        bytes_of(elements).into()
    }
    fn filled(len: usize, fill: impl FnOnce(&mut [u8]) -> Result) -> Result<Vec<T>> {
        let mut elements = vec![T::from_bits64(0); len];
        fill(bytes_of_mut(&mut elements))?;
        Ok(elements)
    }
    unsafe fn view<A: Algorithm>(start: *mut u8, len: u64) -> A::Array<T> {
        // SAFETY: the caller promises it.
        unsafe { View::from_start(start, len) }
    }
}

impl<D: Device, T: Pod + Element> TxArray<D, T> {
    /// Returns the word by which a history names element `i`.
    pub fn word(&self, i: usize) -> WordAddress {
        let at = i * self.layout().stride::<T>();
        let place = self.memory.address().wrapping_add(at);
        WordAddress::of(place.cast::<T>().cast_const())
    }

    fn view_for<V: View<T>>(&self, algorithm: &'static str) -> Result<V> {
        self.check_layout_is(V::LAYOUT, algorithm)?;
        // SAFETY: there are `len` aligned elements of this layout, which the caller of `launch` keeps alive.
        Ok(unsafe { View::from_start(self.memory.address(), self.len() as u64) })
    }
}

// SAFETY: the view is of the array's memory, of a checked layout, and written while nobody borrows it.
stm_machine::__lent! {
    |it|
    [T: Pod + Element, V: View<T>] &TxArray<D, T> => V:
        it.space(), it.view_for("the kernel's algorithm"), [it.address()];
    [A: Algorithm, R: Record] &Records<D, R> => TRecords<A, R>:
        it.space(), it.try_view::<A>(), [it.address()];
}

/// `len` records of type `R` in the memory of a device, for transactions of any algorithm.
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

    const NUMBERS: [usize; 2] = [R::Wide::COUNT as usize, R::Narrow::COUNT as usize];
    const HELD: [&'static str; 2] = ["a cell of record", "is held"];

    fn stride(layout: Layout) -> usize {
        stride::<R>(layout) as usize
    }
    fn offset<T: Element>(layout: Layout, k: usize) -> usize {
        offset::<R, T>(layout, k as u64) as usize
    }
    fn bytes(records: &[R]) -> Cow<'_, [u8]> {
        let [wides, narrows] = Self::NUMBERS;
        let mut bytes = Vec::with_capacity(records.len() * (8 * wides + 4 * narrows));
        for (wide, narrow) in records.iter().map(|record| record.split()) {
            bytes.extend((0..wides).flat_map(|k| wide.get(k).to_le_bytes()));
            bytes.extend((0..narrows).flat_map(|k| (narrow.get(k) as u32).to_le_bytes()));
        }
        bytes.into()
    }
    fn filled(len: usize, fill: impl FnOnce(&mut [u8]) -> Result) -> Result<Vec<R>> {
        let [wide, narrow] = [8 * Self::NUMBERS[0], 4 * Self::NUMBERS[1]];
        let mut bytes = vec![0; len * (wide + narrow)];
        fill(&mut bytes)?;
        let record = |i: usize| {
            let (wide, narrow) = bytes[i * (wide + narrow)..].split_at(wide);
            let wide = R::Wide::from_fn(|k| word(&wide[8 * k..][..8]));
            R::join(wide, R::Narrow::from_fn(|k| word(&narrow[4 * k..][..4])))
        };
        Ok((0..len).map(record).collect())
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
        place::<R, T>(self.address(), self.layout, i as u64, position as u64)
    }

    /// Returns the words of all fields and the bits that they hold, or the errors of [`Self::download`].
    pub fn words(&self) -> Result<Vec<(WordAddress, u64)>> {
        let (wides, narrows) = (R::Wide::COUNT as usize, R::Narrow::COUNT as usize);
        let mut words = Vec::new();
        for (i, record) in self.download()?.into_iter().enumerate() {
            let (wide, narrow) = record.split();
            words.extend((0..wides).map(|k| (self.word_at::<u64>(i, k), wide.get(k))));
            words.extend((0..narrows).map(|k| (self.word_at::<u32>(i, k), narrow.get(k))));
        }
        Ok(words)
    }

    /// Returns the names of the fields, in the order in which `words` lists those of one record.
    pub fn field_names() -> Vec<&'static str> {
        let of = |wide| R::FIELDS.iter().filter(move |field| field.1 == wide);
        of(true).chain(of(false)).map(|field| field.0).collect()
    }
}
