//! Plain data: what may be a parameter of a kernel by value.

/// Plain data that mean the same on the host and on a GPU, laid out alike, without pointers of the host: a
/// type for parameters of a kernel. Derive it: `#[derive(Clone, Copy, Plain)] #[repr(C)]`.
///
/// # Safety
/// The type has these properties.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not plain data, so it cannot be a parameter of a kernel by value",
    note = "a struct needs `#[derive(Clone, Copy, Plain)]` and `#[repr(C)]`; what is in the device's memory is borrowed: `Cells<u32>`, `Input<u32>`, or in the generic form `&A::Array<u32>`"
)]
pub unsafe trait Plain: Copy + Send + Sync + 'static {}

macro_rules! plain {
    ($($ty:ty)*) => {
        $(
            // SAFETY: a primitive of the same size and alignment everywhere.
            unsafe impl Plain for $ty {}
        )*
    };
}
plain!(u8 u16 u32 u64 i8 i16 i32 i64 f32 f64 bool);

// SAFETY: elements follow one another without gaps.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}

/// Does nothing; for the check that a parameter is plain data.
#[doc(hidden)]
pub const fn is_plain<T: Plain>() {}
