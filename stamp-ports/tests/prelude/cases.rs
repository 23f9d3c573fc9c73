//! Cases of the program: commands with what must come of each, as text.
//!
//! A line that begins with `= ` begins a case and says what it proves. A case has a folder of its own, whose
//! path takes the place of `DIR`; that of the program takes the place of `STAMP`. Its lines are commands of
//! `stamp`, of which one with choices, `a {b,c} d`, is several ([`expanded`]; `{WORKLOADS}` is all workloads), or
//! files:
//!
//! | line | does |
//! | --- | --- |
//! | `write FILE TEXT` | writes a file, in which `\n`, `\r` and `\xff` are these bytes |
//! | `change FILE TEXT -> TEXT` | puts one text in the place of another |
//! | `script FILE LINE` | writes a program of the shell, which does this and then what `stamp` does |
//! | `make FILE PROGRAM` | writes what a program in jq yields, whose `.` is the JSON in the file so far |
//! | `COMMAND => PARTS` | is refused with all of these |
//!
//! Below a command, indented, stands what must come of it, which by default is that it succeeds:
//!
//! | line | asks |
//! | --- | --- |
//! | `exit STATUS` | for another exit status |
//! | `late` | for a refusal after something was printed |
//! | `out PARTS`, `err PARTS` | that standard output, or standard error, has all of these |
//! | `not PARTS` | that neither has any of these |
//! | `prints TEXT`, `same FILE` | that standard output is this, or what the file has |
//! | `narrow`, `narrow LINES` | that standard output fits eighty columns, and so many lines |
//! | `is PROGRAM` | that a condition in jq holds for the one document on standard output |
//! | `each PROGRAM`, `all PROGRAM` | that it holds for each document, or for their list |
//! | `in FILE PROGRAM`, `has FILE PARTS` | the same of a file |
//! | `count FILE NUMBER TEXT` | that the file has the text so many times |
//! | `files NAMES` | for these files in the folder, and no others |
//! | `keep NAME`, `keep NAME FILE` | nothing: `$NAME` is the document from now on |
//!
//! Programs name, beside what was kept, the document as `$it`, the lines on standard error as `$errors`, all
//! `$variants` and `$workloads`, and `$sample`, a result of `bench paper`.
//!
//! A refusal, which is status 2, is one line on standard error, and nothing else is printed or written.

use super::{expanded, on_all_cores, program, stamp, text};
use serde_json::{Deserializer, Map, Value, json};
use stamp_ports::report::asked;
use stamp_ports::variants::AskedVariant;
use stamp_ports::workloads::WORKLOADS;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

const SAMPLE: &str = include_str!("../data/paper-sample.json");

/// What conditions call, beside what programs of the report do.
const CALLS: &str = r#"
    def of($these): [[.] | where($these)] != [];
    def has($part): . / $part | length > 1;
    def ends($part): has($part) and (. / $part)[-1] == "";
    def close($other; $by): $other > 0 and (. / $other - 1 | . < $by and . + $by > 0);
"#;

/// A line in which the names of small runs are these.
pub(crate) fn tiny(line: &str) -> String {
    let runs = [
        ("ra", "--words 1K"),
        ("ht", "--buckets 64"),
        ("bank", "--accounts 1K"),
        ("eigenbench", "--hot-words 1K"),
    ];
    runs.iter().fold(line.to_owned(), |line, (name, size)| {
        let run = format!("run {name} --device cpu {size} --transactions 500");
        line.replace(&format!("tiny-{name}"), &run)
    })
}

/// Carries out the cases of a text, by one thread for each core.
pub(crate) fn cases(text: &str) {
    let workloads: Vec<&str> = WORKLOADS.iter().map(|(name, _)| *name).collect();
    let text = text.replace("{WORKLOADS}", &format!("{{{}}}", workloads.join(",")));
    let lines = text.lines().map(str::trim_end);
    let lines = lines.filter(|line| !line.is_empty() && !line.trim_start().starts_with("//"));
    let lines: Vec<&str> = lines.collect();
    let cases: Vec<&[&str]> = lines.chunk_by(|_, next| !next.starts_with("= ")).collect();
    assert!(!cases.is_empty());
    for case in &cases {
        assert!(case[0].starts_with("= ") && case.len() > 1, "{case:?}");
    }
    on_all_cores(&cases, |case| {
        let mut folder = Case::new(case[0]);
        for step in case[1..].chunk_by(|_, next| next.starts_with(' ')) {
            folder.step(step[0], &step[1..].join("\n"));
        }
    });
}

