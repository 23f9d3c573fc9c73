//! Takes the committed PTX for the kernels of this crate.

fn main() {
    stm_core_build::committed("ptx.archive");
}
