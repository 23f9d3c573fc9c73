//! What the two attributes `#[kernel]` have in common: what the function says, and the module made of it.

use crate::options::Options;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{Error, FnArg, Ident, ItemFn, LitStr, Pat, Type, parse_quote};

/// Returns the error that says `text` at these tokens.
pub(crate) fn refuse<T>(at: impl ToTokens, text: &str) -> syn::Result<T> {
    Err(Error::new_spanned(at, text))
}

/// A parameter of the kernel after the lane and, if it has one, the memory.
pub(crate) struct Argument<'a> {
    pub(crate) name: &'a Ident,
    pub(crate) ty: &'a Type,
    /// Says whether the function borrows it: data in the device's memory.
    pub(crate) is_data: bool,
}

pub(crate) fn argument(parameter: &FnArg) -> syn::Result<Argument<'_>> {
    let FnArg::Typed(parameter) = parameter else {
        let text = "a kernel is a function without `self`: put it outside of the `impl`, and give it \
                    what it needs as parameters";
        return refuse(parameter, text);
    };
    let Pat::Ident(pattern) = &*parameter.pat else {
        let text = "a parameter of a kernel is a plain name: `range: (u64, u64)`, and take it apart \
                    in the body";
        return refuse(&parameter.pat, text);
    };
    refuse_host(&parameter.ty)?;
    let (ty, is_data) = match &*parameter.ty {
        Type::Reference(reference) if reference.mutability.is_some() => {
            let text = "the threads of a launch share their parameters: use `&`; results go into an \
                        `Output`, and transactions write into `Cells`";
            return refuse(reference, text);
        }
        Type::Reference(reference) => (&*reference.elem, true),
        ty => (ty, false),
    };
    let name = &pattern.ident;
    Ok(Argument { name, ty, is_data })
}

pub(crate) fn borrowed(ty: &Type) -> &Type {
    match ty {
        Type::Reference(reference) => &reference.elem,
        ty => ty,
    }
}

pub(crate) fn last_word(ty: &Type) -> Option<&Ident> {
    match ty {
        Type::Path(path) if path.qself.is_none() => path.path.segments.last().map(|s| &s.ident),
        _ => None,
    }
}

/// Refuses a type of the host alone, of which the compiler would say less and in more words.
fn refuse_host(ty: &Type) -> syn::Result<()> {
    let of = borrowed(ty);
    let is_one =
        |names: &str| last_word(of).is_some_and(|is| names.split(' ').any(|name| is == name));
    if matches!(of, Type::Slice(_)) || is_one("Vec Box String str") {
        let text = "a kernel does not reach the host's memory: the parameter is `Input<u32>` for \
                    what is only read, `Output<u32>` for results, or `Cells<u32>` for words of \
                    transactions";
        return refuse(ty, text);
    }
    if is_one("usize isize") {
        return refuse(ty, "its size differs between machines: use `u64` or `i64`");
    }
    Ok(())
}

/// Reads a function, and says `text` of another item.
pub(crate) fn function(item: TokenStream, text: &str) -> syn::Result<ItemFn> {
    syn::parse2(item.clone()).map_err(|error| match syn::parse2::<syn::Item>(item) {
        Ok(other) if !matches!(other, syn::Item::Fn(_)) => Error::new_spanned(other, text),
        _ => error,
    })
}

/// What is said of a function that is `async`, `const`, `unsafe`, `extern` or returns something.
const NO_KERNEL: [&str; 5] = [
    "a kernel is not asynchronous: leave `async` out",
    "a kernel runs in launches alone: leave `const` out",
    "safe code launches a kernel: leave `unsafe` out here, and write it in the body, around what needs it",
    "the attribute makes the entry points of a kernel: leave `extern` out",
    "a kernel returns nothing: write results to an `Output`",
];

/// Refuses a function of a kind that no kernel is, or that returns something.
pub(crate) fn refuse_kind(function: &ItemFn) -> syn::Result<()> {
    let signature = &function.sig;
    let words: [&dyn ToTokens; 5] = [
        &signature.asyncness,
        &signature.constness,
        &signature.safety,
        &signature.abi,
        &signature.output,
    ];
    // What a function does not say has no tokens.
    let mut said = words.into_iter().zip(NO_KERNEL);
    let said = said.find(|(word, _)| !word.to_token_stream().is_empty());
    said.map_or(Ok(()), |(word, text)| refuse(word, text))
}

