//! The checks accept what a right launch leaves, and refuse what is spoilt.

use super::super::sequential::{goes_on, move_centres, run};
use super::*;
use crate::testing::{Spoils, refused};
use stm_kernels::draw::draw;
use stm_kernels::kmeans::NOWHERE;

/// What a launch of the device leaves, made on the host: the additions in
/// some order that the seed gives.
#[derive(Clone)]
struct Left {
    points: Points,
    centres: Vec<f32>,
    before: Vec<u32>,
    members: Vec<u32>,
    ranks: Vec<u32>,
    rows: Vec<u32>,
    changed: u64,
}

impl Left {
    fn new(points: &Points, chosen: &[u32]) -> Self {
        let n = points.len();
        Self {
            points: points.clone(),
            centres: points.values_of(chosen),
            before: vec![NOWHERE; n],
            members: vec![NOWHERE; n],
            ranks: vec![0; n],
            rows: vec![0; chosen.len() * (points.dims() + 1)],
            changed: 0,
        }
    }

    fn nearest(&self, point: &[f32]) -> u32 {
        let mut nearest = (f32::INFINITY, 0);
        for (centre, c) in self.centres.chunks(point.len()).zip(0..) {
            let square = point.iter().zip(centre).fold(0f32, |sum, (x, y)| {
                let apart = x - y;
                sum + apart * apart
            });
            if square < nearest.0 {
                nearest = (square, c);
            }
        }
        nearest.1
    }

    fn add(&mut self, i: usize) {
        let point = self.points.point(i);
        let width = point.len() + 1;
        let row = &mut self.rows[self.members[i] as usize * width..][..width];
        self.ranks[i] = row[0];
        row[0] += 1;
        for (sum, x) in row[1..].iter_mut().zip(point) {
            *sum = (f32::from_bits(*sum) + x).to_bits();
        }
    }

    fn count_changes(&mut self) {
        let pairs = self.before.iter().zip(&self.members);
        self.changed = pairs.filter(|(a, b)| a != b).count() as u64;
    }

    fn launch(&mut self, seed: u64) {
        self.before.clone_from(&self.members);
        self.members = self.points.iter().map(|x| self.nearest(x)).collect();
        self.count_changes();
        self.rows.fill(0);
        let mut order: Vec<usize> = (0..self.points.len()).collect();
        order.sort_by_key(|&i| draw(seed, i as u64, 0));
        for i in order {
            self.add(i);
        }
    }

    fn pass(&self) -> Pass<'_> {
        Pass {
            points: &self.points,
            centres: &self.centres,
            before: &self.before,
            members: &self.members,
            ranks: &self.ranks,
            rows: &self.rows,
            changed: self.changed,
        }
    }
}

const CLUSTERS: u32 = 8;

/// What right launches leave, and what follows them.
fn start(seed: u64) -> (Left, Follower) {
    let mut points = Points::generate(4, 3000, 5, 6);
    points.normalise();
    let chosen = points.choose(4, CLUSTERS);
    let left = Left::new(&points, &points.choose(seed, CLUSTERS));
    (left, Follower::new(&points, &chosen))
}

/// Follows a right launch, and moves the centres.
fn follow(left: &mut Left, follower: &mut Follower) {
    assert_eq!(left.pass().wrong_sums(), None);
    assert_eq!(follower.differs(&left.pass()), None);
    let dims = left.points.dims();
    move_centres(&mut left.centres, &left.rows, dims);
    assert_eq!(follower.differs_at_end(&left.centres, dims), None);
}

/// After three right launches, each followed, and before the fourth is.
fn some_passes() -> (Left, Follower) {
    let (mut left, mut follower) = start(4);
    for pass in 0..3 {
        left.launch(pass);
        follow(&mut left, &mut follower);
    }
    left.launch(3);
    (left, follower)
}

#[test]
fn a_whole_run_in_any_order_is_accepted_and_ends_like_the_free_sequential_one() {
    let (mut left, mut follower) = start(4);
    let mut passes = 0;
    loop {
        left.launch(passes.into());
        follow(&mut left, &mut follower);
        passes += 1;
        if !goes_on(left.changed, left.points.len(), 0.0) {
            break;
        }
    }
    assert_eq!(follower.ties, 0);
    let free = run(&left.points, &left.points.choose(4, CLUSTERS), 0.0, 500);
    assert_eq!(free, (left.members, follower.centres, passes));
}

fn astray(left: &mut Left, centre: u32) {
    left.changed += u64::from(left.before[0] == left.members[0]);
    left.members[0] = centre;
}

