//! The page in a real browser, if there is one: whatever the structure says, it
//! must also be drawn.

use crate::bank::pay;
use std::path::Path;
use std::process::{Command, Stdio};
use stm_core::algorithm::Fast;
use stm_core::observe::Mutant;
use verify::check::Check;

/// Returns the first browser that this machine has.
fn browser() -> Option<&'static str> {
    let names = ["chromium", "chromium-browser", "google-chrome", "chrome"];
    names.into_iter().find(|name| {
        Command::new(name)
            .arg("--version")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    })
}

/// Returns the page's elements after its script has run.
fn drawn(browser: &str, page: &Path, profile: &Path, width: u32) -> String {
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
        ])
        .args(["--no-first-run", "--disable-background-networking"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("--window-size={width},900"))
        .args(["--virtual-time-budget=2000", "--dump-dom"])
        .arg(format!("file://{}", page.display()))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_browser_draws_the_arrows() {
    let Some(browser) = browser() else {
        println!("no browser is installed: not tested");
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let page = dir.path().join("page.html");
    let found = Check::new(pay::<Fast>)
        .defect(Mutant::ExtensionUnchecked)
        .seed(5)
        .page(&page)
        .find()
        .unwrap_err();
    assert_eq!(found.page, Some(Ok(page.clone())));
    let profile = dir.path().join("profile");
    let shown = drawn(browser, &page, &profile, 1280);
    let arrows = shown.matches("<path d=\"M").count();
    // Two are the heads of the arrows.
    let expected = 2 + shown
        .split("data-arrows=\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next())
        .unwrap()
        .split(';')
        .count();
    let heads = shown.matches("<path class=\"").count();
    assert_eq!(arrows + heads, expected, "{shown}");
    assert!(arrows > 0, "{shown}");
}
