//! The forms of a transaction; and the memory that transactions access: refused before any of it is made,
//! and read back as a history wants it.

use super::input::SharedOptions;
use crate::error::{Error, Result};
use crate::external_prelude::*;
use crate::variants::AskedVariant;
use stm_core::collections::{List, Lists, Map, OrderedMap};
use stm_core::host::{Cpu, Nodes, Pod, PreassignedNodes, Sums};
use stm_core::internal::WordAddress;
use stm_core::{Element, Layout, Summand};
use stm_kernels::ht::{HtNode, HtPoolNode};
use stm_kernels::ra::doubled;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Form {
    /// A closure reads and writes the words that it chooses as it goes.
    #[default]
    Dynamic,
    /// All words are known before the first is read: [`StmRef::update_each`](stm_core::StmRef::update_each).
    Static,
    /// The same on elements of 64 bits.
    Wide,
}

pub const FAST_STATIC: &str = "fast, static";
pub const FAST_WIDE: &str = "fast, static, 64-bit";

impl Form {
    pub fn given(shared: &SharedOptions) -> Option<Self> {
        shared.is_static.then_some(Self::Static)
    }

    /// Returns the form that options ask for, of a workload with elements of 64 bits.
    pub fn of_width(shared: &SharedOptions) -> Result<Self> {
        refuse! {
            shared.wide && !shared.is_static =>
                "--wide has no dynamic form: give --static too, or leave --wide out";
        }
        let narrow = Self::given(shared).unwrap_or_default();
        Ok(if shared.wide { Self::Wide } else { narrow })
    }

    pub const fn bytes(self) -> u64 {
        if matches!(self, Self::Wide) { 8 } else { 4 }
    }

    pub const fn is_static(self) -> bool {
        !matches!(self, Self::Dynamic)
    }

    /// Returns the name of a variant with transactions of this form, in tables and in JSON.
    pub const fn name(self, variant: AskedVariant) -> &'static str {
        match self {
            Self::Dynamic => variant.name(),
            Self::Static => FAST_STATIC,
            Self::Wide => FAST_WIDE,
        }
    }

    /// Refuses a variant that has no kernels for this form.
    pub fn check(self, variant: AskedVariant) -> Result<()> {
        refuse! {
            self != Self::Dynamic && variant != Variant::Fast.into() =>
                "--static has no kernels for {}: give --variant fast, or leave --static out",
                variant.name();
        }
        Ok(())
    }
}

/// Numbers of 32 bits: each in an element of as many, or in one of 64 with the same bits inverted
/// ([`doubled`]), or in rows of sums that transactions add to.
pub struct Elements<D: Device, T> {
    len: usize,
    // Of these, the numbers are in one, and the others are empty.
    narrow: TxArray<D, T>,
    wide: TxArray<D, u64>,
    sums: Sums<D, T>,
}

impl<D: Device, T: Pod + Summand> Elements<D, T> {
    /// Makes an array of these numbers, for transactions of this form, or rows of so many of them.
    pub fn new(
        device: &D,
        (form, row): (Form, Option<u32>),
        numbers: &[T],
        what: &'static str,
    ) -> Result<Self> {
        let (len, is_wide) = (numbers.len(), form == Form::Wide);
        let some = |has: bool| if has { len as u64 } else { 0 };
        let rows = some(row.is_some()).div_ceil(row.unwrap_or(1).into());
        let mut elements = Self {
            len,
            narrow: zeros(device, some(row.is_none() && !is_wide), what)?,
            wide: zeros(device, some(row.is_none() && is_wide), what)?,
            sums: Sums::zeroed(device, rows as usize, row.unwrap_or(1), what)?,
        };
        elements.upload(numbers)?;
        Ok(elements)
    }

    /// Stores these numbers, and zeros up to the end of the last row.
    pub fn upload(&mut self, numbers: &[T]) -> Result<()> {
        if self.sums.rows() > 0 {
            let (mut rows, row) = (numbers.to_vec(), self.sums.row_len() as usize);
            rows.resize(self.sums.rows() * row, T::from_bits64(0));
            return Ok(self.sums.upload(&rows)?);
        }
        if self.wide.is_empty() {
            return Ok(self.narrow.upload(numbers)?);
        }
        let doubled = numbers.iter().map(|n| doubled(n.to_bits64() as u32));
        Ok(self.wide.upload(&doubled.collect::<Vec<_>>())?)
    }

