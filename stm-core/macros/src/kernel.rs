//! The attributes `#[kernel]`: of `stm-core` for a kernel with transactions, and of `stm-machine` for one without.

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
        let text = "the second parameter of a kernel is `stm: &StmRef<A>`";
        return refuse(stm.ty, text);
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
    let queue = quote_spanned!(here=> queue);
    let holds = quote_spanned!(here=> queue.holds());
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
            ) -> ::stm_core::host::Result<::stm_core::host::Done> {
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
            ) -> ::stm_core::host::Result<::stm_core::host::Done> {
                launch_with::<::stm_core::algorithm::#default, D>(stm, shape, #(#names),*)
            }

            /// Adds a launch under an algorithm to those of [`Stm::in_order`](stm_core::host::Stm::in_order).
            pub fn enqueue_with<'env, #algorithm: ::stm_core::algorithm::Algorithm, D: ::stm_core::host::Device>(
                queue: &::stm_core::host::InOrder<'_, 'env, D>,
                shape: ::stm_core::host::Launch,
                #(#names: #env_types,)*
            ) -> ::stm_core::host::Result {
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
            ) -> ::stm_core::host::Result {
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

fn signature_alone(function: &ItemFn) -> syn::Result<Signature<'_>> {
    let signature = &function.sig;
    let wrong = || {
        let text = "a kernel is generic over its lane alone, which comes first: \
                    `fn name<L: Lane>(lane: &L, …)`";
        Error::new_spanned(signature, text)
    };
    let mut generics = signature.generics.params.iter();
    let (Some(GenericParam::Type(lane)), None) = (generics.next(), generics.next()) else {
        return Err(wrong());
    };
    refuse_kind(function)?;
    let mut parameters = signature.inputs.iter();
    let first = parameters.next().ok_or_else(wrong)?;
    if !argument(first)?.is_data {
        return Err(wrong());
    }
    Ok(Signature {
        function,
        lane: &lane.ident,
        algorithm: None,
        arguments: parameters.map(argument).collect::<syn::Result<_>>()?,
    })
}

fn host_alone(kernel: &Signature<'_>) -> TokenStream {
    let (names, types) = (kernel.names(), kernel.lent(false, None));
    // Names of the macro's own, which those of the arguments cannot meet.
    let here = Span::mixed_site();
    let values = kernel.values(&quote_spanned!(here=> device));
    let watchdog = quote_spanned!(here=> watchdog);
    let checks = kernel.checks(&watchdog, &quote_spanned!(here=> holds));
    quote_spanned! {here=>
        ::stm_machine::__host! {
            /// Launches the kernel, waits for it, and returns its time. What the kernel waits for, it waits
            /// for until the time limit of `watchdog`. It fails at a timeout, or if an argument does not fit.
            pub fn launch<D: ::stm_machine::host::Device>(
                device: &D,
                watchdog: &mut ::stm_machine::host::Watchdog<D>,
                shape: ::stm_machine::host::Launch,
                #(#names: #types,)*
            ) -> ::core::result::Result<::core::time::Duration, ::stm_machine::host::Error> {
                watchdog.check_device(device)?;
                let mut holds = ::stm_machine::host::Holds::new();
                #(#checks)*
                let params = Params { #(#names: #values,)* };
                // SAFETY: the arguments are borrowed until this returns and are on this device (`Argument`),
                // as the flag is (`check_device`), and no other launch has them in use (`holds`).
                unsafe { watchdog.launch::<Kernel>(device, &shape, &params) }
            }
        }
    }
}

pub(crate) fn expand_alone(options: &Options, function: &ItemFn) -> syn::Result<TokenStream> {
    if let Some(option) = options.of_transactions() {
        let text = "a kernel without transactions has no algorithms: \
                    its options are `name = \"…\"` and `wide`";
        return refuse(option, text);
    }
    let signature = signature_alone(function)?;
    Ok(signature.module(options, |entry| {
        let wide = options.wide.then(|| quote!(, wide));
        let host = host_alone(&signature);
        quote! {
            ::stm_machine::kernel_alone!(Kernel, Params, #entry, #entry / "alone" #wide);
            #host
        }
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

    #[test]
    fn what_is_made_names_no_crate_but_the_machine() {
        let function = "fn k<L: Lane>(lane: &L, a: &TArray<u32>, n: u64) {}";
        let text = made(super::expand_alone, "name = \"x\", wide", function).unwrap();
        assert!(!text.contains("stm_core"), "{text}");
        let expected = "kernel_alone ! (Kernel , Params , \"x\" , \"x\" / \"alone\" , wide)";
        assert!(text.contains(expected), "{text}");
        assert!(text.contains("\"a:TArray<u32>,n:u64\""), "{text}");
    }
}
