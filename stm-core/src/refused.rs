//! What safe code cannot do, each as a program that does not compile.
//!
//! A kernel keeps a view in a static, to use it when the array is gone:
//!
//! ```compile_fail,E0277
//! use std::sync::Mutex;
//! use stm_core::prelude::*;
//!
//! static KEPT: Mutex<Option<Output<u32>>> = Mutex::new(None);
//!
//! #[kernel]
//! pub fn keep(stm: &Stm, results: Output<u32>) {
//!     let _ = stm;
//!     *KEPT.lock().unwrap() = Some(*results);
//! }
//! # fn main() {}
//! ```
//!
//! The same with an array of transactions, whose type a kernel does not know, or with the handle:
//!
//! ```compile_fail,E0277
//! use std::{any::Any, sync::Mutex};
//! use stm_core::prelude::*;
//!
//! static KEPT: Mutex<Option<Box<dyn Any + Send>>> = Mutex::new(None);
//!
//! #[kernel]
//! pub fn keep(stm: &Stm, words: Cells<u32>) {
//!     let _ = stm;
//!     *KEPT.lock().unwrap() = Some(Box::new(*words));
//! }
//! # fn main() {}
//! ```
//!
//! ```compile_fail,E0277
//! use std::{any::Any, sync::Mutex};
//! use stm_core::prelude::*;
//!
//! static KEPT: Mutex<Option<Box<dyn Any + Send>>> = Mutex::new(None);
//!
//! #[kernel]
//! pub fn keep(stm: &Stm) {
//!     *KEPT.lock().unwrap() = Some(Box::new(*stm.handle()));
//! }
//! # fn main() {}
//! ```
//!
//! A kernel gives a view to a thread that may outlive the launch:
//!
//! ```compile_fail,E0277
//! use stm_core::prelude::*;
//!
//! #[kernel]
//! pub fn keep(stm: &Stm, words: Cells<u32>) {
//!     let _ = stm;
//!     let words = *words;
//!     std::thread::spawn(move || drop(words));
//! }
//! # fn main() {}
//! ```
//!
//! A transaction writes a word that is not of an array, by a step of its algorithm:
//!
//! ```compile_fail,E0061
//! use stm_core::prelude::*;
//! use stm_core::WordAddress;
//!
//! fn write<L: Lane, A: Algorithm>(tx: &mut Tx<'_, L, A>, victim: &u32) -> TxResult<()> {
//!     A::buffer::<L, u32>(tx, WordAddress::of(victim), 7)
//! }
//! ```
//!
//! and by the fields of a record:
//!
//! ```compile_fail,E0133
//! use stm_core::array::record::Fields;
//! use stm_core::prelude::*;
//! use stm_core::WordAddress;
//!
//! fn write<L: Lane, A: Algorithm>(tx: &mut Tx<'_, L, A>, victim: &u32) -> TxResult<()> {
//!     Fields::write([7u32], tx, |_| WordAddress::of(victim), false)
//! }
//! ```
//!
//! A field that its record does not have:
//!
//! ```compile_fail,E0080
//! use stm_core::array::Field;
//!
//! stm_core::record! {
//!     pub struct Pair { a: u32, b: u32 }
//! }
//! const THIRD: Field<Pair, u32> = Field::of(2);
//! # fn main() { let _ = THIRD; }
//! ```
//!
//! A record whose fields are said to be others than there are:
//!
//! ```compile_fail,E0200
//! use stm_core::array::Record;
//!
//! #[derive(Clone, Copy)]
//! pub struct Lie;
//!
//! impl Record for Lie {
//!     const FIELDS: &'static [(&'static str, bool)] = &[("a", false); 4096];
//!     type Wide = [u64; 0];
//!     type Narrow = [u32; 0];
//!     fn split(self) -> ([u64; 0], [u32; 0]) { ([], []) }
//!     fn join(_: [u64; 0], _: [u32; 0]) -> Self { Self }
//! }
//! # fn main() {}
//! ```
//!
//! A view of memory that nobody has given it:
//!
//! ```compile_fail,E0200
//! use stm_core::array::{Layout, View};
//! use stm_core::{Lane, WordAddress};
//!
//! #[derive(Clone, Copy, Debug)]
//! pub struct Lie;
//!
//! impl View<u32> for Lie {
//!     const LAYOUT: Layout = Layout::Plain;
//!     unsafe fn from_start(_: *mut u8, _: u64) -> Self { Self }
//!     fn len(&self) -> u64 { 1 }
//!     fn word(&self, _: u64) -> WordAddress { WordAddress::from_bits(4096) }
//!     fn peek<L: Lane>(&self, _: &L, _: u64) -> Option<u32> { None }
//! }
//! # fn main() {}
//! ```
