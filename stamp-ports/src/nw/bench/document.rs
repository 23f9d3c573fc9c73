//! `nw.json`: what `stamp bench nw` writes.

use crate::error::Result;
use crate::head::{FIELDS, Head};
use crate::store::{self, Document};
use crate::sync::bench::Bench;
use serde::{Deserialize, Serialize};

/// The format's name in the document.
pub const FORMAT: &str = "stamp-nw/1";
/// The document's name in its folder.
pub const FILE_NAME: &str = "nw.json";

/// The whole document: a document of points, as that of `bench sync` is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NwBench(pub Bench);

impl NwBench {
    /// Reads a document.
    ///
    /// # Errors
    /// What is wrong with it, and the fix.
    pub fn parse(text: &str) -> Result<Self> {
        store::parse(text, FORMAT, "stamp bench nw")
    }
}

impl Document for NwBench {
    const FILE_NAME: &'static str = FILE_NAME;

    fn begin(head: Head) -> Self {
        Self(Bench::begin(head))
    }

    fn parse(text: &str) -> Result<Self> {
        Self::parse(text)
    }

    fn finish(&mut self) -> Result<String> {
        store::to_text(self, &FIELDS)
    }

    fn head(&mut self) -> &mut Head {
        &mut self.0.head
    }
}
