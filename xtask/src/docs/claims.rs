//! The table of the paper's claims, from `report/claims.json`, which `stamp
//! report` writes: the rules and the verdicts are computed there and only there.

use super::data::{CLAIMS, Data};
use super::format::markdown;
use serde_json::Value;

/// A row for each claim, in the order of the file.
pub(super) fn table(data: &Data) -> Result<String, String> {
    let mut rows = Vec::new();
    for claim in data.all(&format!("{CLAIMS}:claims"))? {
        let field = |name: &str| cell(claim, name);
        rows.push([
            format!("{} ({})", field("claim")?, field("section")?),
            field("rule")?,
            format!("**{}**", field("verdict")?),
            field("figures")?,
        ]);
    }
    let header = ["claim (section)", "it holds if", "verdict", "figures"];
    Ok(markdown(header, &rows))
}

/// A field of a claim as the text of a cell.
fn cell(claim: &Value, name: &str) -> Result<String, String> {
    let text = claim.get(name).and_then(Value::as_str);
    let text = text.ok_or_else(|| format!("a claim of {CLAIMS} has no text `{name}`"))?;
    Ok(text.replace('\u{a0}', " ").replace('|', "\\|"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(json: &str) -> Result<String, String> {
        table(&Data::of([(CLAIMS.to_owned(), json.to_owned())].into()).unwrap())
    }

    #[test]
    fn every_claim_is_a_row_with_its_verdict_set_off() {
        let json = r#"{"claims": [
            {"claim": "A", "section": "4.2", "rule": "a | b", "verdict": "holds", "figures": "5\u00a0%"},
            {"claim": "B", "section": "4.3", "rule": "r", "verdict": "does not hold", "figures": "f"}]}"#;
        let text = made(json).unwrap();
        let rows: Vec<&str> = text.lines().skip(2).collect();
        assert_eq!(
            rows,
            [
                "| A (4.2) | a \\| b | **holds** | 5 % |",
                "| B (4.3) | r | **does not hold** | f |"
            ]
        );
    }

    #[test]
    fn a_claim_without_a_verdict_is_an_error() {
        let json = r#"{"claims": [{"claim": "A", "section": "4.2", "rule": "r"}]}"#;
        assert!(made(json).unwrap_err().contains("`verdict`"));
    }
}
