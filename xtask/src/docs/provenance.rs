//! Refuses figures of other device code than the committed, unless the document says of which.
//!
//! A result file of a GPU names the checksum of the PTX that was measured (`ptx`, in its head).
//! If that is the checksum of the committed PTX, nothing has to be said. Else a document that
//! uses the file names the commit that was measured, by one of these:
//!
//! ```text
//! <!--= h200/nw.json:commit | text -->55d7670<!--/-->
//! <!--cite: commit of h200/fast.json-->498c9f0<!--/-->       of a file that does not say itself
//! ```
//!
//! Files without a checksum are those of [`OLD`], which can only shrink: measured again, a file
//! has one, and then it must be taken off the list. Lab notes are dated, and are not checked.

use super::data::Data;
use super::markers::Problem;

/// The folder of the files that were measured on a GPU.
const GPU: &str = "h200/";

/// The result files from before documents named the checksum of their PTX. Add none.
const OLD: [&str; 14] = [
    "h200/beside.txt",
    "h200/fast-eigenbench.jsonl",
    "h200/fast.json",
    "h200/faults.txt",
    "h200/fence-mutants-delays.txt",
    "h200/fence-mutants.txt",
    "h200/floor-quick.json",
    "h200/histories-past.txt",
    "h200/histories-ports.txt",
    "h200/histories.txt",
    "h200/nw.json",
    "h200/paper.json",
    "h200/ra-ht.json",
    "h200/sync.json",
];

/// What is wrong with a document that uses these files, where the PTX with this checksum is the
/// committed one.
pub(super) fn check(
    name: &str,
    text: &str,
    used: &[String],
    data: &Data,
    committed: &str,
) -> Vec<Problem> {
    if name.starts_with("docs/lab-notes/") {
        return Vec::new();
    }
    let of_gpu = used.iter().filter(|file| file.starts_with(GPU));
    let wrong = of_gpu.filter_map(|file| {
        let what = match data.field(file, "ptx") {
            Some(ptx) if ptx == committed => return None,
            Some(ptx) => format!("{file} is of PTX {ptx}, and the committed is {committed}"),
            None if OLD.contains(&file.as_str()) => {
                format!("{file} does not say of which PTX it is")
            }
            None => {
                return Some(format!(
                    "{file} names no checksum of the PTX that was measured (`ptx`): measure it \
                     with a program that does"
                ));
            }
        };
        let names = [
            format!("<!--= {file}:commit | text -->"),
            format!("<!--cite: commit of {file}-->"),
        ];
        let is_named = names.iter().any(|marker| text.contains(marker));
        (!is_named).then(|| {
            format!(
                "{what}: name the commit that was measured beside it, by `{}` or `{}`, or measure \
                 again",
                names[0], names[1]
            )
        })
    });
    wrong.map(|what| Problem { line: 1, what }).collect()
}

/// The entries of [`OLD`] that are not needed any more.
pub(super) fn stale(data: &Data) -> Vec<String> {
    let gone = |file: &&str| data.text(file).is_err() || data.field(file, "ptx").is_some();
    let stale = OLD.iter().filter(|file| gone(file));
    let told = stale.map(|file| {
        format!("xtask/src/docs/provenance.rs: {file} is gone or names its PTX: take it off OLD")
    });
    told.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(file: &str, json: &str, text: &str) -> Vec<String> {
        let data = Data::of([(file.to_owned(), json.to_owned())].into()).unwrap();
        let found = check("README.md", text, &[file.to_owned()], &data, "aa");
        found.into_iter().map(|problem| problem.what).collect()
    }

    #[test]
    fn data_of_the_committed_ptx_need_no_word() {
        assert!(problems("h200/new.json", r#"{"ptx": "aa"}"#, "").is_empty());
        assert!(problems("simulator/new.json", "{}", "").is_empty());
    }

    #[test]
    fn data_of_other_ptx_are_refused_unless_their_commit_is_named() {
        let json = r#"{"ptx": "bb", "commit": "c0"}"#;
        let found = problems("h200/new.json", json, "no commit");
        assert!(
            found[0].contains("PTX bb") && found[0].contains("aa"),
            "{found:?}"
        );
        let text = "at <!--= h200/new.json:commit | text -->c0<!--/-->";
        assert!(problems("h200/new.json", json, text).is_empty());
    }

    #[test]
    fn a_new_file_names_its_ptx_and_an_old_one_is_cited() {
        let found = problems(
            "h200/new.json",
            "{}",
            "<!--cite: commit of h200/new.json-->c<!--/-->",
        );
        assert!(found[0].contains("names no checksum"), "{found:?}");
        assert_eq!(problems("h200/fast.json", "[]", "").len(), 1);
        let text = "<!--cite: commit of h200/fast.json-->498c9f0<!--/-->";
        assert!(problems("h200/fast.json", "[]", text).is_empty());
    }

    #[test]
    fn what_is_on_the_list_for_nothing_is_reported() {
        let texts = OLD.map(|file| {
            let text = if file.ends_with("json") { "{}" } else { "" };
            (file.to_owned(), text.to_owned())
        });
        assert!(stale(&Data::of(texts.clone().into()).unwrap()).is_empty());
        let mut newer = texts;
        let paper = newer.iter_mut().find(|(name, _)| name == "h200/paper.json");
        paper.unwrap().1 = r#"{"ptx": "aa"}"#.to_owned();
        let found = stale(&Data::of(newer.into()).unwrap());
        assert_eq!(found.len(), 1);
        assert!(found[0].contains("h200/paper.json"));
        assert_eq!(stale(&Data::of([].into()).unwrap()).len(), OLD.len());
    }
}
