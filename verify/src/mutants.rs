//! The mutants gate: every seeded defect is caught, and the right code survives ten times what caught it.
//!
//! For each [`Mutant`] there is a stream of cases: the directed programs made for it in turn, then random
//! programs. The gate runs the stream until a check fails, and then the unmutated code on ten times as many
//! cases. Programs chosen for a defect say little about defects that nobody has thought of, so there is a
//! second stream, of random programs only: what it catches is a measure of the generator and no gate.

use crate::fuzz::{lines, on_all_cores, random_case};
use crate::prelude::*;
use crate::program::directed::Directed;
use crate::program::{Case, generate, run};
use crate::rng::draw;
use serde_json::{Value, json};

/// The number of cases that a mutant may survive.
pub const BUDGET: u64 = 20_000;

/// How many times the cases that a mutant took the unmutated code must survive.
pub const SURVIVAL: u64 = 10;

const DIRECTED_FIRST: u64 = 10_000;

/// Where a mutant is looked for, by `mutants/targets.txt`: a variant with programs, and `all` if the code is
/// common to all algorithms, and then the mutants.
pub struct Target {
    pub variant: Variant,
    /// The directed programs made for it. There are none for a mutant that programs cannot show, of
    /// containers, locks, barriers, semaphores or channels; kernels of their own catch it
    /// (`tests/collections`, `tests/locks`, `tests/meeting`).
    pub programs: Vec<&'static str>,
    is_common: bool,
}

impl Target {
    /// Returns whether a variant has the code that the mutant breaks.
    pub fn is_in(&self, variant: Variant) -> bool {
        // Of the paper's algorithms, those with version locks have their code in common.
        let code = |variant| match variant {
            Variant::Cgl | Variant::Vbv => variant,
            _ if variant.is_paper() => Variant::HvSorting,
            _ => Variant::Fast,
        };
        self.is_common || code(variant) == code(self.variant)
    }
}

/// Returns where a mutant is looked for.
pub fn target(mutant: Mutant) -> Target {
    let mut of = "";
    for line in include_str!("mutants/targets.txt").lines() {
        match line.strip_prefix("  ") {
            None => of = line,
            Some(mutants) if mutants.split(' ').any(|name| name == mutant.name()) => {
                let mut words = of.split(' ');
                let mut word = || words.next().unwrap_or_default();
                return Target {
                    variant: Variant::from_name(word()).unwrap_or_else(|| unreachable!("{of}")),
                    programs: word().split(',').collect(),
                    is_common: word() == "all",
                };
            }
            Some(_) => {}
        }
    }
    Target {
        variant: Variant::Fast,
        programs: Vec::new(),
        is_common: false,
    }
}

/// Returns case `k` of the stream of a mutant, and where it comes from.
pub fn case(mutant: Mutant, k: u64, defect: bool) -> (Value, Case) {
    let Target {
        variant, programs, ..
    } = target(mutant);
    let seed = draw(k, mutant as u64, 9);
    let switched_on = defect.then_some(mutant);
    let name = || programs[(k % programs.len() as u64) as usize];
    if k < DIRECTED_FIRST
        && let Some(directed) = Directed::named(name())
    {
        let case = directed.case(variant, switched_on, seed);
        return (directed.name.into(), case);
    }
    let case = generate::case(variant, switched_on, seed);
    (json!({ "random": seed }), case)
}

#[derive(Clone, Debug)]
pub struct Kill {
    /// The name of a directed program, or the seed of a random one.
    pub source: Value,
    pub failure: Failure,
    pub case: Case,
    /// Cases run, the last one included.
    pub schedules: u64,
}

#[derive(Clone, Debug)]
pub struct Row {
    pub mutant: Mutant,
    /// What caught it; `None` if nothing did within the budget.
    pub killed: Option<Kill>,
    /// Cases that the unmutated code ran.
    pub unmutated: u64,
    /// A case that the unmutated code failed.
    pub unmutated_failure: Option<(Box<Case>, Failure)>,
    /// The most random programs to run, and which of them caught it first.
    pub random: Option<(u64, Option<Kill>)>,
}

impl Row {
    pub const fn is_right(&self) -> bool {
        self.killed.is_some() && self.unmutated_failure.is_none()
    }

