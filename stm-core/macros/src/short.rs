//! The short form of a kernel, and of functions that it calls in transactions, without lane or algorithm.

use crate::signature::{self, borrowed, last_word, refuse};
use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{
    Error, FnArg, GenericArgument, Ident, ItemFn, Pat, PathArguments, TraitBound, Type,
    parse_quote, parse_quote_spanned,
};

/// What data of a kernel is called in its short form, what that is, and whether it is of an algorithm.
const DATA: [(&str, &str, bool); 12] = [
    ("Sums", "TSums", false),
    ("Pool", "TPool", false),
    ("Input", "Input", false),
    ("Output", "Output", false),
    ("Nodes", "TNodes", true),
    ("Records", "TRecords", true),
    ("Preassigned", "TPreassigned", true),
    ("Queue", "collections::TQueue", true),
    ("Map", "collections::TMap", true),
    ("OrderedMap", "collections::TOrderedMap", true),
    ("List", "collections::TList", true),
    ("Lists", "collections::TLists", true),
];

/// The word of a path of one.
fn word(ty: &Type) -> Option<&Ident> {
    match ty {
        Type::Path(path) if path.qself.is_none() && path.path.segments.len() == 1 => {
            path.path.segments.first().map(|segment| &segment.ident)
        }
        _ => None,
    }
}

struct Spelling {
    found: bool,
}

impl VisitMut for Spelling {
    fn visit_trait_bound_mut(&mut self, bound: &mut TraitBound) {
        if bound.path.is_ident("Transact") {
            bound.path = parse_quote!(::stm_core::Transact<__L, __A>);
        }
        visit_mut::visit_trait_bound_mut(self, bound);
    }

