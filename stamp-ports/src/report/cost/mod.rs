//! What transactions cost beside one lock, from all in conflict with each other to nearly none: transfers
//! between ever more accounts, as `bench all` measures them by `bench floor`; by `fast`, by `cgl`, and as
//! critical sections.

use super::jq::Sets;
use super::source::Source;
use super::stated::Report;
use crate::error::{Error, Result, refuse};
use crate::head::Head;
use crate::measure::floor::report::FORMAT;
use serde::Deserialize;
use serde_json::{Value, json};

/// The file with the documents of `bench floor`.
pub(crate) const FILE_NAME: &str = "fast.json";

/// A document of `bench floor`, as far as it is reported on.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Floor {
    #[serde(flatten)]
    pub(crate) head: Head,
    runs: Vec<Value>,
    stm: Vec<Value>,
}

/// Reads a list of documents, and returns those with the rates that are shown here.
pub(crate) fn parse(text: &str) -> Result<Vec<Floor>> {
    let mut all: Vec<Floor> = serde_json::from_str(text)
        .map_err(|error| Error::Usage(format!("it is no list of `bench floor`: {error}")))?;
    let mut formats = all.iter().map(|floor| &floor.head.format);
    if let Some(other) = formats.find(|format| *format != FORMAT) {
        let fix = "use the program that wrote it";
        return refuse(format!(
            "a format in it is {other:?}, not {FORMAT:?}: {fix}"
        ));
    }
    all.retain(|floor| !rates(floor).is_empty());
    Ok(all)
}

/// The rates of a document, if it has all three.
fn rates(floor: &Floor) -> Vec<Value> {
    let runs = Sets::of(&json!({"runs": floor.runs, "stm": floor.stm}));
    runs.run(&[include_str!("rates.jq")])
}

/// Returns the report about documents, if there are any.
pub(crate) fn report(all: &[Floor]) -> Option<Report> {
    let mut head = all.first()?.head.clone();
    head.seconds = all.iter().map(|floor| floor.head.seconds).sum();
    let mut rates: Vec<Value> = all.iter().flat_map(rates).collect();
    rates.sort_by_key(|rate| rate["accounts"].as_u64());
    let source = Source {
        sets: "{}",
        page: include_str!("page.jq"),
        ..Source::default()
    };
    Some(source.report(&head, &json!({"rates": rates})))
}

#[cfg(test)]
pub(super) mod tests {
    //! The report about documents with known rates.

    use super::{parse, report};
    use crate::report::paper::tests::sample;
    use crate::report::stated::Report;
    use crate::testing::has;
    use serde_json::{Value, json};

    /// Documents of transfers between so many accounts, with the rates of `fast`, of a lock and
    /// of `cgl`.
    fn documents(all: &[(u64, [f64; 3])]) -> String {
        let of = |(accounts, [fast, lock, cgl]): &(u64, [f64; 3])| {
            let run = |field: &str, name: &str, rate: &f64| {
                json!({"workload": "bank", field: name, "tx_per_s": rate, "verified": true,
                    "blocks": 2, "threads": 32, "parameters":
                    {"accounts": accounts, "audit_percent": 0, "zipf_thousandths": 0}})
            };
            let mut floor = json!(sample().head);
            floor["format"] = super::FORMAT.into();
            floor["stm"] = vec![run("variant", "fast", fast), run("variant", "cgl", cgl)].into();
            floor["runs"] = vec![run("kind", "critical-section", lock)].into();
            floor
        };
        json!(all.iter().map(of).collect::<Vec<_>>()).to_string()
    }

    pub(in crate::report) fn full() -> Report {
        let all = documents(&[(1024, [8e6, 2e6, 1e6]), (4, [1e6, 2e6, 1e6])]);
        report(&parse(&all).unwrap()).unwrap()
    }

    #[test]
    fn the_picture_has_three_lines_and_the_ratios_are_said() {
        let figure = full().figures.remove(0);
        assert_eq!((&*figure.id, figure.legend.len()), ("contention", 3));
        let said = figure.about.join(" ");
        has(&said, "0.50\u{d7} with 4 | 4.00\u{d7} with 1K");
        for line in ["fast", "critical-section", "cgl"] {
            assert!(figure.panels[0].marks.0.contains(line), "{line}");
        }
    }

    #[test]
    fn what_lacks_a_line_or_is_of_other_transfers_is_left_out() {
        let all: Value = serde_json::from_str(&documents(&[(4, [1.0, 1.0, 1.0])])).unwrap();
        for (list, field, value) in [
            ("runs", "kind", json!("special-purpose")),
            ("stm", "verified", json!(false)),
            ("stm", "variant", json!("fast, static")),
            ("stm", "parameters", json!({"audit_percent": 10})),
            ("stm", "tx_per_s", json!("8e6")),
            (
                "runs",
                "parameters",
                json!({"accounts": "4K", "audit_percent": 0, "zipf_thousandths": 0}),
            ),
        ] {
            let mut other = all.clone();
            other[0][list][0][field] = value;
            let other = parse(&other.to_string()).unwrap();
            assert!(other.is_empty() && report(&other).is_none(), "{field}");
        }
        let wrong = documents(&[(4, [1.0; 3])]).replace(super::FORMAT, "stamp-floor/9");
        for (text, why) in [(&*wrong, "stamp-floor/9"), ("{}", "no list")] {
            has(&parse(text).unwrap_err().to_string(), why);
        }
    }
}
