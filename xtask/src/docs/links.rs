//! Links of the documents, the Markdown files of the root and all below `docs`: what a relative link names
//! must be there, and so must the heading that its anchor names. That is the heading's text in lower case
//! without punctuation, with hyphens for blanks, and `-1` behind the second of one text, on GitHub and in
//! mdBook. The book is published alone, so its links stay inside, and its contents name every chapter.

use crate::prelude::*;
use pulldown_cmark::{Event, Parser, Tag, TagEnd};
use std::path::Component;

pub(super) const BOOK: &str = "docs/book";

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Outline {
    /// The targets of its links and images, each with its line, counted from 1.
    links: Vec<(usize, String)>,
    /// Its text and HTML piece by piece, each with its line, without code.
    pub(super) prose: Vec<(usize, String)>,
    anchors: BTreeSet<String>,
}

pub(super) fn markdown(files: &[String]) -> impl Iterator<Item = &str> {
    let is_markdown = |name: &&str| Path::new(name).extension().is_some_and(|end| end == "md");
    files.iter().map(String::as_str).filter(is_markdown)
}

type Outlines = BTreeMap<PathBuf, Outline>;

pub(super) fn outlines(root: &Path, files: &[String]) -> Result<Outlines> {
    let mut documents = BTreeMap::new();
    for name in markdown(files).filter(|name| name.starts_with("docs/") || !name.contains('/')) {
        documents.insert(PathBuf::from(name), outline(&read(&root.join(name))?));
    }
    Ok(documents)
}

pub(super) fn problems(root: &Path, documents: &Outlines) -> Vec<String> {
    let mut found = Vec::new();
    for (from, outline) in documents {
        for (line, target) in &outline.links {
            if let Err(what) = follow(root, documents, from, target) {
                found.push(format!("{}:{line}: {what}", from.display()));
            }
        }
    }
    found.extend(unlisted(documents));
    found
}

pub(super) fn outline(text: &str) -> Outline {
    let mut outline = Outline::default();
    let (mut heading, mut in_code): (Option<String>, bool) = (None, false);
    for (event, range) in Parser::new(text).into_offset_iter() {
        let line = 1 + text[..range.start].matches('\n').count();
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => {
                outline.add_heading(&heading.take().unwrap_or_default());
            }
            Event::Start(Tag::CodeBlock(_)) => in_code = true,
            Event::End(TagEnd::CodeBlock) => in_code = false,
            Event::Text(ref part) | Event::Code(ref part) if !in_code => {
                if let Some(heading) = &mut heading {
                    *heading += part;
                }
                if matches!(event, Event::Text(_)) {
                    outline.prose.push((line, part.to_string()));
                }
            }
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                outline.links.push((line, dest_url.to_string()));
            }
            Event::Html(html) | Event::InlineHtml(html) => {
                let links = attributes(&html, "href").chain(attributes(&html, "src"));
                (outline.links).extend(links.map(|link| (line, link.to_owned())));
                (outline.anchors).extend(attributes(&html, "id").map(str::to_owned));
                outline.prose.push((line, html.to_string()));
            }
            _ => {}
        }
    }
    outline
}

impl Outline {
    fn add_heading(&mut self, text: &str) {
        let slug = text.trim().to_lowercase().replace(char::is_whitespace, "-");
        let slug = slug.replace(|c: char| !c.is_alphanumeric() && c != '-' && c != '_', "");
        let numbered = (1..).map(|n| format!("{slug}-{n}"));
        let mut all = std::iter::once(slug.clone()).chain(numbered);
        let free = all.find(|anchor| !self.anchors.contains(anchor));
        self.anchors.extend(free);
    }
}

/// The values of an attribute in a piece of HTML, which quotes them.
fn attributes<'a>(html: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
    let opening = format!(" {name}=\"");
    let mut rest = html;
    std::iter::from_fn(move || {
        let (_, value) = rest.split_once(&opening)?;
        let (value, after) = value.split_once('"')?;
        rest = after;
        Some(value)
    })
}

fn follow(root: &Path, documents: &Outlines, from: &Path, target: &str) -> Result<(), String> {
    if has_scheme(target) {
        return Ok(());
    }
    let (path, anchor) = target
        .split_once('#')
        .map_or((target, None), |(p, a)| (p, Some(a)));
    let folder = from.parent().unwrap_or(Path::new(""));
    let to = match path {
        "" => Some(from.to_owned()),
        path => resolve(folder, path),
    };
    let to = to.ok_or_else(|| format!("`{target}` is not a path inside of the repository"))?;
    if !root.join(&to).exists() {
        return Err(format!("`{target}`: there is no {}", to.display()));
    }
    let book = Path::new(BOOK);
    if from.starts_with(book) && !to.starts_with(book) {
        let why = "leads out of the book, whose pages are published alone: name the file as code";
        return Err(format!("`{target}` {why}"));
    }
    let Some(anchor) = anchor else { return Ok(()) };
    let there = match documents.get(&to) {
        Some(document) => document.anchors.contains(anchor),
        None => std::fs::read_to_string(root.join(&to))
            .is_ok_and(|text| attributes(&text, "id").any(|id| id == anchor)),
    };
    let none = || format!("`{target}`: {} has no heading `#{anchor}`", to.display());
    there.then_some(()).ok_or_else(none)
}

