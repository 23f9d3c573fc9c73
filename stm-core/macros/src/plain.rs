//! `#[derive(Plain)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Path, Token, parse_quote_spanned};

/// Implements the trait at a path.
pub(crate) fn expand(item: &DeriveInput, plain: &Path) -> syn::Result<TokenStream> {
    let Data::Struct(data) = &item.data else {
        return Err(Error::new_spanned(
            &item.ident,
            "only a struct can be plain data",
        ));
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
        return Err(Error::new_spanned(
            &item.ident,
            "plain data needs `#[repr(C)]`, so that host and GPU agree on where its fields are",
        ));
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
        let clause = generics.make_where_clause();
        clause
            .predicates
            .push(parse_quote_spanned!(ty.span()=> #ty: #plain));
    }
    let (before, after, clause) = generics.split_for_impl();
    Ok(quote! {
        // SAFETY: the struct has `repr(C)`, and its fields are plain data.
        #[automatically_derived]
        unsafe impl #before #plain for #name #after #clause {}
    })
}
