//! `stamp bench nw`: scores of alignments by every implementation, in one run that can be interrupted and
//! gone on with. The ways of filling tables have a line each in [`SCHEMES`], from which come the points and
//! the help.

use crate::points::prelude::*;
use crate::sync::sections::transactions;
use crate::sync::{Bench, add_missing};
use crate::workloads::nw::{NUCLEOTIDES, Nw, linear_nucleotides, random_codes};
use reduction::{HOPS, REDUCTION, measure_hops};
use stm_align::Pass;
use stm_align::align::LastRow;
use stm_align::dataflow::Strips;
use stm_align::diagonals::{Cut, Tables, TileKernel};
use stm_align::matrix::{Gap, Matrix, Scoring};
use stm_align::scorer::{Host, Scorer};

pub(crate) mod reduction;

/// What a point aligns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Case {
    /// Letters of each sequence.
    letters: u64,
    pairs: u64,
    affine: bool,
    /// Whether letters are those of proteins, and not of nucleotides.
    protein: bool,
}

impl Case {
    fn of(asked: &Asked) -> Self {
        let of = |name| asked.parameters[name];
        Self {
            letters: of("letters"),
            pairs: of("pairs"),
            affine: of("affine") > 0,
            protein: of("protein") > 0,
        }
    }

    const fn cells(&self) -> u64 {
        self.letters * self.letters * self.pairs
    }
}

pub(crate) type NwBench = Bench<true>;

/// Letters of proteins that sequences are drawn from, which published matrices name first.
const AMINO_ACIDS: u32 = 20;

/// A case, its sequences, and its last rows by another implementation.
pub(crate) struct Inputs {
    case: Case,
    pairs: Vec<[Vec<u8>; 2]>,
    scoring: Scoring,
    expected: Vec<LastRow>,
    /// What filled those tables: `None` for the host.
    by: Option<Cut>,
}

impl Inputs {
    /// Draws the sequences of a case from a seed: all letters alike, independent of each other.
    fn new(case: Case, seed: u64) -> Result<Self> {
        let scoring = scoring(&case)?;
        let letters = case.letters as u32;
        let length = letters as usize;
        scoring.check(length, length).map_err(Error::Usage)?;
        let alphabet = [NUCLEOTIDES, AMINO_ACIDS][usize::from(case.protein)];
        let drawn = |which| random_codes(seed, which, letters, alphabet);
        let pairs = (0..case.pairs).map(|i| [drawn(2 * i), drawn(2 * i + 1)]);
        Ok(Self {
            case,
            pairs: pairs.collect(),
            scoring,
            expected: Vec::new(),
            by: None,
        })
    }

    fn passes(&self) -> Vec<Pass<'_>> {
        let pairs = self.pairs.iter();
        pairs.map(|[a, b]| self.scoring.pass(a, b)).collect()
    }
}

/// The scoring of a case. Nucleotides score 5 and -4, and proteins by BLOSUM62; a linear gap costs
/// 8 for each letter, and an affine one 10 and 1 for each letter, or with proteins 11 and 1.
fn scoring(case: &Case) -> Result<Scoring> {
    let mut scoring = linear_nucleotides();
    if let Some(matrix) = Matrix::named("blosum62").filter(|_| case.protein) {
        scoring.matrix = matrix.map_err(Error::Usage)?;
    }
    if case.affine {
        let open = if case.protein { 11 } else { 10 };
        scoring.gap = Gap { open, extend: 1 };
    }
    Ok(scoring)
}

#[derive(Args, Debug, Clone)]
pub(crate) struct NwSpec {
    #[command(flatten)]
    pub bench: BenchSpec,
    /// A part, several separated by commas, or all
    #[arg(long, value_name = "PART,...", default_value = "all",
          value_parser = |text: &str| parse_names(text, "part", &PARTS.map(|part| part.0)))]
    pub only: NameList,
}

/// Measures what the document lacks; `command` is how the program was called. What a single point
/// cannot do is written into the document and is no error.
pub(crate) fn bench(device: &AnyDevice, spec: &NwSpec, command: &str) -> Result<Store<NwBench>> {
    let mut head = spec.bench.head(NwBench::FORMAT, device, command)?;
    head.notes = vec![
        "Times are the device's, from the beginning of the first launch to the end of the last. A \
         point that takes more than 0.2 s is measured once, any other is the median of 5 after one \
         that does not count. A point of the reduction is one launch after one that does not count; \
         its cycles are the median of the launch's rounds. Operations are cells of the tables, and \
         hand-overs in the reduction."
            .to_owned(),
        "Sequences are random letters drawn from the seed. Of up to 1 G cells the last row of each \
         table is compared with the host's, of more with that of tiles of another size."
            .to_owned(),
    ];
    let mut store = Store::<NwBench>::open(&spec.bench, head)?;
    let everything = points(device, spec.bench.quick);
    let (seed, kept) = (spec.bench.seed, None);
    let mut measuring = Measuring { device, seed, kept };
    store.document.head.complete = add_missing(&mut store, &everything, &spec.only, |asked| {
        // What a point alone cannot do is in its note.
        Point::or_note(asked, measuring.point(asked))
    })?;
    store.save()?;
    Ok(store)
}

