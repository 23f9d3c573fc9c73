# What the page says and shows of `bench paper`.

def who: "\(.variant) in \(.label)";
def transactions: if .transactions >= .transactions_full then .transactions | counted
  else "\(.transactions | counted) of \(.transactions_full | counted)" end;
# A sentence about the records with the least and the most of something.
def from_to(all; by; sentence): lowest(all; by) as $least | highest(all; by) as $most | {$least, $most} | sentence;
def beside_cgl: "cgl is this runtime's own variant with one lock and buffers its writes as the others do. The same transactions as critical sections of one hand-written spin lock, in the same run, have this multiple of its rate: \(listed($sections[] | select(.over_cgl > 0) | "\(.over_cgl | times) in \(.label)"))."
  // "cgl is this runtime's own variant with one lock and buffers its writes as the others do: a hand-written lock may be several times as fast, and none was measured in this run.";
def peak($workload): highest($threads | where({$workload}) | select(.tx_per_s > 0); .tx_per_s)
  | "\(.label) peaks at \(.tx_per_s | short) tx/s, \(.variant) with \(.total | counted("thread"))";
def profiles($variant; $alone): joined("; "; $breakdown | where({$variant, $alone})
  | "\(.label): \(.own | percent) native, most of the rest \(.overhead) (\(.overhead_share | percent))");

