//! A spinner on standard error, shown only to a terminal and only when the
//! work takes longer than a person waits without wondering. It says what is waited for.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, stderr};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How long nothing is shown.
const QUIET: Duration = Duration::from_secs(1);

/// Shows what is being done until it is dropped.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    done: Option<Sender<()>>,
    waiter: Option<JoinHandle<()>>,
}

impl Progress {
    /// Begins to wait.
    pub fn new() -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let (mut done, mut waiter) = (None, None);
        if stderr().is_terminal() {
            if let Ok(style) =
                ProgressStyle::with_template("{spinner} {elapsed} {prefix}{wide_msg}")
            {
                bar.set_style(style);
            }
            let (sender, receiver) = channel();
            let shown = bar.clone();
            waiter = Some(thread::spawn(move || {
                if receiver.recv_timeout(QUIET) == Err(RecvTimeoutError::Timeout) {
                    shown.set_draw_target(ProgressDrawTarget::stderr());
                    shown.enable_steady_tick(Duration::from_millis(200));
                }
            }));
            done = Some(sender);
        }
        Self { bar, done, waiter }
    }

    /// Says what is being done now.
    pub fn say(&self, what: impl Into<String>) {
        self.bar.set_prefix("");
        self.bar.set_message(what.into());
    }

    /// Begins with something that has steps.
    pub fn begin(&self, what: impl std::fmt::Display) {
        self.bar.set_prefix(format!("{what}: "));
        self.bar.set_message("");
    }

    /// Says which step of what was begun is being done now.
    pub fn step(&self, step: &'static str) {
        self.bar.set_message(step);
    }

    /// Returns what is shown, or would be to a terminal.
    #[cfg(test)]
    pub(crate) fn shown(&self) -> String {
        self.bar.prefix() + &self.bar.message()
    }

    /// Runs `print` with the spinner out of the way.
    pub fn suspend<R>(&self, print: impl FnOnce() -> R) -> R {
        self.bar.suspend(print)
    }
}

impl Default for Progress {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        drop(self.done.take());
        if let Some(waiter) = self.waiter.take() {
            // It panics only if drawing does, and then there is nothing to clear.
            let _ = waiter.join();
        }
        self.bar.finish_and_clear();
    }
}
