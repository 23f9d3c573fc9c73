//! GN-1 without transactions: without synchronisation, as critical sections, and the hash set
//! that one writes by hand; and the links of GN-2 as critical sections.

use super::Data;
use super::check::check_set;
use super::input::Genome;
use crate::workloads::exclusion::Launch;
use crate::workloads::form::filling;
use crate::workloads::prelude::*;
use stm_kernels::floor::genome::{CasSet, CriticalSection, Floor, LinkSection, Links, Params};
use stm_kernels::genome::Match;

fn inserting(data: &Data<impl Device>, transactions: u64) -> Params {
    Params {
        segments: data.segments(),
        slots: data.slots.view::<Cgl>(),
        transactions,
    }
}

/// The segments drawn, and those that fill holes, into the set alone.
fn set<D: Device + 'static>() -> Uses<Genome, Data<D>, Params, D> {
    Uses {
        transactions: |_, data, _| data.gene.starts.len() as u64,
        reset: |_, data| Ok(data.slots.clear()?),
        verify: |_, data, _| Ok(check_set(&data.gene, &data.slots.download()?)?),
        ..Uses::own(|_: &Genome, _, data: &mut Data<_>, transactions, launch| {
            launch(inserting(data, transactions))
        })
    }
}

pub(super) fn contenders<D: Device + 'static>(of: &Genome) -> Vec<Contender<'_, D>> {
    let (set, segments) = (set(), ("segments", 1.0));
    vec![
        (set.open::<Floor>(of, UNSYNCHRONISED, segments)).named("GN-1, plain accesses"),
        // A look at each slot, and a compare-and-swap of a free one.
        set.open::<CasSet>(of, (SpecialPurpose, "GN-1, CAS set"), segments),
        (set.critical_section::<CriticalSection>(of, segments)).named("GN-1, critical-section"),
        // GN-2 has critical sections only: it spends its time in some sixty short launches.
        (links().critical_section::<LinkSection>(of, ("links", 1.0)))
            .named("GN-2, critical-section"),
    ]
}

fn all_links(data: &Data<impl Device>) -> u64 {
    u64::from(data.gene.distinct).saturating_sub(1)
}

/// The links of all pairs; asked for fewer, those that are found first.
fn links<D: Device + 'static>() -> Uses<Genome, Data<D>, Links, D> {
    Uses {
        transactions: |_, data, _| all_links(data),
        note: |_, _| {
            Ok(Some(
                "the links alone, without the searches for pairs".into(),
            ))
        },
        ..Uses::own(link)
    }
}

/// Links so many pairs, and returns the time of that.
fn link<D: Device>(
    of: &Genome,
    device: &D,
    data: &mut Data<D>,
    transactions: u64,
    launch: &mut Launch<'_, Links>,
) -> Result<Duration> {
    let (blocks, threads) = filling(&device.limits());
    let filling = stm_core::host::Launch::new(blocks, threads);
    let segments = inserting(data, data.gene.starts.len() as u64);
    // SAFETY: the parameters are views of buffers that `data` keeps, made for this
    // kernel, and nothing else uses them meanwhile.
    unsafe { device.launch::<CasSet>(&filling, &segments)? };
    let is_whole = transactions == all_links(data);
    let (mut time, mut left) = (Duration::ZERO, transactions);
    for overlap in (1..=of.segment).rev() {
        // SAFETY: as above.
        unsafe { device.launch::<Match<Cgl>>(&filling, &data.pairs_of(overlap))? };
        // The first search only makes the table for the next.
        if overlap == of.segment {
            continue;
        }
        let pairs = data.pair_counts.download()?[overlap as usize].into();
        if is_whole {
            left = pairs;
        }
        time += launch(Links {
            nexts: data.nexts.view::<Cgl>(),
            prevs: data.prevs.view::<Cgl>(),
            others: data.others.view::<Cgl>(),
            pairs: data.pairs.tarray(),
            pair_counts: data.pair_counts.tarray(),
            overlap,
            limit: left,
        })?;
        left = left.saturating_sub(pairs);
        if left == 0 && !is_whole {
            break;
        }
    }
    Ok(time)
}