one(largest("gn2"), largest(programs), highest($best | where({variant: [algorithms]}); .gain)) as $top
| {id: "paper",
title: "The evaluation of GPU-STM, measured again",
# What stands in large letters, and what it is.
headline: [
 [($top.over_section // $top.gain | times) // "–",
  (if $top.over_section then "the largest speed-up of the paper’s variants over a hand-written critical section in \($top.label): \($top.variant), on \($document.device.name); \($top.gain | times) over cgl"
   else "the largest speed-up of the paper’s variants over coarse-grained locking (cgl) in \($top.label): \($top.variant), on \($document.device.name)" end)
  // "speed-up over coarse-grained locking: not measured"],
 if one(largest("gn2")) then ["about 20×", "in the paper (2014) in the same, on NVIDIA C2070 (Fermi), 1.15 GHz, 14 multiprocessors"]
 else ["up to 20×", "in the paper (2014), on NVIDIA C2070 (Fermi), 1.15 GHz, 14 multiprocessors"] end],
note: beside_cgl,
warnings: [[$speedups | where({verified: false})]
 | "Not verified, \(length) of \($speedups | length): \(joined("; "; .[] | "\(.label) \(.variant): \(.error // "no reason given")")). No sentence counts these."
 | values],
parts: [
{id: "claims",
 name: "The paper’s claims",
 judged: "Each verdict follows from the data by the rule beside it. A gain over coarse-grained locking is judged against a hand-written critical section of the same run, not against cgl."},
{id: "figure-2",
 name: "Figure 2: speed-up over coarse-grained locking",
 only: "fig2",
 theirs: "The paper: up to 20× over coarse-grained locking; its optimized variant is the fastest or level with it in all five workloads; hv-sorting is ahead of tbv-sorting in RA and LB, whose data outnumber the 1M locks; KM gains nothing (section 4.2). About 20× for GN-2 (section 4.4).",
 measured: ($speedups != []),
 shows: [(
  "The fastest is \(listed(distinct($winners[].variant) as $v | "\($v) in \(listed(distinct($winners | where({variant: $v}).label)))")).",
  (highest($best[] | select(.variant != "cgl" and .variant != "optimized"); .gain)
    | "The largest speed-up over cgl is \(.gains), of \(.variant) in \(.label)."),
  (lowest($winners[]; .gain) | "The least that a workload gains at its best is \(.gains), of \(.variant) in \(.label)."),
  "hv-sorting's rate over tbv-sorting's: \(joined(", "; distinct($best[].workload) as $w | "\($w | short_name) \(over_tbv($w) | times)")).",
  beside_cgl,
  "Not verified, and counted nowhere here: \(listed($best | where({wrong: "NO"}) | "\(.label) \(.variant)"))."
 ) | values],
 figure: {panels: [distinct($best[].workload) as $w | [$best | where({workload: $w})] as $own
  | first($own | where({variant: "cgl"}), null) as $cgl
  | {title: $own[0].heading, below: ("1× is cgl: \($cgl.rate | short) tx/s at \($cgl.launch)" // "no verified cgl to compare with"),
    y: "gain", shared: true, label: "label_of_bar",
    lines: [distinct($own[].variant) as $v | {name: $v, points: [$own | where({variant: $v})
      | . + {tooltip: "\(.workload) \(.variant)\(.ran): \(.bar), \(.tx_per_s | short) tx/s (\(.tx_per_s_min | short) to \(.tx_per_s_max | short)) at \(.launch)"}]}],
    said: ("Speed-up over cgl: \(joined(", "; $own[] | "\(.variant) \(.label_of_bar)"))." // "")}]},
 tables: [
  table("Each variant at its best launch"; 2; $speedups[];
   column("Result"; "\(.label) \(.variant)"),
   column("Ran as"; .resolved),
   column("Over cgl"; .gain | times),
   if_filled(column("Over critical section"; .over_section | times)),
   column("tx/s"; .tx_per_s | short),
   column("Range"; "\(.tx_per_s_min | short) to \(.tx_per_s_max | short)"),
   column("Runs"; .repeat),
   column("Launch"; .launch),
   column("Locks"; .locks | counted),
   column("Transactions"; transactions),
   column("Commits"; .commits | counted),
   column("Aborted"; .abort_rate | percent),
   column("Verified"; .wrong // .verifies // "yes"),
   if_filled(column("Recorded run"; .recorded))),
  table("Workloads of several kernels"; 2; $kernels[];
   column("Result"; "\(.label) \(.variant)"),
   column("Kernel"; .kernel),
   column("Launches"; .launches),
   column("Time"; "\(.time_ms | digits3) ms"),
   column("tx/s"; .rate | short),
   column("Over cgl"; .gain | times),
   if_filled(column("Over critical section"; .over_section | times)),
   column("Commits"; .commits | short),
   column("Aborted"; .abort_rate | percent)),
  table("The same transactions as critical sections of one hand-written lock"; 1; $sections[];
   column("Workload"; .label),
   column("tx/s"; .tx_per_s | short),
   column("Range"; "\(.tx_per_s_min | short) to \(.tx_per_s_max | short)"),
   column("Runs"; .repeat),
   column("Launch"; .launch),
   column("Launches tried"; .tried),
   column("Transactions"; transactions),
   column("Verified"; .verified | yes))]},
{id: "figure-3",
 name: "Figure 3: throughput and threads",
 only: "fig3",
 theirs: "The paper: vbv does not scale, because of its one lock; egpgv ends at few threads; the others scale until the hardware is full, and more threads bring more conflicts. cgl was not shown (section 4.2).",
 measured: ($threads != []),
 shows: [(
  "\(joined("; "; peak(distinct($threads[].workload)))).",
  (highest($lines[]; .grown)
    | "The steepest rise from its smallest launch to its best is \(.grown | times), of \(.variant) in \(.label); \(count($lines | where({falls: 1}))) of \($lines | length) lines end more than 5 % below their best."),
  (count($threads | where({committed: 0})) | select(. > 0) | "\(.) of \($threads | length) launches did not run and are left out.")
 ) | values],
 figure: {pairs: true, apart: true, span: [$threads[].total], panels: [distinct($threads[].workload) as $w
  | [$threads | where({workload: $w}) | . + {tooltip: "\(.variant), \(.total | counted("thread")) (\(.launch)): \(.tx_per_s | short) tx/s, \(.abort_rate | percent) of attempts aborted"}] as $own
  | {x: ["threads of the launch", "total"],
    lines: [distinct($threads[].variant) as $v | {name: $v, points: [$own | where({variant: $v})]}],
    said: ("\(one(peak($w)))." // "No launch of it ran.")}
  + ({title: $own[0].heading, y: "tx_per_s"}, {title: "\($own[0].label): beside hv-sorting", y: "beside", cap: 1.5})]},
 tables: [distinct($threads[].workload) as $w | [$threads | where({workload: $w})] as $own
  | table_by("\($own[0].label): tx/s (attempts that aborted)"; 0; $own; {blocks, threads};
   column("Threads"; .total | counted),
   column("Launch"; .launch);
   "variant"; "\(.rate | short) (\(.abort_rate | percent))" // "did not run")]},
{id: "figure-4",
 name: "Figure 4: shared data and version locks in EigenBench",
 only: "fig4",
 theirs: "The paper, 1M to 64M words and locks: hv and tbv are level below 1K threads and with 1M words; with more data tbv gains much from more locks, and hv is near its best with 4M; hv aborts less, which here gains little time (section 4.3).",
 measured: ($eigenbench != []),
 shows: [(
  if $pairs == [] then "No setting has both tbv-sorting and hv-sorting."
  else "Of \($pairs | length) settings, hv-sorting is more than 5 % faster than tbv-sorting in \(count($pairs[] | select(.gain > 1.05))) and more than 5 % slower in \(count($pairs[] | select(.gain < 0.95))); it aborts less often in \(count($pairs[] | select(.less_aborted > 0)))." end,
  (highest($pairs[]; .gain)
    | "At most it has \(.gain | times) the rate of tbv-sorting: with \(.hot_words | counted("word")), \(.locks | counted("lock")) and \(.total | counted("thread")), where \(.abort_rate | percent) of its attempts abort and \(.tbv_aborts | percent) of those of tbv-sorting."),
  "The median of its rate over that of tbv-sorting is \(median($pairs[] | select(.hot_words > .locks).gain) | times) where words outnumber locks, \(median($pairs[] | select(.hot_words <= .locks).gain) | times) where they do not.",
  ([$eigenbench | where({variant: "hv-sorting"}) | select(.tx_per_s > 0)] | max(.[].hot_words | values) as $hot_words
    | [where({$hot_words})] | max(.[].total) as $total | [where({$total})]
    | first(where({locks: 4194304})) as $at | highest(.[]; .tx_per_s) as $best
    | "With \($hot_words | counted) words and \($total | counted) threads, hv-sorting reaches \($at.tx_per_s / $best.tx_per_s | percent) of its best rate with \($at.locks | counted) locks (its best: \($best.locks | counted) locks).")
 ) | values],
 figure: {pairs: true, apart: true, span: [$eigenbench[].total], panels: [distinct($eigenbench[].hot_words) as $hot_words
  | distinct($eigenbench[] | select(.variant != "fast").variant) as $v
  | [$eigenbench | where({$hot_words}) | select(.tx_per_s > 0)
    | . + {tooltip: "\(.variant), \(.locks | counted) locks, \(.hot_words | counted) words, \(.total | counted("thread")): \(.tx_per_s | short) tx/s, \(.abort_rate | percent) of attempts aborted"}] as $own
  | {title: "\($hot_words | counted) words: \($v)", x: ["threads of the launch", "total"], y: "tx_per_s", same_y: true,
    lines: (
      ([[$eigenbench[].locks]] | common | [range(length) as $i | .[$i] as $locks
        | {name: ($locks | counted("lock")), lock: $i, points: [$own | where({variant: $v, $locks})]}])
      + [distinct($eigenbench | where({variant: "fast"}).variant) as $fast | {name: $fast, points: [$own | where({variant: $fast})]}]),
    said: (one(highest($own | where({variant: $v}); .tx_per_s)
      | "The highest rate is \(.tx_per_s | short) tx/s, with \(.locks | counted) locks and \(.total | counted) threads.") // "No launch of it ran.")}]},
 tables: [table_by("EigenBench: tx/s (attempts that aborted)"; 0; $eigenbench; {blocks, threads, hot_words, locks};
   column("Threads"; .total | counted),
   column("Launch"; .launch),
   column("Words"; .hot_words | counted),
   column("Locks"; .locks | counted);
   "variant"; "\(.rate | short) (\(.abort_rate | percent))" // "did not run")]},
{id: "figure-5",
 name: "Figure 5: where a thread's time goes",
 only: "fig5",
 theirs: "The paper: GN-2 pays most, for beginning transactions above all; LB and KM, whose sets are large, pay for buffering; most of KM's attempts abort (section 4.4). It leaves out RA, HT and EB, which do nothing else.",
 measured: ($breakdown != []),
 shows: [(
  (distinct($breakdown[].variant) as $v | distinct($breakdown | where({variant: $v}) | {how, alone}) as {$how, $alone}
    | "The time of \($v)\($how): \(profiles($v; $alone))."),
  "Measuring made the kernels take \(min($breakdown[].cost | values) | times) to \(max($breakdown[].cost | values) | times) their time."
 ) | values],
 figure: {panels: [distinct($breakdown[].variant) as $v | (1, 0) as $alone | [$breakdown | where({variant: $v, $alone})] as $own
  | {title: ("\($v): \($own[0].of)" // ""), below: "a thread's time by phase", y: "cost", phases: true,
    lines: [distinct($own[].workload) as $w | {name: ($w | short_name), points: [$own | where({workload: $w})]}],
    said: ("\(profiles($v; $alone))." // "")}]},
 tables: [table("Share of a thread's time"; 1; $breakdown[];
   column("Result"; "\(.label) \(.variant)"),
   column("Launch"; .launch),
   column("Transactions"; .transactions | counted),
   column("Another input"; .input),
   (("native", "initialisation", "buffering", "consistency", "locks", "commit", "aborted", "warp") as $phase
     | column($phase; .[$phase] | percent)),
   column("Time with the measuring"; .cost | times))]},
{id: "table-1",
 name: "Table 1: characteristics of the workloads",
 only: "table1",
 theirs: "The paper gives the last two columns in words. Conflicts here are attempts that aborted, at the best launch.",
 measured: ($characteristics != []),
 shows: [highest($characteristics[]; .abort_rate) as $most | lowest($characteristics[]; .abort_rate) as $least
  | "\($most.label) has the most conflicts: \($most.abort_rate | percent) of its attempts abort; \($least.label) the fewest: \($least.abort_rate | percent)."],
 tables: [or_none(table("Characteristics of the workloads"; 1; $table_1[];
   column("Result"; "\(.label) \(.variant)"),
   column("Shared words"; (.shared_words | counted) // .theirs0),
   column("Reads / tx"; (.reads_per_tx | number) // .theirs1),
   column("Writes / tx"; (.writes_per_tx | number) // .theirs2),
   column("Transactions"; (.transactions | counted) // .theirs3),
   column("Time in tx"; (.time_in_tx | percent) // .theirs4),
   column("Conflicts"; (.abort_rate | percent) // .theirs5)))]},
{id: "table-2",
 name: "Table 2: best launches",
 only: "fig2",
 measured: ($speedups != []),
 shows: [(
  ($document.search | select(. != []) | "\(length | decimals(0)) launches were tried, \(count(.[] | select(.tx_per_s <= 0)) | decimals(0)) of which did not run; each is in paper.json.")
    // "\([$speedups[].tried] | add | decimals(0)) launches were tried.",
  from_to($speedups[] | select(.rate > 0); .total;
    "The best launches go from \(.least.total | counted("thread")) (\(.least | who)) to \(.most.total | counted) (\(.most | who)).")
 ) | values],
 tables: [or_none(table_by("Best launches, blocks x threads (launches tried)"; 1; $speedups; {workload};
   column("Workload"; .label),
   column("Paper, optimized"; .theirs);
   "variant"; "\(.launch) (\(.tried))"))]},
{id: "aborts",
 name: "Aborts and active lanes",
 only: "fig2",
 measured: ($speedups != []),
 shows: [(
  one(highest($sums[] | select(.n > 0); .n)
    | "The most frequent reason, over all results, is \(.reason): \(.share | percent) of the aborts.") // "Nothing aborted.",
  one(from_to($speedups[]; .active_lanes;
    "Of \(.most.warp_width | decimals(0)) lanes of a warp, \(.least.active_lanes | decimals(1)) (\(.least | who)) to \(.most.active_lanes | decimals(1)) (\(.most | who)) run a transaction together."))
    // "Active lanes a warp: not measured."
 ) | values],
 tables: [or_none(table_by("Aborts by reason, and active lanes a warp"; 1; $reasons; {workload, variant};
   column("Result"; "\(.label) \(.variant)"),
   column("Active lanes"; "\(.active_lanes | decimals(1)) of \(.warp_width)"),
   column("Commits"; .commits | short),
   column("Aborted"; .abort_rate | percent);
   "reason"; .n | short))]},
{id: "costs",
 name: "Memory, compilation, launches",
 only: "fig2",
 measured: ($speedups != []),
 shows: [(
  from_to($speedups[]; .metadata_bytes;
    "Metadata (locks, sets, statistics) takes \(.least.metadata_bytes | bytes) (\(.least | who)) to \(.most.metadata_bytes | bytes) (\(.most | who))."),
  one(highest($speedups[]; .jit) | "The driver compiles the kernels of \(who) longest: \(.jit | decimals(0)) ms.")
    // "Nothing is compiled at run time on this device."
 ) | values],
 tables: [or_none(table("Memory, compilation and launches"; 1; $speedups[];
   column("Result"; "\(.label) \(.variant)"),
   column("Metadata"; .metadata_bytes | bytes),
   column("JIT"; "\(.jit | decimals(0)) ms" // "none"),
   column("Kernel launches"; .launches),
   if_filled(column("Registers"; .registers))))]}
],
footer: [
  "Rates are of committed transactions, by the kernel's own time; K, M and G of rates are powers of 1000, of sizes and threads powers of 1024 (8M words are 8388608). A speed-up is the median rate over the median rate of cgl with the same workload, each at its best launch; of a kernel of a program, it is by the kernel's time in the program's median run. Slow variants run fewer transactions; rates compare all the same.",
  "The paper is Xu et al., Software Transactional Memory for GPU Architectures, CGO 2014; it used 1M locks on an NVIDIA C2070 (Fermi), 1.15 GHz, 14 multiprocessors. Its Figures 2 to 5 print no numbers, so only what its text and tables give is quoted.",
  "Made by stamp report from paper.json (format {format})."]}
