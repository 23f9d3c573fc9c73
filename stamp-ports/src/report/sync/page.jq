# What the page says and shows of `bench sync`.

# Points that count.
def counting($these): $points | where($these + {counts: 1});
# The counter by one lock, at four grids.
def counters($title; $k; $grids): [counting({part: "counter", implementation: $k})] as $own
  | {$title, x: ["threads a block", "threads"], y: "ms", lines: (
    [range(4) as $i | $grids[$i] as $blocks
      | {name: ($blocks | in_blocks), slot: [3, 1, 2, 0][$i], points: [$own | where({$blocks}) | select(.threads >= 32)]}]
    + [{name: "a single thread", slot: 6, flat: true, points: [$own | where({blocks: 1, threads: 1})]}])};
# Kinds that stand beside each other, with the slots of their looks.
def all_kinds: ["combining", 5], ["stm:fast", 8], ["stm:hv-sorting", 4], ["tas/lane", 0], ["ttas/lane", 1], ["ticket", 2], ["mcs/lane", 3],
  ["tas", 0], ["ttas", 1], ["tas-backoff", 1], ["ticket-handoff", 2], ["mcs", 3], ["cohort", 4], ["fetch-add", 9], ["ring", 10], ["anderson", 4];
# The list by some kinds, at two grids, in two halves.
def walks($kinds): (30, $here.p) as $blocks | (["high", 16, 256], ["low", 256, 4096]) as [$half, $low, $high]
  | {title: "\($half) contention, \($blocks) x 128", x: ["entry points", "entry-points"], y: "ms",
    lines: kinds([counting({part: "list", $blocks, threads: 128}) | select(."entry-points" >= $low and ."entry-points" <= $high)]; $kinds)};
def coarse_at($blocks): (16, 32, 64, 128) as $n
  | {title: "\($n) entry points, \($blocks) blocks", x: ["threads a block", "threads"], y: "ms",
    lines: kinds([counting({part: "list", $blocks, "entry-points": $n})]; [["coarse:tas/lane", 0], ["coarse:ttas/lane", 1], ["coarse:ticket", 2], ["coarse:mcs/lane", 3]])};
def over_blocks($title; $y; $points; $kinds): {$title, x: ["blocks", "blocks"], $y, lines: kinds($points; $kinds)};