    /// Stores zeros in numbers that are not wide.
    pub fn clear(&mut self) -> Result<()> {
        self.sums.clear()?;
        Ok(self.narrow.clear()?)
    }

    /// Returns the numbers, if the halves of wide elements belong together.
    pub fn download(&self) -> Result<Vec<T>> {
        let is_torn = |w: &u64| *w != doubled(*w as u32);
        match self.wide.download()?.iter().position(is_torn) {
            None => self.low_halves(),
            Some(at) => {
                Err(format!("the two halves of element {at} were not stored together").into())
            }
        }
    }

    /// Returns the numbers, whatever the other halves of wide elements are.
    pub fn low_halves(&self) -> Result<Vec<T>> {
        let (mut numbers, wide) = (self.narrow.download()?, self.wide.download()?);
        numbers.extend(self.sums.download()?);
        numbers.extend(wide.iter().map(|&w| T::from_bits64(w)));
        numbers.truncate(self.len);
        Ok(numbers)
    }

    /// Returns the elements of 32 bits, if there are such; the others below likewise.
    pub fn view<A: Algorithm>(&self) -> A::Array<T> {
        self.narrow.view::<A>()
    }

    pub fn wide<A: Algorithm>(&self) -> A::Array<u64> {
        self.wide.view::<A>()
    }

    pub const fn sums(&self) -> &Sums<D, T> {
        &self.sums
    }
}

impl<D: Device, T: Pod + Summand> Accessed<D> for Elements<D, T> {
    fn arrange(&mut self, layout: Layout) -> Result<()> {
        self.narrow.arrange_as(layout)?;
        Ok(self.wide.arrange_as(layout)?)
    }

    fn watch(&self, stm: &mut Stm<D>) {
        stm.watch(&self.narrow);
        if self.sums.rows() > 0 {
            stm.watch_sums(&self.sums);
        }
        if !self.wide.is_empty() {
            stm.watch(&self.wide);
        }
    }

    fn words(&self) -> Result<Words> {
        Ok([self.narrow.words()?, self.wide.words()?, self.sums.words()?].concat())
    }
}

/// Compiles and launches, in an implementation of [`Workload`](super::workload::Workload), its kernel
/// with these parameters; of several, the one that matches. What compiles others, which a run launches too,
/// may follow.
macro_rules! kernels {
    ($of:pat, $data:ident, $run:ident => $Kernel:ty, $params:expr) => {
        kernels! { $of, $data, $run: match (); () => $Kernel, $params; }
    };
    (
        $of:pat, $data:ident, $run:ident: match $by:expr;
        $($pattern:pat => $Kernel:ty, $params:expr;)+ $(+ $others:expr)?
    ) => {
        #[allow(unused_variables, reason = "the choice may not depend on the workload")]
        fn compile<D: Device, A: Algorithm>(
            &self,
            device: &D,
            observation: Observation,
        ) -> Result<Duration> {
            let $of = self;
            let time = match $by {
                $($pattern => device.prepare::<$Kernel>(observation)?,)+
            };
            $(
                let others: fn(&D, Observation) -> Result<Duration> = $others;
                let time = time + others(device, observation)?;
            )?
            Ok(time)
        }

        fn launch<D: Device, A: Algorithm>(
            &self,
            $data: &Self::Data<D>,
            launcher: &mut Launcher<'_, D>,
            transactions: u64,
        ) -> Result<Statistics> {
            let ($of, $run) = (self, launcher.run::<A>(transactions));
            Ok(match $by {
                $($pattern => {
                    let params = $params;
                    // SAFETY: the parameters hold this memory's handle, for `A` alone, and views
                    // of buffers that the data keep and nothing else uses.
                    unsafe { launcher.launch::<$Kernel>(&params)? }
                })+
            })
        }
    };
}
pub(super) use kernels;

