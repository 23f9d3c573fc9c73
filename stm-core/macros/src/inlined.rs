//! The attribute that inlines the functions of an impl or a trait.

use crate::signature::refuse;
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Attribute, Block, ImplItem, Item, Signature, TraitItem, parse_quote};

const LARGE: usize = 150;

/// The same for functions that are compiled once on the CPU.
const LARGE_APART: usize = 60;

/// Puts an attribute on each function with a body that has no such attribute of its own.
pub(crate) fn expand(apart: bool, block: TokenStream) -> syn::Result<TokenStream> {
    let mut item: Item = syn::parse2(block)?;
    match &mut item {
        Item::Impl(of) => {
            for item in &mut of.items {
                if let ImplItem::Fn(function) = item {
                    inline(apart, &mut function.attrs, &function.sig, &function.block);
                }
            }
        }
        Item::Trait(of) => {
            for item in &mut of.items {
                if let TraitItem::Fn(function) = item
                    && let Some(body) = &function.default
                {
                    inline(apart, &mut function.attrs, &function.sig, body);
                }
            }
        }
        _ => return refuse(item, "this inlines the functions of an impl or a trait"),
    }
    Ok(item.into_token_stream())
}

fn inline(apart: bool, attributes: &mut Vec<Attribute>, signature: &Signature, body: &Block) {
    let says_itself = |attribute: &Attribute| {
        let own = ["inline", "cfg_attr"];
        own.iter().any(|word| attribute.path().is_ident(word))
    };
    if attributes.iter().any(says_itself) {
        return;
    }
    let tokens = size(signature.to_token_stream()) + size(body.to_token_stream());
    if tokens < if apart { LARGE_APART } else { LARGE } {
        attributes.push(parse_quote!(#[inline(always)]));
    } else if apart {
        attributes.push(parse_quote!(#[cfg_attr(target_arch = "nvptx64", inline(always))]));
        attributes.push(parse_quote!(#[cfg_attr(not(target_arch = "nvptx64"), inline(never))]));
    } else {
        attributes.push(parse_quote!(
            #[cfg_attr(any(target_arch = "nvptx64", not(debug_assertions)), inline(always))]
        ));
    }
}

/// How many tokens these are, with those inside of them.
fn size(tokens: TokenStream) -> usize {
    let size = |token| match token {
        TokenTree::Group(group) => 2 + size(group.stream()),
        _ => 1,
    };
    tokens.into_iter().map(size).sum()
}
