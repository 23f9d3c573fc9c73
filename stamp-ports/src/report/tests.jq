# Documents of the tests, and changes of them. A change that changes nothing is an error.

def of($these): [[.] | where($these)] != [];
def has($part): . / $part | length > 1;
def ends($part): (. / $part)[-1] == "";

def some(is): if any(.[]; is) then . else error("nothing is changed") end;
def change($section; is; fields): . + {($section): [.[$section] | some(is)[] | if is then . + fields else . end]};
def without($section; is): . + {($section): [.[$section] | some(is)[] | select(is | not)]};
def of_a_cpu: . + {device: (.device + {compute_capability: null})};
def coarse: .implementation | startswith("coarse:");
def faster($implementation; $by): change("points"; of({$implementation}); {ms: (.ms / $by), per_s: (.per_s * $by)});
def section($workload; $tx_per_s): . + {critical_sections: (.critical_sections + [{
  $workload, $tx_per_s, tx_per_s_min: 1, tx_per_s_max: 1, verified: true, blocks: 1, threads: 1, transactions: 1,
  transactions_full: 1, repeat: 1, tried: 1}])};
# Each kernel of GN commits a million a second, and those of cgl ten thousand, whatever the whole program's rate.
def kernels: change("speedups"; .kernels != []; .variant as $variant
  | {kernels: [.kernels[] | . + {commits: 1000, time_ms: (if $variant == "cgl" then 100 else 1 end)}]});
# Figure 2 has no workload to judge by, and all rates are the same but for the ratio of both variants.
def hv_over_tbv($ratio): change("characteristics"; true; {shared_words: 1099511627776})
  | change("eigenbench"; true; {tx_per_s: 1e6})
  | change("eigenbench"; of({variant: "tbv-sorting"}); {abort_rate: 0.9})
  | change("eigenbench"; of({variant: "hv-sorting"}); {abort_rate: 0.2, tx_per_s: ($ratio * 1e6)});
