//! `#[kernel]` of `stm-machine`: a kernel without transactions.

use crate::options::Options;
use crate::signature::{Signature, argument, refuse, refuse_kind};
use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Error, GenericParam, ItemFn};

fn signature(function: &ItemFn) -> syn::Result<Signature<'_>> {
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

fn host(kernel: &Signature<'_>) -> TokenStream {
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

pub(crate) fn expand(options: &Options, function: &ItemFn) -> syn::Result<TokenStream> {
    if let Some(option) = options.of_transactions() {
        let text = "a kernel without transactions has no algorithms: \
                    its options are `name = \"…\"` and `wide`";
        return refuse(option, text);
    }
    let signature = signature(function)?;
    Ok(signature.module(options, |entry| {
        let wide = options.wide.then(|| quote!(, wide));
        let host = host(&signature);
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
    fn what_is_made_names_no_crate_but_the_machine() {
        let function = "fn k<L: Lane>(lane: &L, a: &TArray<u32>, n: u64) {}";
        let text = made(super::expand, "name = \"x\", wide", function).unwrap();
        assert!(!text.contains("stm_core"), "{text}");
        let expected = "kernel_alone ! (Kernel , Params , \"x\" , \"x\" / \"alone\" , wide)";
        assert!(text.contains(expected), "{text}");
        assert!(text.contains("\"a:TArray<u32>,n:u64\""), "{text}");
    }
}
