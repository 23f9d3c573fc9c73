//! What the CPU leaves is judged, as it is and spoilt.

use super::super::input::Source;
use super::super::points::Points;
use super::*;
use stm_core::algorithm::HvSorting;
use stm_core::host::{Cpu, Launch, Stm, StmConfig};

fn kmeans(clusters: u32) -> Kmeans {
    let mut points = Points::generate(2, 500, 3, 4);
    points.normalise();
    Kmeans {
        points,
        source: Source::Generated(4),
        normalised: true,
        clusters_min: clusters,
        clusters_max: clusters,
        threshold: 0.0,
        passes_max: 500,
        adds: false,
    }
}

type Spoil = fn(&mut KmeansData<Cpu>);

/// Launches the first pass on the CPU, spoils what it left, and judges.
fn judged(spoil: Spoil) -> Option<String> {
    let kmeans = kmeans(5);
    let cpu = Cpu::new();
    let mut data = kmeans.prepare(&cpu, 3, 500).unwrap();
    kmeans.clear(&mut data).unwrap();
    let mut stm = Stm::new(&cpu, Launch::new(2, 2), StmConfig::default()).unwrap();
    let mut launcher = Launcher::new(&cpu, &mut stm);
    kmeans
        .run::<_, HvSorting>(&mut data, &mut launcher, 500)
        .unwrap();
    assert_eq!(launcher.finish().statistics.commits, 500);
    spoil(&mut data);
    let mut now = kmeans.begin(&data.chosen);
    kmeans.judge(&data, &mut now).unwrap().0
}

/// Changes one element of a buffer.
fn change<T: stm_core::host::Pod>(
    buffer: &mut Buffer<Cpu, T>,
    at: usize,
    new: impl FnOnce(T) -> T,
) {
    let mut all = buffer.download().unwrap();
    all[at] = new(all[at]);
    buffer.upload(&all).unwrap();
}

/// Changes one word of the rows.
fn change_row(data: &mut KmeansData<Cpu>, at: usize, new: impl FnOnce(u32) -> u32) {
    let mut all = data.rows.download().unwrap();
    all[at] = new(all[at]);
    data.rows.words.upload(&all).unwrap();
}

#[test]
fn what_a_launch_leaves_is_accepted_and_nothing_else() {
    assert_eq!(judged(|_| {}), None);
    let spoils: [(Spoil, &str); 8] = [
        (|data| change_row(data, 4, |w| w + 1), "centre 1 counts"),
        (|data| change_row(data, 7, |w| w ^ 1), "sum 2 of centre 1"),
        (|data| change_row(data, 19, |w| w ^ 1), "sum 2 of centre 4"),
        (
            |data| change(&mut data.members, 9, |_| 5),
            "point 9 has centre 5",
        ),
        (
            |data| change(&mut data.members, 9, |c| (c + 1) % 5),
            "sit with it",
        ),
        (
            |data| {
                let ranks = data.ranks.download().unwrap();
                let first = ranks.iter().position(|&r| r == 0).unwrap();
                change(&mut data.ranks, first, |_| 1);
            },
            "both saw a count of 1",
        ),
        (
            |data| change(&mut data.changed, 0, |n| n - 1),
            "500 points changed their centre, and 499",
        ),
        // All is consistent, but with other centres than these.
        (|data| data.chosen.swap(0, 1), "sits with centre"),
    ];
    for (i, (spoil, part)) in spoils.into_iter().enumerate() {
        let wrong = judged(spoil);
        assert!(
            wrong.as_ref().is_some_and(|w| w.contains(part)),
            "{i}: {wrong:?} lacks {part}"
        );
    }
}

#[test]
fn a_run_on_the_cpu_ends_like_the_sequential_one_from_the_same_points() {
    let kmeans = kmeans(4);
    let cpu = Cpu::new();
    let mut data = kmeans.prepare(&cpu, 3, 500).unwrap();
    kmeans.reset(&mut data).unwrap();
    let mut stm = Stm::new(&cpu, Launch::new(2, 2), StmConfig::default()).unwrap();
    let mut launcher = Launcher::new(&cpu, &mut stm);
    kmeans
        .run::<_, HvSorting>(&mut data, &mut launcher, 500)
        .unwrap();
    assert_eq!(kmeans.verify(&mut data, 500).unwrap(), None);
    let free = super::super::sequential::run(&kmeans.points, &data.chosen, 0.0, 500);
    assert_eq!(data.found.ties, 0);
    assert_eq!(data.found.passes, [free.passes]);
    assert_eq!(data.members.download().unwrap(), free.members);
    let commits = launcher.finish().statistics.commits;
    assert_eq!(kmeans.commits_expected(&data, 500).unwrap(), Some(commits));
}

#[test]
fn a_run_that_was_not_made_is_not_verified() {
    let kmeans = kmeans(2);
    let mut data = kmeans.prepare(&Cpu::new(), 3, 500).unwrap();
    kmeans.reset(&mut data).unwrap();
    let wrong = kmeans.verify(&mut data, 500).unwrap();
    assert_eq!(wrong.as_deref(), Some("0 of 1 clusterings were made"));
}
