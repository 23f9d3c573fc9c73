//! Lists of names at the command line.

pub use crate::store::NameList;

/// Columns of a terminal that no line of a help text exceeds.
const WIDTH: usize = 79;

/// Returns a heading and a line for each name with what it is, as texts of help show lists;
/// long sentences go on below their beginnings.
pub fn described<'n>(head: &str, all: impl IntoIterator<Item = (&'n str, &'n str)>) -> String {
    let all: Vec<(&str, &str)> = all.into_iter().collect();
    let names = all.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut text = format!("{head}:\n");
    for (name, what) in all {
        let mut line = format!("  {name:names$} ");
        for word in what.split_whitespace() {
            if line.chars().count() + 1 + word.chars().count() > WIDTH {
                text.push_str(&line);
                text.push('\n');
                line = format!("  {:names$} ", "");
            }
            line.push(' ');
            line.push_str(word);
        }
        text.push_str(&line);
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_sentences_go_on_below_their_beginnings() {
        let long = "word ".repeat(20);
        let text = described("All", [("a", "is short"), ("long", &long)]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[..2], ["All:", "  a     is short"]);
        assert!(lines[2].starts_with("  long  word") && lines[3].starts_with("        word"));
        assert!(lines.iter().all(|line| line.len() <= WIDTH), "{text}");
        assert_eq!(text.matches("word").count(), 20);
    }
}
