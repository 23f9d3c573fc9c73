//! The command `nw`.

use crate::cli::prelude::*;
use stm_align::align::{Alignment, cigar, lines};
use stm_align::dataflow::OnDevice;
use stm_align::divide::{LARGE, Pair, align_all, groups, is_large, read_pairs};
use stm_align::fasta::{contents, plain};
use stm_align::matrix::{Gap, Matrix, Scoring, names};
use stm_align::scorer::{Host, Scorer};

#[derive(Args, Debug, Clone)]
pub(crate) struct NwArgs {
    /// The sequences whose letters `I` names, or - for standard input
    #[arg(value_name = "A.fa")]
    pub a: PathBuf,
    /// The sequences whose letters `D` names, as many, or -
    #[arg(value_name = "B.fa")]
    pub b: PathBuf,
    /// A substitution matrix: the name of a built-in one, or a file
    #[arg(long, value_name = "NAME|FILE")]
    pub matrix: Option<PathBuf>,
    /// What a pair of equal letters scores [default: 5]
    #[arg(long = "match", value_name = "M", value_parser = parse_points,
          conflicts_with = "matrix")]
    pub same: Option<i32>,
    /// What a pair of other letters costs; -X is read as X [default: 4]
    #[arg(long, value_name = "X", value_parser = parse_points,
          conflicts_with = "matrix")]
    pub mismatch: Option<i32>,
    /// What each letter of a gap costs, if gaps cost nothing to open
    #[arg(long, value_name = "G", value_parser = parse_cost,
          conflicts_with_all = ["gap_open", "gap_extend"])]
    pub gap: Option<i32>,
    /// What a gap costs whatever its length [default: 10]
    #[arg(long, value_name = "O", value_parser = parse_cost)]
    pub gap_open: Option<i32>,
    /// What each letter of a gap costs as well [default: 1]
    #[arg(long, value_name = "E", value_parser = parse_cost)]
    pub gap_extend: Option<i32>,
    /// host (this machine's cores), cpu (kernels on threads), cuda, cuda:N, or auto
    #[arg(long, value_name = "NAME", value_parser = parse_where, default_value = "auto")]
    pub device: Where,
    /// Find the scores and no alignments, which is faster
    #[arg(long)]
    pub score_only: bool,
    /// Print one JSON object a pair, and nothing else
    #[arg(long)]
    pub json: bool,
}

/// What fills the tables: a device, or the host's cores, which `auto` is unless tables are large.
pub(crate) type Where = std::option::Option<Choice>;

fn parse_where(text: &str) -> Result<Where, String> {
    if text == "host" {
        return Ok(None);
    }
    let choice = parse_choice(text).map_err(|error| error.to_string());
    let choice = choice.map_err(|why| why.replace("known are auto,", "known are host, auto,"));
    choice.map(Some)
}

/// The cells of all tables from which on `auto` opens a GPU: the host takes some seconds for so many.
const CELLS_OF_GPU: u64 = 1 << 31;

fn scorer(asked: Where, pairs: &[Pair]) -> Result<Box<dyn Scorer>> {
    let cells = |pair: &Pair| pair.a.codes.len() as u64 * pair.b.codes.len() as u64;
    let are_small = || pairs.iter().map(cells).sum::<u64>() < CELLS_OF_GPU;
    let choice = match asked {
        None => return Ok(Box::new(Host)),
        Some(Choice::Auto) if are_small() => return Ok(Box::new(Host)),
        Some(choice) => choice,
    };
    let (device, _) = AnyDevice::open(choice)?;
    if choice == Choice::Auto && device.kind() == DeviceKind::Cpu {
        // The host does the same with less ado.
        return Ok(Box::new(Host));
    }
    Ok(Box::new(OnDevice { device, cut: None }))
}

fn parse_points(text: &str) -> Result<i32, String> {
    let why = "is no score: give a whole number of up to nine digits, such as 5";
    text.parse().map_err(|_| format!("{text:?} {why}"))
}

fn parse_cost(text: &str) -> Result<i32, String> {
    let why = match parse_points(text) {
        Ok(cost) if cost < 0 => "is negative: a cost is 0 or more, and is taken off the score",
        Err(_) => "is no cost: give a whole number of up to nine digits, such as 2",
        right => return right,
    };
    Err(format!("{text:?} {why}"))
}

const COLUMNS: usize = 60;

/// A pair in JSON, the fields in this order.
#[derive(Serialize)]
struct Shown<'p> {
    a: &'p str,
    b: &'p str,
    a_length: usize,
    b_length: usize,
    score: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cigar: Option<String>,
    matrix: &'p str,
    gap_open: i32,
    gap_extend: i32,
    device: &'p str,
    device_asked: &'p str,
}

