# What the page says and shows of `bench nw`.

def over($title; $x; $y; $points; $kinds): {$title, x: [$x, $x], $y, lines: kinds($points; $kinds)};
def tiles($title; $part; $more): {$title, x: ["letters a tile's side", "side_or_0"], y: "per_s",
  lines: kinds([$points | where({$part, counts: 1} + $more)]; [["graph", 1]])};

{id: "nw",
title: "Alignments by dataflow and by launches on this machine",
lead: "The scores of Needleman and Wunsch’s alignments, by six implementations, and what it costs to hand a value from warp to warp.",
terms: [
  ["tagged word", "A word with a value and a tag that says which value it is. A thread waits for the value with the load that fetches it. It is a scheme of synchronisation, in the place of the paper’s tiny lock, a lock bit of each word; a channel is made of such words."],
  ["dataflow", "One launch, in which a warp computes a strip of rows as soon as the row above it comes through channels, by tagged words."],
  ["diagonals, graph", "A launch for each diagonal of tiles, and the same launches as a CUDA graph."],
  ["locks, cells", "The same launches; in a tile a thread for each cell waits for its neighbours, for locks or for tagged words. The paper’s dataflow is written so."],
  ["stm:fast", "A transaction for each cell."]],
warnings: [(
  of_a_cpu,
  wrong_results($points)
 ) | values],
parts: [
{id: "nw-targets",
 name: "What the library is to reach on an H200",
 judged: "T is a time. The best tile is the fastest of those that were measured with this length."},
{id: "schemes",
 name: "The paper’s schemes",
 shows: [
  "Cycles of a round in which 16 warps add to 32 values one after the other, from the first one’s beginning to the last one’s end, the median of the rounds of one launch (1,000 on a GPU); speeds are over the spin lock a lane. The paper’s schemes need no fences on its GPU; ours have those that the memory model asks for, and a tagged word needs none."],
 open: [table("Tables 1 and 2 of Li et al. 2015, and ours"; 4;
   ["atom-lock", "atom_lock: a spin lock a lane", 1.0, "128 bytes a warp"],
   ["shrd-lock", "shrd_lock: a spin lock a warp", 0.8, "4 bytes a warp"],
   ["warp-barr", "warp_barr: bar.sync and bar.arrive", 2.6, "a named barrier a warp, 16 in all"],
   ["warp-vote", "warp_vote: one lock bit a warp, and a vote", 2.0, "1 of 1,024 lock bits a warp"],
   ["counted-barr", "none: the mbarrier of sm_90", null, "-"],
   ["tagged", "tiny_lock: a lock bit a lane; here a tag in the word of the value", 4.0, "32 of 1,024 lock bits a warp"];
   . as [$scheme]
   | column("Scheme"; $scheme),
   column("In the paper"; .[1]),
   column("Theirs: speed"; "\(.[2] | decimals(1))×"),
   column("Theirs: resources"; .[3]),
   column("Ours: cycles"; cycles($scheme) | decimals(0)),
   column("Ours: speed"; "\(cycles("atom-lock") / cycles($scheme) | decimals(2))×"),
   column("Ours: bytes beside the values, 16 warps"; $costs | where({$scheme}).bytes))]},
{id: "hops",
 name: "A hop",
 measured: ($hops != []),
 shows: [
  "One value goes round some threads through channels, and each adds 1 to it: the first lanes of the warps of a block through its shared memory, the first threads of the blocks of a cluster through theirs, and those of all blocks through global memory."],
 open: [table("A value that goes round threads"; 1; $hops[];
   column("Memory"; .implementation),
   column("Threads"; .round // 0),
   column("Cycles of a hop"; .cycles // 0),
   column("Time of a hop"; .hop | time))]},
{id: "table3",
 name: "The paper’s table",
 shows: [
  "Times of one table. Locks, diagonals and cells are the paper’s three implementations: locks held by cells, a launch for each diagonal, and a tag beside each value where the paper had a lock bit. Diagonals and graph are shown with the side of tiles that was the fastest at that length; the paper’s launches have tiles of 32."],
 open: [table("Table 3 of Li et al. 2015, and ours"; 1;
   [31, 0.175, 0.057, 0.049],
   [62, 0.466, 0.058, 0.049],
   [124, 1.05, 0.058, 0.05],
   [248, 2.285, 0.059, 0.051],
   [496, 5.052, 0.072, 0.079],
   [992, 14.757, 0.079, 0.109],
   [1984, 48.808, 0.08, 0.165];
   . as [$letters]
   | column("Letters"; $letters),
   column("Theirs: atomic lock"; .[1] | time),
   column("Theirs: data-parallel"; .[2] | time),
   column("Theirs: tiny lock"; .[3] | time),
   (("locks", "diagonals", "cells", "graph", "stm:fast", "dataflow") as $k | column("Ours: \($k)"; ms($k; $letters) | time)))]},
{id: "nw-claims",
 name: "Claims of Li et al. 2015",
 judged: "T is a time."},
{id: "nw-figure-1",
 name: "The reduction",
 theirs: "Li et al., Figure 4, with 16 warps: tiny locks are 4.0× as fast as a spin lock a lane, named barriers 2.6×, votes 2.0×, and a spin lock a warp 0.8×.",
 figure: {panels: [over("Cycles of a round"; "warps"; "cycles"; [$points | where({part: "reduction", counts: 1})];
   [["atom-lock", 0], ["shrd-lock", 1], ["warp-barr", 2], ["warp-vote", 3], ["counted-barr", 4], ["tagged", 5]])]},
 tables: [all_points($points; "reduction")]},
{id: "nw-figure-2",
 name: "Small tables",
 theirs: "Li et al., Table 3, on a GTX 570: from 31 to 1,984 letters, locks of atomics take 175 µs to 48.8 ms, launches 57 to 80 µs, and tiny locks 49 to 165 µs.",
 figure: {panels: [over("Time of a table"; "letters"; "ms"; [$points | where({part: "table3", counts: 1})];
   [["dataflow", 0], ["graph", 1], ["diagonals", 2], ["cells", 3], ["locks", 4], ["stm:fast", 5]])]},
 tables: [all_points($points; "table3")]},
{id: "nw-figure-3",
 name: "Large tables",
 theirs: "The paper stops at 1,984 letters.",
 figure: {panels: [[$points | where({part: "sizes", counts: 1})] as $own | over("Cells a second"; "letters"; "per_s"; $own;
     [["dataflow", 0], ["graph", 1], ["diagonals", 2], ["cells", 3], ["locks", 4], ["stm:fast", 5]])
   | . + {lines: ([.lines[] | if .name == "graph" then . + {name: "graph, best tile"} else . end]
     + [{name: "graph, tiles of 32", slot: 6, points: [$own | where({implementation: "graph", side: 32})]}])}]},
 tables: [all_points($points; "sizes")]},
{id: "nw-figure-4",
 name: "Tiles, gaps and letters",
 theirs: "The paper has tiles of 32 x 32 threads, linear gaps and nucleotides.",
 figure: {panels: [tiles("Nucleotides, linear gaps"; "tiles"; {}), tiles("Nucleotides, affine gaps"; "affine"; {}),
   tiles("Proteins, linear gaps"; "protein"; {affine: 0}), tiles("Proteins, affine gaps"; "protein"; {affine: 1}),
   tiles("Many short pairs"; "batch"; {})]},
 tables: [all_points($points; "tiles", "affine", "protein", "batch")]}
],
footer: [
  "Times are the device’s, from the beginning of the first launch to the end of the last. A rate is cells of a table a second; G is a power of 1000. A point of the reduction is one launch, whose cycles are the median of its rounds, in every run.",
  "The paper: A. Li, G.-J. van den Braak, H. Corporaal and A. Kumar, Fine-Grained Synchronizations and Dataflow Programming on GPUs, 2015 (GeForce GTX 570).",
  "Made by stamp report from nw.json (format {format})."]}