/// Makes what a kernel works on: views of the arrays of the data that its fields are named like, for
/// transactions of an algorithm where it is named; and, behind the semicolon, the other fields.
macro_rules! views {
    ($data:expr => $Work:ident { $($array:ident $(by $A:ty)?),+; $($others:tt)* }) => {
        $Work {
            $($array: views!(@view $data.$array $(, $A)?),)+
            $($others)*
        }
    };
    (@view $array:expr) => {
        $array.tarray()
    };
    (@view $array:expr, $A:ty) => {
        $array.view::<$A>()
    };
}
pub(super) use views;

/// What transactions access of a workload's data: an array, sums, records or a container.
pub trait Accessed<D: Device> {
    fn arrange(&mut self, layout: Layout) -> Result<()>;

    /// Lets the check after a launch cover the words.
    fn watch(&self, stm: &mut Stm<D>);

    /// Returns the words that are not zero with what they hold, where a reset leaves any.
    fn words(&self) -> Result<Vec<(WordAddress, u64)>>;
}

type Words = Vec<(WordAddress, u64)>;

/// Returns those of an array's words that are not zero.
fn not_zero<T: Element>(addresses: impl Iterator<Item = WordAddress>, values: Vec<T>) -> Words {
    let words = addresses.zip(values.into_iter().map(Element::to_bits64));
    words.filter(|(_, value)| *value != 0).collect()
}

macro_rules! accessed {
    ($([$($T:ident: $first:ident $(+ $more:ident)*)?] $Owner:ty, $arrange:expr, $watch:expr, $words:expr;)*) => {
        $(
            impl<D: Device $(, $T: $first $(+ $more)*)?> Accessed<D> for $Owner {
                fn arrange(&mut self, layout: Layout) -> Result<()> {
                    let arrange: fn(&mut Self, Layout) -> Result<(), host::Error> = $arrange;
                    Ok(arrange(self, layout)?)
                }

                fn watch(&self, stm: &mut Stm<D>) {
                    let watch: fn(&Self, &mut Stm<D>) = $watch;
                    watch(self, stm);
                }

                fn words(&self) -> Result<Words> {
                    let words: fn(&Self) -> Result<Words, host::Error> = $words;
                    Ok(words(self)?)
                }
            }
        )*
    };
}

accessed! {
    [T: Element + Pod] TxArray<D, T>, Self::arrange_as, |array, stm| stm.watch(array), |array| {
        Ok(not_zero((0..).map(|i| array.word(i)), array.download()?))
    };
    [T: Pod + Summand] Sums<D, T>, |_, _| Ok(()), |sums, stm| stm.watch_sums(sums), |sums| {
        let (row, at) = (sums.row_len(), 0u32..);
        Ok(not_zero(at.map(|i| sums.word((i / row) as usize, i % row)), sums.download()?))
    };
    [] List<D, u32, u32>, Self::arrange_as, Self::watch, |_| Ok(Vec::new());
    [] OrderedMap<D, u32, u32>, Self::arrange_as, Self::watch, |_| Ok(Vec::new());
    [] Map<D, u32, u32>, Self::arrange_as, Self::watch, Self::words;
    [] Lists<D, u32, u32>, Self::arrange_as, Self::watch, Self::words;
    [] PreassignedNodes<D, HtNode>, |nodes, layout| nodes.records_mut().arrange_as(layout),
        |nodes, stm| stm.watch_records(nodes.records()), |_| Ok(Vec::new());
    [] Nodes<D, HtPoolNode>, |nodes, layout| nodes.records_mut().arrange_as(layout),
        |nodes, stm| stm.watch_records(nodes.records()), |_| Ok(Vec::new());
}

/// Makes an array of zeros for transactions, in the plain layout.
pub fn zeros<D: Device, T: Element + Pod>(
    device: &D,
    len: u64,
    what: &'static str,
) -> Result<TxArray<D, T>> {
    Ok(TxArray::zeroed(device, Layout::Plain, len as usize, what)?)
}

