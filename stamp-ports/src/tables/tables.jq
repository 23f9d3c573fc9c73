# The tables of the documents, made from the result files; `missing` is what stands where nothing was measured, without
# which that is an error.

def missing($text; table): table + {missing: $text};

# The only one that f yields, or null: a document with two would not say which it has.
def only(f): [f] | if length > 1 then error("\(length) values stand where one is expected") else .[0] end;

# Formats of numbers: three digits and a unit, whole, a ratio, and with so many decimals a ratio and a share.
def si: show("si");
def n: show("n");
def r: show("r");
def ratio($decimals): show("x\($decimals)");
def share($decimals): show("%\($decimals)");
def three: show("3");
def text: show("text");

# The commands of `bench floor` in a file, by what they measure: the beginnings of their options.
def commands: {
  ra: "ra --device cuda:0 ",
  ht: "ht --device cuda:0 ",
  genome: "genome --device cuda:0 ",
  "genome-64": "genome --device cuda:0,atomics=64 ",
  kmeans: "kmeans --device cuda:0 ",
  labyrinth: "labyrinth ",
  eigenbench: "eigenbench --device cuda:0 ",
  bank: "bank --audit-share 0 --device cuda:0 ",
  "bank-10k": "bank --audit-share 0 --accounts 10K --device cuda:0 ",
  "bank-zipf": "bank --audit-share 0 --zipf 0.9 --device cuda:0 ",
  "bank-audits": "bank --audit-share 50 --audit-range 1K --device cuda:0 ",
  "bank-static": "bank --audit-share 0 --static ",
  "bank-4": "bank --audit-share 0 --accounts 4 --variant cgl,fast ",
  "bank-64": "bank --audit-share 0 --accounts 64 --variant cgl,fast ",
  "bank-1k": "bank --audit-share 0 --accounts 1K --variant cgl,fast ",
  "bank-16k": "bank --audit-share 0 --accounts 16K --variant cgl,fast ",
  "bank-128k": "bank --audit-share 0 --accounts 128K --variant cgl,fast ",
  "bank-1m": "bank --audit-share 0 --accounts 1M --variant cgl,fast ",
  static: "ra,ht --static ",
  sections: "ra,ht,",
  containers: "pool,list,"};
def run($file; $name): only(file($file)[] | select(.command | startswith("stamp bench floor --workload " + commands[$name])));
def run($name): run("h100/fast.json"; $name);

# Of a command: what transactions did, at which rate, the rates of others, and the fastest rival.
def stm($these): only(.stm | where($these));
def rate($variant): stm({$variant}).tx_per_s;
def others($these): max(.runs | where($these).tx_per_s);
def rival($these): only(highest(.runs | where($these + {kind: "special-purpose"}); .tx_per_s));
def locked($these): others($these + {kind: "critical-section"});
# Of what ran: its rate with its launch, and a kernel's rate.
def at_launch: "\(.tx_per_s | si) (\(.blocks | decimals(0)) x \(.threads | decimals(0)))";
def kernel($start): only(.kernels[] | select(.kernel | startswith($start)));
def kernel_rate($start): kernel($start) | .commits / .time_ms * 1000;
def aborted: (sum(.aborts[]) / sum(.aborts[], .commits)) | share(0);

def paper: file("h100/paper.json");
def speedup($workload; $variant): only(paper.speedups | where({$workload, $variant}));
def eigenbench($variant; $blocks; $words):
  only(file("h100/eigenbench.json").runs | where({$variant, $blocks}) | select(.parameters.hot_words == $words).tx_per_s);
def claims: file("../report/claims.json").claims | where({part: "paper"});