/// The launches that are timed, after one that is not.
const REPEAT: usize = 5;

/// The times, the last row of each table, and what it took beside the time, in words.
type Filled = (Vec<Duration>, Vec<LastRow>, String);

#[derive(Clone, Copy)]
pub(crate) enum Way {
    /// As they are, again and again. Every part of the benchmark measures it.
    Whole(fn(&AnyDevice, &Inputs) -> Result<Filled>),
    /// Cut into tiles, whose kernel the function returns for a side and the width of a warp.
    Tiles(fn(u32, u32) -> TileKernel, Again),
}

/// Fills tables that are cut into tiles again and again.
type Again = fn(&Tables<AnyDevice>) -> Result<Vec<Duration>>;

/// The schemes: the name, the way, and what it is.
#[rustfmt::skip]
pub(crate) const SCHEMES: &[(&str, Way, &str)] = &[
    ("dataflow", Way::Whole(dataflow), "one launch, in which warps hand values on through channels of tagged words"),
    ("diagonals", Way::Tiles(TileKernel::tiles, launched), "a launch for each diagonal of tiles"),
    ("graph", Way::Tiles(TileKernel::tiles, replayed), "the same launches as a CUDA graph"),
    ("locks", Way::Tiles(|_, _| TileKernel::Locks, launched), "the same launches; in a tile a thread for each cell, which waits for locks"),
    ("cells", Way::Tiles(|_, _| TileKernel::Cells, launched), "the same with tagged words in place of locks"),
];

fn dataflow(device: &AnyDevice, inputs: &Inputs) -> Result<Filled> {
    let passes = inputs.passes();
    let mut strips = Strips::new(device, &passes, &inputs.scoring)?;
    let times = timed(REPEAT, || strips.fill())?;
    let blocks = counted(strips.blocks(), "block", "blocks");
    let took = format!("{blocks} of a warp, {}", bytes(strips.bytes()));
    Ok((times, strips.last_rows(&passes)?, took))
}

fn tiled(device: &AnyDevice, inputs: &Inputs, cut: Cut, again: Again) -> Result<Filled> {
    let passes = inputs.passes();
    let tables = Tables::new(device, cut, &passes, &inputs.scoring)?;
    let times = again(&tables)?;
    let launches = counted(tables.launch_count(), "launch", "launches");
    let took = format!("{launches}, {}", bytes(tables.bytes()));
    Ok((times, tables.last_rows(&passes)?, took))
}

fn launched(tables: &Tables<AnyDevice>) -> Result<Vec<Duration>> {
    Ok(timed(REPEAT, || tables.fill())?)
}

fn replayed(tables: &Tables<AnyDevice>) -> Result<Vec<Duration>> {
    let mut graph = tables.recorded()?;
    Ok(timed(REPEAT, || graph.replay())?)
}

fn counted(count: u32, one: &str, more: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
}

/// The most cells whose tables the host fills to compare with: 32 K x 32 K, and some more.
const HOST_CELLS_MAX: u64 = 1 << 30;

/// A transaction for each cell, in place of a scheme.
pub(crate) const STM: &str = "stm:fast";

/// Returns the way of a scheme; transactions have none.
fn way(implementation: &str) -> Option<Way> {
    let scheme = SCHEMES.iter().find(|scheme| scheme.0 == implementation);
    let is_known = scheme.is_some() || implementation == STM;
    assert!(is_known, "a name of no scheme");
    scheme.map(|scheme| scheme.1)
}

/// Measures points, and keeps what the last case must come to, as several points have it.
struct Measuring<'d> {
    device: &'d AnyDevice,
    seed: u64,
    kept: Option<Inputs>,
}