    pub fn json(&self) -> Value {
        let of = |killed: &Option<Kill>| {
            let killed = killed.as_ref();
            json!({
                "finding": killed.map(|k| k.failure.kind.name()),
                "schedules": killed.map(|k| k.schedules),
                "replay": killed.map(|k| k.case.to_string()),
            })
        };
        let mut row = of(&self.killed);
        row["mutant"] = self.mutant.name().into();
        row["variant"] = target(self.mutant).variant.name().into();
        row["killed_by"] = json!(self.killed.as_ref().map(|k| &k.source));
        row["random"] = json!(self.random.as_ref().map(|(budget, killed)| {
            let mut killed = of(killed);
            killed["budget"] = (*budget).into();
            killed
        }));
        let failed = self.unmutated_failure.as_ref();
        row["unmutated_schedules"] = self.unmutated.into();
        row["unmutated_failure"] = json!(failed.map(|(_, failure)| failure.to_string()));
        row["unmutated_replay"] = json!(failed.map(|(case, _)| case.to_string()));
        row
    }
}

fn kill(budget: u64, stream: impl Fn(u64) -> (Value, Case)) -> Option<Kill> {
    (0..budget).find_map(|k| {
        let (source, case) = stream(k);
        run(&case).err().map(|failure| Kill {
            source,
            failure,
            case,
            schedules: k + 1,
        })
    })
}

pub fn try_at_random(mutant: Mutant, budget: u64) -> Option<Kill> {
    kill(budget, |k| {
        let random = draw(k, mutant as u64, 10);
        let case = random_case(target(mutant).variant, Some(mutant), random);
        (json!({ "random": random }), case)
    })
}

/// Tries a mutant: on at most `budget` cases of its own stream and `random` random programs.
pub fn try_mutant(mutant: Mutant, budget: u64, random: u64) -> Row {
    let killed = kill(budget, |k| case(mutant, k, true));
    let unmutated = SURVIVAL * killed.as_ref().map_or(0, |k| k.schedules);
    let failed = kill(unmutated, |k| case(mutant, k, false));
    Row {
        mutant,
        killed,
        unmutated,
        unmutated_failure: failed.map(|kill| (Box::new(kill.case), kill.failure)),
        random: (random != 0).then(|| (random, try_at_random(mutant, random))),
    }
}

/// Tries every mutant, on all cores; `report` is called with each row as it comes.
pub fn gate(budget: u64, random: u64, report: impl Fn(&Row) + Sync) -> Vec<Row> {
    let shown = |mutant: &&Mutant| !target(**mutant).programs.is_empty();
    let mut mutants: Vec<Mutant> = Mutant::ALL.iter().filter(shown).copied().collect();
    mutants.sort_by_key(|&mutant| mutant as u32);
    on_all_cores(&mutants, |&mutant| {
        let row = try_mutant(mutant, budget, random);
        report(&row);
        row
    })
}

pub fn table(rows: &[Row]) -> String {
    let random = rows.iter().any(|row| row.random.is_some());
    let random = if random { "|random" } else { "" };
    let header = "mutant|variant|killed by|finding|schedules|unmutated";
    let mut table = vec![format!("{header}{random}")];
    for row in rows {
        let killed = row.killed.as_ref().map(|kill| {
            let source = kill.source.as_str().unwrap_or("a random program");
            format!("{source}|{}|{}", kill.failure.kind.name(), kill.schedules)
        });
        let killed = killed.as_deref().unwrap_or("SURVIVED|-|-");
        let unmutated = match &row.unmutated_failure {
            None => format!("{} passed", row.unmutated),
            Some((_, failure)) => format!("FAILED: {}", failure.kind.name()),
        };
        let random = row.random.as_ref().map(|(budget, kill)| match kill {
            None => format!("|> {budget}"),
            Some(kill) => format!("|{}", kill.schedules),
        });
        let (mutant, variant) = (row.mutant.name(), target(row.mutant).variant);
        let random = random.unwrap_or_default();
        table.push(format!("{mutant}|{variant}|{killed}|{unmutated}{random}"));
    }
    lines(&table, &[4, 6]).join("\n") + "\n"
}

/// Returns a line about what random programs caught, if any were run.
pub fn random_summary(rows: &[Row]) -> Option<String> {
    let random: Vec<_> = rows.iter().filter_map(|row| row.random.as_ref()).collect();
    let (budget, _) = random.first()?;
    let kills = || random.iter().filter_map(|(_, kill)| kill.as_ref());
    let mut schedules: Vec<u64> = kills().map(|kill| kill.schedules).collect();
    schedules.sort_unstable();
    let median = schedules.get(schedules.len() / 2).copied().unwrap_or(0);
    let silent = kills().filter(|kill| kill.case.program.silent.is_some());
    let (killed, all, silent) = (schedules.len(), random.len(), silent.count());
    let killed = format!("{killed} of {all} killed by at most {budget} random programs each");
    let silent = format!("{silent} of them by a silent one");
    Some(format!("{killed}, {silent}; half of them within {median}"))
}
