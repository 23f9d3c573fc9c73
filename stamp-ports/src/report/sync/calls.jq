# What claims and tables of `bench sync` ask for; sets.jq has the sets. A time is in ms, a rate is a second's.
# Of several points in one place the one with the most operations counts.

def ms(points): one(highest(points; .operations).ms);
def counter($k; $grid; $threads): ms($counters | where({implementation: $k, $grid, $threads}));
def table($k; $buckets): ms($tables | where({implementation: $k, $buckets}));
def walk($k; $n; $threads): ms($walks | where({implementation: $k, "entry-points": $n, $threads}));
def walk($k; $n): walk($k; $n; 128);
def sections($k; $rounds): ms($sections | where({implementation: $k, $rounds}));

# Kinds of which many claims are.
def with_lanes: "tas/lane", "ttas/lane", "ticket", "mcs/lane";
def coupled: "coupled:tas", "coupled:ttas", "coupled:ticket", "coupled:mcs2";
def coarse: "coarse:ttas/lane", "coarse:ticket", "coarse:mcs/lane", "coarse:tas/lane";
def entry_points: 16, 32, 64, 128, 256, 512, 1024, 2048, 4096;

# The block sizes of the counter, from one to below another, that were measured for all of these grids and kinds.
def sizes($from; $below; $grids; $kinds):
  [$kinds[] as $implementation | $grids[] as $grid
    | [$counters | where({$implementation, $grid}).threads | select(. >= 32)]] | common
  | if length < 2 then lacking("two block sizes of all kinds and grids") else .[] end
  | select(. >= $from and . < $below);
def sizes($grids; $kinds): sizes(0; 9999; $grids; $kinds);
# The block sizes of the list.
def walk_sizes($n):
  [coarse as $implementation | [$walks | where({$implementation, "entry-points": $n}).threads]] | common
  | if length < 3 then lacking("three block sizes of all kinds") else .[] end;

# The lock that is the fastest, if all were measured.
def winner($points; $kinds): select(all($kinds[]; . as $k | any($points[]; .implementation == $k)))
  | lowest($points | where({implementation: $kinds}); .ms).lock;
# Where TAS is the fastest for coupling.
def leads: entry_points | select(min(walk("coupled:ttas", "coupled:ticket", "coupled:mcs2"; .)) / walk("coupled:tas"; .) >= 0.95);
# A kind's shortest time over the block sizes, and the smallest size that nearly has it.
def optimum($k; $n): min(walk($k; $n; walk_sizes($n)));
def best_size($k; $n): (1.05 * optimum($k; $n)) as $limit
  | one(lowest($walks | where({implementation: $k, "entry-points": $n, threads: [walk_sizes($n)]}) | select(.ms <= $limit); .threads).threads);
def scaled_spread($n): max(walk_sizes($n) as $t
  | spread(("coarse:ttas/lane", "coarse:ticket", "coarse:mcs/lane") as $k | walk($k; $n; $t) / optimum($k; $n)));

# The slides' locks but one, and whether a lock's sum was right, in words.
def locks($but; $rounds): "tas", "ticket", "tas-again", "mcs", "anderson",
  distinct($sections | where({implementation: "spin-spin", $rounds}).implementation) | select(. != $but);
def state($k; $rounds): one(highest($sections_at | where({implementation: $k, $rounds}); .sound).state) // "";

# Rates of barriers, mutexes and semaphores, whose initial count is null if all are meant.
def rated($part; $count): $cells | where({rated: 1, $part} + if $count == null then {} else {$count} end);
def rate($part; $k; $blocks; $count): one(highest([rated($part; $count)] | where({implementation: $k, $blocks}); .operations).per_s);
def rate($part; $k; $blocks): rate($part; $k; $blocks; null);
# The numbers of blocks that were measured for all kinds.
def blocks_of($part; $kinds; $count): [rated($part; $count)] as $all
  | [$kinds[] as $implementation | [$all | where({$implementation}).blocks]] | common;
# The blocks of a full load: those of the paper, or the most.
def full($paper; $part; $kinds; $count): $shape[$paper] // (blocks_of($part; $kinds; $count) | last) // 0;
def full($paper; $part; $kinds): full($paper; $part; $kinds; null);
def axis($part; $kinds; $from; $least; $count): [blocks_of($part; $kinds; $count)[] | select(. >= $from and . <= $shape.axis)]
  | if length < $least then lacking("more blocks") else .[] end;
def axis($part; $kinds; $from; $least): axis($part; $kinds; $from; $least; null);
def fastest_of($part; $kinds; $blocks; $count): select(blocks_of($part; $kinds; $count) | any(. == $blocks))
  | highest([rated($part; $count)] | where({implementation: $kinds, $blocks}); .per_s).implementation;
def fastest_of($part; $kinds; $blocks): fastest_of($part; $kinds; $blocks; null);
# Our default among some points: the one with the name, or else the fastest that is not the peer.
def default_of($points; $peer): if any($points[]; .implementation == "default") then "default"
  else highest($points[] | select(.implementation != $peer); .per_s).implementation end;
# The most sections of a block over the fewest.
def unfairness($k; $blocks): highest($cells | where({part: "mutex", implementation: $k, $blocks}); .operations) | .most / .fewest;
def slides: $shape.slides // full("fermi"; "mutex"; ["tas", "ticket", "anderson", "mcs"]);
def growth($k): rate("mutex"; $k; slides) / rate("mutex"; $k; 8);

# What the memory benchmarks say.
def memory_blocks: $machine.blocks // lacking("the memory benchmarks" + $shape.with);
def expected($what): $choice[$what] // lacking("the memory benchmarks");

# Numbers of blocks, and grids of the counter, in words.
def in_blocks: if . == 0 then "the most blocks" elif . == 1 then "1 block" else "\(.) blocks" end;
def in_grid: $shape.counter[.] | in_blocks;