def readme($name; $file): missing("–"; table($name; 0;
  ["ra", "ra", "random array: 16 reads and writes"],
  ["ht", "ht", "hash table: 4 keys"],
  ["bank", "bank", "transfers, 1 M accounts"],
  ["bank-zipf", "bank", "transfers, accounts by Zipf 0.9"],
  ["kmeans", "kmeans", "k-means, 64 rows (`fast` by a warp a point)"],
  ["containers", "map", "hash map, nodes from a pool"],
  ["containers", "list", "sorted list"],
  ["containers", "counter", "counter"],
  ["bank-4", "bank", "transfers, 4 accounts"],
  ["sections", "queue", "queue"];
  . as [$run, $workload, $what] | run($file; $run)
  | def rate($variant): stm({$workload, $variant}).tx_per_s;
  column("operations a second"; $what),
  column("`fast`"; rate("fast") | si),
  column("over `hv-sorting`"; rate("fast") / rate("hv-sorting") | r),
  column("over `cgl`"; rate("fast") / rate("cgl") | r),
  column("over one lock by hand"; rate("fast") / locked({$workload}) | r),
  column("over the rival"; rate("fast") / rival({$workload}).tx_per_s | r)));

# A table of facts, each with its words.
def facts($name; $about; rows): table($name; 0; rows; column($about; .[0]), column(""; .[1]));

readme("readme"; "h100/fast.json"),
readme("readme-h200"; "h200/fast.json"),
table("checks"; 0;
  ["random programs in the simulator, `fast`", (file("simulator/fuzz-fast.txt") | (.rows | where({variant: "all"}).transactions), .violations)],
  ["the same of all other algorithms, versions of 3 to 8 bits", (file("simulator/fuzz-narrow.txt") | (.rows | where({variant: "all"}).transactions), .violations)],
  ["recorded on a GPU", (file("h200/histories.txt") | sum(.rows[].transactions), sum(.rows[].violations))];
  column("checked for opacity"; .[0]),
  column("transactions"; .[1] | si),
  column("violations"; .[2] | n)),
facts("evaluation-run"; "of the run"; paper as $paper |
  ["multiprocessors of the GPU", ($paper.device.processors | n)],
  ["seconds that the run took", ($paper.seconds | n)],
  ["launches tried", ($paper.search | length | n)],
  ["fewest threads of a block that were tried in KM", (min($paper.search | where({workload: "kmeans"}).threads) | n)],
  ["measurements of Figure 2, and those of them that were verified", "\($paper.speedups | length | n), \(count($paper.speedups | where({verified: true})) | n)"],
  ["transactions of RA, and those of them that `cgl` ran in Figure 2", (speedup("ra"; "cgl") | "\(.transactions_full | n), \(.transactions | n)")],
  ["points of Figure 3, and those of them that ended at their time limit", "\($paper.threads | length | n), \(count($paper.threads[].note | values) | n)"],
  ["`hv-sorting` in LB: the most in Figure 3 over Figure 2",
    (max($paper.threads | where({workload: "labyrinth", variant: "hv-sorting"}).tx_per_s) / speedup("labyrinth"; "hv-sorting").tx_per_s | ratio(2))],
  ["Figure 5: time with the times taken over time without, GN",
    (only($paper.breakdown | where({workload: "genome"}) | select(.blocks != 1).cost) | ratio(2))],
  ["Figure 5: the same, the most of the other workloads",
    (max($paper.breakdown[] | select(.workload != "genome" and .blocks != 1).cost | values) | ratio(2))]),
table("critical-sections"; 0;
  ["ra", "RA"], ["ht", "HT"], ["genome/gn1", "GN-1", "gn1_cgl"], ["genome/gn2", "GN-2", "gn2_cgl"], ["labyrinth", "LB"], ["kmeans", "KM"],
  ["eigenbench", "EigenBench"], ["bank", "bank"];
  . as [$workload, $name, $kernel]
  | column("workload"; $name),
  column("rate of a hand-written critical section over that of `cgl`"; only(paper.critical_sections | where({$workload}).tx_per_s)
    / (if $kernel then speedup("genome"; "cgl") | kernel_rate($kernel) else speedup($workload; "cgl").tx_per_s end) | ratio(2))),
