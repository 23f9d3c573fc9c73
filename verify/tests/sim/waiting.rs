//! Defects of waiting that no program of the generator can show.

use stm_core::observe::Mutant;

/// Defects that kernels of this file catch.
pub(super) const CAUGHT: &[Mutant] = &[Mutant::LostWakeup, Mutant::RetryKeepsTicket];
