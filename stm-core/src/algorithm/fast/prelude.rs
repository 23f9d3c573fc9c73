//! What most files of the versioned algorithms use.

pub(super) use crate::algorithm::fast::entries::{
    BATCH, BLIND, Column, Entries, LONG_BATCH, SHARES, WRITTEN, Words, word_of,
};
pub(super) use crate::algorithm::fast::protocol::Versioned;
pub(super) use crate::algorithm::fast::storage::Storage;
pub(super) use crate::algorithm::prelude::*;