table("speedups"; 0;
  ["ra", "RA"], ["ht", "HT"], ["genome", "GN, whole program"], ["genome", "GN-1", "gn1_"], ["genome", "GN-2", "gn2_"], ["labyrinth", "LB"],
  ["kmeans", "KM"], ["eigenbench", "EigenBench"], ["bank", "bank"];
  . as [$workload, $what, $kernel]
  | def rate: if $kernel then kernel_rate($kernel) else .tx_per_s end;
  speedup($workload; "cgl") as $cgl
  | column("rate over that of `cgl`"; $what),
  column("`cgl`, tx/s"; $cgl | rate | si),
  (("egpgv", "vbv", "tbv-sorting", "hv-sorting", "hv-backoff", "optimized") as $variant | speedup($workload; $variant) as $run
    | column($variant; if $kernel then ($cgl | kernel($kernel).time_ms) / ($run | kernel($kernel).time_ms) else $run.tx_per_s / $cgl.tx_per_s end | r))),
table("verdicts"; 0; "holds", "holds in part", "does not hold", "critical section not measured", "cannot be judged";
  . as $verdict
  | column("verdict"; $verdict),
  column("claims"; "\(count(claims | select(.verdict == $verdict)) | n) of \(count(claims) | n)")),
table("claims"; 0; claims | select(.verdict != "cannot be judged" and .verdict != "critical section not measured");
  column("claim (section)"; "\(.claim | text) (\(.section | text))"),
  column("it holds if"; .rule | text),
  column("verdict"; "**\(.verdict | text)**"),
  column("figures"; .figures | text)),
missing("not recorded"; table("parameters"; 0;
  ["ra", "RA", "8 M", "16", "16", "1 M"],
  ["ht", "HT", "256 K", "8", "8", "1 M"],
  ["genome/gn1", "GN-1", "16 K", "1", "1", "4 M"],
  ["genome/gn2", "GN-2", "1 M", "1", "1", "1 M"],
  ["genome", "GN, both", "–", "–", "–", "–"],
  ["labyrinth", "LB", "1.75 M", "352", "352", "512"],
  ["kmeans", "KM", "2 K", "32", "32", "64 K"],
  ["eigenbench", "EigenBench", "1 M to 64 M", "32", "32", "1 M"];
  . as [$workload, $what, $words, $reads, $writes, $transactions]
  | only(paper.characteristics | where({$workload}))
  | column(""; $what),
  column("shared words, paper"; $words), column("here"; .shared_words | n),
  column("reads, paper"; $reads), column("here"; .reads_per_tx | three),
  column("writes, paper"; $writes), column("here"; .writes_per_tx | three),
  column("transactions, paper"; $transactions), column("here"; .transactions | n))),
missing("uses no locks of the table"; table("ra-ht"; 0;
  "cgl", "egpgv", "vbv", "tbv-sorting", "hv-sorting", "hv-backoff", "optimized", "fast-table", "fast";
  . as $variant | file("h100/ra-ht.json").runs as $runs
  | column(""; "`\($variant)`"),
  ((["RA", "ra"], ["HT", "ht"]) as [$name, $workload] | (["1 M", 1048576], ["16 M", 16777216]) as [$of, $locks]
    | only($runs | where({$workload, variant: "fast"})) as $fast
    | column("\($name), \($of) locks"; $runs | where({$workload, $variant, $locks})
      | "\(.tx_per_s | si), \($fast.tx_per_s / .tx_per_s | r) (\(.blocks | decimals(0)) x \(.threads | decimals(0)))")))),
missing("–"; table("fast-rates"; 0;
  ["ra", "RA", "floor_ra"],
  ["ht", "HT", "floor_ht"],
  ["genome", "GN-1", "floor_gn1", "gn1_"],
  ["kmeans", "KM", "floor_kmeans"],
  ["eigenbench", "EigenBench", "floor_eigenbench"],
  ["bank", "bank, transfers", "floor_bank"],
  ["bank-10k", "bank, 10 K accounts", "floor_bank"],
  ["bank-zipf", "bank, Zipf 0.9", "floor_bank"],
  ["bank-audits", "bank, half audits", "floor_bank"];
  . as [$run, $what, $floor, $kernel] | run($run)
  | def of($variant): stm({$variant});
  def rate($variant): of($variant) | if $kernel then kernel_rate($kernel) else .tx_per_s end;
  def compared: "hv-sorting", "fast-table", "fast";
  column("transactions a second"; $what),
  column("transactions"; [of(compared).transactions] | if distinct | length == 1 then .[0] | n
    else "not equal: `hv-sorting` \(.[0] | n), `fast-table` \(.[1] | n), `fast` \(.[2] | n)" end),
  (compared as $variant | column("`\($variant)`"; "\(rate($variant) | si) (\(of($variant).blocks | decimals(0)) x \(of($variant).threads | decimals(0)))")),
  column("`fast`, adds"; of("fast, adds") | at_launch),
  column("`fast` over `hv-sorting`"; rate("fast") / rate("hv-sorting") | r),
  column("without synchronisation"; only(.runs | where({kernel: $floor}).tx_per_s) | si),
  column("rival"; rival({}) | "\(.tx_per_s | si) (\(.name | text))"),
  column("`fast` over the rival"; rate("fast") / rival({}).tx_per_s | r))),
