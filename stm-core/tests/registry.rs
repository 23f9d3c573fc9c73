//! A test that the registry of algorithms and the types that it names agree.

use stm_core::algorithm::{Algorithm, Variant};
use stm_core::with_algorithm;

#[test]
fn every_line_names_the_type_that_names_it() {
    for &variant in Variant::ALL {
        assert_eq!(with_algorithm!(variant, A => A::VARIANT), variant);
        assert_eq!(Variant::from_name(variant.name()), Some(variant));
        assert_eq!(with_algorithm!(variant, A => A::TEAMS), variant.has_teams());
    }
    assert_eq!(Variant::from_name("vbw"), None);
}
