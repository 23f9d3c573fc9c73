//! `#[kernel]` of `stm-machine`: a kernel without transactions.

use crate::kernel::{Argument, argument, note, refuse_results};
use crate::options::Options;
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Error, GenericParam, Ident, ItemFn, LitStr};

/// What the function says.
struct Signature<'a> {
    function: &'a ItemFn,
    lane: &'a Ident,
    arguments: Vec<Argument<'a>>,
}

impl<'a> Signature<'a> {
    fn of(function: &'a ItemFn) -> syn::Result<Self> {
        let signature = &function.sig;
        let wrong = || {
            let text = "a kernel is generic over its lane alone, which comes first: \
                        `fn name<L: Lane>(lane: &L, …)`";
            Error::new(signature.span(), text)
        };
        let mut generics = signature.generics.params.iter();
        let (Some(GenericParam::Type(lane)), None) = (generics.next(), generics.next()) else {
            return Err(wrong());
        };
        refuse_results(function)?;
        let mut parameters = signature.inputs.iter();
        let first = parameters.next().ok_or_else(wrong)?;
        if !argument(first)?.is_data {
            return Err(wrong());
        }
        let arguments = parameters.map(argument).collect::<syn::Result<_>>()?;
        Ok(Self {
            function,
            lane: &lane.ident,
            arguments,
        })
    }

    /// Returns the parameter block, the kernel's type and its entry points.
    fn device(&self, entry: &LitStr, wide: bool) -> TokenStream {
        let (lane, arguments) = (self.lane, &self.arguments);
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
            quote_spanned!(ty.span()=> ::stm_machine::kernel::is_plain::<#ty>();)
        });
        let note = note(arguments);
        let wide = wide.then(|| quote!(, wide));
        quote! {
            /// The parameters of a launch.
            #[repr(C)]
            #[derive(Clone, Copy, Debug)]
            pub struct Params {
                #(
                    #[doc = concat!("The argument `", stringify!(#names), "`.")]
                    pub #names: #types,
                )*
            }

            const _: fn() = || { #(#plain)* };

            /// The kernel.
            #[derive(Clone, Copy, Debug)]
            pub struct Kernel;

            impl Kernel {
                /// The names and types of the arguments.
                pub const NOTE: &'static str = #note;

                #[inline(always)]
                fn body<#lane: ::stm_machine::Lane>(lane: &#lane, params: &Params) {
                    let _ = params;
                    super::#function(lane, #(#passed),*);
                }
            }

            ::stm_machine::ptx_note!("stm-parameters ", #entry, " ", #note);
            ::stm_machine::kernel_alone!(Kernel, Params, #entry, #entry / "alone" #wide);
        }
    }

    /// Returns the function that launches the kernel.
    fn host(&self) -> TokenStream {
        let arguments = &self.arguments;
        let names = arguments.iter().map(|a| a.name);
        let types = arguments.iter().map(|Argument { ty, is_data, .. }| {
            if *is_data {
                quote!(impl ::stm_machine::host::Argument<D, #ty>)
            } else {
                quote!(#ty)
            }
        });
        let values = arguments.iter().map(|Argument { name, is_data, .. }| {
            if *is_data {
                quote!(#name: ::stm_machine::host::Argument::parameter(#name, device, stringify!(#name))?)
            } else {
                quote!(#name)
            }
        });
        let lent = arguments.iter().filter(|a| a.is_data);
        let checks = lent.map(|Argument { name, ty, .. }| {
            quote! {
                ::stm_machine::host::Argument::<D, #ty>::check_launch::<Kernel>(
                    &#name,
                    &shape,
                    watchdog.stop(),
                )?;
            }
        });
        quote! {
            ::stm_machine::__host! {
                /// Launches the kernel, waits for it, and returns its time. What the kernel
                /// waits for, it waits for until the time limit of `watchdog`.
                ///
                /// # Errors
                /// An argument does not fit, a timeout, or an error of the device.
                pub fn launch<D: ::stm_machine::host::Device>(
                    device: &D,
                    watchdog: &mut ::stm_machine::host::Watchdog<D>,
                    shape: ::stm_machine::host::Launch,
                    #(#names: #types,)*
                ) -> ::core::result::Result<::core::time::Duration, ::stm_machine::host::Error> {
                    watchdog.check_device(device)?;
                    #(#checks)*
                    let params = Params { #(#values,)* };
                    // SAFETY: the arguments are borrowed until this returns and are on this
                    // device (`Argument`), as the flag is (`check_device`).
                    unsafe { watchdog.launch::<Kernel>(device, &shape, &params) }
                }
            }
        }
    }
}

pub(crate) fn expand(options: &Options, function: &ItemFn) -> syn::Result<TokenStream> {
    if let Some(option) = options.of_transactions() {
        let text = "a kernel without transactions has no algorithms: \
                    its options are `name = \"…\"` and `wide`";
        return Err(Error::new_spanned(option, text));
    }
    let signature = Signature::of(function)?;
    let name = &function.sig.ident;
    let entry = options
        .name
        .clone()
        .unwrap_or_else(|| LitStr::new(&name.to_string(), name.span()));
    let device = signature.device(&entry, options.wide);
    let host = signature.host();
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
            #host
        }
    })
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
        let good = "fn k<L: Lane>(lane: &L, a: &TArray<u32>, n: u64) {}";
        for (options, function, expected) in [
            ("", "fn k<L: Lane>() {}", "`fn name<L: Lane>(lane: &L, …)`"),
            ("", "fn k<L: Lane>(lane: L) {}", "which comes first"),
            (
                "",
                "fn k<L: Lane, A: Algorithm>(lane: &L) {}",
                "its lane alone",
            ),
            (
                "",
                "fn k<L: Lane>(lane: &L) -> u32 { 0 }",
                "returns nothing",
            ),
            ("", "async fn k<L: Lane>(lane: &L) {}", "not asynchronous"),
            ("Fast", good, "has no algorithms"),
            ("registers(fast = 128)", good, "has no algorithms"),
        ] {
            let error = made(options, function).unwrap_err();
            assert!(error.contains(expected), "{function}: {error}");
        }
    }

    #[test]
    fn what_is_made_names_no_crate_but_the_machine() {
        let function = "fn k<L: Lane>(lane: &L, a: &TArray<u32>, n: u64) {}";
        let text = made("name = \"x\", wide", function).unwrap();
        assert!(!text.contains("stm_core"), "{text}");
        let expected = "kernel_alone ! (Kernel , Params , \"x\" , \"x\" / \"alone\" , wide)";
        assert!(text.contains(expected), "{text}");
        assert!(text.contains("\"a:TArray<u32>,n:u64\""), "{text}");
    }
}