missing("not measured"; table("fast-static"; 0;
  ["static", "RA", "ra"], ["static", "HT, nodes preassigned", "ht"], ["bank-static", "bank, transfers", "bank"];
  . as [$run, $what, $workload] | run($run)
  | column("static updates a second"; $what),
  column("`fast`, static"; stm({$workload, variant: "fast, static"}) | at_launch),
  column("rival"; rival({$workload}) | "\(.tx_per_s | si) (\(.name | text))"),
  column("over the rival"; stm({$workload, variant: "fast, static"}).tx_per_s / rival({$workload}).tx_per_s | r))),
# Each row has its rates: of `fast`, of `cgl`, of one lock by hand, and of the rival with its name.
missing("–"; table("standing"; 0;
  def row($what; $run; $workload): run($run)
    | [$what, stm({$workload, variant: "fast"}).tx_per_s, stm({$workload, variant: "cgl"}).tx_per_s, locked({$workload}), (rival({$workload}) | .tx_per_s, .name)];
  def point($what; $points; $k; others): highest($points[] | select(others); .per_s)
    | [$what, only($points | where({implementation: $k}).per_s), null, null, .per_s, .implementation];
  def chains($n): [file("h100/sync.json").points | where({part: "table", blocks: 30, threads: 256}) | select(.parameters.buckets == $n)];
  def short: [file("h100/nw.json").points | where({part: "table3"}) | select(.parameters.letters == 31)];
  def no_stm: .implementation != "stm:fast" and .implementation != "stm:hv-sorting";
  (run("sections") | [ "GN-1", (stm({workload: "genome", variant: "fast"}) | kernel_rate("gn1_fast")), null, others({kernel: "critical_gn1"}),
    (rival({workload: "genome"}) | .tx_per_s, .name)]),
  row("pool: allocate and free"; "containers"; "pool"),
  row("HT"; "sections"; "ht"),
  row("hash map, nodes from a pool"; "containers"; "map"),
  row("bank, a tenth audits"; "sections"; "bank"),
  row("vacation"; "containers"; "vacation"),
  row("RA"; "sections"; "ra"),
  row("ordered map"; "containers"; "ordered"),
  row("sorted list"; "containers"; "list"),
  row("EigenBench"; "sections"; "eigenbench"),
  row("KM, by teams"; "sections"; "kmeans"),
  row("LB, whole program"; "labyrinth"; "labyrinth"),
  (run("sections") | ["GN-2", (stm({workload: "genome", variant: "fast"}) | kernel_rate("gn2_fast")), null, others({kernel: "critical_gn2"})]),
  row("counter"; "containers"; "counter"),
  row("bank, 4 accounts"; "bank-4"; "bank"),
  row("queue"; "sections"; "queue"),
  point("table of 256 chains, 26 M pairs inserted"; chains(256); "stm:fast"; no_stm),
  point("the same with 16 chains"; chains(16); "stm:fast"; no_stm),
  point("alignment of 31 letters, a transaction a cell"; short; "stm:fast"; .implementation != "stm:fast"),
  point("the same by channels, without transactions"; short; "dataflow"; .implementation != "dataflow");
  . as [$what, $fast, $cgl, $section, $rival, $name]
  | column("operations a second"; $what),
  column("`fast`"; $fast | si),
  column("over `cgl`"; $fast / $cgl | r),
  column("over one lock by hand"; $fast / $section | r),
  column("over the rival"; "\($fast / $rival | r) (\($name | text))"))),
