//! What passes on the CPU leave is accepted, and refused when it is spoilt; a run ends like the free
//! one on the host.

use super::check::{Centres, sums};
use super::points::Points;
use super::*;
use crate::workloads::test_prelude::*;
use stm_kernels::kmeans::NOWHERE;

fn kmeans(clusters: u32) -> Kmeans {
    let centres = 6;
    let drawn = Drawn {
        points: 500,
        dims: 5,
        centres,
    };
    let mut points = drawn.draw(4).unwrap();
    points.normalise();
    Kmeans {
        points,
        centres: Some(centres),
        file: None,
        normalised: true,
        clusters_min: clusters,
        clusters_max: clusters,
        threshold: 0.0,
        passes_max: 500,
        adds: false,
    }
}

/// The whole run in double precision, sequentially, with nothing from a device: the centre of each
/// point in the last pass, the centres after it, and the passes.
fn free(points: &Points, chosen: &[u32]) -> (Vec<u32>, Centres, u32) {
    let mut members = vec![NOWHERE; points.len()];
    let mut centres = Centres::new(points.dims(), &points.values_of(chosen));
    let (mut squares, mut bounds) = (Vec::new(), vec![0.0; chosen.len() * points.dims()]);
    let mut passes = 0;
    loop {
        passes += 1;
        let before = members.clone();
        let nearest = points.iter().map(|x| centres.nearest(x, &mut squares));
        members = nearest.map(|(centre, ..)| centre).collect();
        centres.move_to_means(&sums(points, &members, chosen.len()), &mut bounds);
        let changed = zip(&before, &members).filter(|(a, b)| a != b).count() as u64;
        if !goes_on(changed, points.len(), 0.0) {
            return (members, centres, passes);
        }
    }
}

#[test]
fn a_run_on_the_cpu_ends_like_the_free_one_from_the_same_points() {
    let (kmeans, cpu) = (kmeans(4), Cpu::new());
    let mut data = kmeans.prepare(&cpu, MadeFor::new(3, 500)).unwrap();
    kmeans.reset(&mut data).unwrap();
    let wrong = kmeans.verify(&mut data, 500).unwrap_err().to_string();
    assert_eq!(wrong, "0 of 1 clusterings were made");
    let done = ran::<HvSorting, _>(&kmeans, &cpu, &mut data, ((2, 2), 500));
    kmeans.verify(&mut data, 500).unwrap();
    let (members, _, passes) = free(&kmeans.points, &data.chosen);
    assert_eq!((data.found.ties, &*data.found.passes), (0, &[passes][..]));
    assert_eq!(data.members.download().unwrap(), members);
    let commits = done.statistics.commits;
    assert_eq!(kmeans.commits_expected(&data, 500).unwrap(), commits);
}

#[test]
fn a_tie_may_fall_either_way_and_is_counted_and_the_runs_stay_together() {
    // Two centres, and points in the middle but for less than f32 tells: in f32 all are as near to
    // the first; in double precision to the second.
    let mut values = vec![-1.0f32, 1.0];
    values.extend([1e-9; 10]);
    let points = Points::new(1, values);
    let (mut kmeans, cpu) = (kmeans(2), Cpu::new());
    kmeans.points = points;
    let mut data = kmeans.prepare(&cpu, MadeFor::new(3, 12)).unwrap();
    data.chosen = vec![0, 1];
    kmeans.reset(&mut data).unwrap();
    ran::<HvSorting, _>(&kmeans, &cpu, &mut data, ((2, 2), 12));
    kmeans.verify(&mut data, 12).unwrap();
    assert_eq!(data.members.download().unwrap()[2..], [0; 10]);
    assert_eq!((data.found.ties, &*data.found.passes), (10, &[2][..]));
}

const CLUSTERS: u32 = 8;

/// A pass on the device: what it started from, and what it left.
struct Pass {
    of: Kmeans,
    now: Clustering,
    data: Data<Cpu>,
}

