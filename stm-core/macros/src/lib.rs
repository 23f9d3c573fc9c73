//! The procedural macros of `stm-core`, which exports and documents them.

mod kernel;
mod options;
mod plain;

use proc_macro::TokenStream;
use std::path::PathBuf;

/// Makes a kernel of a function; see `stm_core::kernel`.
#[proc_macro_attribute]
pub fn kernel(options: TokenStream, function: TokenStream) -> TokenStream {
    let made = syn::parse(options).and_then(|options| {
        let function = syn::parse(function)?;
        kernel::expand(&options, &function)
    });
    made.unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Implements `stm_core::kernel::Plain` for a `#[repr(C)]` struct of plain
/// fields.
#[proc_macro_derive(Plain)]
pub fn plain(item: TokenStream) -> TokenStream {
    let made = syn::parse(item).and_then(|item| plain::expand(&item));
    made.unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Evaluates to the packed PTX of the kernel of this name that the crate's build
/// script has left, a `stm_core::kernel::ptx::Carried`, or to no bytes.
#[proc_macro]
pub fn ptx_of(name: TokenStream) -> TokenStream {
    let name: syn::LitStr = match syn::parse(name) {
        Ok(name) => name,
        Err(error) => return error.to_compile_error().into(),
    };
    let folder = std::env::var_os("STM_PTX_DIR").map(PathBuf::from);
    let block = folder.map(|folder| folder.join(name.value() + ".block"));
    match block.filter(|block| block.is_file()) {
        Some(block) => {
            let block = block.display().to_string();
            quote::quote!(include_bytes!(#block)).into()
        }
        None => quote::quote!(&[]).into(),
    }
}
