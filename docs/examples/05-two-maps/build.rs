//! Builds the kernels of `src/lib.rs` for the GPU.

fn main() {
    stm_core_build::kernels();
}
