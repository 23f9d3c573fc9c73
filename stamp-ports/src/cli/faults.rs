//! The command `faults`.

use super::args::FaultsArgs;
use crate::error::{Error, Result};
use crate::faults::{run_all, run_case};
use std::io::{Write, stdout};

/// Injects faults. Returns whether the user saw what he is to see of each.
pub(super) fn faults(args: &FaultsArgs) -> Result<bool> {
    if let Some(case) = &args.case {
        return run_case(case, args.device);
    }
    let out = args.out.as_deref();
    let out = out.ok_or_else(|| Error::Usage("give --out the folder of the log".into()))?;
    let findings = run_all(args.device, &args.only, out)?;
    let right = findings.faults.iter().filter(|fault| fault.passed).count();
    writeln!(
        stdout(),
        "{right} of {} faults as they should be; {} says what was seen",
        findings.faults.len(),
        out.join("faults.txt").display()
    )?;
    Ok(findings.passed())
}
