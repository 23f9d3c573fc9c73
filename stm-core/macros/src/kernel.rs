//! `#[kernel]`.

use crate::options::{Options, entry_points};
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{Error, FnArg, GenericParam, Ident, ItemFn, LitStr, Pat, Type, parse_quote};

/// A parameter of the kernel after the lane and the memory.
pub(crate) struct Argument<'a> {
    pub(crate) name: &'a Ident,
    /// Its type in the parameter struct.
    pub(crate) ty: &'a Type,
    /// Says whether the function borrows it: data in the device's memory.
    pub(crate) is_data: bool,
}

pub(crate) fn argument(parameter: &FnArg) -> syn::Result<Argument<'_>> {
    let FnArg::Typed(parameter) = parameter else {
        return Err(Error::new_spanned(
            parameter,
            "a kernel is a function without `self`",
        ));
    };
    let Pat::Ident(pattern) = &*parameter.pat else {
        return Err(Error::new_spanned(
            &parameter.pat,
            "a parameter of a kernel is a plain name",
        ));
    };
    match &*parameter.ty {
        Type::Reference(reference) if reference.mutability.is_some() => Err(Error::new_spanned(
            reference,
            "the threads of a launch share their parameters: use `&`",
        )),
        Type::Reference(reference) => Ok(Argument {
            name: &pattern.ident,
            ty: &reference.elem,
            is_data: true,
        }),
        ty => Ok(Argument {
            name: &pattern.ident,
            ty,
            is_data: false,
        }),
    }
}

/// Returns the names of the types of the lane and of the algorithm.
fn machine(function: &ItemFn) -> syn::Result<(&Ident, &Ident)> {
    let wrong = |at: Span| {
        let text = "a kernel is generic over its lane and its algorithm: \
                    `fn name<L: Lane, A: Algorithm>(lane: &L, stm: &StmRef<A>, …)`";
        Error::new(at, text)
    };
    let types: Vec<&Ident> = function
        .sig
        .generics
        .params
        .iter()
        .map(|parameter| match parameter {
            GenericParam::Type(ty) => Ok(&ty.ident),
            other => Err(wrong(other.span())),
        })
        .collect::<syn::Result<_>>()?;
    match types[..] {
        [lane, algorithm] => Ok((lane, algorithm)),
        _ => Err(wrong(function.sig.span())),
    }
}

/// Refuses a function that is asynchronous or returns something.
pub(crate) fn refuse_results(function: &ItemFn) -> syn::Result<()> {
    let signature = &function.sig;
    if let Some(other) = signature.asyncness {
        return Err(Error::new(other.span, "a kernel is not asynchronous"));
    }
    if !matches!(signature.output, syn::ReturnType::Default) {
        return Err(Error::new_spanned(
            &signature.output,
            "a kernel returns nothing: write results to an `Output`",
        ));
    }
    Ok(())
}

/// What the function says.
struct Signature<'a> {
    function: &'a ItemFn,
    lane: &'a Ident,
    algorithm: &'a Ident,
    arguments: Vec<Argument<'a>>,
}

impl<'a> Signature<'a> {
    fn of(function: &'a ItemFn) -> syn::Result<Self> {
        let signature = &function.sig;
        let (lane, algorithm) = machine(function)?;
        refuse_results(function)?;
        let mut parameters = signature.inputs.iter();
        let (Some(_), Some(stm)) = (parameters.next(), parameters.next()) else {
            return Err(Error::new_spanned(
                &signature.inputs,
                "the first parameters of a kernel are `lane: &L` and `stm: &StmRef<A>`",
            ));
        };
        let stm = argument(stm)?;
        if !stm.is_data {
            return Err(Error::new_spanned(
                stm.ty,
                "the second parameter of a kernel is `stm: &StmRef<A>`",
            ));
        }
        let arguments = parameters.map(argument).collect::<syn::Result<_>>()?;
        Ok(Self {
            function,
            lane,
            algorithm,
            arguments,
        })
    }