missing("not measured"; table("bank-steps"; 0;
  ["one lock, by hand", "bank-1m", null, "critical-section"],
  ["one lock, by the library: `cgl`", "bank-1m", "cgl"],
  ["dynamic transactions: `fast`", "bank-1m", "fast"],
  ["static updates: `fast`, static", "bank-static", "fast, static"],
  ["atomic additions, by hand", "bank-1m", null, "special-purpose"];
  . as [$what, $run, $variant, $kind] | run($run) | locked({}) as $section
  | only(if $variant then stm({$variant}) else .runs | where({$kind}) end)
  | column("transfers between 1 M accounts"; $what),
  column("a second"; .tx_per_s | si),
  column("over one lock by hand"; .tx_per_s / $section | r),
  column("launch"; "\(.blocks | decimals(0)) x \(.threads | decimals(0))"))),
missing("not measured"; table("bank-contention"; 0;
  ["bank-4", "4"], ["bank-64", "64"], ["bank-1k", "1 K"], ["bank-16k", "16 K"], ["bank-128k", "128 K"], ["bank-1m", "1 M"];
  . as [$run, $accounts] | run($run)
  | column("accounts"; $accounts),
  column("one lock, by hand"; locked({}) | si),
  column("`cgl`"; rate("cgl") | si),
  column("`fast`"; rate("fast") | si),
  column("its attempts that abort"; stm({variant: "fast"}) | aborted),
  column("`fast` over one lock by hand"; rate("fast") / locked({}) | r),
  column("atomic additions"; others({kind: "special-purpose"}) | si),
  column("without synchronisation, which is wrong"; others({kind: "unsynchronised"}) | si))),
missing("–"; table("containers"; 0;
  ["containers", "map", "`Map`: insert, remove, look up"],
  ["containers", "ordered", "`OrderedMap`: the same"],
  ["containers", "list", "`List`: the same, walking one list"],
  ["sections", "queue", "`Queue`: push and pop, one queue for all"],
  ["containers", "pool", "`Nodes`: allocate and free"],
  ["containers", "vacation", "`Map` and `Lists`: STAMP's travel agency"];
  . as [$run, $workload, $what] | run($run) | stm({$workload, variant: "fast"}).tx_per_s as $fast
  | column("operations a second"; $what),
  column("one lock, by hand"; locked({$workload}) | si),
  column("`cgl`"; stm({$workload, variant: "cgl"}).tx_per_s | si),
  column("`fast`"; $fast | si),
  column("`fast` over one lock by hand"; $fast / locked({$workload}) | r))),
facts("fast-notes"; "beside the rates";
  def fast($run): run($run) | stm({variant: "fast"});
  ["`fast` in RA: attempts that abort", (fast("ra") | aborted)],
  ["`fast` in HT: attempts that abort", (fast("ht") | aborted)],
  ["RA without synchronisation, words of 64 bits as in a cell, tx/s", (run("ra") | others({kernel: "floor_ra_cells"}) | si)],
  ["KM: passes of the variants over the points", (fast("kmeans").observed.passes[] | n)],
  ["GN: launches, and those of them without transactions", (fast("genome") | "\(sum(.kernels[].launches) | n), \(kernel("gn_match_fast").launches | n)")],
  ["LB: a claim's share of a router's time under `fast`", (fast("labyrinth").observed.claim_share | share(2))],
  ["bank, half audits: audits of the rival that saw a sum that never was",
    (run("bank-audits") | only(.runs | where({kernel: "rival_bank"}).note) | [. / " " | .[] | tonumber?] | .[0] / .[1] | share(0))]),
