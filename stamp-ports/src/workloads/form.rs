//! The two forms of a transaction, of which some workloads have both.

use crate::error::{Error, Result};
use crate::variants::AskedVariant;
use crate::workloads::memory::Accessed;
use stm_core::algorithm::{Algorithm, Variant};
use stm_core::host::{Device, Pod, TxArray};
use stm_core::{Element, Layout};
use stm_kernels::ra::doubled;

/// The form of a workload's transactions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Form {
    /// A closure reads and writes the words that it chooses as it goes.
    #[default]
    Dynamic,
    /// All words are known before the first is read:
    /// [`StmRef::update_each`](stm_core::StmRef::update_each).
    Static,
    /// The same on elements of 64 bits.
    Wide,
}

/// The name of `fast` with transactions in their static form.
pub const FAST_STATIC: &str = "fast, static";
/// The same on elements of 64 bits.
pub const FAST_WIDE: &str = "fast, static, 64-bit";

impl Form {
    /// Returns the form that an option asks for.
    pub const fn of(is_static: bool) -> Self {
        if is_static {
            Self::Static
        } else {
            Self::Dynamic
        }
    }

    /// Returns the form that options ask for, of a workload with elements of 64 bits.
    ///
    /// # Errors
    /// Those are in the static form alone.
    pub fn of_width(is_static: bool, wide: bool) -> Result<Self> {
        if wide && !is_static {
            let why = "--wide has no dynamic form: give --static too, or leave --wide out";
            return Err(Error::Usage(why.into()));
        }
        Ok(if wide {
            Self::Wide
        } else {
            Self::of(is_static)
        })
    }

    /// Returns the bytes of an element of numbers of 32 bits.
    pub const fn bytes(self) -> u64 {
        if matches!(self, Self::Wide) { 8 } else { 4 }
    }

    /// Returns whether all words are known before the first is read.
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
    ///
    /// # Errors
    /// Names the variant and the fix.
    pub fn check(self, variant: AskedVariant) -> Result<()> {
        if self == Self::Dynamic || variant == Variant::Fast.into() {
            return Ok(());
        }
        Err(Error::Usage(format!(
            "--static has no kernels for {}: give --variant fast, or leave --static out",
            variant.name()
        )))
    }
}

/// Numbers of 32 bits, each in an element of as many, or in one of 64, whose other half has the same
/// bits inverted ([`doubled`]).
pub struct Elements<D: Device, T> {
    /// None, if they are wide.
    narrow: TxArray<D, T>,
    wide: Option<TxArray<D, u64>>,
}

impl<D: Device, T: Pod + Element> Elements<D, T> {
    /// Makes an array of these numbers, for transactions of this form.
    ///
    /// # Errors
    /// The device has not the memory.
    pub fn new(device: &D, form: Form, numbers: &[T], what: &'static str) -> Result<Self> {
        let wide = (form == Form::Wide).then(|| doubled_all(numbers));
        let numbers = if wide.is_some() { &[] } else { numbers };
        Ok(Self {
            narrow: TxArray::from_slice(device, Layout::Plain, numbers, what)?,
            wide: (wide.as_deref())
                .map(|wide| TxArray::from_slice(device, Layout::Plain, wide, what))
                .transpose()?,
        })
    }

    /// Stores these numbers.
    ///
    /// # Errors
    /// The device has failed.
    pub fn upload(&mut self, numbers: &[T]) -> Result<()> {
        match &mut self.wide {
            None => self.narrow.upload(numbers)?,
            Some(wide) => wide.upload(&doubled_all(numbers))?,
        }
        Ok(())
    }

    /// Returns the numbers, and the first element whose halves do not belong together.
    ///
    /// # Errors
    /// The device has failed.
    pub fn download(&self) -> Result<(Vec<T>, Option<usize>)> {
        let Some(wide) = &self.wide else {
            return Ok((self.narrow.download()?, None));
        };
        let wide = wide.download()?;
        let torn = wide.iter().position(|&w| w != doubled(w as u32));
        Ok((wide.into_iter().map(T::from_bits64).collect(), torn))
    }

    /// Returns the elements of 32 bits; there are none if they are wide.
    pub fn view<A: Algorithm>(&self) -> A::Array<T> {
        self.narrow.view::<A>()
    }

    /// Returns the elements of 64 bits, if they are.
    pub fn wide<A: Algorithm>(&self) -> Option<A::Array<u64>> {
        self.wide.as_ref().map(TxArray::view::<A>)
    }

    /// Returns the arrays that a launch is given.
    pub fn accessed(&mut self) -> Vec<&mut dyn Accessed<D>> {
        let mut all: Vec<&mut dyn Accessed<D>> = vec![&mut self.narrow];
        all.extend(self.wide.as_mut().map(|wide| wide as &mut dyn Accessed<D>));
        all
    }
}

fn doubled_all<T: Element>(numbers: &[T]) -> Vec<u64> {
    let numbers = numbers.iter();
    numbers.map(|n| doubled(n.to_bits64() as u32)).collect()
}

/// Says that the halves of an element were not stored together.
pub fn torn(element: usize) -> String {
    format!("the two halves of element {element} were not stored together")
}

/// Compiles and runs, in an implementation of [`Workload`](super::workload::Workload), the kernel
/// of its form; both have the same parameters.
macro_rules! by_form {
    ($Dynamic:ident, $Static:ident) => {
        fn compile<D: Device, A: Algorithm>(
            &self,
            device: &D,
            observation: Observation,
        ) -> Result<Duration> {
            Ok(match self.form {
                Form::Dynamic => device.prepare::<$Dynamic<A>>(observation)?,
                Form::Static | Form::Wide => device.prepare::<$Static<A>>(observation)?,
            })
        }

        fn run<D: Device, A: Algorithm>(
            &self,
            data: &mut Self::Data<D>,
            launcher: &mut Launcher<'_, D>,
            transactions: u64,
        ) -> Result<()> {
            let params = self.params(data, launcher.run::<A>(transactions));
            // SAFETY: the parameters hold this memory's handle, for `A` alone, and views of
            // buffers that `data` keeps and nothing else uses.
            unsafe {
                match self.form {
                    Form::Dynamic => launcher.launch::<$Dynamic<A>>(&params)?,
                    Form::Static | Form::Wide => launcher.launch::<$Static<A>>(&params)?,
                }
            };
            Ok(())
        }
    };
}
pub(super) use by_form;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_static_form_is_named_and_has_kernels_for_fast_alone() {
        for variant in AskedVariant::all() {
            Form::Dynamic.check(variant).unwrap();
            assert_eq!(Form::Dynamic.name(variant), variant.name());
            let is_fast = variant == Variant::Fast.into();
            match Form::Static.check(variant) {
                Ok(()) => assert!(is_fast),
                Err(error) => {
                    let error = error.to_string();
                    assert!(!is_fast && error.contains(variant.name()), "{error}");
                    assert!(error.contains("--variant fast"), "{error}");
                }
            }
        }
        assert_eq!(Form::Static.name(Variant::Fast.into()), "fast, static");
    }
}