    /// Returns the parameter block and the kernel's type.
    fn device(&self, entry: &LitStr) -> TokenStream {
        let (lane, algorithm, arguments) = (self.lane, self.algorithm, &self.arguments);
        let function = &self.function.sig.ident;
        let names: Vec<&Ident> = arguments.iter().map(|a| a.name).collect();
        let types = arguments.iter().map(|a| a.ty);
        let passed = arguments.iter().map(|Argument { name, is_data, .. }| {
            if *is_data {
                quote!(&params.#name)
            } else {
                quote!(params.#name)
            }
        });
        let plain = arguments.iter().filter(|a| !a.is_data).map(|a| {
            let ty = a.ty;
            quote::quote_spanned!(ty.span()=> ::stm_core::kernel::is_plain::<#ty>();)
        });
        let note = note(arguments);
        quote! {
            /// The parameters of a launch.
            #[repr(C)]
            #[derive(Debug)]
            pub struct Params<#algorithm: ::stm_core::algorithm::Algorithm> {
                /// The transactional memory.
                pub stm: ::stm_core::StmRef<#algorithm>,
                #(
                    #[doc = concat!("The argument `", stringify!(#names), "`.")]
                    pub #names: #types,
                )*
            }

            impl<#algorithm: ::stm_core::algorithm::Algorithm> ::core::clone::Clone for Params<#algorithm> {
                fn clone(&self) -> Self {
                    *self
                }
            }
            impl<#algorithm: ::stm_core::algorithm::Algorithm> ::core::marker::Copy for Params<#algorithm> {}

            const _: fn() = || { #(#plain)* };

            /// The kernel with transactions of one algorithm.
            #[derive(Clone, Copy, Debug)]
            pub struct Kernel<#algorithm>(::core::marker::PhantomData<#algorithm>);

            impl<#algorithm: ::stm_core::algorithm::Algorithm> Kernel<#algorithm> {
                /// The names and types of the arguments.
                pub const NOTE: &'static str = #note;

                #[inline(always)]
                fn body<#lane: ::stm_core::Lane>(lane: &#lane, params: &Params<#algorithm>) {
                    super::#function(lane, &params.stm, #(#passed),*);
                }
            }

            ::stm_core::ptx_note!("stm-parameters ", #entry, " ", #note);
        }
    }