missing("–"; table("fast-times"; 0;
  def gn2: kernel("gn2_").time_ms;
  def times($what; of; time): [$what, (("hv-sorting", "fast-table", "fast") as $variant | only($variant | of | time))];
  times("GN-2, ms"; . as $variant | run("genome") | stm({$variant}); gn2),
  times("GN-2 of 1 M bases, ms"; speedup("genome"; .); gn2),
  times("GN-2, 64-bit atomics, ms"; . as $variant | run("genome-64") | stm({$variant}); gn2),
  times("GN, whole program, ms"; . as $variant | run("genome") | stm({$variant}); .time_ms.median),
  times("GN, whole program, 64-bit atomics, ms"; . as $variant | run("genome-64") | stm({$variant}); .time_ms.median),
  times("LB, one claim, us"; . as $variant | run("labyrinth") | stm({$variant}); .observed.claim_us),
  times("LB, whole program, ms"; . as $variant | run("labyrinth") | stm({$variant}); .time_ms.median);
  . as [$what, $hv, $table, $fast]
  | column("time"; $what),
  column("`hv-sorting`"; $hv | three), column("`fast-table`"; $table | three), column("`fast`"; $fast | three),
  column("`hv-sorting`'s time over `fast`'s"; $hv / $fast | r))),
table("fast-eigenbench"; 0; [1048576, "1 M words"], [4194304, "4 M words"], [16777216, "16 M words"], [67108864, "64 M words"];
  . as [$words, $what]
  | column(""; $what),
  ((16, 132, 528) as $blocks
    | column("\($blocks) x 64"; eigenbench("fast"; $blocks; $words) | si),
      column("over `hv-sorting`"; eigenbench("fast"; $blocks; $words) / eigenbench("hv-sorting"; $blocks; $words) | r))),
table("fast-targets"; 0;
  def over($run; $variant; $other): run($run) | rate($variant) / rate($other);
  def ratio_of($run; $these): run($run) | only(.ratios | where($these));
  def gn($kernel): run("genome") | (stm({variant: "hv-sorting"}) | kernel($kernel + "hv_sorting").time_ms) / (stm({variant: "fast"}) | kernel($kernel + "fast").time_ms);
  ["RA: `fast` over `hv-sorting`", over("ra"; "fast"; "hv-sorting"), 25, "more", "x1"],
  ["RA: `fast-table` over `hv-sorting`", over("ra"; "fast-table"; "hv-sorting"), 8, "more", "x1"],
  ["RA: time of `fast` over the same accesses without synchronisation", ratio_of("ra"; {variant: "fast", to: "plain accesses"}).time, 4, "less", "x2"],
  ["bank, 1 M accounts: `fast`, tx/s", (run("bank") | rate("fast")), 2000000000, "more", "si"],
  ["bank, 10 K accounts: `fast`, tx/s", (run("bank-10k") | rate("fast")), 150000000, "more", "si"],
  ["bank, Zipf 0.9: `fast` over `hv-sorting`, transfers that read", over("bank-zipf"; "fast"; "hv-sorting"), 5, "more", "x1"],
  ["HT: `fast` over `hv-sorting`", over("ht"; "fast"; "hv-sorting"), 10, "more", "x1"],
  ["HT: `fast` over the rival", ratio_of("ht"; {variant: "fast", kind: "special-purpose"}).rate, 0.25, "more", "x2"],
  ["GN-1: `fast` over the rival", ratio_of("genome"; {variant: "fast", kind: "special-purpose"}).rate, 0.25, "more", "x2"],
  ["GN-1: `fast` over `hv-sorting`", gn("gn1_"), 5, "more", "x2"],
  ["GN-2: `fast` over `hv-sorting`", gn("gn2_"), 5, "more", "x2"],
  ["KM, a small run: `fast` over `cgl`", (run("sections") | stm({workload: "kmeans", variant: "fast"}).tx_per_s / stm({workload: "kmeans", variant: "cgl"}).tx_per_s), 10, "more", "x0"],
  ["KM: `fast` by teams over `hv-sorting`", over("kmeans"; "fast"; "hv-sorting"), 20, "more", "x1"],
  ["KM: `fast` with adds over the rival", (run("kmeans") | min(.ratios | where({variant: "fast, adds", kind: "special-purpose"}).rate)), 0.2, "more", "x2"],
  ["LB: time of a claim, `hv-sorting` over `fast` by teams",
    (run("labyrinth") | stm({variant: "hv-sorting"}).observed.claim_us / stm({variant: "fast"}).observed.claim_us), 3, "more", "x0"],
  ["LB: whole program, `fast` over `hv-sorting`", over("labyrinth"; "fast"; "hv-sorting"), 1, "more", "x2"],
  ["EigenBench: `fast` over `hv-sorting`, both with 64 M locks, at the worst of 12 points",
    min((1048576, 4194304, 16777216, 67108864) as $words | (16, 132, 528) as $blocks
      | eigenbench("fast"; $blocks; $words) / eigenbench("hv-sorting"; $blocks; $words)), 1, "more", "x2"];
  . as [$what, $value, $limit, $sense, $format]
  | column("goal"; $what),
  column("limit"; "\(if $sense == "more" then "at least" else "at most" end) \($limit | show($format))"),
  column("measured"; $value | show($format)),
  column(""; $value - $limit | show($sense))),
