//! The attribute that inlines the functions of an impl or a trait.

use crate::signature::refuse;
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::visit_mut::VisitMut;
use syn::{Attribute, Block, ImplItemFn, Item, Signature, TraitItemFn, parse_quote};

const LARGE: usize = 150;

/// The same for functions that are compiled once on the CPU.
const LARGE_APART: usize = 60;

/// Puts an attribute on each function with a body that has no such attribute of its own.
pub(crate) fn expand(apart: bool, block: TokenStream) -> syn::Result<TokenStream> {
    let mut item = syn::parse2(block)?;
    if !matches!(item, Item::Impl(_) | Item::Trait(_)) {
        return refuse(item, "this inlines the functions of an impl or a trait");
    }
    Inliner { apart }.visit_item_mut(&mut item);
    Ok(item.into_token_stream())
}

struct Inliner {
    apart: bool,
}

impl VisitMut for Inliner {
    fn visit_impl_item_fn_mut(&mut self, function: &mut ImplItemFn) {
        self.inline(&mut function.attrs, &function.sig, &function.block);
    }

    fn visit_trait_item_fn_mut(&mut self, function: &mut TraitItemFn) {
        if let Some(body) = &function.default {
            self.inline(&mut function.attrs, &function.sig, body);
        }
    }
}

impl Inliner {
    fn inline(&self, attributes: &mut Vec<Attribute>, signature: &Signature, body: &Block) {
        let says_itself = |attribute: &Attribute| {
            let own = ["inline", "cfg_attr"];
            own.iter().any(|word| attribute.path().is_ident(word))
        };
        if attributes.iter().any(says_itself) {
            return;
        }
        let tokens = size(signature.to_token_stream()) + size(body.to_token_stream());
        if tokens < if self.apart { LARGE_APART } else { LARGE } {
            attributes.push(parse_quote!(#[inline(always)]));
        } else if self.apart {
            attributes.push(parse_quote!(#[cfg_attr(target_arch = "nvptx64", inline(always))]));
            attributes.push(parse_quote!(#[cfg_attr(not(target_arch = "nvptx64"), inline(never))]));
        } else {
            attributes.push(parse_quote!(
                #[cfg_attr(any(target_arch = "nvptx64", not(debug_assertions)), inline(always))]
            ));
        }
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
