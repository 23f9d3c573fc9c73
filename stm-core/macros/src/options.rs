//! What stands in the parentheses of `#[kernel]`.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Ident, LitInt, LitStr, Token, parenthesized};

/// What stands in the parentheses of the attribute.
#[derive(Default)]
pub(crate) struct Options {
    /// The algorithms named; `all` and `teams` stand for those of the registry.
    algorithms: Vec<Ident>,
    pub(crate) name: Option<LitStr>,
    pub(crate) wide: bool,
    registers: Vec<Limit>,
}

impl Parse for Options {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut options = Self::default();
        while !input.is_empty() {
            let word: Ident = input.parse()?;
            match word.to_string().as_str() {
                "name" => {
                    input.parse::<Token![=]>()?;
                    options.name = Some(input.parse()?);
                }
                "wide" => options.wide = true,
                "registers" => {
                    let inside;
                    parenthesized!(inside in input);
                    let limits = Punctuated::<Limit, Token![,]>::parse_terminated(&inside)?;
                    options.registers.extend(limits);
                }
                _ => options.algorithms.push(word),
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(options)
    }
}

impl Options {
    /// Returns the first option that needs algorithms of transactions, if there is one.
    pub(crate) fn of_transactions(&self) -> Option<&Ident> {
        let limited = self.registers.iter().map(|limit| &limit.entry);
        self.algorithms.iter().chain(limited).next()
    }
}

/// `fast = 128`.
struct Limit {
    entry: Ident,
    registers: LitInt,
}

impl Parse for Limit {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let entry = input.parse()?;
        input.parse::<Token![=]>()?;
        Ok(Self {
            entry,
            registers: input.parse()?,
        })
    }
}

/// Returns the macro call that makes the entry points, and the algorithm of
/// `launch`: the first one named, or `Fast`.
pub(crate) fn entry_points(options: &Options, entry: &LitStr) -> (TokenStream, Ident) {
    let named = &options.algorithms;
    let ident = |name| Ident::new(name, Span::call_site());
    let wide = options.wide.then(|| quote!(, wide));
    let limits = options.registers.iter();
    let limits = limits.map(|Limit { entry, registers }| quote!(#entry: #registers));
    let limits = (!options.registers.is_empty()).then(|| quote!(, registers { #(#limits),* }));
    let group = match &named[..] {
        [one] => one.to_string(),
        _ => String::new(),
    };
    let (algorithms, first) = match (group.as_str(), named.first()) {
        ("all", _) => (quote!(), ident("Fast")),
        ("teams", _) => (quote!(, teams), ident("Fast")),
        (_, Some(first)) => (quote!(, [#(#named),*]), first.clone()),
        (_, None) => (quote!(, [Fast, FastTable]), ident("Fast")),
    };
    let call = quote!(::stm_core::kernels!(Kernel, Params, #entry #algorithms #wide #limits););
    (call, first)
}