missing("–"; table("jit"; 0;
  ["ra", "RA"], ["ht", "HT"], ["genome", "GN"], ["labyrinth", "LB"], ["kmeans", "KM"], ["eigenbench", "EigenBench"], ["bank", "bank"];
  . as [$run, $what] | run($run)
  | column("ms"; $what),
  (("hv-sorting", "fast-table", "fast") as $variant | column("`\($variant)`"; stm({$variant}).jit_ms | n)))),
table("mutants"; 0;
  ["`fast`, and what all share with it", "fast"],
  ["`fast-table` apart from that", "fast-table"],
  ["`hv-sorting`", "hv-sorting"],
  ["`hv-backoff`", "hv-backoff"],
  ["`tbv-sorting`", "tbv-sorting"],
  ["`vbv`", "vbv"],
  ["`cgl`", "cgl"];
  . as [$of, $variant] | [file("simulator/mutants.txt").rows | where({$variant})]
  | column("seeded defects of"; $of),
  column("seeded"; length | n),
  column("survive"; count(where({killed_by: "SURVIVED"})) | n)),
table("fuzz"; 0; "simulator/fuzz-fast.txt", "simulator/fuzz-narrow.txt";
  . as $file | file($file) | .violations as $violations | .command as $command | only(.rows | where({variant: "all"}))
  | column("file"; "`\($file)`"),
  column("command"; "`\($command | text)`"),
  column("schedules"; .schedules | n),
  column("unfair"; .unfair / .schedules | share(2)),
  column("transactions"; .transactions | n),
  column("attempts"; .attempts | n),
  column("operations"; .operations | si),
  column("violations"; $violations | n)),
table("histories"; 0;
  ["h200/histories.txt", "every workload by every variant; RA, transfers, queue, counter, list and the ordered map by `fast` and `fast-table` also with turns after four conflicts; sums, captured words, static updates and cells of 64 bits; two million transactions of RA and HT"];
  . as [$file, $of] | file($file).rows
  | column("file"; "`\($file)`"),
  column("of"; $of),
  column("transactions"; sum(.[].transactions) | n),
  column("attempts"; sum(.[].attempts) | n),
  column("turns alone"; sum(.[].turns) | n),
  column("violations"; sum(.[].violations) | n)),
table("fences"; 0;
  "no-e1", "no-e2", "no-e2-extension", "no-e3", "no-e4", "no-e4-extension", "no-e5", "lock-word-before-value", "extension-without-locks",
  "version-before-locking", "no-f1-begin", "no-f1-extension", "no-f2-value", "no-f2-version", "version-after-only", "no-f3", "no-f4", "no-f5", "no-f6";
  . as $defect
  | def of($defect): file("h200/fence-mutants.txt").rows | where({$defect});
  column("defect"; "`\($defect)`"),
  column("settings"; count(of($defect)) | n),
  column("attempts"; sum(of($defect).attempts) | n),
  column("seen in"; count(of($defect) | select(.found != "nothing")) | n),
  column("attempts with delays"; sum(of($defect + "+delays").attempts) | n),
  column("seen in"; count(of($defect + "+delays") | select(.found != "nothing")) | n)),
