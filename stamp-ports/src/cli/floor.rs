//! The command `bench floor`.

use super::args::FloorArgs;
use super::console::{check_options, workloads};
use crate::error::Result;
use crate::measure::floor::report;
use crate::measure::floor::{FloorSpec, Measured};
use crate::measure::launches;
use crate::measure::machine::random_accesses;
use crate::measure::meter::Progress;
use crate::measure::search::SearchSpec;
use crate::workloads::input::Occasion;

/// Transactions of a launch with `--quick`, at most.
const QUICK_TRANSACTIONS: u64 = 1 << 16;
/// Repeats with `--quick`, at most.
const QUICK_REPEAT: u32 = 3;

/// Measures beside kernels without transactions. Returns whether all that can be verified was.
pub(super) fn floor(args: &FloorArgs, command: &str) -> Result<bool> {
    check_options(&args.workload, &args.input)?;
    args.memory.check(&args.variant)?;
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
            memory: args.memory,
            repeat,
            transactions: transactions.unwrap_or(launches::TRANSACTIONS),
            seed: input.shared.seed,
        },
        with_stm: !args.no_stm,
        quick: args.quick,
    };
    let of = (args.quick, input.shared.seed);
    let (device, begun) = (args.document).begin(report::FORMAT, args.device, command, of)?;
    let workloads = workloads(&args.workload, &input, Occasion::Floor(device.kind()))?;
    for workload in &workloads {
        spec.stm.check(&device, workload.sizes())?;
    }
    let mut measured = Measured::default();
    if workloads.iter().any(|w| w.sizes().accesses().is_some()) {
        measured.rates = random_accesses(&device, &Progress::new(), args.quick)?;
    }
    for workload in &workloads {
        measured.add(&device, workload, &spec)?;
    }
    begun.end(
        measured.is_verified(),
        |head| report::document(head, &measured),
        |out, _| report::print(out, &device, &measured),
    )
}
