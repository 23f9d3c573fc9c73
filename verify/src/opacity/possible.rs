//! What must hold of a history before its reads can be judged.

use crate::error::{Contradiction, ImpossibleHistory};
use crate::history::words::NumberMap;
use crate::history::{Attempt, Event, History, Outcome};

/// Returns the committed updates as (version, attempt), by version.
///
/// # Errors
/// The first contradiction: of one attempt, of a lane, then of two commits.
pub(crate) fn version_order(history: &History) -> Result<Vec<(u64, u32)>, ImpossibleHistory> {
    let mut order = Vec::new();
    // Index and end of the last attempt of each lane.
    let mut lanes: NumberMap<u32, usize> = NumberMap::default();
    for i in 0..history.len() {
        let attempt = history.attempt(i);
        let impossible = |why| ImpossibleHistory {
            attempt: i,
            lane: attempt.lane,
            why,
        };
        alone(history, i, attempt).map_err(impossible)?;
        if let Some(before) = lanes.insert(attempt.lane, i) {
            let Attempt { end, outcome, .. } = history.attempt(before);
            if outcome == Outcome::Running {
                return Err(impossible(Contradiction::AfterRunning { before }));
            }
            if attempt.begin < end {
                return Err(impossible(Contradiction::LaneOrder {
                    before,
                    end,
                    begin: attempt.begin,
                }));
            }
        }
        if let Outcome::Committed { version } = attempt.outcome {
            order.push((version, i as u32));
        }
    }
    order.sort_unstable();
    for pair in order.windows(2) {
        let ((version, other), (next, i)) = (pair[0], pair[1]);
        if version == next {
            let (other, i) = (other as usize, i as usize);
            let other_lane = history.attempt(other).lane;
            let why = Contradiction::DuplicateVersion {
                version,
                other,
                other_lane,
            };
            return Err(ImpossibleHistory {
                attempt: i,
                lane: history.attempt(i).lane,
                why,
            });
        }
    }
    Ok(order)
}

/// Checks what one attempt's record must satisfy by itself.
fn alone(history: &History, i: usize, attempt: Attempt) -> Result<(), Contradiction> {
    let Attempt {
        begin,
        end,
        outcome,
        ..
    } = attempt;
    if end < begin {
        return Err(Contradiction::EndBeforeBegin { begin, end });
    }
    let mut written = history
        .events(i)
        .filter(Event::is_update)
        .map(|event| event.word());
    match outcome {
        Outcome::Committed { version: 0 } => Err(Contradiction::VersionZero),
        Outcome::Committed { version } if version > end => {
            Err(Contradiction::VersionBeyondEnd { version, end })
        }
        Outcome::Committed { version } if version <= begin => {
            Err(Contradiction::VersionBeforeBegin { version, begin })
        }
        Outcome::Committed { version } if written.next().is_none() => {
            Err(Contradiction::UpdateWithoutWrites { version })
        }
        Outcome::CommittedReadOnly => written.next().map_or(Ok(()), |word| {
            Err(Contradiction::ReadOnlyWithWrites { word })
        }),
        _ => Ok(()),
    }
}
