//! The attribute that inlines the functions of an impl or a trait.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::quote;

/// From so many tokens on, a function is a large one.
const LARGE: usize = 150;

/// Puts an attribute on each function with a body that has no such attribute of its own.
///
/// It goes by tokens, so that it asks nothing of what it passes on: an impl may have parts that a
/// macro has put there.
pub(crate) fn expand(block: TokenStream) -> TokenStream {
    let mut tokens: Vec<_> = block.into_iter().collect();
    if let Some(TokenTree::Group(body)) = tokens.last_mut() {
        let mut inlined = Group::new(body.delimiter(), functions(body.stream()));
        inlined.set_span(body.span());
        *body = inlined;
    }
    tokens.into_iter().collect()
}

/// Does so with what stands in the block.
fn functions(body: TokenStream) -> TokenStream {
    let (mut made, mut item) = (TokenStream::new(), Vec::new());
    for token in body {
        let has_body =
            matches!(&token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
        let ends = has_body || matches!(&token, TokenTree::Punct(mark) if mark.as_char() == ';');
        item.push(token);
        if ends {
            let function = item.iter().position(|token| is(token, "fn"));
            if let Some(at) = function.filter(|_| has_body && !says_itself(&item)) {
                made.extend(if size(item[at..].iter().cloned()) < LARGE {
                    quote!(#[inline(always)])
                } else {
                    quote!(#[cfg_attr(any(target_arch = "nvptx64", not(debug_assertions)), inline(always))])
                });
            }
            made.extend(item.drain(..));
        }
    }
    made.extend(item);
    made
}

fn is(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if ident == word)
}

/// Whether an attribute of the item says where it is inlined.
fn says_itself(item: &[TokenTree]) -> bool {
    item.iter().any(|token| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => {
            let first = group.stream().into_iter().next();
            first.is_some_and(|word| {
                ["inline", "cfg_attr", "device"]
                    .iter()
                    .any(|w| is(&word, w))
            })
        }
        _ => false,
    })
}

/// How many tokens these are, with those inside of them.
fn size(tokens: impl Iterator<Item = TokenTree>) -> usize {
    tokens
        .map(|token| match token {
            TokenTree::Group(group) => 2 + size(group.stream().into_iter()),
            _ => 1,
        })
        .sum()
}