impl Pass {
    /// After three passes, each of which was right, and before the fourth is judged.
    fn right() -> Self {
        let (of, cpu) = (kmeans(CLUSTERS), Cpu::new());
        let mut data = of.prepare(&cpu, MadeFor::new(3, 500)).unwrap();
        of.clear(&mut data).unwrap();
        let mut now = Clustering::new(&of.points, &data.chosen);
        for passes in 0..4 {
            if passes > 0 {
                assert!(of.judge(&data, &mut now).unwrap());
                data.arm(&now.centres, CLUSTERS).unwrap();
            }
            let done = ran::<HvSorting, _>(&of, &cpu, &mut data, ((2, 2), 500));
            assert_eq!(done.statistics.commits, 500);
        }
        Self { of, now, data }
    }

    fn wrong(mut self) -> Option<String> {
        verdict(self.of.judge(&self.data, &mut self.now).map(drop)).unwrap()
    }

    /// The points of a centre.
    fn members(&self, centre: u32) -> Vec<usize> {
        let members = self.data.members.download().unwrap();
        (0..members.len())
            .filter(|&i| members[i] == centre)
            .collect()
    }

    /// Gives the first point another centre.
    fn astray(&mut self, centre: u32) {
        let stayed = self.now.members[0] == self.data.members.download().unwrap()[0];
        change!(self.data.members, |members| members[0] = centre);
        change!(self.data.changed, |changed| changed[0] += u64::from(stayed));
    }

    /// Adds all points anew, in their order.
    fn add_up(&mut self) {
        let members = self.data.members.download().unwrap();
        let changed = zip(&self.now.members, &members).filter(|(a, b)| a != b);
        self.data.changed.upload(&[changed.count() as u64]).unwrap();
        let (mut rows, mut ranks) = (vec![0; 6 * CLUSTERS as usize], Vec::new());
        for (point, &c) in self.of.points.iter().zip(&members) {
            let row = &mut rows[6 * c as usize..][..6];
            ranks.push(row[0]);
            row[0] += 1;
            for (sum, x) in zip(&mut row[1..], point) {
                *sum = (f32::from_bits(*sum) + x).to_bits();
            }
        }
        self.data.rows.upload(&rows).unwrap();
        self.data.ranks.upload(&ranks).unwrap();
    }
}

const SPOILS: Spoils<Pass, 14> = spoils! {
    |pass| change!(pass.data.rows, |rows| rows[6 * 2 + 3] ^= 1) => "sum 2 of centre 2";
    |pass| change!(pass.data.rows, |rows| rows[6 * 3] -= 1) => "centre 3 counts";
    // All of one transaction is lost: the counts of the others close the gap.
    |pass| {
        let of = pass.members(3);
        change!(pass.data.ranks, |ranks| {
            let lost = ranks[of[0]];
            for i in of {
                ranks[i] -= u32::from(ranks[i] > lost);
            }
        });
        change!(pass.data.rows, |rows| rows[6 * 3] -= 1);
    } => "centre 3 counts";
    // One coordinate of one point: the count is right.
    |pass| {
        let lost = pass.of.points.point(pass.members(3)[0])[4];
        change!(pass.data.rows, |rows| {
            rows[6 * 3 + 5] = (f32::from_bits(rows[6 * 3 + 5]) - lost).to_bits();
        });
    } => "sum 4 of centre 3";
    |pass| {
        let of = pass.members(1);
        change!(pass.data.ranks, |ranks| ranks[of[0]] = ranks[of[1]]);
    } => "both saw a count of | centre 1";
    |pass| change!(pass.data.ranks, |ranks| ranks[7] = 500) => "point 7 saw a count of 500";
    // Additions in another order than told: the same ranks, dealt out anew, and still each once.
    |pass| {
        let of = pass.members(0);
        change!(pass.data.ranks, |ranks| {
            (1..of.len()).for_each(|k| ranks.swap(of[k - 1], of[k]));
        });
    } => "of centre 0 | in their order";
    |pass| change!(pass.data.changed, |changed| changed[0] += 1) =>
        "changed their centre | were counted";
    |pass| pass.astray(CLUSTERS) => "point 0 has centre 8, and there are 8";
    |pass| pass.astray(NOWHERE) => "point 0 has centre 4294967295";
    // Sums and counts are those of the wrong member: only the distance tells.
    |pass| {
        change!(pass.data.members, |members| {
            members[42] = (members[42] + 1) % CLUSTERS;
        });
        pass.add_up();
    } => "point 42 sits with centre";
    |pass| pass.now.centres[5 * 7 + 2] += 1e-4 => "coordinate 2 of centre 7";
    |pass| pass.now.centres[5 * 7 + 2] = f32::NAN => "coordinate 2 of centre 7";
    |pass| pass.now.centres[5 * 7 + 2] = f32::INFINITY => "coordinate 2 of centre 7";
};

