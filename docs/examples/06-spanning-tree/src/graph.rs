//! Graphs: from a seed, or from files in the format of the DIMACS challenges
//! (`.gr`) or of Matrix Market (`.mtx`).

#![cfg(not(target_arch = "nvptx64"))]

use std::path::Path;

/// An undirected graph with weights.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// The number of vertices.
    pub vertices: u32,
    /// The ends of each edge, one in the lower and one in the upper half.
    pub ends: Vec<u64>,
    /// The weight of each edge.
    pub weights: Vec<u32>,
}

impl Graph {
    /// Makes a graph from a seed; no edge leads from a vertex to itself.
    pub fn random(vertices: u32, edges: u32, seed: u64) -> Self {
        let mut state = seed;
        // SplitMix64 (Steele, Lea and Flood 2014).
        let mut next = || {
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let z = (state ^ state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
            z ^ z >> 31
        };
        let mut graph = Self {
            vertices,
            ..Self::default()
        };
        for _ in 0..edges {
            let a = (u128::from(next()) * u128::from(vertices) >> 64) as u32;
            let step = 1 + (u128::from(next()) * u128::from(vertices - 1) >> 64) as u32;
            let b = ((u64::from(a) + u64::from(step)) % u64::from(vertices)) as u32;
            graph.ends.push(u64::from(b) << 32 | u64::from(a));
            graph.weights.push((next() >> 44) as u32);
        }
        graph
    }

    /// Reads a file.
    ///
    /// # Errors
    /// The file cannot be read, is truncated, or has an edge outside of the
    /// graph; the error names the line.
    pub fn read(path: &Path) -> Result<Self, String> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| format!("{name}: {error}"))?;
        Self::parse(&name, &text)
    }

    /// Reads a text; the end of the name says in which format it is.
    ///
    /// # Errors
    /// Those of [`Self::read`].
    pub fn parse(name: &str, text: &str) -> Result<Self, String> {
        let is_matrix = name.ends_with(".mtx");
        let mut graph = Self::default();
        let mut promised = None;
        for (number, line) in (1..).zip(text.lines()) {
            let wrong = |what: &str| format!("{name}, line {number}: {what}: `{line}`");
            let words: Vec<&str> = line.split_whitespace().collect();
            let words = match (is_matrix, &words[..]) {
                (_, []) | (false, ["c", ..]) => continue,
                (true, [first, ..]) if first.starts_with('%') => continue,
                (true, [rows, columns, _]) if promised.is_none() && rows != columns => {
                    return Err(wrong("the matrix of a graph is square"));
                }
                (false, ["p", _, vertices, edges]) | (true, [vertices, _, edges])
                    if promised.is_none() || !is_matrix =>
                {
                    let vertices = vertices.parse().ok().filter(|&n| n > 0);
                    let (Some(vertices), Ok(edges)) = (vertices, edges.parse()) else {
                        return Err(wrong("no size"));
                    };
                    (graph.vertices, promised) = (vertices, Some(edges));
                    continue;
                }
                (false, ["a", edge @ ..]) | (true, edge) => edge,
                (false, _) => return Err(wrong("neither a comment, a size nor an edge")),
            };
            if promised.is_none() {
                return Err(wrong("an edge before the size"));
            }
            let vertex = |i: usize| {
                let vertex = words.get(i).and_then(|word| word.parse::<u32>().ok());
                let vertex = vertex.ok_or_else(|| wrong("an edge is two vertices and a weight"))?;
                let outside = || wrong(&format!("a vertex outside of 1 to {}", graph.vertices));
                let is_inside = (1..=graph.vertices).contains(&vertex);
                is_inside.then(|| vertex - 1).ok_or_else(outside)
            };
            let (a, b) = (vertex(0)?, vertex(1)?);
            let given = words.get(2);
            let weight = given.map_or(is_matrix.then_some(1.0), |word| word.parse::<f64>().ok());
            let weight = weight.filter(|weight| (0.0..=f64::from(u32::MAX)).contains(weight));
            let what = "a weight is a number from 0 to 4294967295";
            let weight = weight.ok_or_else(|| wrong(what))? as u32;
            if a != b {
                graph.ends.push(u64::from(b) << 32 | u64::from(a));
                graph.weights.push(weight);
            } else {
                // A loop is in no tree; it counts as an edge of the file.
                promised = promised.map(|n: usize| n - 1);
            }
        }
        let found = graph.ends.len();
        match promised {
            Some(edges) if edges == found => Ok(graph),
            Some(edges) => Err(format!(
                "{name}: {edges} edges are announced and {found} are there: is the file truncated?"
            )),
            None => Err(format!("{name}: no line says how large the graph is")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_formats_are_read() {
        let dimacs = Graph::parse("a.gr", "c x\np sp 3 2\na 1 2 5\na 3 2 6\n").unwrap();
        let market = Graph::parse("a.mtx", "%%MatrixMarket\n%\n3 3 2\n1 2 5\n3 2 6\n").unwrap();
        assert_eq!(dimacs.ends, market.ends);
        assert_eq!((dimacs.vertices, dimacs.weights), (3, vec![5, 6]));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let truncated = "2 edges are announced and 1 are there";
        let outside = "line 2: a vertex outside of 1 to 3";
        for (name, text, expected) in [
            ("a.gr", "p sp 3 2\na 1 2 5\n", truncated),
            ("a.gr", "p sp 3 1\na 1 4 5\n", outside),
            ("a.gr", "a 1 2 5\n", "line 1: an edge before the size"),
            ("a.gr", "p sp 3 1\na 1 2\n", "line 2: a weight"),
            ("a.gr", "p sp 3 1\nx 1 2\n", "line 2: neither"),
            ("a.gr", "c\n", "no line says"),
            ("a.mtx", "3 4 1\n1 2 5\n", "square"),
            ("a.mtx", "3 3 1\n1 0 5\n", outside),
        ] {
            let error = Graph::parse(name, text).unwrap_err();
            assert!(error.contains(expected), "{text:?}: {error}");
        }
    }
}