# One workload in Figure 3, on a device with so many processors: the rate of each variant, or a note, by blocks of 256 threads.
def figure_3($processors; $points): $sample + {device: ($sample.device + {$processors}),
  threads: [($points / ", ")[] / " " | (try (.[2] | tonumber) catch null) as $rate
    | {workload: "ra", variant: .[0], blocks: (.[1] | tonumber), threads: 256, transactions: 1, tx_per_s: ($rate // 0),
      abort_rate: 0, note: when($rate == null; if .[2] == "late" then $late else joined(" "; (.[2] / "_")[]) end)}]};
# All profiles of one thread alone, with such a share of buffering.
def buffering($share): change("breakdown"; true; {blocks: 1, threads: 1, shares: {native: 0.4, buffering: $share, commit: (0.6 - $share)}});
# Table 1 with these shares of the time in transactions. The sample's gains are 77, 178, 12, 4.3, 143.
def time_in_tx($shares): . as $all | . + {characteristics: [range(5) as $i | ["ra", "ht", "labyrinth", "kmeans", "bank"][$i] as $workload
  | ($all.characteristics | where({$workload})) + {time_in_tx: $shares[$i]}]};

def head($format): $sample | {version, command, quick, seed, started, seconds, complete, device, settings, notes, $format, commit: "0123abc"};
# A point of five launches, with a time that is made up.
def point($part; $implementation; $blocks; $threads; $parameters; $operations; $ms): {$part, $implementation, $blocks, $threads, $parameters,
  $operations, repeat: 5, $ms, ms_min: (0.9 * $ms), ms_max: (1.1 * $ms), per_s: ($operations / $ms * 1000), most: null, fewest: null,
  verified: true, note: null};
def sync_of(points): head("stamp-sync/1") + {points: [points]};
# Points as text: part, kind, blocks, threads, time, and perhaps a parameter.
def points($text): sync_of(($text / ", ")[] / " " | [.[5] / "="] as [$parameter]
  | point(.[0]; .[1]; .[2] | tonumber; .[3] | tonumber; if $parameter then {($parameter[0]): ($parameter[1] | tonumber)} else {} end;
    32768; .[4] | tonumber));

# How slow a kind is: its place in this list.
def slow: (plain / "2")[0] as $kind | 1 + (one(range(16) | select(["none", "added", "lock-free", "combining", "stm:fast", "mcs", "anderson",
  "ticket", "ticket-handoff", "fetch-add", "cohort", "ring", "stm:hv-sorting", "ttas", "tas-backoff", "tas"][.] == $kind)) // 4) / 4;
def planned: .parameters as $of
  | (if .part == "counter" then (.blocks * .threads | sqrt) / 10
    elif .part == "table" then (if .implementation == "lock-free" then 2000 else 10000 end) / $of.buckets
    elif .part == "list" then (if coarse then 1 + 32 / .threads else 1 end) * 10000 / $of."entry-points"
    else 1 + $of.rounds end) as $factor
  | point(.part; .implementation; .blocks; .threads; $of; 32768; (.implementation | slow) * $factor)
  | if .part == "sections" and .implementation == "none" then . + {note: "the sum is 138999"} else . end;
def operations: (1, 8, 32, 64, 128, 132, 240, 264, 512, 528, 1056, 2112) as $n
  | (("two-stage", "xiao-feng", "tree", "counted", "grouped", "led", "grid.sync") as $kind
      | point("barrier"; $kind; $n; 128; {}; 32768; 1 + ($kind | slow) * $n)),
    (("tas", "tas-backoff", "fetch-add", "ring", "ticket", "mcs", "anderson", "reserving-16", "combining", "default", "default, one in a row",
        "cuda::binary_semaphore") as $kind
      | point("mutex"; $kind; $n; 128; {}; 32768; $kind | slow) + {most: 200, fewest: (if $kind == "tas" then 50 else 199 end)}),
    (("spin", "spin-backoff", "sleeping", "tickets", "cuda::counting_semaphore") as $kind | (1, 2, 10, 120) as $count
      | point("semaphore"; $kind; $n; 128; {$count}; 32768; ($kind | slow) * $n / $count));
# A measurement of memory with these times at two grids, of which the second is this machine's.
def memory($first; $second): . + {machine: {schema: 2, version: "", device: "", name: "", driver: "", unix_time: 0, seconds: 0, sizes: "",
  grids: [($first, $second) | {why: "made up", threads: 32, accesses: 1000, times_ns: .}], rates: [], barriers: [], mutexes: [], semaphores: []}};
# All points that are measured for the report, those of workloads as the plan has them: $sync.
def full_sync: sync_of(($plan[] | planned), operations) | memory($fermi; $fermi + {blocks: 1056});

# The times of a grid, all so many times as long; and a pair of times that are the same.
def slower($by): def pair: {contended: (.contended * $by), uncontended: (.uncontended * $by)};
  def column: {volatile: (.volatile | pair), atomic: (.atomic | pair), after_atomic: (.after_atomic | pair)};
  {blocks, reads: (.reads | column), writes: (.writes | column)};
def even($ns): {contended: $ns, uncontended: $ns};

# The paper's own times, with dataflow that takes so many times the shortest of them, and a graph at 32 K letters that takes 100 ms,
# or 40 with its best tile.
def nw($share): def at($part; $implementation; $letters; $side; $ms):
    point($part; $implementation; 1; 32; {$letters, pairs: 1, affine: 0, protein: 0, $side, warps: 16}; $letters * $letters; $ms);
  head("stamp-nw/1") + {complete: false, commit: null, device: ($sample.device + {name: "a GPU <of tests>"}), points: [
    # Of locks, launches and tiny locks, in microseconds.
    (([31, 175, 57, 49], [62, 466, 58, 49], [124, 1050, 58, 50], [248, 2285, 59, 51], [496, 5052, 72, 79], [992, 14757, 79, 109],
        [1984, 48808, 80, 165]) as [$letters, $locks, $launches, $tiny]
      | (["locks", $locks], ["diagonals", $launches], ["cells", $tiny], ["dataflow", $launches * $share]) as [$kind, $us]
      | at("table3"; $kind; $letters; 32; $us / 1000)),
    # 1, 0.8, 2.6, 2, 1 and 4 times as fast as the first.
    ((["atom-lock", 10000], ["shrd-lock", 12500], ["warp-barr", 3846], ["warp-vote", 5000], ["counted-barr", 10000], ["tagged", 2500]) as [$scheme, $cycles]
      | at("reduction"; $scheme; 1; 0; 1) + {$cycles}),
    at("tiles"; "graph"; 32768; 32; 100), at("tiles"; "graph"; 32768; 128; 40), at("sizes"; "dataflow"; 32768; 0; 100 * $share)]};

# Transfers between so many accounts, with the rates of fast, of a lock and of cgl.
def floors($rates): [$rates[] as [$accounts, $fast, $lock, $cgl]
  | def run($name; $tx_per_s): $name + {workload: "bank", $tx_per_s, verified: true, blocks: 2, threads: 32,
      parameters: {$accounts, audit_percent: 0, zipf_thousandths: 0}};
    head("stamp-floor/1") + {stm: [run({variant: "fast"}; $fast), run({variant: "cgl"}; $cgl)], runs: [run({kind: "critical-section"}; $lock)]}];
# A run of one of these changed.
def but($list; fields): [.[0] as $floor | $floor + {($list): [$floor[$list][0] + fields, skip(1; $floor[$list][])]}];

# The list with coarse locks at these block sizes, of which one is slow.
def coarse_list($slowest; sizes): sync_of((16, 32, 64, 128) as $n | ("tas/lane", "ttas/lane", "ticket", "mcs/lane") as $kind | sizes as $threads
  | point("list"; "coarse:\($kind)"; 30; $threads; {"entry-points": $n}; 32768; if $threads == $slowest then 3 else 1 end));

# What a report has.
def claims: .sections[] | select(.targets | not) | .claims[];
def targets: .sections[] | select(.targets) | .claims[];
def letters(f): joined(""; f | if .verdict == "holds" then "H" elif .verdict == "does not hold" then "F" else "?" end);
# Whether a figure has this in its legend, and a panel of this title.
def drawn($report): . as [$figure, $name, $title] | $report.figures[$figure]
  | any(.legend[]; .name == $name) and any(.panels[]; .title == $title);
