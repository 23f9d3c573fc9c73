//! `nw.json`: what `stamp bench nw` writes.

use crate::head::Head;
use crate::store::Document;
use crate::sync::bench::Bench;
use serde::{Deserialize, Serialize};

/// The whole document: a document of points, as that of `bench sync` is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NwBench(pub Bench);

impl Document for NwBench {
    const FORMAT: &'static str = "stamp-nw/1";
    const WRITER: &'static str = "stamp bench nw";
    const FILE_NAME: &'static str = "nw.json";

    fn begin(head: Head) -> Self {
        Self(Bench::begin(head))
    }

    fn head(&mut self) -> &mut Head {
        &mut self.0.head
    }
}
