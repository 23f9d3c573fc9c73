//! Arrays whose elements are spelled out.

/// Makes the array of `$value` for each `$j` below 4, 8 or 16. It is spelled out, because a compiler
/// may keep a loop around what makes an element, and with it the array in memory.
macro_rules! spelled {
    ($j:ident of 4 => $value:expr) => {
        spelled!(@ $j $value; 0 1 2 3)
    };
    ($j:ident of 8 => $value:expr) => {
        spelled!(@ $j $value; 0 1 2 3 4 5 6 7)
    };
    ($j:ident of 16 => $value:expr) => {
        spelled!(@ $j $value; 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
    };
    (@ $j:ident $value:expr; $($n:literal)*) => {
        [$({
            const $j: u32 = $n;
            $value
        }),*]
    };
}

pub(crate) use spelled;