impl Measuring<'_> {
    fn point(&mut self, asked: &Asked) -> Result<Point> {
        match asked.part.as_str() {
            REDUCTION => return reduction::measure(self.device, asked),
            HOPS => return measure_hops(self.device, asked),
            _ => {}
        }
        let case = Case::of(asked);
        match way(&asked.implementation) {
            None => {
                let letters = case.letters as u32;
                let (workload, seeded) = (Nw { letters }.into(), (self.seed, case.cells()));
                transactions(self.device, &workload, asked, seeded, Variant::Fast.into())
            }
            Some(Way::Whole(fill)) => self.tables(asked, case, None, fill),
            Some(Way::Tiles(kernel, again)) => {
                let side = asked.parameters["side"] as u32;
                let kernel = kernel(side, self.device.limits().warp_width);
                let cut = Cut { kernel, side };
                let fill = |device: &_, inputs: &_| tiled(device, inputs, cut, again);
                self.tables(asked, case, Some(cut), fill)
            }
        }
    }

    /// Measures what fills the tables of a case, and how they are cut if it cuts them.
    fn tables(
        &mut self,
        asked: &Asked,
        case: Case,
        cut: Option<Cut>,
        fill: impl FnOnce(&AnyDevice, &Inputs) -> Result<Filled>,
    ) -> Result<Point> {
        let is_right = |kept: &Inputs| kept.case == case && (kept.by.is_none() || kept.by != cut);
        let kept = self.kept.take().filter(is_right);
        let kept = kept.map_or_else(|| self.made(case, cut), Ok)?;
        let kept = self.kept.insert(kept);
        let (times, rows, took) = fill(self.device, kept)?;
        let ms: Vec<f64> = times.into_iter().map(ms).collect();
        let by = kept.by.map(|by| format!("with tiles of {}", by.side));
        let by = by.unwrap_or_else(|| "the host's".into());
        let note = format!("{took} of memory, the same rows as {by}");
        let wrong = wrong(&rows, &kept.expected);
        Ok(Point::timed(asked, case.cells(), &ms, wrong).noted(Some(note)))
    }

    /// Returns a case's sequences and what its tables must come to, by the host or by tiles of another cut.
    fn made(&self, case: Case, cut: Option<Cut>) -> Result<Inputs> {
        let mut inputs = Inputs::new(case, self.seed)?;
        let passes = inputs.passes();
        (inputs.expected, inputs.by) = if case.cells() <= HOST_CELLS_MAX {
            (Host.last_rows(&passes, &inputs.scoring)?, None)
        } else {
            let width = self.device.limits().warp_width;
            let [usual, another] = [64, 128].map(|side| {
                let kernel = TileKernel::tiles(side, width);
                Cut { kernel, side }
            });
            let other = if cut == Some(usual) { another } else { usual };
            let tables = Tables::new(self.device, other, &passes, &inputs.scoring)?;
            tables.fill()?;
            (tables.last_rows(&passes)?, Some(other))
        };
        Ok(inputs)
    }
}

fn wrong(found: &[LastRow], expected: &[LastRow]) -> Option<String> {
    let pairs = (1..).zip(found.iter().zip(expected));
    let mut wrong = pairs.filter(|(_, (found, expected))| found.best != expected.best);
    let (pair, (found, expected)) = wrong.next()?;
    let more = wrong.count();
    let [score, right] = [found, expected].map(|row| row.best.last().copied().unwrap_or(0));
    Some(format!(
        "the last row of pair {pair} is wrong, whose score is {score} and not {right}, and {more} \
         more pairs are"
    ))
}

/// The parts of the measurement, and what each shows.
#[rustfmt::skip]
pub(crate) const PARTS: [(&str, &str); 8] = [
    (REDUCTION, "values handed from warp to warp (Li et al. 2015, Figure 4)"),
    (HOPS, "a value handed from thread to thread, in each memory that has channels"),
    ("table3", "one pair of 31 to 1,984 letters (Li et al. 2015, Table 3)"),
    ("sizes", "one pair of 4 K to 100 K letters"),
    ("tiles", "the graph at 32 K letters, with tiles of 32 to 1,024"),
    ("affine", "one pair with affine gaps"),
    ("protein", "one pair of proteins, with linear and affine gaps"),
    ("batch", "10 K pairs of 300 letters"),
];

