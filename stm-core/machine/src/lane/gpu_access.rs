//! Macros that write out a GPU lane's methods, each from one row of a table.

/// Methods that are one PTX text each: behind the parameters the result with its registers; in the braces the
/// text and its operands with their classes; behind `else` what a lane without atomics of 128 bits does.
macro_rules! ptx {
    ($(
        fn $name:ident(&$self:ident $(, $arg:ident: $type:ty)*)
        $(-> $of:ty = $result:expr; $($out:ident: $out_type:ident in $out_class:ident),+)?
        { $($text:expr),+ $(; $($in:ident: $class:ident = $value:expr),+)? }
        $(else $narrow:expr;)?
    )*) => {$(
        #[inline(always)]
        unsafe fn $name(&$self $(, $arg: $type)*) $(-> $of)? {
            $(
                if !WIDE {
                    // SAFETY: the caller upholds the contract of this method.
                    return unsafe { $narrow };
                }
            )?
            $($(let $out: $out_type;)+)?
            // SAFETY: as above: addresses are valid, and words of shared memory in range.
            unsafe {
                asm!(
                    $($text,)+ $($($out = out($out_class) $out,)+)?
                    $($($in = in($class) $value,)+)? options(nostack)
                );
            }
            $($result)?
        }
    )*};
}

/// Methods that access one word each: what a method does, its name, the type of the word with the
/// class of its registers, and the instruction, of an atomic one its order first.
macro_rules! access {
    (load $name:ident, $ty:ident, $reg:ident, $op:literal) => {
        ptx! { fn $name(&self, p: *const $ty) -> $ty = v; v: $ty in $reg {
            concat!($op, " {v}, [{p}];"); p: reg64 = global(p)
        } }
    };
    (store $name:ident, $ty:ident, $reg:ident, $op:literal) => {
        ptx! { fn $name(&self, p: *mut $ty, v: $ty) {
            concat!($op, " [{p}], {v};"); v: $reg = v, p: reg64 = global(p)
        } }
    };
    (exchange $name:ident, $ty:ident, $reg:ident, $order:literal, $op:literal) => {
        ptx! { fn $name(&self, p: *mut $ty, v: $ty) -> $ty = old; old: $ty in $reg {
            concat!("atom.", $order, ".gpu.global.", $op, " {old}, [{p}], {v};");
            p: reg64 = global(p), v: $reg = v
        } }
    };
    (cas $name:ident, $ty:ident, $reg:ident, $order:literal, $op:literal) => {
        ptx! { fn $name(&self, p: *mut $ty, expected: $ty, new: $ty) -> $ty = old; old: $ty in $reg {
            concat!("atom.", $order, ".gpu.global.", $op, " {old}, [{p}], {e}, {n};");
            p: reg64 = global(p), e: $reg = expected, n: $reg = new
        } }
    };
    (shared_load $name:ident, $ty:ident, $reg:ident, $op:literal) => {
        ptx! { fn $name(&self, i: u32) -> $ty = v; v: $ty in $reg {
            concat!($op, " {v}, [{p}];"); p: reg32 = shared(i)
        } }
    };
    (shared_store $name:ident, $ty:ident, $reg:ident, $op:literal) => {
        ptx! { fn $name(&self, i: u32, v: $ty) {
            concat!($op, " [{p}], {v};"); v: $reg = v, p: reg32 = shared(i)
        } }
    };
}

/// Methods that are one intrinsic each.
macro_rules! intrinsics {
    ($(fn $name:ident($($arg:ident: $type:ty),*) $(-> $of:ty)? = $call:expr;)*) => {$(
        #[inline(always)]
        unsafe fn $name(&self $(, $arg: $type)*) $(-> $of)? {
            // SAFETY: the threads that are to make the call make it (trait).
            unsafe { $call }
        }
    )*};
}

/// Methods that are one special register each.
macro_rules! registers {
    ($($name:ident = $call:expr;)*) => {$(
        #[inline(always)]
        fn $name(&self) -> u32 {
            // SAFETY: reads a special register.
            (unsafe { $call }) as u32
        }
    )*};
}

/// Reads a special register of 32 bits that has no intrinsic.
macro_rules! special_register {
    ($name:literal) => {{
        let word: u32;
        // SAFETY: reads a special register.
        unsafe {
            asm!(concat!("mov.u32 {w}, ", $name, ";"), w = out(reg32) word, options(pure, nomem, nostack));
        }
        word
    }};
}