struct Case<'t> {
    name: &'t str,
    folder: TempDir,
    /// What programs name.
    kept: Map<String, Value>,
}

/// What a command printed, and what is said of it where it is not what it should be.
struct Ran {
    what: String,
    out: String,
    errors: String,
}

impl Ran {
    fn documents(&self) -> Vec<Value> {
        let documents = Deserializer::from_str(&self.out).into_iter();
        let documents: Result<Vec<Value>, _> = documents.collect();
        documents.unwrap_or_else(|error| panic!("{}: {error}: {}", self.what, self.out))
    }

    fn document(&self) -> Value {
        let [document] = <[Value; 1]>::try_from(self.documents()).expect("one document");
        document
    }
}

impl<'t> Case<'t> {
    fn new(name: &'t str) -> Self {
        let names: Vec<&str> = AskedVariant::all().iter().map(|v| v.name()).collect();
        let workloads: Vec<&str> = WORKLOADS.iter().map(|(name, _)| *name).collect();
        let sample: Value = serde_json::from_str(SAMPLE).expect("JSON");
        let kept = json!({"variants": names, "workloads": workloads, "sample": sample});
        Self {
            name,
            folder: tempfile::tempdir().expect("a folder"),
            kept: serde_json::from_value(kept).expect("an object"),
        }
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    /// Writes a file, or calls the program as a line says.
    fn step(&mut self, line: &str, checks: &str) {
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        let (file, content) = rest.split_once(' ').unwrap_or((rest, ""));
        let path = self.path(file);
        let is_file = ["write", "change", "script", "make"].contains(&verb);
        let name = self.name;
        assert!(!is_file || checks.is_empty(), "{name}: {line}: {checks}");
        if verb == "write" {
            fs::write(path, unescaped(content)).expect("a file");
        } else if verb == "change" {
            let (from, to) = content.split_once(" -> ").expect("two texts");
            let (from, to) = (text(&unescaped(from)), text(&unescaped(to)));
            let before = self.text(file);
            assert!(before.contains(&from), "{file} lacks {from}");
            fs::write(path, before.replace(&from, &to)).expect("a file");
        } else if verb == "script" {
            let script = format!(
                "#!/bin/sh\n{}\nexec {} \"$@\"\n",
                self.whole(content),
                program()
            );
            // Another process writes it: a child of another thread might hold this one's file open, and a
            // file that is open for writing cannot be run.
            let write = "printf %s \"$1\" > \"$2\" && chmod +x \"$2\"";
            let mut shell = Command::new("sh");
            let written = shell.args(["-c", write, "sh", &*script]).arg(path).status();
            assert!(written.expect("a shell").success());
        } else if verb == "make" {
            let before = fs::read_to_string(&path).map_or(Value::Null, |_| self.json(file));
            let made = self.asked(content, &before).to_string();
            fs::write(path, made).expect("a file");
        } else {
            let (line, refused) = line.split_once(" => ").unwrap_or((line, ""));
            for (line, tail) in expanded(line, &format!("{refused}\n{checks}")) {
                let (refused, checks) = tail.split_once('\n').expect("two parts");
                self.command(&line, refused, checks);
            }
        }
    }

    /// Calls the program, which must be refused with the parts of `refused`, or do what the lines of
    /// `checks` say.
    fn command(&mut self, line: &str, refused: &str, checks: &str) {
        let before = self.texts();
        let output = stamp(&self.whole(line));
        let (out, errors) = (text(&output.stdout), text(&output.stderr));
        let what = format!("{}: {line}", self.name);
        let ran = Ran { what, out, errors };
        let checks = checks.lines().map(|check| {
            let check = check.trim_start();
            check.split_once(' ').unwrap_or((check, ""))
        });
        let named = |name: &str| checks.clone().find(|(verb, _)| *verb == name);
        let is_late = named("late").is_some();
        let status = match named("exit") {
            Some((_, status)) => status.parse().expect("a status"),
            None if refused.is_empty() => 0,
            None => 2,
        };
        let Ran { what, out, errors } = &ran;
        self.kept.insert("errors".into(), errors.lines().collect());
        assert_eq!(output.status.code(), Some(status), "{what}: {out}{errors}");
        assert!(refused.is_empty() || status == 2, "{what}: no refusal");
        if status == 2 {
            let is_line = errors.starts_with("error: ") && errors.lines().count() == 1;
            assert!(is_line && !errors.contains("panicked"), "{what}: {errors}");
            let changes_nothing = out.is_empty() && self.texts() == before;
            assert!(is_late || changes_nothing, "{what}: {out}");
            if !refused.is_empty() {
                self.has(what, errors, refused);
            }
        }
        for (verb, rest) in checks {
            self.check(&ran, verb, rest);
        }
    }

    fn check(&mut self, ran: &Ran, verb: &str, rest: &str) {
        let Ran { what, out, errors } = ran;
        let (file, of_file) = rest.split_once(' ').unwrap_or((rest, ""));
        match verb {
            "exit" | "late" => {}
            "out" => self.has(what, out, rest),
            "err" => self.has(what, errors, rest),
            "not" => {
                let rest = self.whole(rest);
                let mut parts = rest.split(" | ");
                let there = parts.find(|part| out.contains(part) || errors.contains(part));
                assert_eq!(there, None, "{what}: {out}{errors}");
            }
            "prints" => assert_eq!(out.as_bytes(), unescaped(rest), "{what}: {out}"),
            "same" => assert_eq!(*out, self.text(rest), "{what}"),
            "narrow" => {
                let wide = out.lines().find(|line| line.chars().count() > 80);
                assert_eq!(wide, None, "{what}");
                let most = (!rest.is_empty()).then(|| rest.parse::<usize>().expect(rest));
                let fits = most.is_none_or(|most| out.lines().count() <= most);
                assert!(fits, "{what}");
            }
            "is" => self.holds(what, rest, &ran.document()),
            "each" => {
                let documents = ran.documents();
                assert!(!documents.is_empty(), "{what}: {out}");
                for document in documents {
                    self.holds(what, rest, &document);
                }
            }
            "all" => self.holds(what, rest, &ran.documents().into()),
            "in" => self.holds(what, of_file, &self.json(file)),
            "has" => self.has(what, &self.text(file), of_file),
            "count" => {
                let (number, part) = of_file.split_once(' ').expect("a number and a text");
                let part = text(&unescaped(part));
                let found = self.text(file).matches(&part).count();
                assert_eq!(found.to_string(), number, "{what}: {part}");
            }
            "files" => {
                let names: Vec<String> = self.texts().into_keys().collect();
                assert_eq!(names.join(" "), rest, "{what}");
            }
            "keep" if of_file.is_empty() => drop(self.kept.insert(file.into(), ran.document())),
            "keep" => drop(self.kept.insert(file.into(), self.json(of_file))),
            other => panic!("{what}: there is no check {other}"),
        }
    }

    /// A line with the folder and the small runs in the place of their names.
    fn whole(&self, line: &str) -> String {
        let line = tiny(line).replace("STAMP", program());
        line.replace("DIR", &self.folder.path().display().to_string())
    }

    fn has(&self, what: &str, text: &str, parts: &str) {
        let parts = self.whole(parts);
        assert!(!parts.is_empty(), "{what}: nothing is asked for");
        let lacking = parts.split(" | ").find(|part| !text.contains(part));
        assert_eq!(lacking, None, "{what}: {text}");
    }

    fn text(&self, file: &str) -> String {
        fs::read_to_string(self.path(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
    }

    fn json(&self, file: &str) -> Value {
        serde_json::from_str(&self.text(file)).expect(file)
    }

    /// The files of the folder and of those in it, with their content.
    fn texts(&self) -> BTreeMap<String, Vec<u8>> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("a file").path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let name = path.strip_prefix(self.folder.path()).expect("it is inside");
                    found.insert(name.display().to_string(), fs::read(&path).expect("a file"));
                }
            }
        }
        found
    }

    fn asked(&self, program: &str, document: &Value) -> Value {
        let named = self.kept.clone().into();
        let found = asked(&format!("{CALLS} {program}"), document, &named);
        found.unwrap_or_else(|why| panic!("{}: {program}: {why}", self.name))
    }

    fn holds(&self, what: &str, program: &str, document: &Value) {
        let found = self.asked(&format!("[{program}] == [true]"), document);
        assert_eq!(found, true, "{what}: {program}: {document}");
    }
}

/// The bytes of a text in which `\n`, `\r` and `\xff` are those.
fn unescaped(text: &str) -> Vec<u8> {
    let mut parts = text.split('\\');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let (byte, length) = match part.chars().next() {
            Some('n') => (b'\n', 1),
            Some('r') => (b'\r', 1),
            _ => (u8::from_str_radix(&part[1..3], 16).expect("two digits"), 3),
        };
        bytes.push(byte);
        bytes.extend_from_slice(&part.as_bytes()[length..]);
    }
    bytes
}