    /// Returns the statements that refuse a launch for which an argument was not made;
    /// `launches` has the stop flag.
    fn checks(&self, launches: &TokenStream) -> Vec<TokenStream> {
        let algorithm = self.algorithm;
        let lent = self.arguments.iter().filter(|a| a.is_data);
        lent.map(|Argument { name, ty, .. }| {
            quote! {
                ::stm_core::host::Argument::<D, #ty>::check_launch::<Kernel<#algorithm>>(
                    &#name,
                    &shape,
                    #launches.stop(),
                )?;
            }
        })
        .collect()
    }

    /// Returns the types of the functions' arguments, for the lifetime `'env` if that is asked for,
    /// with the algorithm `default` in place of the generic one if one is given.
    fn lent(&self, env: bool, default: Option<&Ident>) -> Vec<TokenStream> {
        let of = |Argument { is_data, ty, .. }: &Argument| {
            let mut ty = (*ty).clone();
            if let Some(algorithm) = default {
                let generic = self.algorithm;
                Named { generic, algorithm }.visit_type_mut(&mut ty);
            }
            match (is_data, env) {
                (false, _) => quote!(#ty),
                (true, false) => quote!(impl ::stm_core::host::Argument<D, #ty>),
                (true, true) => quote!(impl ::stm_core::host::Argument<D, #ty> + 'env),
            }
        };
        self.arguments.iter().map(of).collect()
    }

    /// Returns the arguments as the kernel's parameters on a device.
    fn values(&self, device: &TokenStream) -> Vec<TokenStream> {
        let of = |Argument { name, is_data, .. }: &Argument| {
            if *is_data {
                quote!(::stm_core::host::Argument::parameter(#name, #device, stringify!(#name))?)
            } else {
                quote!(#name)
            }
        };
        self.arguments.iter().map(of).collect()
    }

    /// Returns the functions that launch the kernel.
    fn host(&self, default: &Ident) -> TokenStream {
        let algorithm = self.algorithm;
        let names: Vec<&Ident> = self.arguments.iter().map(|a| a.name).collect();
        let (types, default_types) = (self.lent(false, None), self.lent(false, Some(default)));
        let (env_types, env_default_types) =
            (self.lent(true, None), self.lent(true, Some(default)));
        let (values, env_values) = (
            self.values(&quote!(stm.device())),
            self.values(&quote!(device)),
        );
        let (checks, queue_checks) = (self.checks(&quote!(stm)), self.checks(&quote!(queue)));
        let about = format!(
            "Launches the kernel under [`{default}`](stm_core::algorithm::{default}) and waits \
             for it; see `launch_with`."
        );
        quote! {
            ::stm_core::__host! {
                /// Launches the kernel under an algorithm that it has entry
                /// points for, waits for it, and returns its time and the
                /// statistics of its transactions.
                ///
                /// # Errors
                /// An argument does not fit, a fault of a transaction, a
                /// timeout, or an error of the device.
                pub fn launch_with<#algorithm: ::stm_core::algorithm::Algorithm, D: ::stm_core::host::Device>(
                    stm: &mut ::stm_core::host::Stm<D>,
                    shape: ::stm_core::host::Launch,
                    #(#names: #types,)*
                ) -> ::core::result::Result<::stm_core::host::Done, ::stm_core::host::Error> {
                    #(#checks)*
                    stm.set_up::<#algorithm>(shape)?;
                    let params = Params::<#algorithm> {
                        stm: stm.handle::<#algorithm>(),
                        #(#names: #values,)*
                    };
                    // SAFETY: the handle is of this `stm`, which has seen to it
                    // that all launches use one algorithm (`set_up`); the
                    // arguments are borrowed until this returns, are on its
                    // device and have the algorithm's layout (`Argument`).
                    unsafe { stm.launch::<Kernel<#algorithm>>(&params) }.map(::core::convert::Into::into)
                }

                #[doc = #about]
                ///
                /// # Errors
                /// An argument does not fit, a fault of a transaction, a timeout,
                /// or an error of the device.
                pub fn launch<D: ::stm_core::host::Device>(
                    stm: &mut ::stm_core::host::Stm<D>,
                    shape: ::stm_core::host::Launch,
                    #(#names: #default_types,)*
                ) -> ::core::result::Result<::stm_core::host::Done, ::stm_core::host::Error> {
                    launch_with::<::stm_core::algorithm::#default, D>(stm, shape, #(#names),*)
                }

                /// Adds a launch under an algorithm to those of
                /// [`Stm::in_order`](stm_core::host::Stm::in_order).
                ///
                /// # Errors
                /// An argument does not fit, or an error of the device.
                pub fn enqueue_with<'env, #algorithm: ::stm_core::algorithm::Algorithm, D: ::stm_core::host::Device>(
                    queue: &::stm_core::host::InOrder<'_, 'env, D>,
                    shape: ::stm_core::host::Launch,
                    #(#names: #env_types,)*
                ) -> ::core::result::Result<(), ::stm_core::host::Error> {
                    #(#queue_checks)*
                    // SAFETY: as for `launch_with`; the arguments are borrowed
                    // until all launches in order have ended.
                    unsafe {
                        queue.enqueue::<#algorithm, Kernel<#algorithm>>(shape, |device, stm| {
                            let _ = device;
                            ::core::result::Result::Ok(Params::<#algorithm> {
                                stm,
                                #(#names: #env_values,)*
                            })
                        })
                    }
                }

                /// Does the same under the first algorithm.
                ///
                /// # Errors
                /// An argument does not fit, or an error of the device.
                pub fn enqueue<'env, D: ::stm_core::host::Device>(
                    queue: &::stm_core::host::InOrder<'_, 'env, D>,
                    shape: ::stm_core::host::Launch,
                    #(#names: #env_default_types,)*
                ) -> ::core::result::Result<(), ::stm_core::host::Error> {
                    enqueue_with::<::stm_core::algorithm::#default, D>(queue, shape, #(#names),*)
                }
            }
        }
    }
}

pub(crate) fn expand(options: &Options, function: &ItemFn) -> syn::Result<TokenStream> {
    let signature = Signature::of(function)?;
    let name = &function.sig.ident;
    let entry = options
        .name
        .clone()
        .unwrap_or_else(|| LitStr::new(&name.to_string(), name.span()));
    let (entry_points, default) = entry_points(options, &entry);
    let device = signature.device(&entry);
    let host = signature.host(&default);
    let visibility = &function.vis;
    let documentation = function.attrs.iter().filter(|a| a.path().is_ident("doc"));
    Ok(quote! {
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
            #entry_points
            #host
        }
    })
}

