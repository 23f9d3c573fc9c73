//! What the host chooses from at launch.

/// Makes the enum of the algorithms or kinds of a `Chosen`, with their numbers and names; the text is
/// what one of them is called.
macro_rules! choice {
    ($called:literal; $($(#[$doc:meta])* $kind:ident = $number:literal: $type:ty;)*) => {
        #[doc = concat!("The ", $called, " of a [`Chosen`].")]
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
        pub enum Kind {
            $($(#[$doc])* $kind = $number,)*
        }

        impl Kind {
            #[doc = concat!("Every ", $called, ".")]
            pub const ALL: &[Self] = &[$(Self::$kind,)*];

            #[doc = concat!("Returns the name of the ", $called, ".")]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => <$type>::NAME,)*
                }
            }

            #[doc = concat!("Returns the ", $called, " with this name.")]
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|kind| kind.name() == name)
            }
        }
    };
}
pub(crate) use choice;
