//! The procedural macros of `stm-core` and `stm-machine`, which export and document them.

use proc_macro::TokenStream;
use quote::quote;
use std::path::PathBuf;
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Path, Token, parse_quote, parse_quote_spanned};

mod inlined;
mod kernel;
mod options;
mod short;
mod signature;

use signature::refuse;

fn or_error(made: syn::Result<proc_macro2::TokenStream>) -> TokenStream {
    made.unwrap_or_else(|error| error.to_compile_error()).into()
}

fn made(
    options: TokenStream,
    function: TokenStream,
    expand: fn(&options::Options, &syn::ItemFn) -> syn::Result<proc_macro2::TokenStream>,
) -> TokenStream {
    let text = "a kernel is a function: `#[kernel] fn name(stm: &Stm, …)`";
    let function = || signature::function(function.into(), text);
    or_error(syn::parse(options).and_then(|options| expand(&options, &function()?)))
}

/// Makes a kernel of a function; see `stm_core::kernel`.
#[proc_macro_attribute]
pub fn kernel(options: TokenStream, function: TokenStream) -> TokenStream {
    made(options, function, kernel::expand)
}

/// Makes a function that transactions call generic; see `stm_core::transactional`.
#[proc_macro_attribute]
pub fn transactional(options: TokenStream, function: TokenStream) -> TokenStream {
    or_error(short::transactional(&options.into(), function.into()))
}

/// Inlines each function of an impl or a trait wherever it is called. A large one is inlined on the GPU and
/// in optimised builds alone, as each call would compile it again; one with its own attribute keeps it. With
/// `apart`, one of some size is on the CPU a function of its own, compiled once.
#[proc_macro_attribute]
pub fn inlined(options: TokenStream, block: TokenStream) -> TokenStream {
    or_error(inlined::expand(!options.is_empty(), block.into()))
}

/// Makes a kernel without transactions of a function; `stm-machine` exports it as `kernel`.
#[proc_macro_attribute]
pub fn kernel_alone(options: TokenStream, function: TokenStream) -> TokenStream {
    made(options, function, kernel::expand_alone)
}

/// Implements `stm_core::Plain` for a `#[repr(C)]` struct of plain fields.
#[proc_macro_derive(Plain)]
pub fn plain(item: TokenStream) -> TokenStream {
    plain_at(item, &parse_quote!(::stm_core::Plain))
}

/// Does the same by the name `stm_machine::Plain`, for crates without `stm-core`; `stm-machine` exports it.
#[proc_macro_derive(PlainOfMachine)]
pub fn plain_of_machine(item: TokenStream) -> TokenStream {
    plain_at(item, &parse_quote!(::stm_machine::Plain))
}

fn plain_at(item: TokenStream, plain: &Path) -> TokenStream {
    or_error(syn::parse(item).and_then(|item| expand(&item, plain)))
}

/// Evaluates to the packed PTX that the build script has left for the kernel of this name, or to no bytes.
#[proc_macro]
pub fn ptx_of(name: TokenStream) -> TokenStream {
    or_error(syn::parse(name).map(|name: syn::LitStr| {
        let folder = std::env::var_os("STM_PTX_DIR").map(PathBuf::from);
        let block = folder.map(|folder| folder.join(name.value() + ".block"));
        let block = block.filter(|block| block.is_file());
        let block = block.map(|block| block.display().to_string());
        block.map_or_else(|| quote!(&[]), |block| quote!(include_bytes!(#block)))
    }))
}

fn expand(item: &DeriveInput, plain: &Path) -> syn::Result<proc_macro2::TokenStream> {
    let Data::Struct(data) = &item.data else {
        return refuse(&item.ident, "only a struct can be plain data");
    };
    let mut is_c = false;
    for attribute in item.attrs.iter().filter(|a| a.path().is_ident("repr")) {
        attribute.parse_nested_meta(|meta| {
            is_c |= meta.path.is_ident("C") || meta.path.is_ident("transparent");
            // An alignment has its number behind it.
            let _ = meta.input.parse::<proc_macro2::Group>();
            Ok(())
        })?;
    }
    if !is_c {
        let text =
            "plain data needs `#[repr(C)]`, so that host and GPU agree on where its fields are";
        return refuse(&item.ident, text);
    }
    let name = &item.ident;
    let mut generics = item.generics.clone();
    for field in &data.fields {
        let ty = &field.ty;
        // An error of a field points at its type.
        let mut plain = plain.clone();
        plain.leading_colon = Some(Token![::](ty.span()));
        for segment in &mut plain.segments {
            segment.ident.set_span(ty.span());
        }
        let clause = parse_quote_spanned!(ty.span()=> #ty: #plain);
        generics.make_where_clause().predicates.push(clause);
    }
    let (before, after, clause) = generics.split_for_impl();
    Ok(quote! {
        // SAFETY: the struct has `repr(C)`, and its fields are plain data.
        #[automatically_derived]
        unsafe impl #before #plain for #name #after #clause {}
    })
}
