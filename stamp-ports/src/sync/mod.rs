//! `bench sync`: synchronisation without transactions, and the same beside libraries of
//! other people.
//!
//! | file | is |
//! | --- | --- |
//! | `document` | what is asked for and what is found |
//! | `bench` | the document of a run, `sync.json` |
//! | `report` | the page about that document |

pub mod bench;
pub mod document;
pub mod report;
