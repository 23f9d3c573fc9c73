//! `#[kernel]`: a kernel with transactions.

use crate::options::{Options, entry_points};
use crate::short;
use crate::signature::{Signature, argument, refuse, refuse_kind};
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Error, FnArg, GenericParam, Ident, ItemFn};

fn machine(function: &ItemFn) -> syn::Result<(&Ident, &Ident)> {
    let signature = &function.sig;
    let wrong = |at: &dyn ToTokens| {
        let text = "a kernel is `fn name(stm: &Stm, …)`, or is generic over its lane and its \
                    algorithm: `fn name<L: Lane, A: Algorithm>(lane: &L, stm: &StmRef<A>, …)`";
        Error::new_spanned(at, text)
    };
    if let Some(FnArg::Receiver(_)) = signature.inputs.first() {
        argument(&signature.inputs[0])?;
    }
    if signature.generics.params.is_empty() {
        let text = format!(
            "the first parameter of a kernel is the transactional memory: `fn {}(stm: &Stm, …)`",
            signature.ident
        );
        let is_late = |at: &&FnArg| short::memory(at).is_some();
        return match signature.inputs.iter().find(is_late) {
            Some(late) => refuse(late, &text),
            None if signature.inputs.is_empty() => refuse(&signature.ident, &text),
            None => refuse(&signature.inputs, &text),
        };
    }
    let parameters = signature.generics.params.iter();
    let types = parameters.map(|parameter| match parameter {
        GenericParam::Type(ty) => Ok(&ty.ident),
        other => Err(wrong(other)),
    });
    match types.collect::<syn::Result<Vec<_>>>()?[..] {
        [lane, algorithm] => Ok((lane, algorithm)),
        _ => Err(wrong(&signature.generics)),
    }
}

fn signature(function: &ItemFn) -> syn::Result<Signature<'_>> {
    let inputs = &function.sig.inputs;
    let (lane, algorithm) = machine(function)?;
    refuse_kind(function)?;
    let mut parameters = inputs.iter();
    let (Some(_), Some(stm)) = (parameters.next(), parameters.next()) else {
        let text = "the first parameters of a kernel are `lane: &L` and `stm: &StmRef<A>`";
        return refuse(inputs, text);
    };
    let stm = argument(stm)?;
    if !stm.is_data {
        return refuse(
            stm.ty,
            "the second parameter of a kernel is `stm: &StmRef<A>`",
        );
    }
    Ok(Signature {
        function,
        lane,
        algorithm: Some(algorithm),
        arguments: parameters.map(argument).collect::<syn::Result<_>>()?,
    })
}

fn host(kernel: &Signature<'_>, default: &Ident) -> TokenStream {
    let (algorithm, names) = (kernel.algorithm, kernel.names());
    let [types, env_types] = [false, true].map(|env| kernel.lent(env, None));
    let [default_types, env_default_types] =
        [false, true].map(|env| kernel.lent(env, Some(default)));
    // Names of the macro's own, which those of the arguments cannot meet.
    let here = Span::mixed_site();
    let values = kernel.values(&quote_spanned!(here=> stm.device()));
    let env_values = kernel.values(&quote_spanned!(here=> device));
    let checks = kernel.checks(&quote_spanned!(here=> stm), &quote_spanned!(here=> holds));
    let (queue, holds) = (
        quote_spanned!(here=> queue),
        quote_spanned!(here=> queue.holds()),
    );
    let queue_checks = kernel.checks(&queue, &holds);
    let memory = kernel.memory();
    let about = format!(
        "Launches the kernel under [`{default}`](stm_core::algorithm::{default}) and waits \
         for it; see `launch_with`."
    );
    quote_spanned! {here=>
        ::stm_core::__host! {
            /// Launches the kernel under an algorithm of its entry points, waits for it, and returns its time
            /// and statistics. It fails for a fault, a timeout, or an argument that does not fit.
            pub fn launch_with<#algorithm: ::stm_core::algorithm::Algorithm, D: ::stm_core::host::Device>(
                stm: &mut ::stm_core::host::Stm<D>,
                shape: ::stm_core::host::Launch,
                #(#names: #types,)*
            ) -> ::core::result::Result<::stm_core::host::Done, ::stm_core::host::Error> {
                let mut holds = ::stm_core::host::Holds::new();
                #(#checks)*
                stm.set_up::<#algorithm>(shape)?;
                let params = Params::<#algorithm> {
                    #memory: stm.handle::<#algorithm>(),
                    #(#names: #values,)*
                };
                // SAFETY: the handle is of this `stm`, which has seen to it that all launches use one
                // algorithm (`set_up`); the arguments are borrowed until this returns, are on its device,
                // have the algorithm's layout (`Argument`), and are in use by no other launch (`holds`).
                unsafe { stm.launch::<Kernel<#algorithm>>(&params) }.map(::core::convert::Into::into)
            }

            #[doc = #about]
            pub fn launch<D: ::stm_core::host::Device>(
                stm: &mut ::stm_core::host::Stm<D>,
                shape: ::stm_core::host::Launch,
                #(#names: #default_types,)*
            ) -> ::core::result::Result<::stm_core::host::Done, ::stm_core::host::Error> {
                launch_with::<::stm_core::algorithm::#default, D>(stm, shape, #(#names),*)
            }

            /// Adds a launch under an algorithm to those of [`Stm::in_order`](stm_core::host::Stm::in_order).
            pub fn enqueue_with<'env, #algorithm: ::stm_core::algorithm::Algorithm, D: ::stm_core::host::Device>(
                queue: &::stm_core::host::InOrder<'_, 'env, D>,
                shape: ::stm_core::host::Launch,
                #(#names: #env_types,)*
            ) -> ::core::result::Result<(), ::stm_core::host::Error> {
                #(#queue_checks)*
                // SAFETY: as for `launch_with`; the arguments are borrowed until all launches have ended.
                unsafe {
                    queue.enqueue::<#algorithm, Kernel<#algorithm>>(shape, |device, stm| {
                        let _ = device;
                        ::core::result::Result::Ok(Params::<#algorithm> {
                            #memory: stm,
                            #(#names: #env_values,)*
                        })
                    })
                }
            }

            /// Does the same as `enqueue_with` under the first algorithm.
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

pub(crate) fn expand(options: &Options, function: &ItemFn) -> syn::Result<TokenStream> {
    let short = short::kernel(function)?;
    let signature = signature(short.as_ref().unwrap_or(function))?;
    Ok(signature.module(options, |entry| {
        let (entry_points, default) = entry_points(options, entry);
        let host = host(&signature, &default);
        quote!(#entry_points #host)
    }))
}

#[cfg(test)]
mod tests {
    use crate::signature::made;

    #[test]
    fn options_choose_algorithms_name_and_limits() {
        let function =
            "fn k<L: Lane, A: Algorithm>(lane: &L, stm: &StmRef<A>, a: &A::Array<u32>, n: u64) {}";
        for row in include_str!("kernel.txt").lines() {
            let (options, expected) = row.split_once(" => ").unwrap();
            let text = made(super::expand, options, function).unwrap();
            assert!(text.contains(expected), "{options}: {text}");
            // What is lent is named with the default algorithm in its type.
            let is_cgl = options.starts_with("Cgl");
            let first = if is_cgl { "Cgl" } else { "Fast" };
            let lent = format!("< :: stm_core :: algorithm :: {first} as :: stm_core");
            assert!(text.contains(&lent), "{options}: {text}");
            assert!(text.contains("\"a:A::Array<u32>,n:u64\""), "{text}");
        }
        assert!(made(super::expand, "name = 3", function).is_err());
    }
}