fn first_of(left: &Left, centre: u32) -> usize {
    left.members.iter().position(|&c| c == centre).unwrap()
}

const SPOILS: Spoils<Left, 10> = [
    (|left| left.rows[6 * 2 + 3] ^= 1, "sum 2 of centre 2"),
    (|left| left.rows[6 * 3] -= 1, "centre 3 counts"),
    // All of one transaction is lost: the counts of the others close the gap.
    (
        |left| {
            let rank = left.ranks[first_of(left, 3)];
            for i in 0..left.members.len() {
                if left.members[i] == 3 && left.ranks[i] > rank {
                    left.ranks[i] -= 1;
                }
            }
            left.rows[6 * 3] -= 1;
        },
        "centre 3 counts",
    ),
    // One coordinate of one point: the count is right.
    (
        |left| {
            let torn = first_of(left, 3);
            let sum = &mut left.rows[6 * 3 + 5];
            *sum = (f32::from_bits(*sum) - left.points.point(torn)[4]).to_bits();
        },
        "sum 4 of centre 3",
    ),
    (
        |left| {
            let mut of = (0..left.members.len()).filter(|&i| left.members[i] == 1);
            let (a, b) = (of.next().unwrap(), of.next().unwrap());
            left.ranks[a] = left.ranks[b];
        },
        "both saw a count of | centre 1",
    ),
    (|left| left.ranks[7] = 3000, "point 7 saw a count of 3000"),
    // Additions in another order than told: the same ranks, dealt out anew, and still each once.
    (
        |left| {
            let of: Vec<usize> = (0..3000).filter(|&i| left.members[i] == 0).collect();
            let mut ranks: Vec<u32> = of.iter().map(|&i| left.ranks[i]).collect();
            ranks.rotate_left(1);
            for (&i, rank) in of.iter().zip(ranks) {
                left.ranks[i] = rank;
            }
        },
        "of centre 0 | in their order",
    ),
    (
        |left| left.changed += 1,
        "changed their centre | were counted",
    ),
    (
        |left| astray(left, CLUSTERS),
        "point 0 has centre 8, and there are 8",
    ),
    (
        |left| astray(left, NOWHERE),
        "point 0 has centre 4294967295",
    ),
];

#[test]
fn wrong_sums_ranks_counts_and_centres_are_refused() {
    let (right, _) = some_passes();
    refused(SPOILS, || right.clone(), |left| left.pass().wrong_sums());
}

#[test]
fn a_point_with_another_centre_than_its_nearest_is_refused() {
    let (left, follower) = some_passes();
    // Sums and counts are those of the wrong member: only the distance tells.
    let mut wrong = left.clone();
    wrong.rows.fill(0);
    wrong.members[42] = (wrong.members[42] + 1) % CLUSTERS;
    wrong.count_changes();
    for i in 0..3000 {
        wrong.add(i);
    }
    assert_eq!(wrong.pass().wrong_sums(), None);
    let what = follower
        .clone()
        .differs(&wrong.pass())
        .expect("it is wrong");
    assert!(what.contains("point 42 sits with centre"), "{what}");
    assert_eq!(follower.clone().differs(&left.pass()), None);
}

#[test]
fn centres_that_rounding_does_not_explain_are_refused() {
    for spoil in [1e-4, f32::NAN, f32::INFINITY] {
        let (mut left, mut follower) = some_passes();
        left.centres[5 * 7 + 2] += spoil;
        let what = follower.differs(&left.pass()).expect("it is wrong");
        assert!(what.contains("coordinate 2 of centre 7"), "{what}");
        let what = follower.differs_at_end(&left.centres, 5);
        assert!(what.is_some_and(|w| w.contains("coordinate 2 of centre 7")));
    }
}

#[test]
fn a_run_from_other_first_centres_is_refused() {
    let (mut left, mut follower) = start(5);
    left.launch(0);
    assert!(follower.differs(&left.pass()).is_some());
}

#[test]
fn a_tie_may_fall_either_way_and_is_counted_and_the_runs_stay_together() {
    // Two centres, and points in the middle but for less than f32 tells.
    let mut values = vec![-1.0f32, 1.0];
    values.extend([1e-9; 10]);
    let points = Points::new(1, values);
    let mut left = Left::new(&points, &[0, 1]);
    let mut follower = Follower::new(&points, &[0, 1]);
    left.launch(0);
    // In f32 all are as near to the first; in double precision to the second.
    assert_eq!(left.members[2..], [0; 10]);
    follow(&mut left, &mut follower);
    assert_eq!(follower.ties, 10);
    left.launch(1);
    follow(&mut left, &mut follower);
}