/// Points in the order in which they are measured, as [`listed`] reads them; a case is of one pair with linear gaps and of
/// nucleotides unless its row says otherwise. EACH are all schemes of the reduction, and a star all implementations that
/// take tables as they are; others have the sides of their tiles. In table3 these are that of the paper, and all that are
/// not larger than the table needs. Those with a thread for each cell have few letters.
const FULL: &str = "\
reduction warps=2,4,8,16: EACH
hops round=2,16: shared
hops round=2,8: cluster
hops round=2,132: global
table3 letters=31: * diagonals,graph/32 locks,cells/32 stm:fast
table3 letters=62: * diagonals,graph/32,64 locks,cells/32 stm:fast
table3 letters=124: * diagonals,graph/32,64,128 locks,cells/32 stm:fast
table3 letters=248: * diagonals,graph/32,64,128,256 locks,cells/32 stm:fast
table3 letters=496: * diagonals,graph/32,64,128,256,512 locks,cells/32 stm:fast
table3 letters=992,1984: * diagonals,graph/32,64,128,256,512,1024 locks,cells/32 stm:fast
tiles letters=32K: * graph/32,64,128,256,512,1024
sizes letters=4K,8K: * graph/32,64,128,256,512,1024 diagonals/32 locks,cells/32
sizes letters=16K,32K,64K,100000: * graph/32,64,128,256,512,1024 diagonals/32
affine letters=32K affine=1: * graph/32,64,128,256
protein letters=32K protein=1 affine=0,1: * graph/32,64,128,256
batch letters=300 pairs=10000: * graph/32,64,128,256
";
const SMALL: &str = "\
reduction warps=2,4: EACH
hops round=2: shared cluster global
table3 letters=31: * diagonals,graph/32 locks,cells/4 stm:fast
table3 letters=62: * diagonals,graph/32,64 locks,cells/4 stm:fast
tiles letters=150: * graph/32,64
sizes letters=200: * graph/32,64 diagonals/32
affine letters=150 affine=1: * graph/32,64
protein letters=150 protein=1 affine=0,1: * graph/32,64
batch letters=30 pairs=20: * graph/32,64
";

/// Returns a point with its shape; `side` is that of a tile, if there are any.
fn planned(
    device: &AnyDevice,
    (part, implementation): (&str, &str),
    given: &[(&str, u64)],
    side: u64,
) -> Asked {
    let (processors, width) = (device.limits().processors, device.limits().warp_width);
    let (_, last) = given[given.len() - 1];
    let without_tables = |shape| Asked::new(part, implementation, shape, given);
    match (part, implementation) {
        (REDUCTION, _) | (HOPS, "shared") => return without_tables((1, last as u32 * width)),
        (HOPS, _) => return without_tables((last as u32, width)),
        _ => {}
    }
    let mut parameters = vec![("pairs", 1), ("affine", 0), ("protein", 0)];
    parameters.extend(given);
    let way = way(implementation);
    parameters.extend(matches!(way, Some(Way::Tiles(..))).then_some(("side", side)));
    let mut asked = Asked::new(part, implementation, (0, width), &parameters);
    match way {
        None => (asked.blocks, asked.threads) = device.kind().either((1, 2), (processors, 32)),
        // The number of blocks is in the point's note.
        Some(Way::Whole(_)) => {}
        Some(Way::Tiles(kernel, _)) => {
            // Those of the largest launch.
            let Case { letters, pairs, .. } = Case::of(&asked);
            let tiles = letters.div_ceil(side);
            let blocks = match pairs {
                1 => tiles,
                pairs => pairs * tiles.next_power_of_two(),
            };
            asked.blocks = blocks as u32;
            asked.threads = kernel(side as u32, width).threads(side as u32);
        }
    }
    asked
}

pub(crate) fn points(device: &AnyDevice, quick: bool) -> Vec<Asked> {
    let few = quick || device.kind() == DeviceKind::Cpu;
    let takes_whole = |scheme: &&(_, Way, _)| matches!(scheme.1, Way::Whole(_));
    let whole = SCHEMES.iter().filter(takes_whole).map(|scheme| scheme.0);
    let reductions = reduction::SCHEMES.iter().map(|scheme| scheme.0);
    let rows = [FULL, SMALL][usize::from(few)].replace('*', &whole.joined(" "));
    let rows = rows.replace("EACH", &reductions.joined(" "));
    let mut points = Vec::new();
    listed(&rows, 0, |part, given, _, kinds| {
        let (names, sides) = kinds.split_once('/').unwrap_or((kinds, "0"));
        for side in sides.split(',').map(|side| side.parse().expect("a side")) {
            let of_name = |name| planned(device, (part, name), given, side);
            points.extend(names.split(',').map(of_name));
        }
    });
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_differ_are_reported_with_their_pair_and_scores() {
        let row = |last: i32| {
            let (best, in_gap) = (vec![0, last], Vec::new());
            LastRow { best, in_gap }
        };
        assert_eq!(wrong(&[row(1), row(2)], &[row(1), row(2)]), None);
        let wrong = wrong(&[row(1), row(2)], &[row(1), row(3)]).unwrap();
        has(&wrong, "pair 2 | 2 and not 3");
    }
}
