//! Elements of SVG and HTML, built as a tree and written as XML.
//!
//! A tree cannot be left open, and every text and attribute passes the one
//! place that escapes, so whatever a file holds comes out as text. The page is
//! well-formed XML and HTML at once: elements are closed by a tag of their own
//! but for HTML's void ones, which both read alike.

use std::fmt::{self, Display, Write as _};

/// HTML's elements without content, as far as the page uses them.
const VOID: [&str; 3] = ["meta", "br", "hr"];

/// An element with its attributes and what is in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Element {
    name: &'static str,
    attributes: Vec<(&'static str, String)>,
    children: Vec<Node>,
}

#[derive(Clone, Debug, PartialEq)]
enum Node {
    Element(Element),
    Text(String),
    /// Of `style`, which HTML reads without undoing any escape.
    Css(String),
}

impl Element {
    /// An empty element.
    pub const fn new(name: &'static str) -> Self {
        Self {
            name,
            attributes: Vec::new(),
            children: Vec::new(),
        }
    }

    /// With an attribute.
    #[must_use]
    pub fn at(mut self, name: &'static str, value: impl Display) -> Self {
        self.attributes.push((name, value.to_string()));
        self
    }

    /// With an attribute that is a length or a coordinate.
    #[must_use]
    pub fn num(self, name: &'static str, value: f64) -> Self {
        self.at(name, short(value))
    }

    /// With text after what is in it already.
    #[must_use]
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.children.push(Node::Text(text.into()));
        self
    }

    /// With an element after what is in it already.
    #[must_use]
    pub fn with(mut self, child: Self) -> Self {
        self.children.push(Node::Element(child));
        self
    }

    /// With several.
    #[must_use]
    pub fn all(mut self, children: impl IntoIterator<Item = Self>) -> Self {
        self.children
            .extend(children.into_iter().map(Node::Element));
        self
    }

    /// A `style` element. The rules are this program's own and may not contain
    /// `<` or `&`, which HTML and XML read differently there.
    pub fn style(css: impl Into<String>) -> Self {
        let css = css.into();
        assert!(!css.contains(['<', '&']), "style rules with < or &");
        let mut style = Self::new("style");
        style.children.push(Node::Css(css));
        style
    }

    fn write(&self, out: &mut String) {
        out.push('<');
        out.push_str(self.name);
        for (name, value) in &self.attributes {
            // Writing to a String cannot fail.
            let _ = write!(out, " {name}=\"");
            escape(value, out);
            out.push('"');
        }
        if VOID.contains(&self.name) {
            out.push_str("/>");
            return;
        }
        out.push('>');
        for child in &self.children {
            match child {
                Node::Element(element) => element.write(out),
                Node::Text(text) => escape(text, out),
                Node::Css(css) => out.push_str(css),
            }
        }
        let _ = write!(out, "</{}>", self.name);
        // Lines that a person can read, without white space inside of a text.
        if ["svg", "g", "section", "figure", "table", "tr", "p", "li"].contains(&self.name) {
            out.push('\n');
        }
    }
}

impl Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        self.write(&mut text);
        f.write_str(&text)
    }
}

/// At most two decimals, and no more than are needed.
fn short(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0" } else { text }.to_owned()
}

fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            // XML has no way to write these at all.
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_a_text_holds_comes_back_from_a_parser() {
        let hostile = "</title><script>alert(\"1\" & '2')</script>]]>";
        let element = Element::new("p").at("title", hostile).text(hostile);
        let text = element.to_string();
        assert!(!text.contains("<script"), "{text}");
        let parsed = roxmltree::Document::parse(&text).unwrap();
        assert_eq!(parsed.root_element().attribute("title"), Some(hostile));
        assert_eq!(parsed.root_element().text(), Some(hostile));
    }

    #[test]
    fn control_characters_are_replaced() {
        let text = Element::new("p").text("a\0b\u{1b}[31m\u{ffff}").to_string();
        assert_eq!(text, "<p>a\u{fffd}b\u{fffd}[31m\u{fffd}</p>\n");
    }

    #[test]
    fn coordinates_are_short() {
        for (value, text) in [(1.0, "1"), (0.126, "0.13"), (-0.001, "0"), (10.5, "10.5")] {
            assert_eq!(short(value), text);
        }
    }
}