/// Puts an algorithm's type in the place of the generic parameter.
struct Named<'a> {
    generic: &'a Ident,
    algorithm: &'a Ident,
}

impl VisitMut for Named<'_> {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        let Self { generic, algorithm } = *self;
        if let Type::Path(path) = ty
            && path.qself.is_none()
            && path
                .path
                .segments
                .first()
                .is_some_and(|first| first.ident == *generic)
        {
            let rest = path.path.segments.iter().skip(1);
            *ty = if path.path.segments.len() == 1 {
                parse_quote!(::stm_core::algorithm::#algorithm)
            } else {
                parse_quote!(<::stm_core::algorithm::#algorithm as ::stm_core::algorithm::Algorithm>#(::#rest)*)
            };
        }
        visit_mut::visit_type_mut(self, ty);
    }
}

/// Returns the names and types of the arguments as the PTX records them.
pub(crate) fn note(arguments: &[Argument<'_>]) -> String {
    let parts = arguments.iter().map(|a| {
        let ty: String =
            a.ty.to_token_stream()
                .to_string()
                .split_whitespace()
                .collect();
        format!("{}:{ty}", a.name)
    });
    // Braces mean something to the assembler's template.
    parts.collect::<Vec<_>>().join(",").replace(['{', '}'], "|")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(options: &str, function: &str) -> Result<String, String> {
        let options = syn::parse_str(options).map_err(|error| error.to_string())?;
        let function = syn::parse_str(function).map_err(|error| error.to_string())?;
        expand(&options, &function)
            .map(|tokens| tokens.to_string())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_function_that_cannot_be_a_kernel_is_refused_with_the_form_that_can() {
        for (function, expected) in [
            (
                "fn k(lane: &L) {}",
                "generic over its lane and its algorithm",
            ),
            (
                "fn k<'a, L: Lane, A: Algorithm>(lane: &L) {}",
                "generic over its lane",
            ),
            (
                "fn k<L: Lane, A: Algorithm>(lane: &L) {}",
                "`lane: &L` and `stm: &StmRef<A>`",
            ),
            (
                "fn k<L: Lane, A: Algorithm>(lane: &L, stm: StmRef<A>) {}",
                "`stm: &StmRef<A>`",
            ),
            (
                "fn k<L: Lane, A: Algorithm>(lane: &L, stm: &StmRef<A>, a: &mut A::Array<u32>) {}",
                "use `&`",
            ),
            (
                "fn k<L: Lane, A: Algorithm>(lane: &L, stm: &StmRef<A>, (a, b): (u32, u32)) {}",
                "a plain name",
            ),
            (
                "fn k<L: Lane, A: Algorithm>(lane: &L, stm: &StmRef<A>) -> u32 { 0 }",
                "returns nothing",
            ),
            (
                "async fn k<L: Lane, A: Algorithm>(lane: &L, stm: &StmRef<A>) {}",
                "not asynchronous",
            ),
        ] {
            let error = made("", function).unwrap_err();
            assert!(error.contains(expected), "{function}: {error}");
        }
    }

    #[test]
    fn options_choose_algorithms_name_and_limits() {
        let function =
            "fn k<L: Lane, A: Algorithm>(lane: &L, stm: &StmRef<A>, a: &A::Array<u32>, n: u64) {}";
        for (options, expected) in [
            ("", "(Kernel , Params , \"k\" , [Fast , FastTable])"),
            ("all", "(Kernel , Params , \"k\")"),
            ("teams", "(Kernel , Params , \"k\" , teams)"),
            (
                "Cgl, Fast, wide",
                "(Kernel , Params , \"k\" , [Cgl , Fast] , wide)",
            ),
            (
                "all, name = \"x\", registers(fast = 128)",
                "(Kernel , Params , \"x\" , registers { fast : 128 })",
            ),
        ] {
            let text = made(options, function).unwrap();
            assert!(text.contains(expected), "{options}: {text}");
            // What is lent is named with the default algorithm in its type.
            let first = if options.starts_with("Cgl") {
                "Cgl"
            } else {
                "Fast"
            };
            let lent = format!("< :: stm_core :: algorithm :: {first} as :: stm_core");
            assert!(text.contains(&lent), "{options}: {text}");
            assert!(text.contains("\"a:A::Array<u32>,n:u64\""), "{text}");
        }
        assert!(made("name = 3", function).is_err());
    }
}
