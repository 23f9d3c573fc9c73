//! The two forms of a transaction, of which some workloads have both.

use crate::error::{Error, Result};
use crate::variants::AskedVariant;
use stm_core::algorithm::Variant;

/// The form of a workload's transactions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Form {
    /// A closure reads and writes the words that it chooses as it goes.
    #[default]
    Dynamic,
    /// All words are known before the first is read:
    /// [`StmRef::update_each`](stm_core::StmRef::update_each).
    Static,
}

/// The name of `fast` with transactions in their static form.
pub const FAST_STATIC: &str = "fast, static";

impl Form {
    /// Returns the form that an option asks for.
    pub const fn of(is_static: bool) -> Self {
        if is_static {
            Self::Static
        } else {
            Self::Dynamic
        }
    }

    /// Returns the name of a variant with transactions of this form, in tables and in JSON.
    pub const fn name(self, variant: AskedVariant) -> &'static str {
        match self {
            Self::Dynamic => variant.name(),
            Self::Static => FAST_STATIC,
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
                Form::Static => device.prepare::<$Static<A>>(observation)?,
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
                    Form::Static => launcher.launch::<$Static<A>>(&params)?,
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
