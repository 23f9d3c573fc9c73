//! JSON documents of an object a line, so that two of them can be compared.

use crate::error::Result;
use serde::Serialize;

/// A value on one line.
pub(crate) fn line(value: &impl Serialize) -> Result<String> {
    Ok(serde_json::to_string(value).map_err(std::io::Error::from)?)
}

/// A list, a value a line.
pub(crate) fn lines(values: &[impl Serialize]) -> Result<String> {
    let lines = values.iter().map(line).collect::<Result<Vec<_>>>()?;
    Ok(format!("[\n{}\n]", lines.join(",\n")))
}
