//! The command `bench floor`.

use super::args::FloorArgs;
use super::console::{check_options, open, told, without_folder, workloads};
use crate::error::{Error, Result};
use crate::head::Head;
use crate::measure::floor::measured::{FloorSpec, Measured};
use crate::measure::floor::report;
use crate::measure::launches;
use crate::measure::search::SearchSpec;
use crate::out_file::OutFile;
use crate::workloads::input::Occasion;
use std::io::{Write, stdout};
use std::time::Instant;

/// Transactions of a launch with `--quick`, at most.
const QUICK_TRANSACTIONS: u64 = 1 << 16;
/// Repeats with `--quick`, at most.
const QUICK_REPEAT: u32 = 3;

/// Measures the transactional memory beside kernels without transactions;
/// `command` is how it was called. Returns whether all that can be verified was.
pub(super) fn floor(args: &FloorArgs, command: &str) -> Result<bool> {
    check_options(&args.workload, &args.input)?;
    let mut input = args.input.clone();
    let transactions = &mut input.shared.transactions;
    let mut repeat = args.repeat;
    if args.quick {
        let asked = transactions.unwrap_or(launches::TRANSACTIONS);
        *transactions = Some(asked.min(QUICK_TRANSACTIONS));
        repeat = repeat.min(QUICK_REPEAT);
    }
    let spec = FloorSpec {
        stm: SearchSpec {
            variants: args.variant.clone(),
            locks: vec![args.locks],
            memory: args.memory.spec(&args.variant)?,
            repeat,
            transactions: transactions.unwrap_or(launches::TRANSACTIONS),
            seed: input.shared.seed,
        },
        with_stm: !args.no_stm,
        quick: args.quick,
    };
    let file = args.out.as_deref().map(OutFile::new).transpose()?;
    let device = open(args.device)?;
    let command = without_folder(command, args.out.as_deref());
    let head = Head::new(
        report::FORMAT,
        &device,
        &command,
        (args.quick, input.shared.seed),
    )?;
    let began = Instant::now();
    let occasion = Occasion::Floor(device.kind());
    let workloads = workloads(&args.workload, &input, occasion)?;
    for workload in &workloads {
        spec.stm.check(&device, workload.sizes())?;
    }
    let mut measured = Measured::default();
    if workloads.iter().any(|w| w.sizes().accesses().is_some()) {
        measured.add_rates(&device, args.quick)?;
    }
    for workload in &workloads {
        measured.add(&device, workload, &spec)?;
    }
    let document = report::document(head.done(began.elapsed().as_secs_f64()), &measured)?;
    let written = file.map(|file| file.write(&document)).transpose();
    let printed = if args.json {
        write!(stdout(), "{document}").map_err(Error::from)
    } else {
        report::print(&mut stdout().lock(), &device, &measured)
    };
    // What was found is printed even if it could not be written.
    written?;
    told(measured.is_verified(), printed)
}
