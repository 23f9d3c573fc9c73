//! What the tests of histories share: builders, and random histories.

pub(crate) use verify::rng::Rng;

use verify::history::{Attempt, Event, Header, History, InitialMemory, Outcome, sum};

pub(crate) fn read(word: u64, value: u64) -> Event {
    Event::Read { word, value }
}

pub(crate) fn write(word: u64, value: u64) -> Event {
    Event::Write { word, value }
}

pub(crate) fn add(word: u64, delta: u64) -> Event {
    Event::Add { word, delta }
}

/// An update: lane, begin, version, end.
pub(crate) fn update(lane: u32, begin: u64, version: u64, end: u64) -> Attempt {
    Attempt::new(lane, begin, end, Outcome::Committed { version })
}

pub(crate) fn read_only(lane: u32, begin: u64, end: u64) -> Attempt {
    Attempt::new(lane, begin, end, Outcome::CommittedReadOnly)
}

pub(crate) fn aborted(lane: u32, begin: u64, end: u64) -> Attempt {
    Attempt::new(lane, begin, end, Outcome::Aborted { reason: 1 })
}

pub(crate) fn running(lane: u32, begin: u64) -> Attempt {
    Attempt::new(lane, begin, u64::MAX, Outcome::Running)
}

pub(crate) fn header() -> Header {
    Header::new("hv-sorting", "test", "none")
}

pub(crate) fn history(attempts: &[(Attempt, &[Event])]) -> History {
    let mut history = History::new(header(), InitialMemory::ZERO);
    for (attempt, events) in attempts {
        history.push(*attempt, events).unwrap();
    }
    history
}

/// The history of so many commits one after the other, each of which writes its version to these words.
pub(crate) fn commits(versions: u64, words: &[u64]) -> History {
    let mut history = history(&[]);
    for version in 1..=versions {
        let writes: Vec<Event> = words.iter().map(|&word| write(word, version)).collect();
        let commit = update(0, version - 1, version, version);
        history.push(commit, &writes).unwrap();
    }
    history
}

/// A word of 32 bits, one of 64, and another one of 32.
pub(crate) const X: u64 = 0x1000;
pub(crate) const Y: u64 = 0x2001;
pub(crate) const Z: u64 = 0x10;

/// The history of attempts ([`push`]) on memory that is zero at first.
pub(crate) fn history_of(attempts: &str) -> History {
    let mut history = history(&[]);
    push(&mut history, attempts);
    history
}

/// Adds attempts to a history, with `;` between them. Each is `update LANE BEGIN VERSION END`,
/// `read_only LANE BEGIN END`, `aborted` likewise, or `running LANE BEGIN`, and then its events:
/// `x?1` read 1 in [`X`], `y=1` wrote it to [`Y`], `y+1` added it, and `x~` added a float.
pub(crate) fn push(history: &mut History, attempts: &str) {
    for attempt in attempts.split(';').filter(|attempt| !attempt.is_empty()) {
        let mut words = attempt.split_whitespace();
        let kind = words.next().unwrap();
        let mut number = || words.next().unwrap().parse().unwrap();
        let lane = number() as u32;
        let made = match kind {
            "update" => update(lane, number(), number(), number()),
            "read_only" => read_only(lane, number(), number()),
            "aborted" => aborted(lane, number(), number()),
            "running" => running(lane, number()),
            other => panic!("{other} is no attempt"),
        };
        let events: Vec<Event> = words.map(event).collect();
        history.push(made, &events).unwrap();
    }
}

