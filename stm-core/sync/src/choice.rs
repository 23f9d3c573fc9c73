//! What the host chooses from at launch.

/// Makes the enum of the algorithms or kinds of a `Chosen`, with their numbers and names, and the
/// macro `$with`, which evaluates an expression with the type of a number, or another one where the
/// number is none. The text is what one of them is called.
macro_rules! choice {
    (
        $d:tt $called:literal, $with:ident;
        $($kind:ident = $number:literal: $type:ident $(, $doc:literal)?;)*
    ) => {
        #[doc = concat!("The ", $called, " of a [`Chosen`].")]
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
        pub enum Kind {
            $(#[doc = concat!("[`", stringify!($type), "`]", $($doc,)? ".")] $kind = $number,)*
        }

        macro_rules! $with {
            ($d number:expr, $d of:ident => $d does:expr, else $d other:expr) => {
                match $d number {
                    $($number => { type $d of = $type; $d does })*
                    _ => $d other,
                }
            };
        }

        impl Kind {
            #[doc = concat!("Every ", $called, ".")]
            pub const ALL: &[Self] = &[$(Self::$kind,)*];

            #[doc = concat!("Returns the name of the ", $called, ".")]
            pub const fn name(self) -> &'static str {
                $with!(self as u32, K => K::NAME, else "")
            }

            #[doc = concat!("Returns the ", $called, " with this name.")]
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|kind| kind.name() == name)
            }
        }
    };
}
pub(crate) use choice;
