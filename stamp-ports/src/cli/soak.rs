//! The command `soak`.

use super::args::SoakArgs;
use crate::error::Result;
use crate::soak::{Plan, soak as run};

/// Soaks. Returns whether nothing was wrong.
pub(super) fn soak(args: &SoakArgs) -> Result<bool> {
    run(&Plan {
        length: args.minutes,
        seed: args.seed,
        device: args.device,
        resume: args.resume.clone(),
        no_histories: args.no_histories,
        out: args.out.clone(),
    })
}