table("sync"; 0;
  def rate($part; $implementation; $blocks; $threads): only(file("h100/sync.json").points | where({$part, $implementation, $blocks, $threads}).per_s);
  def rate($part; $implementation; $blocks; $threads; $name; $n):
    only(file("h100/sync.json").points | where({$part, $implementation, $blocks, $threads}) | select(.parameters[$name] == $n).per_s);
  ["one hot lock", "32 x 1", "the default mutex, sections in a row", rate("mutex"; "default"; 32; 1), "`cuda::binary_semaphore`",
    rate("mutex"; "cuda::binary_semaphore"; 32; 1)],
  ["one hot lock", "32 x 1", "the default mutex, acquired for each section", rate("mutex"; "default-single"; 32; 1), "`cuda::binary_semaphore`",
    rate("mutex"; "cuda::binary_semaphore"; 32; 1)],
  ["one hot lock", "32 x 1", "`tas-backoff`", rate("mutex"; "tas-backoff"; 32; 1), "`cuda::binary_semaphore`",
    rate("mutex"; "cuda::binary_semaphore"; 32; 1)],
  ["one hot lock", "32 x 1", "a combiner", rate("mutex"; "combining"; 32; 1), "`cuda::binary_semaphore`",
    rate("mutex"; "cuda::binary_semaphore"; 32; 1)],
  ["one hot lock", "32 x 1024", "`tas`, acquired once for the lanes of a warp", rate("counter"; "tas"; 32; 1024), "`tas`, acquired by each lane",
    rate("counter"; "tas/lane"; 32; 1024)],
  ["one hot lock", "32 x 1024", "ticket lock, acquired once for the lanes of a warp", rate("counter"; "ticket-handoff"; 32; 1024), "ticket lock",
    rate("counter"; "ticket"; 32; 1024)],
  ["one hot lock", "32 x 256", "a combiner", rate("counter"; "combining"; 32; 256), "MCS",
    rate("counter"; "mcs"; 32; 256)],
  ["one hot lock", "32 x 256", "transactions of `fast`", rate("counter"; "stm:fast"; 32; 256), "MCS",
    rate("counter"; "mcs"; 32; 256)],
  ["one hot lock", "32 x 256", "atomic additions", rate("counter"; "added"; 32; 256), "a combiner",
    rate("counter"; "combining"; 32; 256)],
  ["table of 16 chains", "30 x 256", "a combiner", rate("table"; "combining"; 30; 256; "buckets"; 16), "MCS",
    rate("table"; "mcs"; 30; 256; "buckets"; 16)],
  ["table of 16 chains", "30 x 256", "a combiner", rate("table"; "combining"; 30; 256; "buckets"; 16), "compare-and-swap",
    rate("table"; "lock-free"; 30; 256; "buckets"; 16)],
  ["sorted list, 16 entry points", "30 x 128", "transactions of `fast`", rate("list"; "stm:fast"; 30; 128; "entry-points"; 16), "lock coupling by `tas`",
    rate("list"; "coupled:tas"; 30; 128; "entry-points"; 16)],
  ["barrier", "132 x 128", "one counter", rate("barrier"; "counted"; 132; 128), "`grid.sync()`",
    rate("barrier"; "grid.sync"; 132; 128)],
  ["barrier", "528 x 128", "one counter", rate("barrier"; "counted"; 528; 128), "`grid.sync()`",
    rate("barrier"; "grid.sync"; 528; 128)],
  ["barrier", "1056 x 128", "groups with a root", rate("barrier"; "grouped"; 1056; 128), "`grid.sync()`",
    rate("barrier"; "grid.sync"; 1056; 128)],
  ["semaphore of count 10", "32 x 1", "tickets", rate("semaphore"; "tickets"; 32; 1; "count"; 10), "`cuda::counting_semaphore`",
    rate("semaphore"; "cuda::counting_semaphore"; 32; 1; "count"; 10)];
  . as [$where, $launch, $what, $value, $beside, $other]
  | column(""; $where),
  column("launch"; $launch),
  column("by"; $what),
  column("a second"; $value | si),
  column("beside"; $beside),
  column("ratio"; $value / $other | r))