/// What a function says that becomes a kernel, with transactions or without.
pub(crate) struct Signature<'a> {
    pub(crate) function: &'a ItemFn,
    pub(crate) lane: &'a Ident,
    pub(crate) algorithm: Option<&'a Ident>,
    pub(crate) arguments: Vec<Argument<'a>>,
}

impl Signature<'_> {
    fn home(&self) -> TokenStream {
        let of_machine = || quote!(::stm_machine);
        self.algorithm
            .map_or_else(of_machine, |_| quote!(::stm_core))
    }

    pub(crate) fn names(&self) -> Vec<&Ident> {
        self.arguments.iter().map(|a| a.name).collect()
    }

    pub(crate) fn memory(&self) -> Ident {
        let is_taken = self.arguments.iter().any(|a| a.name == "stm");
        format_ident!("{}", if is_taken { "memory_of_stm" } else { "stm" })
    }

    /// Returns the generic parameters of block and kernel: where they are declared, and where they are used.
    fn generics(&self) -> (TokenStream, TokenStream) {
        let of = |a| (quote!(<#a: ::stm_core::algorithm::Algorithm>), quote!(<#a>));
        self.algorithm.map(of).unwrap_or_default()
    }

    fn device(&self, entry: &LitStr) -> TokenStream {
        let (home, (declared, used)) = (self.home(), self.generics());
        let (lane, arguments, names) = (self.lane, &self.arguments, self.names());
        let function = &self.function.sig.ident;
        let types = arguments.iter().map(|a| a.ty);
        let passed = arguments.iter().map(|Argument { name, is_data, .. }| {
            let borrow = is_data.then(|| quote!(&));
            quote!(#borrow params.#name)
        });
        let plain = arguments.iter().filter(|a| !a.is_data).map(|a| {
            let ty = a.ty;
            quote_spanned!(ty.span()=> #home::__is_plain::<#ty>();)
        });
        let note = note(arguments);
        let algorithm = self.algorithm.into_iter();
        let of = |algorithm| quote!(<#algorithm>(::core::marker::PhantomData<#algorithm>));
        let kernel = self.algorithm.map(of);
        let handle = self.memory();
        let memory = self.algorithm.map(|_| quote!(&params.#handle,));
        quote! {
            /// The parameters of a launch.
            #[repr(C)]
            pub struct Params #declared {
                #(
                    /// The transactional memory.
                    pub #handle: ::stm_core::StmRef<#algorithm>,
                )*
                #(
                    #[doc = concat!("The argument `", stringify!(#names), "`.")]
                    pub #names: #types,
                )*
            }

            impl #declared ::core::clone::Clone for Params #used {
                fn clone(&self) -> Self {
                    *self
                }
            }
            impl #declared ::core::marker::Copy for Params #used {}
            // Plain data need not say what it has in it.
            impl #declared ::core::fmt::Debug for Params #used {
                fn fmt(&self, to: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    to.debug_struct("Params").finish_non_exhaustive()
                }
            }

            const _: fn() = || { #(#plain)* };

            /// The kernel; one with transactions is of one algorithm.
            #[derive(Clone, Copy, Debug)]
            pub struct Kernel #kernel;

            impl #declared Kernel #used {
                /// The names and types of the arguments.
                pub const NOTE: &'static str = #note;

                #[inline(always)]
                fn body<#lane: #home::Lane>(lane: &#lane, params: &Params #used) {
                    let _ = params;
                    super::#function(lane, #memory #(#passed),*);
                }
            }

            #home::ptx_note!("stm-parameters ", #entry, " ", #note);
        }
    }

    /// Returns statements that refuse a launch for which an argument was not made, by the stop flag of
    /// `launches`, or which another has in use, by `holds`.
    pub(crate) fn checks(&self, launches: &TokenStream, holds: &TokenStream) -> Vec<TokenStream> {
        let (home, (_, used)) = (self.home(), self.generics());
        let lent = self.arguments.iter().filter(|a| a.is_data);
        lent.map(|Argument { name, ty, .. }| {
            quote_spanned! {Span::mixed_site()=>
                #home::host::Argument::<D, #ty>::check_launch::<Kernel #used>(
                    &#name,
                    &shape,
                    #launches.stop(),
                )?;
                #home::host::Argument::<D, #ty>::hold(&#name, &mut #holds, stringify!(#name))?;
            }
        })
        .collect()
    }

    /// Returns the types of the functions' arguments, for the lifetime `'env` and with the algorithm
    /// `default` in place of the generic one if these are asked for.
    pub(crate) fn lent(&self, env: bool, default: Option<&Ident>) -> Vec<TokenStream> {
        let home = self.home();
        let of = |Argument { is_data, ty, .. }: &Argument| {
            let mut ty = (*ty).clone();
            if let (Some(generic), Some(algorithm)) = (self.algorithm, default) {
                Named { generic, algorithm }.visit_type_mut(&mut ty);
            }
            let env = env.then(|| quote!(+ 'env));
            if *is_data {
                quote!(impl #home::host::Argument<D, #ty> #env)
            } else {
                quote!(#ty)
            }
        };
        self.arguments.iter().map(of).collect()
    }

    pub(crate) fn values(&self, device: &TokenStream) -> Vec<TokenStream> {
        let home = self.home();
        let of = |Argument { name, is_data, .. }: &Argument| {
            if *is_data {
                quote!(#home::host::Argument::parameter(#name, #device, stringify!(#name))?)
            } else {
                quote!(#name)
            }
        };
        self.arguments.iter().map(of).collect()
    }

    /// Returns the function and its module: the parameter block, the kernel's type, and what `rest` makes of
    /// the name: entry points and the functions that launch them.
    pub(crate) fn module(
        &self,
        options: &Options,
        rest: impl FnOnce(&LitStr) -> TokenStream,
    ) -> TokenStream {
        let (function, name) = (self.function, &self.function.sig.ident);
        let named = || LitStr::new(&name.to_string(), name.span());
        let entry = options.name.clone().unwrap_or_else(named);
        let (device, rest) = (self.device(&entry), rest(&entry));
        let visibility = &function.vis;
        let documentation = function.attrs.iter().filter(|a| a.path().is_ident("doc"));
        quote! {
            #[allow(clippy::too_many_arguments, clippy::needless_pass_by_value)]
            #[inline(always)]
            #function

            #(#documentation)*
            #[allow(
                clippy::pedantic,
                clippy::too_many_arguments,
                missing_docs,
                unreachable_pub,
                unused_imports
            )]
            #visibility mod #name {
                use super::*;

                #device
                #rest
            }
        }
    }
}

struct Named<'a> {
    generic: &'a Ident,
    algorithm: &'a Ident,
}

impl VisitMut for Named<'_> {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        let Self { generic, algorithm } = *self;
        if let Type::Path(path) = ty
            && let segments = &path.path.segments
            && path.qself.is_none()
            && segments
                .first()
                .is_some_and(|first| first.ident == *generic)
        {
            let rest = segments.iter().skip(1);
            *ty = if segments.len() == 1 {
                parse_quote!(::stm_core::algorithm::#algorithm)
            } else {
                parse_quote!(<::stm_core::algorithm::#algorithm as ::stm_core::algorithm::Algorithm>#(::#rest)*)
            };
        }
        visit_mut::visit_type_mut(self, ty);
    }
}

/// Returns the names and types of the arguments as the PTX records them.
fn note(arguments: &[Argument<'_>]) -> String {
    let parts = arguments.iter().map(|Argument { name, ty, .. }| {
        let ty = ty.to_token_stream().to_string();
        format!("{name}:{}", ty.split_whitespace().collect::<String>())
    });
    // Braces mean something to the assembler's template.
    let text = parts.collect::<Vec<_>>().join(",");
    // As the short form has it.
    let text = text.replace("__A::Array", "Cells").replace("<__A,", "<");
    text.replace(['{', '}'], "|")
}

/// What an attribute makes of a function, or its error, for tests.
#[cfg(test)]
pub(crate) fn made(
    expand: fn(&Options, &ItemFn) -> syn::Result<TokenStream>,
    options: &str,
    function: &str,
) -> Result<String, String> {
    let made =
        syn::parse_str(options).and_then(|options| expand(&options, &syn::parse_str(function)?));
    made.map(|tokens| tokens.to_string())
        .map_err(|error| error.to_string())
}