fn event(text: &str) -> Event {
    let word = match text.as_bytes()[0] {
        b'x' => X,
        b'y' => Y,
        b'z' => Z,
        _ => panic!("{text} is no event"),
    };
    let value = || text[2..].parse().unwrap();
    match text.as_bytes()[1] {
        b'?' => read(word, value()),
        b'=' => write(word, value()),
        b'+' => add(word, value()),
        b'~' => Event::AddFloat { word },
        _ => panic!("{text} is no event"),
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Values {
    /// Each write another.
    Unique,
    /// 0 and 1.
    Binary,
    /// Small ones, and many writes are additions.
    Added,
}

impl Values {
    fn change(self, rng: &mut Rng, word: u64, fresh: u64) -> Event {
        match self {
            Self::Unique => write(word, fresh),
            Self::Binary => write(word, rng.below(2).into()),
            Self::Added if rng.chance(60) => add(word, rng.within(1, 3).into()),
            Self::Added => write(word, rng.below(3).into()),
        }
    }

    /// Anything that a read may return, after so many changes.
    fn anything(self, rng: &mut Rng, fresh: u64) -> u64 {
        match self {
            Self::Unique => rng.below(fresh as u32 + 1).into(),
            Self::Binary => rng.below(2).into(),
            Self::Added => rng.below(6).into(),
        }
    }
}

fn between(rng: &mut Rng, low: u64, high: u64) -> u64 {
    low + u64::from(rng.below((high - low) as u32 + 1))
}

/// A random possible history on words that are zero at first. Reads are right for one point of the attempt, but
/// one in four returns anything, so that many of the histories are not opaque.
pub(crate) fn random_history(
    rng: &mut Rng,
    attempts_max: u32,
    words: u32,
    values: Values,
) -> History {
    let attempts = random_attempts(rng, attempts_max);
    let version = |attempt: &Attempt| match attempt.outcome {
        Outcome::Committed { version } => Some(version),
        _ => None,
    };
    // Updates come first, in the order of their versions, as others read what they write.
    let mut order: Vec<usize> = (0..attempts.len()).collect();
    order.sort_by_key(|&i| version(&attempts[i]).unwrap_or(u64::MAX));
    let mut made: Vec<Vec<Event>> = vec![Vec::new(); attempts.len()];
    let (mut commits, mut fresh) = (Vec::<(u64, Vec<Event>)>::new(), 0);
    for i in order {
        let (attempt, events) = (&attempts[i], &mut made[i]);
        let point = version(attempt).map_or_else(
            || between(rng, attempt.begin, attempt.end.min(20)),
            |version| version - 1,
        );
        let may_write = attempt.outcome != Outcome::CommittedReadOnly;
        let length = rng.below(5) as usize;
        let lacks_a_write =
            |events: &[Event]| version(attempt).is_some() && !events.iter().any(Event::is_update);
        while events.len() < length || lacks_a_write(events) {
            let word = word(rng.below(words));
            let writes = events.len() >= length || may_write && rng.chance(40);
            events.push(if writes {
                fresh += 1;
                values.change(rng, word, fresh)
            } else if rng.chance(25) {
                read(word, values.anything(rng, fresh))
            } else {
                let before = commits.iter().take_while(|commit| commit.0 <= point);
                let before = before.fold(0, |now, (_, list)| after(now, list, word));
                read(word, after(before, events, word))
            });
        }
        commits.extend(version(attempt).map(|version| (version, events.clone())));
    }
    let mut history = History::new(header(), InitialMemory::ZERO);
    for (attempt, events) in attempts.iter().zip(&made) {
        history.push(*attempt, events).unwrap();
    }
    history
}

fn after(before: u64, events: &[Event], of: u64) -> u64 {
    events.iter().fold(before, |now, event| match *event {
        Event::Write { word, value } if word == of => value,
        Event::Add { word, delta } if word == of => sum(word, now, delta),
        _ => now,
    })
}

/// Addresses like those of 32- and 64-bit words.
pub(crate) fn word(i: u32) -> u64 {
    [0x7f00_0000_1000, 0x7f00_0000_2001, 0x40][i as usize]
}

fn random_attempts(rng: &mut Rng, attempts_max: u32) -> Vec<Attempt> {
    let number = rng.within(1, attempts_max);
    let updates = rng.within(0, number);
    let dense = rng.chance(70);
    let mut versions = Vec::new();
    for _ in 0..updates {
        let before = versions.last().copied().unwrap_or(0);
        versions.push(before + if dense { 1 } else { between(rng, 1, 3) });
    }
    let last = versions.last().copied().unwrap_or(0);
    let mut attempts: Vec<Attempt> = Vec::new();
    for &version in &versions {
        let begin = between(rng, 0, version - 1);
        let end = between(rng, version, last);
        attempts.push(update(0, begin, version, end));
    }
    for _ in updates..number {
        let begin = between(rng, 0, last);
        let end = between(rng, begin, last);
        attempts.push(match rng.below(8) {
            0 => running(0, begin),
            1..4 => read_only(0, begin, end),
            _ => aborted(0, begin, end),
        });
    }
    attempts.sort_by_key(|attempt| attempt.begin);
    let mut lane_ends: Vec<u64> = Vec::new();
    for attempt in &mut attempts {
        let free = lane_ends
            .iter()
            .position(|&end| end <= attempt.begin && end != u64::MAX);
        let lane = free.filter(|_| rng.chance(70)).unwrap_or_else(|| {
            lane_ends.push(0);
            lane_ends.len() - 1
        });
        lane_ends[lane] = attempt.end;
        attempt.lane = lane as u32;
    }
    attempts
}
