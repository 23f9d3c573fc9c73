//! The registry of kinds of locks, a line for each, from which come the exports and
//! [`for_each_lock!`](crate::for_each_lock).
//!
//! | column | meaning |
//! | --- | --- |
//! | type | its module and its name, by which the crate exports it, and the number that it is tested with, if it has one |
//! | tries | `tries` if it is a [`TryLock`](crate::TryLock), else `waits` |
//! | a lock, a user | the 32-bit words of a lock, and of a user of all locks of an array |
//! | order | the order in which threads that wait are served |
//! | use | what it is good for |

macro_rules! lock_kinds {
    ($d:tt $(
        $module:ident::$type:ident $(<$number:literal>)?, $tries:ident,
            $lock:literal, $user:literal, $order:literal, $use:literal;
    )*) => {
        $(pub use crate::$module::$type;)*

        /// Calls a generic function for each kind of lock: `for_each_lock!(check(3))` calls
        /// `check::<Kind>(3)`, and `for_each_lock!(tries check(3))` those with `try_acquire`.
        ///
        /// | kind | 32-bit words of a lock | of a user | order | use |
        /// | --- | --- | --- | --- | --- |
        $(#[doc = concat!(
            "| [`", stringify!($type), "`](crate::", stringify!($type), ") | ",
            $lock, " | ", $user, " | ", $order, " | ", $use, " |"
        )])*
        #[macro_export]
        macro_rules! for_each_lock {
            (tries $d function:ident($d($d argument:expr),* $d(,)?)) => {
                $($crate::__lock! { $tries { $d function::<$d crate::$type$(<$number>)?>($d($d argument),*); } })*
            };
            ($d function:ident($d($d argument:expr),* $d(,)?)) => {
                $($d function::<$d crate::$type$(<$number>)?>($d($d argument),*);)*
            };
        }
    };
}

/// Takes what is said of a kind that can be acquired without waiting.
#[doc(hidden)]
#[macro_export]
macro_rules! __lock {
    (tries { $($body:tt)* }) => { $($body)* };
    (waits { $($body:tt)* }) => {};
}

lock_kinds! { $
    spin::Tas, tries,
        "1", "0", "none", "many locks, each rarely wanted by two";
    spin::Ttas, tries,
        "1", "0", "none", "many locks, each rarely wanted by two";
    spin::TasBackoff, tries,
        "1", "0", "none", "many locks, each now and then wanted by many";
    ticket::Ticket, tries,
        "2", "0", "first come, first served", "fairness";
    ticket::TicketHandoff, tries,
        "2", "0", "first come, first served", "fairness";
    ticket::FetchAdd, tries,
        "2", "0", "first come, first served", "fairness";
    slots::Anderson, tries,
        "8 + 8 for each user", "0", "first come, first served", "one lock, few users";
    slots::Ring, waits,
        "2 + 1 for each user", "0", "first come, first served", "comparison";
    mcs::Mcs, tries,
        "1", "8", "first come, first served", "many locks that are wanted by many";
    mcs::Mcs2, tries,
        "1", "16", "first come, first served", "the same, two of them held at a time";
    cohort::Cohort<3>, waits,
        "2, and 5 of shared memory", "0", "first come, first served in a block and among blocks", "blocks of many threads";
    reserve::Reserving<3>, tries,
        "4", "0", "first come, first served, a bounded number of times each", "one lock that all blocks want";
}
