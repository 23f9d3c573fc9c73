//! `stamp bench against` from outside, beside programs that are scripts around the honest one.
#![cfg(unix)]

mod prelude;

#[test]
fn what_is_as_fast_holds_and_what_is_not_or_cannot_be_judged_is_named() {
    prelude::cases(include_str!("against.txt"));
}
