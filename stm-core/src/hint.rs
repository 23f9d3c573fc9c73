//! What all parts use: a hint to the compiler, loops that are written out, tables of short functions, and the
//! seal of traits that only this crate implements.

/// Returns `condition`, which rarely holds: the code behind it is laid out away from the
/// rest, so that what runs every time is fetched together.
#[inline(always)]
pub(crate) const fn rarely(condition: bool) -> bool {
    if condition {
        core::hint::cold_path();
    }
    condition
}

/// Outside of this crate the trait has no name, so nobody else implements what demands it.
pub trait Sealed {}

/// Does `$body` for each index below `$n`. On a GPU it is written out, as a loop over 16 is not unrolled, and
/// its arrays are then in memory; on a CPU, whose registers are few, they are there anyway.
macro_rules! each {
    ($k:ident < $n:expr, $body:block) => {
        #[cfg(target_arch = "nvptx64")]
        each!(@ $k, $n, $body,
            0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31);
        #[cfg(not(target_arch = "nvptx64"))]
        for $k in 0..$n $body
    };
    (@ $k:ident, $n:expr, $body:block, $($at:literal)*) => {
        $({
            let $k: usize = $at;
            if $k < $n $body
        })*
    };
}
pub(crate) use each;

/// Functions that are one expression each, inlined.
macro_rules! brief {
    ($(
        $(#[$about:meta])*
        $vis:vis fn $name:ident $(<$($of:ident $(: $bound:ident)?),+>)? ($($parameter:tt)*)
        $(-> $result:ty)? = $does:expr;
    )*) => {$(
        $(#[$about])*
        #[inline(always)]
        $vis fn $name $(<$($of $(: $bound)?),+>)? ($($parameter)*) $(-> $result)? {
            $does
        }
    )*};
}
pub(crate) use brief;