fn has_scheme(target: &str) -> bool {
    target.split_once(':').is_some_and(|(scheme, _)| {
        !scheme.is_empty() && scheme.chars().all(|c| c.is_ascii_alphanumeric())
    })
}

/// The path that a link in a document of `folder` names, below the root.
fn resolve(folder: &Path, link: &str) -> Option<PathBuf> {
    let mut path = folder.to_owned();
    for part in Path::new(link).components() {
        match part {
            Component::Normal(name) => path.push(name),
            Component::CurDir => {}
            Component::ParentDir => path.pop().then_some(())?,
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(path)
}

fn unlisted(documents: &Outlines) -> Vec<String> {
    let chapters = Path::new(BOOK).join("src");
    let contents = chapters.join("SUMMARY.md");
    let links = documents.get(&contents).map(|of| &of.links);
    let links = links.into_iter().flatten();
    let listed = links.filter_map(|(_, link)| resolve(&chapters, link));
    let mut listed: BTreeSet<_> = listed.collect();
    listed.insert(contents);
    let of_book = documents.keys().filter(|path| path.starts_with(&chapters));
    let unlisted = of_book.filter(|path| !listed.contains(*path));
    let line = |path: &PathBuf| format!("{}: SUMMARY.md does not name it", path.display());
    unlisted.map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems_of(files: &[(&str, &str)]) -> Vec<String> {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            stm_core_build::files::write(&root.path().join(path), text).unwrap();
        }
        let names: Vec<String> = files.iter().map(|(path, _)| (*path).to_owned()).collect();
        problems(root.path(), &outlines(root.path(), &names).unwrap())
    }

    #[test]
    fn headings_have_the_anchors_of_github_and_mdbook() {
        let text = "# What `fast` costs, in accesses\n\n## A_b - c\n\n## Twice\n\n## *Twice*\n\n\
                    <a id=\"by-hand\"></a>\n";
        let anchors: Vec<String> = outline(text).anchors.into_iter().collect();
        let expected = "a_b---c by-hand twice twice-1 what-fast-costs-in-accesses";
        assert_eq!(anchors.join(" "), expected);
    }

    #[test]
    fn links_are_found_in_text_tables_html_and_by_reference_but_not_in_code() {
        let text = "[a](a.md) ![b](b.svg)\n\n| [c](c.md#x) |\n| --- |\n\n[d][r]\n\n\
                    <img src=\"e.svg\">\n\n`[f](f.md)`\n\n```\n[g](g.md)\n```\n\n\
                    <!-- [h](h.md) -->\n\n[r]: d.md\n";
        let links = outline(text).links.into_iter();
        let links: Vec<String> = links.map(|(line, to)| format!("{line} {to}")).collect();
        let expected = "1 a.md, 1 b.svg, 3 c.md#x, 6 d.md, 8 e.svg";
        assert_eq!(links.join(", "), expected);
    }

    #[test]
    fn links_that_lead_nowhere_are_found_with_their_line() {
        for (link, part) in [
            ("../README.md#top", None),
            ("x/f.md", None),
            ("./x/f.md", None),
            ("x", None),
            ("#page", None),
            ("p.html#f", None),
            ("https://example.org/x#y", None),
            ("none.md", Some("there is no docs/none.md")),
            ("../docs/x/none.svg", Some("there is no docs/x/none.svg")),
            ("#none", Some("has no heading `#none`")),
            ("../README.md#Top", Some("has no heading `#Top`")),
            ("p.html#g", Some("has no heading `#g`")),
            ("../../README.md", Some("not a path inside")),
            ("/README.md", Some("not a path inside")),
        ] {
            let text = format!("# Page\n\nsee [there]({link})\n");
            let found = problems_of(&[
                ("README.md", "# Top\n[b](#top) [c](docs)"),
                ("docs/a.md", text.as_str()),
                ("docs/x/f.md", "[a](../a.md)"),
                ("docs/p.html", "<p id=\"f\">"),
                // Not a document.
                ("xtask/g.md", "[none](none.md)"),
            ]);
            let is_it = |found: &String| {
                found.starts_with("docs/a.md:3: ") && found.contains(part.unwrap())
            };
            assert_eq!(found.len(), part.iter().len(), "{link}: {found:?}");
            assert!(found.iter().all(is_it), "{found:?}");
        }
    }

    #[test]
    fn a_chapter_stays_inside_of_the_book_and_is_listed() {
        let found = problems_of(&[
            ("docs/a.md", "[chapter](book/src/one.md)"),
            ("docs/book/src/SUMMARY.md", "- [One](one.md)"),
            ("docs/book/src/one.md", "[two](two.md) [out](../../a.md)"),
            ("docs/book/src/two.md", "[one](one.md)"),
        ]);
        assert_eq!(found.len(), 2, "{found:?}");
        let out = &found[0];
        assert!(out.starts_with("docs/book/src/one.md:1: ") && out.contains("out of the book"));
        assert!(found[1] == "docs/book/src/two.md: SUMMARY.md does not name it");
    }
}