    fn visit_type_mut(&mut self, ty: &mut Type) {
        visit_mut::visit_type_mut(self, ty);
        let span = ty.span();
        let Some(name) = word(ty).map(ToString::to_string) else {
            return;
        };
        let Type::Path(path) = &*ty else { return };
        let arguments: Vec<GenericArgument> = match &path.path.segments[0].arguments {
            PathArguments::AngleBracketed(given) => given.args.iter().cloned().collect(),
            _ => Vec::new(),
        };
        // Without arguments it is a type of the user's.
        let is_data = !arguments.is_empty() || name == "Pool";
        if name == "Cells" && is_data {
            *ty = parse_quote_spanned!(span=> __A::Array<#(#arguments),*>);
            self.found = true;
        } else if let Some((_, of, is_generic)) = DATA.iter().find(|(short, ..)| *short == name)
            && is_data
        {
            let of: syn::Path = syn::parse_str(of).expect("a path of the table");
            let algorithm = is_generic.then(|| parse_quote!(__A));
            let arguments = algorithm.into_iter().chain(arguments);
            *ty = parse_quote_spanned!(span=> ::stm_core::#of<#(#arguments),*>);
            self.found = true;
        } else if matches!(&*name, "Tx" | "TeamTx") && arguments.is_empty() {
            let name = Ident::new(&name, span);
            *ty = parse_quote_spanned!(span=> ::stm_core::#name<'_, __L, __A>);
        }
    }
}

/// What is no element of an array: the compiler would say it at each of ten places with the type.
const NO_ELEMENTS: &str = "bool u8 i8 u16 i16 usize isize u128 i128 char String Vec Option Box";

/// Refuses arrays without the type of their elements, or with one that cannot be in them.
fn refuse_elements(ty: &Type) -> syn::Result<()> {
    use Type::{Array, Reference, Tuple};
    let ty = borrowed(ty);
    let (Some(name), Type::Path(path)) = (word(ty).map(ToString::to_string), ty) else {
        return Ok(());
    };
    let is_array = ["Cells", "Sums", "Input", "Output"].contains(&&*name);
    match &path.path.segments[0].arguments {
        PathArguments::AngleBracketed(given) if is_array => {
            let Some(GenericArgument::Type(element)) = given.args.first() else {
                return Ok(());
            };
            let is_none = |name: &Ident| NO_ELEMENTS.split(' ').any(|other| name == other);
            let is_made = matches!(element, Tuple(_) | Array(_) | Reference(_));
            if is_made || last_word(element).is_some_and(is_none) {
                let text = "the elements of an array are words: `u32`, `i32`, `f32`, `u64`, `i64` \
                            or `f64`; structs of them are in `Records` (`record!`)";
                return refuse(element, text);
            }
            Ok(())
        }
        PathArguments::None if name == "Cells" => {
            refuse(ty, "an array names the type of its elements: `Cells<u32>`")
        }
        _ => Ok(()),
    }
}

/// Spells the types of parameters out; data is borrowed, also where the short form does not say so.
fn spell<'a>(parameters: impl Iterator<Item = &'a mut FnArg>) -> syn::Result<()> {
    let mut wrong: Option<Error> = None;
    for parameter in parameters {
        if let FnArg::Typed(parameter) = parameter {
            if let Err(error) = refuse_elements(&parameter.ty) {
                match &mut wrong {
                    Some(wrong) => wrong.combine(error),
                    None => wrong = Some(error),
                }
                continue;
            }
            let mut spelling = Spelling { found: false };
            let is_borrowed = matches!(*parameter.ty, Type::Reference(_));
            spelling.visit_type_mut(&mut parameter.ty);
            if spelling.found && !is_borrowed {
                let ty = &parameter.ty;
                parameter.ty = parse_quote_spanned!(ty.span()=> &#ty);
            }
        }
    }
    wrong.map_or(Ok(()), Err)
}

/// Returns the type of a parameter if it is the transactional memory, however it is passed.
pub(crate) fn memory(parameter: &FnArg) -> Option<&Type> {
    let FnArg::Typed(parameter) = parameter else {
        return None;
    };
    (word(borrowed(&parameter.ty))? == "Stm").then_some(&*parameter.ty)
}

/// Returns a kernel in its generic form, if it is in the short one.
pub(crate) fn kernel(function: &ItemFn) -> syn::Result<Option<ItemFn>> {
    let signature = &function.sig;
    let Some(FnArg::Typed(first)) = signature.inputs.first() else {
        return Ok(None);
    };
    let Some(ty) = signature.inputs.first().and_then(memory) else {
        return Ok(None);
    };
    if !matches!(ty, Type::Reference(of) if of.mutability.is_none()) {
        return refuse(ty, "a kernel borrows the transactional memory: `stm: &Stm`");
    }
    let text = "a kernel with `stm: &Stm` has no generic parameters: name the type or the \
                number where it is used, or make a number a parameter, `n: u64`";
    let generics = &signature.generics;
    if !generics.params.is_empty() {
        return refuse(generics, text);
    } else if generics.where_clause.is_some() {
        return refuse(&generics.where_clause, text);
    }
    let Pat::Ident(stm) = &*first.pat else {
        return refuse(&first.pat, "a parameter of a kernel is a plain name");
    };
    let (stm, mut function) = (&stm.ident, function.clone());
    let mut inputs: Vec<FnArg> = function.sig.inputs.into_iter().skip(1).collect();
    spell(inputs.iter_mut())?;
    function.sig.inputs = parse_quote!(__lane: &__L, __stm: &::stm_core::StmRef<__A>, #(#inputs),*);
    function.sig.generics =
        parse_quote!(<__L: ::stm_core::Lane, __A: ::stm_core::algorithm::Algorithm>);
    let body = &function.block;
    *function.block = parse_quote!({
        let #stm = ::stm_core::KernelStm::new(__lane, __stm);
        #body
    });
    Ok(Some(function))
}

/// Makes a function that a transaction calls generic over its lane and its algorithm.
pub(crate) fn transactional(options: &TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let text = "a transactional function takes its transaction first: \
                `fn name(tx: &mut Tx, …) -> TxResult<…>`";
    if !options.is_empty() {
        let text = "`#[transactional]` has no options: the kernel that calls the function has them";
        return refuse(options, text);
    }
    let mut function = signature::function(item, text)?;
    let is_tx = |ty: &Type| {
        matches!(ty, Type::ImplTrait(_))
            || word(ty).is_some_and(|name| name == "Tx" || name == "TeamTx")
    };
    let first = match function.sig.inputs.first() {
        Some(FnArg::Typed(first)) => &*first.ty,
        _ => return refuse(&function.sig, text),
    };
    if !matches!(first, Type::Reference(of) if of.mutability.is_some() && is_tx(&of.elem)) {
        return refuse(first, text);
    }
    spell(function.sig.inputs.iter_mut())?;
    let generics = &mut function.sig.generics;
    generics.params.push(parse_quote!(__L: ::stm_core::Lane));
    (generics.params).push(parse_quote!(__A: ::stm_core::algorithm::Algorithm));
    Ok(quote!(#[inline(always)] #function))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelled(function: &str) -> String {
        let function = syn::parse_str(function).unwrap();
        let function = kernel(&function).unwrap();
        let spelled = function.map(|function| quote!(#function).to_string());
        spelled.unwrap_or_default().replace(' ', "")
    }

    #[test]
    fn data_is_spelled_out_and_borrowed() {
        for row in include_str!("short.txt").lines() {
            let (short, long) = row.split_once(" => ").unwrap();
            let text = spelled(&format!("fn k(stm: &Stm, {short}) {{ go(stm) }}"));
            let body = "letstm=::stm_core::KernelStm::new(__lane,__stm);";
            for part in [&format!("StmRef<__A>,{long})"), body] {
                assert!(text.contains(part), "{short}: {text}");
            }
        }
        let generic = "fn k<L: Lane, A: Algorithm>(lane: &L, stm: &StmRef<A>) {}";
        assert_eq!(spelled(generic), "");
    }

    #[test]
    fn a_transactional_function_is_generic() {
        for row in [
            "fn f(tx: &mut Tx, ends: Cells<u64>) -> TxResult<u64> { f(tx) } => \
             tx:&mut::stm_core::Tx<'_,__L,__A>,ends:&__A::Array<u64>",
            "fn f(at: &mut impl Transact, a: Cells<u32>) {} => \
             at:&mutimpl::stm_core::Transact<__L,__A>,a:&__A::Array<u32>",
        ] {
            let (function, parameters) = row.split_once(" => ").unwrap();
            let made = transactional(&quote!(), syn::parse_str(function).unwrap());
            let text = made.unwrap().to_string().replace(' ', "");
            let generics = "<__L:::stm_core::Lane,__A:::stm_core::algorithm::Algorithm>";
            let head = format!("fnf{generics}({parameters})");
            assert!(text.contains(&head), "{text}");
        }
    }
}