pub(super) fn nw(args: &NwArgs) -> Result<bool> {
    let progress = Progress::new();
    progress.say("reading the sequences");
    let scoring = scoring(args)?;
    let span = tracing::info_span!("read sequences");
    let pairs = span.in_scope(|| read_pairs(&args.a, &args.b, &scoring))?;
    let mut scorer = scorer(args.device, &pairs)?;
    let (mut done, device) = (0, scorer.name());
    let asked = args.device.map(|choice| choice.to_string());
    let asked = asked.as_deref().unwrap_or("host");
    for group in groups(&pairs) {
        progress.say(match group {
            [Pair { a, b }] => format!("{} and {} on {device}", a.record.name, b.record.name),
            _ => format!("{done} of {} pairs done, on {device}", pairs.len()),
        });
        let codes: Vec<_> = group.iter().map(Pair::codes).collect();
        let found: Vec<(i64, Option<Alignment>)> = if args.score_only {
            let scores = scorer.scores(&codes, &scoring)?;
            scores.into_iter().map(|score| (score, None)).collect()
        } else {
            let found = align_all(&codes, &scoring, &mut *scorer, LARGE)?;
            found.into_iter().map(|a| (a.score, Some(a))).collect()
        };
        progress.suspend(|| {
            let mut out = stdout().lock();
            for (number, (pair, (score, alignment))) in (done..).zip(group.iter().zip(found)) {
                // The host does what is small, unless scores alone are asked for.
                let (a, b) = pair.codes();
                let on = match alignment {
                    Some(_) if !is_large(a.len(), b.len(), LARGE) => "host",
                    _ => &device,
                };
                if args.json {
                    let shown = Shown {
                        a: &pair.a.record.name,
                        b: &pair.b.record.name,
                        a_length: a.len(),
                        b_length: b.len(),
                        score,
                        cigar: alignment.map(|of| cigar(&of.ops, a, b)),
                        matrix: &scoring.matrix.name,
                        gap_open: scoring.gap.open,
                        gap_extend: scoring.gap.extend,
                        device: on,
                        device_asked: asked,
                    };
                    let line = serde_json::to_string(&shown).map_err(io::Error::from)?;
                    writeln!(out, "{line}")?;
                } else {
                    if number > 0 && alignment.is_some() {
                        writeln!(out)?;
                    }
                    print(&mut out, pair, score, alignment.as_ref())?;
                }
            }
            out.flush()
        })?;
        done += group.len();
    }
    Ok(true)
}

fn scoring(args: &NwArgs) -> Result<Scoring> {
    let matrix = if let Some(named) = &args.matrix {
        matrix(named)?
    } else {
        let other = args.mismatch.unwrap_or(4).saturating_abs().saturating_neg();
        Matrix::of_match(b"ACGT", args.same.unwrap_or(5), other).map_err(Error::Usage)?
    };
    let affine = (args.gap_open.unwrap_or(10), args.gap_extend.unwrap_or(1));
    let (open, extend) = args.gap.map_or(affine, |each| (0, each));
    let gap = Gap { open, extend };
    Ok(Scoring { matrix, gap })
}

fn matrix(named: &Path) -> Result<Matrix> {
    let shown = named.to_string_lossy();
    if let Some(matrix) = Matrix::named(&shown) {
        return matrix.map_err(Error::Usage);
    }
    let refused = |why: String| Error::Usage(format!("--matrix {shown}: {why}"));
    let text = fs::File::open(named).and_then(contents);
    let text = text.map_err(|error| {
        let what = suggestion(&shown, &names().collect::<Vec<_>>());
        let what = format!("it is no built-in matrix ({what})");
        refused(format!("{what}, and as a file it cannot be read: {error}"))
    })?;
    let text = plain(&text).map_err(refused)?;
    let text = std::str::from_utf8(text).map_err(|_| {
        let fix = "give a built-in matrix, or a text whose first line names the letters";
        refused(format!("the file is no text: {fix}"))
    })?;
    Matrix::parse(&shown, text).map_err(|wrong| Error::Usage(format!("--matrix {wrong}")))
}

fn print(out: &mut impl Write, pair: &Pair, score: i64, of: Option<&Alignment>) -> io::Result<()> {
    let [a, b] = [&pair.a.record, &pair.b.record]
        .map(|record| format!("{} ({} letters)", record.name, record.letters.len()));
    writeln!(out, "{a} and {b}: score {score}")?;
    let shown = of.map(|of| lines(&of.ops, &pair.a, &pair.b, COLUMNS));
    shown.map_or(Ok(()), |lines| write!(out, "\n{lines}"))
}