/// Refuses data that the device or the host has no room for, before any of it is made; `host_bytes` are
/// those of the input and its verification.
pub fn check_memory<D: Device>(
    device: &D,
    name: &str,
    device_bytes: u64,
    host_bytes: u64,
    fix: &'static str,
) -> Result<()> {
    let too = u64::from(device.id() == "cpu") * device_bytes;
    let what = format!("the data of {name} and its verification");
    check_host_memory(&what, host_bytes.saturating_add(too), fix)?;
    let what = format!("the data of {name} on {}", device.id());
    check_room(what, device_bytes, device.available_bytes()?, fix)
}

pub fn check_host_memory(what: &str, needed: u64, fix: &'static str) -> Result<()> {
    let what = format!("{what} on the host");
    check_room(what, needed, Cpu::new().available_bytes()?, fix)
}

fn check_room(what: String, needed: u64, available: u64, fix: &'static str) -> Result<()> {
    if needed <= available {
        return Ok(());
    }
    Err(Error::TooLarge {
        what,
        needed,
        available,
        fix,
    })
}

/// What the data of a workload are made for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MadeFor {
    pub seed: u64,
    /// The most transactions of a launch.
    pub transactions: u64,
    pub blocks: u32,
    /// How many lanes run transactions, `n` the numbers `n`, `n + lanes` and so on.
    pub lanes: u64,
    pub layout: Layout,
}

impl MadeFor {
    pub const fn new(seed: u64, transactions: u64) -> Self {
        Self {
            seed,
            transactions,
            blocks: 1,
            lanes: 1,
            layout: Layout::Plain,
        }
    }

    /// Returns the same for a launch of so many blocks and lanes, and a layout.
    #[must_use]
    pub const fn launched(self, blocks: u32, lanes: u64, layout: Layout) -> Self {
        Self {
            blocks,
            lanes,
            layout,
            ..self
        }
    }
}

/// The data of a workload, or of a contender of it, on a device.
pub trait Memory<D: Device, W>: Sized {
    /// Allocates them. The workload's parameters are checked.
    fn make(of: &W, device: &D, made_for: MadeFor) -> Result<Self>;

    /// Returns what transactions access. A history starts from its [words](Accessed::words) after a
    /// [`reset`](super::workload::Workload::reset).
    fn accessed(&mut self) -> Vec<&mut dyn Accessed<D>>;

    /// Empties what is empty before a launch.
    fn clear(&mut self) -> Result<()>;
}

/// Declares data, by a row for each field with the value that it is made with, in which the fields before it have
/// their names; and whether transactions access it, and whether it is cleared before a launch. What is to be done
/// before anything is allocated stands first.
macro_rules! data {
    (@accessed clear $field:expr) => {};
    (@cleared clear $field:expr) => {
        $field.clear()?
    };
    (@accessed access $field:expr) => {
        Some(&mut $field)
    };
    (@cleared access $field:expr) => {
        None
    };
    (
        $(#[$about:meta])*
        $visible:vis $Data:ident of $Workload:ty:
        |$of:ident, $device:ident, $made_for:pat_param| { $($first:tt)* }
        $($(#[$doc:meta])* $field:ident: $Type:ty = $value:expr $(, $is:ident)*;)*
    ) => {
        $(#[$about])*
        $visible struct $Data<D: Device> {
            $($(#[$doc])* $field: $Type,)*
        }

        impl<D: Device> Memory<D, $Workload> for $Data<D> {
            fn make($of: &$Workload, $device: &D, $made_for: MadeFor) -> Result<Self> {
                $($first)*
                $(let $field: $Type = $value;)*
                Ok(Self { $($field),* })
            }

            fn accessed(&mut self) -> Vec<&mut dyn Accessed<D>> {
                let all: Vec<Option<&mut dyn Accessed<D>>> =
                    vec![$($(data!(@$is access self.$field),)*)*];
                all.into_iter().flatten().collect()
            }

            fn clear(&mut self) -> Result<()> {
                $($(data!(@$is clear self.$field);)*)*
                Ok(())
            }
        }
    };
}
pub(super) use data;

/// Returns a shape that fills the device with a kernel whose threads do not wait for each other.
pub fn filling(limits: &Limits) -> Launch {
    let processors = limits.processors;
    match limits.warp_width {
        1 => Launch::new(processors, 1),
        width => Launch::new(8 * processors, (8 * width).min(limits.threads_max)),
    }
}
