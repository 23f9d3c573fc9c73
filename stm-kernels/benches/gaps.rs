//! How long a thread waits that conflicts with nobody, while others conflict all the time.
//!
//! Eight threads of the CPU run transactions for some seconds. Seven of them read and write
//! three random words of a few; the eighth, the *victim*, adds to a word of its own. Each
//! thread notes the longest time between two of its commits. The seven share 3 words, and
//! then, in the same run, 65,536: the victim should wait no longer in the first case. It is
//! printed and not judged, as it depends on the machine and on what else runs there.
//!
//!     cargo bench -p stm-kernels --bench gaps -- SECONDS ROUNDS
//!
//! Without arguments there are two rounds of two seconds each.

use std::time::Duration;
use stm_core::prelude::*;
use stm_kernels::draw::{below, draw};

/// The threads; the last one is the victim.
const THREADS: u32 = 8;
/// The words that the others share, first few and then many.
const SHARED: [u32; 2] = [3, 65_536];
/// The words that a transaction of the others reads and writes.
const WORDS: usize = 3;

/// Runs transactions until the time is over. The words are those that are shared, and then the
/// victim's; a thread finds its longest gap in nanoseconds and its number of commits.
#[kernel(all)]
pub fn gaps<L: Lane, A: Algorithm>(
    lane: &L,
    stm: &StmRef<A>,
    words: &A::Array<u32>,
    found: &Output<u64>,
    shared: u32,
    duration_ns: u64,
) {
    let me = lane.grid_thread();
    let victim = me + 1 == u64::from(THREADS);
    let began = lane.clock();
    let (mut last, mut longest, mut commits) = (began, 0, 0);
    while last - began < duration_ns {
        let done = stm.atomically(lane, |tx| {
            if victim {
                let at = u64::from(shared);
                let word = tx.read(words, at)?;
                return tx.write(words, at, word.wrapping_add(1));
            }
            for k in 0..WORDS as u32 {
                let at = u64::from(below(draw(me, commits, k), shared));
                let word = tx.read(words, at)?;
                tx.write(words, at, word.wrapping_add(1))?;
            }
            Ok(())
        });
        if done.is_err() {
            break;
        }
        let now = lane.clock();
        longest = longest.max(now - last);
        (last, commits) = (now, commits + 1);
    }
    found.set(lane, 2 * me, longest);
    found.set(lane, 2 * me + 1, commits);
}

/// Runs all threads for `duration`, of which the others share the first `shared` words. Prints the
/// longest gap of the victim and of the others, and the commits of both.
fn run<A: Algorithm>(round: u32, shared: u32, duration: Duration) {
    let cpu = Cpu::new();
    let mut stm = Stm::on(&cpu).expect("the metadata");
    stm.set_time_limit(Some(10 * duration));
    let layout = <A::Array<u32> as View<u32>>::LAYOUT;
    let words = TxArray::<_, u32>::zeroed(&cpu, layout, shared as usize + 1, "the words");
    let words = words.expect("the words");
    let found = Buffer::zeroed(&cpu, 2 * THREADS as usize, "the gaps");
    let mut found: Buffer<_, u64> = found.expect("a buffer");
    let (shape, duration_ns) = (Launch::new(THREADS, 1), duration.as_nanos() as u64);
    gaps::launch_with::<A, _>(&mut stm, shape, &words, &mut found, shared, duration_ns)
        .expect("a launch");
    let values = words.download().expect("the words");
    let found = found.download().expect("the gaps");
    let commits = |thread: u32| found[2 * thread as usize + 1];
    let gap_ms = |thread: u32| Duration::from_nanos(found[2 * thread as usize]).as_secs_f64() * 1e3;
    let victim = THREADS - 1;
    let others: u64 = (0..victim).map(commits).sum();
    let written = values[..shared as usize].iter();
    let written = written.fold(0, |sum: u32, &word| sum.wrapping_add(word));
    assert_eq!(written, (others * WORDS as u64) as u32, "an update is lost");
    assert_eq!(values[shared as usize], commits(victim) as u32);
    println!(
        "{round:>5}  {:<10}  {shared:>6}  {:>10.3}  {:>10.3}  {:>12}  {others:>12}",
        A::NAME,
        gap_ms(victim),
        (0..victim).map(gap_ms).fold(0.0, f64::max),
        commits(victim)
    );
}

fn main() {
    let arguments: Vec<f64> = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench")
        .map(|argument| argument.parse().expect("SECONDS and ROUNDS are numbers"))
        .collect();
    let seconds = arguments.first().copied().unwrap_or(2.0);
    let rounds = arguments.get(1).map_or(2, |&rounds| rounds as u32);
    println!(
        "round  variant     shared   longest gap, ms: victim, others   commits: victim, others"
    );
    let duration = Duration::from_secs_f64(seconds);
    for round in 1..=rounds {
        for run in [run::<Fast>, run::<FastTable>] {
            for shared in SHARED {
                run(round, shared, duration);
            }
        }
    }
}