{id: "sync",
title: "Locks, barriers and semaphores on this machine",
lead: "The benchmarks of three papers about synchronisation on GPUs (Stuart and Owens 2011, Grote 2020, Gattani and Anickode 2024), run again with the library’s locks, combiners, barriers, semaphores and transactions, at the papers’ grids and at this machine’s.",
warnings: [(
  of_a_cpu,
  wrong_results($points),
  (count($points | where({repeat: 0})) | select(. > 0) | "\(.) of \($points | length) points have no time; the tables of their parts say why.")
 ) | values],
parts: [
{id: "sync-targets",
 name: "What the library is to reach on an H200",
 judged: "Where no point has the name default, our default barrier or semaphore is the fastest of our kinds at that place, which is what the host chooses once it has measured them."},
{id: "claims-grote",
 name: "Claims of Grote 2020",
 judged: "Each is judged at the paper’s sizes, and once more at this machine’s. T is a time, R a rate."},
{id: "claims-stuart",
 name: "Claims of Stuart and Owens 2011",
 judged: "Each is judged at the paper’s sizes, and once more at this machine’s. T is a time, R a rate."},
{id: "claims-gattani",
 name: "Claims of Gattani and Anickode 2024",
 judged: "Each is judged at the paper’s sizes, and once more at this machine’s. T is a time, R a rate."},
{id: "counter",
 name: "Grote’s figures 5.1 to 5.4: 32,768 increments of one counter",
 theirs: "Grote: one figure for each lock, with four grids and the time of a single thread. Each thread of each block asks for the lock by itself, which is the kinds with /lane here (section 5.2.1).",
 figure: {pairs: true, panels: [
  (["5.1: TAS", "tas/lane"], ["5.2: TTAS", "ttas/lane"], ["5.3: ticket", "ticket"], ["5.4: MCS", "mcs/lane"]) as [$title, $k]
  | counters($title; $k; [1, 8, 16, 32])]}},
{id: "counter-here",
 name: "The counter at this machine’s grids",
 theirs: "The same at this machine’s size.",
 figure: {pairs: true, panels: [with_lanes as $k | counters($k; $k; [1, ($here | .half, .p, .twice)])]}},
{id: "counter-beside",
 name: "The counter: kinds of lock, combining and transactions",
 theirs: "What Grote did not have: combining, plain atomic additions, which need no lock, transactions, and the kinds as the library offers them. In these, whose names do not end in /lane, lanes of one warp that ask together hand the lock on among themselves.",
 figure: {panels: [
  ([32, 1024], [32, 256], [32, 32], [$here.p, 256]) as [$blocks, $threads]
  | {title: "\($blocks) x \($threads)", below: "one counter", y: "ms", beside: "mcs/lane",
    lines: kinds([counting({part: "counter", $blocks, $threads})]; [["added", 6], all_kinds])}]},
 tables: [all_points($points; "counter")]},
{id: "table",
 name: "Grote’s figure 5.5: insertions into a hash table",
 theirs: "Grote: with 16 buckets MCS is 3.4× as fast as TAS and beats the lock-free insertion; with 32 MCS and ticket are 1.4× as fast as lock-free and TTAS and 3× as fast as TAS; with 256 no variant stands out. He draws the buckets from many to few (section 5.2.2).",
 figure: {panels: [(30, ($here | .p, .eight)) as $blocks
  | {title: "\($blocks) x 256", x: ["buckets", "buckets"], y: "ms", lines: kinds([counting({part: "table", $blocks, threads: 256})];
    [["tas/lane", 0], ["ttas/lane", 1], ["ticket", 2], ["mcs/lane", 3], ["lock-free", 6], ["combining", 5], ["stm:fast", 8], ["stm:hv-sorting", 4]])}]}},
{id: "table-beside",
 name: "The hash table with 16 buckets: kinds of lock, combining and transactions",
 theirs: "What Grote did not have. In the kinds whose names do not end in /lane, lanes of one warp that ask for the same bucket hand its lock on among themselves.",
 figure: {panels: [(30, ($here | .p, .eight)) as $blocks
  | {title: "\($blocks) x 256", below: "16 buckets", y: "ms", beside: "mcs/lane",
    lines: kinds([counting({part: "table", $blocks, threads: 256, buckets: 16})]; [["lock-free", 6], all_kinds])}]},
 tables: [all_points($points; "table")]},
{id: "coupling",
 name: "Grote’s figures 5.6 and 5.7: a sorted list with lock coupling",
 theirs: "Grote: TAS and TTAS are ahead of ticket and MCS2 throughout, and the times converge as contention falls. He has no list without locks (section 5.3.2).",
 figure: {pairs: true, panels: [walks([["coupled:tas", 0], ["coupled:ttas", 1], ["coupled:ticket", 2], ["coupled:mcs2", 3], ["stm:fast", 8], ["stm:hv-sorting", 4]])]}},
{id: "coarse",
 name: "Grote’s figures 5.8 to 5.11: one lock for each entry point",
 theirs: "Grote: the time falls up to 128 threads a block and rises again above 256; TAS is left out of the first two because it scales poorly; his MCS2 is MCS here, as one lock is held (section 5.3.3).",
 figure: {pairs: true, panels: [coarse_at(30)]}},
{id: "coarse-here",
 name: "One lock for each entry point, at this machine’s grid",
 theirs: "The same at this machine’s size.",
 figure: {pairs: true, panels: [coarse_at($here.p)]}},
{id: "compared",
 name: "Grote’s figures 5.12 and 5.13: lock coupling against one lock for each entry point",
 theirs: "Grote: below 64 entry points coupling is up to 2.4× as fast, from 64 to below 128 both are equal, from 128 on coarse-grained locking is 2.0× as fast (section 5.3.4).",
 figure: {pairs: true, panels: [walks([["coupled:tas", 0], ["coupled:ttas", 1], ["coarse:tas/lane", 10], ["coarse:ttas/lane", 11], ["coarse:ttas", 9], ["stm:fast", 8]])]},
 tables: [all_points($points; "list")]},
{id: "barriers",
 name: "Stuart and Owens’ figure 1: barriers, 128 threads a block",
 theirs: "Stuart and Owens, figure 1: the barrier of Xiao and Feng against the two-stage one. On Tesla the latter falls below 5 % of the former with 60 blocks, on Fermi from about 75 % to about 30 % (section 6).",
 figure: {panels: [[counting({part: "barrier", threads: 128})] as $own
  | over_blocks("The paper’s, and its peer"; "per_s"; $own; [["two-stage", 0], ["xiao-feng", 3], ["grid.sync", 7]]),
    over_blocks("All"; "per_s"; $own; [["two-stage", 0], ["xiao-feng", 3], ["tree", 1], ["counted", 4], ["grouped", 5], ["led", 2], ["default", 8], ["grid.sync", 7]])]},
 tables: [all_points($points; "barrier")]},
{id: "mutexes",
 name: "Stuart and Owens’ figure 2: mutexes, one thread of a block asks",
 theirs: "Stuart and Owens, figure 2: spin lock, spin lock with backoff, fetch-and-add. Fetch-and-add is the best on Tesla; spinning with backoff is on Fermi, almost 45 % ahead of the plain spin lock (section 6). Their sections are empty and each block makes 1,000; ours increment a counter until all blocks together have made a given number, which shows the fairness too.",
 figure: {panels: [[counting({part: "mutex"})] as $own
  | over_blocks("The paper’s"; "per_s"; $own; [["tas", 0], ["tas-backoff", 1], ["fetch-add", 9], ["ring", 10], ["ticket", 2]]),
    over_blocks("Others, and the peer"; "per_s"; $own; [["tas-backoff", 1], ["mcs", 3], ["anderson", 4], ["reserving-16", 11], ["combining", 5], ["default", 8], ["default, one in a row", 6], ["cuda::binary_semaphore", 7]]),
    over_blocks("Fairness"; "unfairness"; $own; [["tas", 0], ["tas-backoff", 1], ["fetch-add", 9], ["ticket", 2], ["mcs", 3], ["default", 8], ["cuda::binary_semaphore", 7]])]},
 tables: [all_points($points; "mutex")]},
{id: "semaphores",
 name: "Stuart and Owens’ figure 3: semaphores, one thread of a block asks",
 theirs: "Stuart and Owens, figure 3: eight panels, for two devices and initial counts 1, 2, 10 and 120. The sleeping semaphore is the best at high counts on both devices; at low ones it is on Tesla, and spinning with backoff on Fermi (section 6).",
 figure: {pairs: true, panels: [(1, 2, 10, 120) as $count
  | over_blocks("count \($count)"; "per_s"; [counting({part: "semaphore", $count})]; [["spin", 0], ["spin-backoff", 1], ["sleeping", 2], ["tickets", 3], ["default", 8], ["cuda::counting_semaphore", 7]])]},
 tables: [all_points($points; "semaphore")]},
{id: "sections",
 name: "Gattani and Anickode’s sections of three lengths",
 theirs: "Gattani and Anickode, 512 x 1,024 on a GTX Titan X: the times are in the table below. The first thread of each block makes one section.",
 figure: {panels: [(512, $here.p) as $blocks | (["basic", 0], ["low complexity", 100], ["high complexity", 100000]) as [$name, $rounds]
  | {title: "\($name), \($blocks) x 1,024", below: "\($rounds) rounds, one section a block", y: "ms", beside: "tas",
    lines: kinds([counting({part: "sections", $blocks, threads: 1024, $rounds})];
      [["none", 6], ["tas", 0], ["tas-again", 0], ["spin-spin", 11], ["ticket", 2], ["anderson", 4], ["mcs", 3], ["combining", 5], ["stm:fast", 8]])}]},
 open: [select(any($points[]; .part == "sections")) | table("Sections, 512 x 1,024: GTX Titan X and this device"; 2;
   ["no lock", "none", 0.193536, 0.15840339435845055, 117.942879, 0.16933434323283195],
   ["spin", "tas", 1.221792, 1.0, 696.508911, 1.0],
   ["ticket", "ticket", 1.489152, 1.2188261177025221, 695.908875, 0.9991385092271992],
   ["spin spin", "spin-spin", 1.368384, 1.1199811424530526, 705.346313, 1.0126881391758675],
   ["mutex", "tas-again", 1.206784, 0.9877164034467406, 697.673828, 1.0016725083937943],
   ["MCS", "mcs", 1.291488, 1.0570440795159897, 705.135559, 1.0123855529538228],
   ["Anderson", "anderson", 1.583104, 1.2957230035881722, 696.266724, 0.9996522844199476];
   column("Lock as printed"; .[0]),
   column("Ours"; .[1]),
   column("100 rounds, theirs"; "\(.[2] | decimals(3)) ms"),
   column("to spin"; .[3] | times),
   column("ours"; sections(.[1]; 100) | time),
   column("to tas"; sections(.[1]; 100) / sections("tas"; 100) | times),
   column("100,000 rounds, theirs"; "\(.[4] | decimals(3)) ms"),
   column("to spin"; .[5] | times),
   column("ours"; sections(.[1]; 100000) | time),
   column("to tas"; sections(.[1]; 100000) / sections("tas"; 100000) | times))],
 tables: [all_points($points; "sections")]},
{id: "memory",
 name: "Memory accesses under contention",
 theirs: "Stuart and Owens: the text says 10×, 5×, 1.3× and 3.5× where Table 2 has 11.5, 6.0, 1.44 and 3.67, and calls about 3× Fermi’s worst where Table 3 has 8.4× and 10.8× for writes.",
 measured: ($grids != []),
 shows: [
  "The ratios of the twelve memory benchmarks, in which one thread of each block makes accesses. Those of writes decide nothing, as the times of stores measured so far are too short for so many accesses."],
 open: [table("Stuart and Owens’ Tables 2 and 3, and this device"; 1;
   ["Contended to uncontended, volatile reads", 1.44, 11.49, "reads", "volatile"],
   ["Contended to uncontended, volatile writes", 3.67, 6.03, "writes", "volatile"],
   ["Contended to uncontended, atomic reads", 92.79, 3.38, "reads", "atomic"],
   ["Contended to uncontended, atomic writes", 79.12, 4.71, "writes", "atomic"],
   ["Contended to uncontended, reads after an atomic", 1.54, 11.78, "reads", "after_atomic"],
   ["Contended to uncontended, writes after an atomic", 4.01, 16.48, "writes", "after_atomic"],
   ["Atomic to volatile, contended reads", 92.46, 2.99, "reads", "atomic_to_volatile", "contended"],
   ["Atomic to volatile, contended writes", 94.57, 8.4, "writes", "atomic_to_volatile", "contended"],
   ["Atomic to volatile, uncontended reads", 1.43, 10.16, "reads", "atomic_to_volatile", "uncontended"],
   ["Atomic to volatile, uncontended writes", 4.38, 10.76, "writes", "atomic_to_volatile", "uncontended"],
   ["After an atomic to volatile, contended reads", 1.08, 2.98, "reads", "after_atomic_to_volatile", "contended"],
   ["After an atomic to volatile, contended writes", 1.1, 4.71, "writes", "after_atomic_to_volatile", "contended"],
   ["After an atomic to volatile, uncontended reads", 1.02, 2.91, "reads", "after_atomic_to_volatile", "uncontended"],
   ["After an atomic to volatile, uncontended writes", 1.01, 1.72, "writes", "after_atomic_to_volatile", "uncontended"];
   column("Ratio"; .[0]),
   column("Tesla"; .[1] | times),
   column("Fermi"; .[2] | times),
   (. as [$name, $tesla, $fermi, $kind, $ratio, $end] | distinct($grids[].blocks) as $blocks
     | column("Ours, \($blocks) blocks"; $grids | where({$blocks}).ratios[$kind][$ratio] | if $end then .[$end] else . end | times)))]},
{id: "otherwise",
 name: "What was done otherwise than in the papers, and why",
 shows: [
  "counter: In Grote's kernels every lane asks for the lock by itself. The library's kinds hand a lock on among the lanes of a warp that ask together, up to 32 sections for one acquisition, which is another algorithm. His claims are judged by kinds without this, whose names end in /lane, and by the plain ticket lock; the library's kinds are drawn beside them.",
  "counter: Blocks of 1,024 threads leave 64 registers to a thread. A point whose kernel needs more is left out, and its note says so.",
  "counter: How Grote shares 32,768 items out among fewer threads is not stated. Here thread i takes the items i, i + threads, and so on.",
  "counter: A grid of 32 blocks of 1,024 threads was not resident on his GPU of 30 multiprocessors of 1,024 threads. On an H200 it is.",
  "counter: His MCS polls by an atomic, ours by acquire loads. His TAS unlocks by a fence and an exchange, ours by a release store. His ticket lock has warp barriers in its loops, which neither of our ticket locks has; his unlock is an atomic addition, ours a store.",
  "table: 26.2 million pairs are 26,214,400, as in the program that Grote adapted. Keys are uniform 32-bit numbers of a fixed seed, the bucket is the key modulo the buckets, nodes exist beforehand, and an insertion does not search: it puts its node at the head. The paper states neither seed nor generator.",
  "table: The program that Grote adapted runs the lanes of a warp one after another. Whether he kept that loop is not stated; here there is none.",
  "table: The library's map keeps its chains in the order of keys and searches them, which takes a time that grows with the square of the entries of a bucket. So the transaction here is the same work as under the lock: it reads the head and writes the node's link and the head.",
  "list: The keys are distinct, in a random order of a fixed seed, and below the next power of two of their number; entry points are nodes that exist beforehand, one for each range of keys, whose size is a power of two. Order, duplicates and preallocation are not stated in the paper.",
  "list: Two of Grote's statements are not judged. That lock coupling is a step function of the number of entry points (section 5.3.2) is so by construction, as the number is rounded to a power of two; and TAS at 16 and 32 entry points, which scales poorly (section 5.3.3), is not measured with other blocks than of 128 threads, as it takes too long.",
  "list: A coarse-grained point with 16 entry points visits 67 million nodes in each part of the list. Points that take more than 2 s run once; one that was cut or left out says so in its note.",
  "list: The library's list for many chains keeps every node of a walk in its read set. The list here releases what it has passed, as the library's list of one chain does.",
  "barrier: Times are of the kernel and hold many waits; the launch is not subtracted. All threads of each block wait. A grid that is not resident together is refused.",
  "mutex: Stuart and Owens' mutex benchmark has 1,000 empty sections a block. Here a section increments a counter and all blocks stop together when a given number is made, so that one series stands for their figure 2 and for fairness.",
  "mutex: Their spin lock exchanges, ours compares and swaps. Their backoff grows by one unit a turn and begins again at the maximum; ours doubles from 32 to 1,024 ns and begins again.",
  "semaphore: By its rate in earlier runs a spinning semaphore at full load would take minutes for 1,000 operations of each block. Its points make fewer, or are left out with a note.",
  "sections: The slides' locked listing has 1,000,000 rounds, the other 100,000. Their times fit 100,000 in both: with 1,000,000 one thread would make more atomics a second than all 512 blocks of the kernel without a lock. So 100,000 it is.",
  "sections: In the source that the slides seem to come from, the kernel with Anderson's lock prints the name of MCS and the other way round. Two claims are judged in both readings. Their inline mutex is the spin lock's code, so it is measured as the same lock once more.",
  "sections: By transaction the section's additions are reads and writes of x in the transaction. Their kernels ran once each, without a warm-up; here the time is the median of 5 launches, or that of one launch if it takes more than 2 s."]},
{id: "names",
 name: "Names",
 shows: [
  "Which of our kinds stands for which of the papers’."],
 open: [table("Names in the papers and here"; 3;
   ["Grote 2020", "TAS", "tas/lane"],
   ["Grote 2020", "TTAS", "ttas/lane"],
   ["Grote 2020", "Ticket", "ticket (and ticket-handoff beside it)"],
   ["Grote 2020", "MCS", "mcs/lane"],
   ["Grote 2020", "MCS2", "mcs2 in coupling; mcs/lane where one lock is held"],
   ["Grote 2020", "lock-free insertion", "lock-free, a loop of compare and swap"],
   ["Stuart and Owens 2011", "spin lock", "tas"],
   ["Stuart and Owens 2011", "spin lock with backoff", "tas-backoff"],
   ["Stuart and Owens 2011", "FA, the sleeping mutex", "fetch-add (ticket is the same without backoff)"],
   ["Stuart and Owens 2011", "ring buffer", "ring, with two repairs"],
   ["Stuart and Owens 2011", "atomic barrier, XF barrier", "two-stage, xiao-feng"],
   ["Stuart and Owens 2011", "semaphores: spin, with backoff, sleeping", "spin, spin-backoff, sleeping"],
   ["Gattani and Anickode 2024", "no lock", "none"],
   ["Gattani and Anickode 2024", "spin lock, mutex", "tas, tas-again"],
   ["Gattani and Anickode 2024", "spin spin lock", "spin-spin, a tas lock inside a tas lock"],
   ["Gattani and Anickode 2024", "ticket, Anderson, MCS", "ticket, anderson, mcs"],
   ["none", "none", "cohort, reserving, combining; counted, grouped, led; tickets"];
   column("Paper"; .[0]), column("Theirs"; .[1]), column("Ours"; .[2]))]},
{id: "peers",
 name: "Peers, combining and transactions",
 shows: ([
  "cuda::binary_semaphore and cuda::counting_semaphore are libcu++'s, used as a mutex and as a semaphore; grid.sync() is that of cooperative groups. They are compiled from CUDA C++ where nvcc is found, loaded by the same host program, and timed in the same run as our kinds.",
  "combining is delegation: one lane executes what others ask for. added is an atomic addition, which needs no lock, and lock-free a loop of compare and swap; they bound what a lock can reach.",
  "stm:fast and stm:hv-sorting run the same work as transactions of these two algorithms."]
  + [distinct($peers[])])}
],
footer: [
  "Times are of the kernel alone, the median of the launches that the tables count; points that take more than 2 s run once. Results are checked. K, M and G of rates are powers of 1000.",
  "The papers: J. A. Stuart and J. D. Owens, Efficient Synchronization Primitives for GPUs, 2011 (GeForce GTX 295 and 580); P. Grote, Lock-based Data Structures on GPUs with Independent Thread Scheduling, 2020 (GeForce RTX 2060); A. Gattani and A. Anickode, Scalable Lock Implementations: Evaluating GPU Concurrency Performance, 2024 (GTX Titan X). Their plots print no numbers, so only what their texts and tables give is quoted.",
  "Made by stamp report from sync.json (format {format})."]}