#[test]
fn what_a_pass_leaves_is_accepted_in_any_order_and_nothing_else() {
    assert_eq!(Pass::right().wrong(), None);
    let mut reordered = Pass::right();
    reordered.add_up();
    assert_eq!(reordered.wrong(), None);
    refused(SPOILS, Pass::right, Pass::wrong);
}

/// Two centres of one coordinate: points 1 to 4, and 10.
#[test]
fn without_an_order_sums_are_accepted_within_rounding_and_counts_exactly() {
    let points = Points::new(1, vec![1.0, 2.0, 3.0, 4.0, 10.0]);
    for (count, a, b, said) in [
        (4, 10f32, 10f32, None),
        (4, 10.000_001, 10.0, None),
        (4, 9.0, 10.0, Some("sum 0 of centre 0")),
        (4, 10.0, 10.001, Some("sum 0 of centre 1")),
        (4, f32::NAN, 10.0, Some("sum 0 of centre 0")),
        (3, 10.0, 10.0, Some("counts 3 points, and 4")),
    ] {
        let left = PassResult {
            members: vec![0, 0, 0, 0, 1],
            ranks: None,
            rows: vec![count, a.to_bits(), 1, b.to_bits()],
            changed: 5,
        };
        let found = Clustering::new(&points, &[0, 4])
            .check(&points, &left)
            .err();
        let is_right = match said {
            None => found.is_none(),
            Some(said) => found.as_ref().is_some_and(|found| found.contains(said)),
        };
        assert!(is_right, "{said:?}: {found:?}");
    }
}

#[test]
fn two_groups_are_found_and_a_run_goes_on_while_more_than_a_part_of_the_points_change() {
    let points = Points::new(1, vec![0.0, 1.0, 2.0, 10.0, 11.0, 12.0]);
    let (members, centres, passes) = free(&points, &[0, 1]);
    assert_eq!(members, [0, 0, 0, 1, 1, 1]);
    assert_eq!((centres.at(0, 0), centres.at(1, 0)), (1.0, 11.0));
    assert!((2..10).contains(&passes), "{passes}");
    assert!(!goes_on(0, 1000, 0.0) && goes_on(1, 1000, 0.0));
    assert!(!goes_on(500, 1000, 0.5) && goes_on(501, 1000, 0.5));
}

#[test]
fn nearest_takes_the_first_of_equals_and_tells_the_second() {
    for (centres, expected) in [
        (&[5.0, 1.0, -1.0, 3.0][..], (1, 1.0, 1.0)),
        (&[2.0], (0, 4.0, f64::INFINITY)),
    ] {
        let found = Centres::new(1, centres).nearest(&[0.0], &mut Vec::new());
        assert_eq!(found, expected);
    }
}

#[test]
fn centres_move_to_the_means_and_stay_without_points() {
    let rows = [2, 3f32.to_bits(), 5f32.to_bits(), 0, 0, 0];
    let mut centres = [9.0, 9.0, 7.0, 8.0];
    let (mut exact, mut bounds) = (Centres::new(2, &centres), [0.0; 4]);
    move_centres(&mut centres, &rows, 2);
    let expected = Centres::new(2, &[1.5, 2.5, 7.0, 8.0]);
    assert_eq!(Centres::new(2, &centres), expected);
    let points = Points::new(2, vec![1.0, 2.0, 2.0, 3.0]);
    exact.move_to_means(&sums(&points, &[0, 0], 2), &mut bounds);
    assert_eq!(exact, expected);
    assert!(bounds[0] > 0.0 && bounds[0] < 1e-6);
    assert_eq!(bounds[2..], [0.0, 0.0]);
}
