//! Macros that write out those methods of a GPU's lane that differ only in
//! width and instruction.

macro_rules! load {
    ($name:ident, $ty:ty, $reg:ident, $op:literal) => {
        #[inline(always)]
        unsafe fn $name(&self, p: *const $ty) -> $ty {
            let v: $ty;
            // SAFETY: the caller gives a valid address (trait, obligations 1 and 2).
            unsafe {
                asm!(concat!($op, " {v}, [{p}];"), v = out($reg) v, p = in(reg64) global(p), options(nostack));
            }
            v
        }
    };
}

macro_rules! store {
    ($name:ident, $ty:ty, $reg:ident, $op:literal) => {
        #[inline(always)]
        unsafe fn $name(&self, p: *mut $ty, v: $ty) {
            // SAFETY: the caller gives a valid address (trait, obligations 1 and 2).
            unsafe {
                asm!(concat!($op, " [{p}], {v};"), v = in($reg) v, p = in(reg64) global(p), options(nostack));
            }
        }
    };
}

macro_rules! exchange {
    ($name:ident, $ty:ty, $reg:ident, $op:literal) => {
        #[inline(always)]
        unsafe fn $name(&self, p: *mut $ty, v: $ty) -> $ty {
            let old: $ty;
            // SAFETY: the caller gives a valid address (trait, obligations 1 and 2).
            unsafe {
                asm!(concat!($op, " {old}, [{p}], {v};"), old = out($reg) old, p = in(reg64) global(p),
                    v = in($reg) v, options(nostack));
            }
            old
        }
    };
}

macro_rules! cas {
    ($name:ident, $ty:ty, $reg:ident, $op:literal) => {
        #[inline(always)]
        unsafe fn $name(&self, p: *mut $ty, expected: $ty, new: $ty) -> $ty {
            let old: $ty;
            // SAFETY: the caller gives a valid address (trait, obligations 1 and 2).
            unsafe {
                asm!(concat!($op, " {old}, [{p}], {e}, {n};"), old = out($reg) old, p = in(reg64) global(p),
                    e = in($reg) expected, n = in($reg) new, options(nostack));
            }
            old
        }
    };
}
