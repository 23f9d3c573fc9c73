//! What stands in the parentheses of `#[kernel]`.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Error, Ident, LitInt, LitStr, Token, parenthesized};

const OPTIONS: &str = "the options are algorithms (`Fast, HvSorting`; `all`; `teams`), \
                       `name = \"ra\"`, `wide` and `registers(fast = 128)`";

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
            let text = word.to_string();
            let is_twice = match text.as_str() {
                "name" => {
                    let name = input.parse::<Token![=]>().and_then(|_| input.parse());
                    let text = "the kernel's name is a text: `name = \"ra\"`";
                    let name = name.map_err(|error| Error::new(error.span(), text))?;
                    options.name.replace(name).is_some()
                }
                "wide" => std::mem::replace(&mut options.wide, true),
                "registers" => {
                    let inside;
                    parenthesized!(inside in input);
                    let limits = Punctuated::<Limit, Token![,]>::parse_terminated(&inside)?;
                    options.registers.extend(limits);
                    false
                }
                "all" | "teams" => {
                    options.algorithms.push(word.clone());
                    options.algorithms.len() > 1
                }
                _ if text.starts_with(char::is_uppercase) => {
                    let is_twice = options.algorithms.contains(&word);
                    options.algorithms.push(word.clone());
                    let first = options.algorithms[0].to_string();
                    is_twice || first.starts_with(char::is_lowercase)
                }
                _ => {
                    let text = format!("`{word}` is no option of a kernel; {OPTIONS}");
                    return Err(Error::new(word.span(), text));
                }
            };
            if is_twice {
                let text = format!("`{word}` says again what has been said: leave it out");
                return Err(Error::new(word.span(), text));
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        options.refuse_limits_of_others()?;
        Ok(options)
    }
}

impl Options {
    fn refuse_limits_of_others(&self) -> syn::Result<()> {
        let mut named: Vec<String> = self.algorithms.iter().map(entry).collect();
        if named.is_empty() {
            named = ["fast", "fast_table"].map(str::to_owned).into();
        }
        // The registry has the others.
        if named[0] == "all" || named[0] == "teams" {
            return Ok(());
        }
        let lacks = |limit: &&Limit| !named.iter().any(|name| limit.entry == name);
        let Some(Limit { entry, .. }) = self.registers.iter().find(lacks) else {
            return Ok(());
        };
        let named = named.join("`, `");
        let text = format!("the kernel has no entry point `{entry}`; it has `{named}`");
        Err(Error::new(entry.span(), text))
    }

    pub(crate) fn of_transactions(&self) -> Option<&Ident> {
        let limited = self.registers.iter().map(|limit| &limit.entry);
        self.algorithms.iter().chain(limited).next()
    }
}

/// Returns the name of an algorithm's entry point: `FastTable` has `fast_table`.
fn entry(algorithm: &Ident) -> String {
    let mut name = String::new();
    for c in algorithm.to_string().chars() {
        if c.is_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.extend(c.to_lowercase());
    }
    name
}

struct Limit {
    entry: Ident,
    registers: LitInt,
}

impl Parse for Limit {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let entry = input.parse()?;
        input.parse::<Token![=]>()?;
        let registers = input.parse()?;
        Ok(Self { entry, registers })
    }
}

/// Returns the macro call that makes the entry points, and `launch`'s algorithm: the first named, or `Fast`.
pub(crate) fn entry_points(options: &Options, entry: &LitStr) -> (TokenStream, Ident) {
    let named = &options.algorithms;
    let ident = |name| Ident::new(name, Span::call_site());
    let wide = options.wide.then(|| quote!(, wide));
    let limits = options.registers.iter();
    let limits = limits.map(|Limit { entry, registers }| quote!(#entry: #registers));
    let limits = (!options.registers.is_empty()).then(|| quote!(, registers { #(#limits),* }));
    let (algorithms, first) = match &named[..] {
        [] => (quote!(, [Fast, FastTable]), ident("Fast")),
        [all] if all == "all" => (quote!(), ident("Fast")),
        [teams] if teams == "teams" => (quote!(, teams), ident("Fast")),
        [first, ..] => (quote!(, [#(#named),*]), first.clone()),
    };
    let call = quote!(::stm_core::kernels!(Kernel, Params, #entry #algorithms #wide #limits););
    (call, first)
}
