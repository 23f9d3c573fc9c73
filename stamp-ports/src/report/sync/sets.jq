# The sets of a document of `bench sync`, for the papers' grids or this machine's.
#
# | set | holds |
# | --- | --- |
# | `points`, `cells` | all points, and those that count |
# | `counters`, `tables`, `walks`, `sections` | those of Grote's counter, table and list and of the slides' sections, at the grids |
# | `sections_at` | all points of those sections |
# | `shape`, `here` | the grids, and those of this machine |
# | `machine` | the ratios of the memory benchmarks at the grid that decides |
# | `choice` | what suits this machine by these |
# | `peers` | what there is to say of peers |

# The choice of barrier, mutex and semaphore by ratios of memory accesses (Stuart and Owens 2011, section 4). It is judged by
# the claim S-T6, and chooses nothing of what is run. It knows no machine by name, and adds up what the accesses of an
# algorithm cost:
#
# - Mutex, and a semaphore of low count. Whoever waits either repeats an atomic (spinning) or draws a ticket by one atomic
#   and then repeats a load (sleeping). Both disturb the holder by their polls, a load by as much as it costs while atomics
#   are queued at the same line. To sleep takes at least two accesses, the ticket and a load that finds the turn, where a
#   thread that spins comes in by one. So sleeping pays if such a load costs less than half of an atomic. If it does not,
#   what counts is the number of accesses alone, and backoff is what reduces it.
# - Semaphore of high count. There is nearly always room. Then a sleeping semaphore takes one atomic to enter and one to
#   leave, and nobody waits. A spinning one takes an atomic and a store for each, and others cannot do either in between. So
#   sleeping needs fewer accesses whatever they cost.
# - Barrier. Every algorithm is a chain of accesses, and the cheapest chain at this number of blocks is chosen. A chain of
#   flags counts as one access, as there are enough threads in the leading block to look at all of them together.
#
# Of memory accesses verdicts rest on reads; the ratios of writes are printed beside them, as the times of stores measured so
# far are too short for as many accesses (docs/lab-notes/2026-11-22-locks.md). The mutex is measured with an increment inside
# and a common end, not by empty sections.

# The cost of a barrier of a grid: the sum over the accesses that follow one another.
def barrier_cost($kind): .blocks as $blocks | .groups[$kind] as $groups | .times as {$reads, $writes}
  # An access if the threads are divided among so many lines.
  | def spread($lines): max(.contended / $lines, .uncontended);
  {
    # All add to a word and all poll it, twice.
    "two-stage": (2 * ($writes.atomic.contended + $reads.after_atomic.contended)),
    # A flag is set and seen, twice, each by one thread.
    "xiao-feng": (2 * ($writes.volatile.uncontended + $reads.volatile.uncontended)),
    # The group adds, the groups add, all poll a flag that was stored.
    tree: (($writes.atomic | spread($groups) + spread($blocks / $groups)) + $writes.volatile.uncontended + $reads.volatile.contended),
    # All add, and poll.
    counted: ($writes.atomic.contended + $reads.after_atomic.contended),
    # The groups add, and they add to a word that all poll.
    grouped: (($writes.atomic | spread($groups) + spread($blocks / $groups)) + $reads.after_atomic.contended),
    # The groups add, one thread polls and stores, the group polls.
    led: (($writes.atomic | spread($groups)) + $reads.after_atomic.uncontended + $writes.volatile.uncontended + ($reads.volatile | spread($groups)))
  }[$kind] // error("\($kind) is no barrier");
# What suits a machine with the times of a grid, if they are times: the barrier across as many blocks, the mutex, the semaphore
# of a count that few threads fill, and that of a count that nearly all find room in.
def choice: when(.ratios; . as $grid | (.times.reads | .atomic.contended / .after_atomic.contended) as $atomic_to_poll
  | {barrier: one(lowest($barriers[] as $kind | {$kind, cost: ($grid | barrier_cost($kind))}; .cost).kind), high: "sleeping"}
  + if $atomic_to_poll > 2 then {mutex: "fetch-add", low: "sleeping"} else {mutex: "tas-backoff", low: "spin-backoff"} end);

def of_point: point | . + {
  state: when(.sound != null; if .sound == 1 then " right" else " wrong" end),
  # The sum that a note gives as `the sum is 138999`.
  sum: one(try ((.note / "the sum is ")[1] | reduce (" ", ",", ";", ".") as $end (.; (. / $end)[0]) | tonumber) catch null),
  right_sum: (.blocks * (.blocks + 1) / 2),
  # One thread of a block asks for a mutex or a semaphore, and 128 wait at a barrier (Stuart and Owens, section 6).
  rated: (if .part != "barrier" or .threads == 128 then 1 else 0 end),
  lock: (.implementation | plain | if . == "mcs2" then "mcs" else . end)};
# The grids of the papers (Grote 2020, sections 5.2 and 5.3; Gattani and Anickode 2024; Stuart and Owens 2011, whose GTX 295
# has 30 multiprocessors of 8 blocks, and whose GTX 580 has 16), or those for a device of so many multiprocessors, where the
# most blocks that were measured are the full load.
def grids($here):
  if $view == "here" then {counter: [1, ($here | .half, .p, .twice)], table: $here.p, walk: $here.p, sections: $here.p, axis: 4294967295, with: ""}
  else {counter: [1, 8, 16, 32], table: 30, walk: 30, sections: 512, axis: 240, slides: 512, tesla: 240, fermi: 128, sixty: 64, with: " with 128 blocks"} end;

max(1, $document.device.processors) as $p | {half: (($p + $p % 2) / 2), $p, twice: (2 * $p), eight: (8 * $p)} as $here
| grids($here) as $shape
| [$document.points[] | of_point] as $points | [$points | where({counts: 1})] as $cells
| [$points[] | select(.implementation | startswith("cuda::") or . == "grid.sync")] as $peers
| one(if $view == "here" then $grids[-1] else first($grids | where({blocks: 128})) end) as $own
| {$points, $cells, $here, $shape,
  counters: [range(4) as $grid | $cells | where({part: "counter", blocks: $shape.counter[$grid]}) | . + {$grid}],
  tables: [$cells | where({part: "table", blocks: $shape.table, threads: 256})],
  walks: [$cells | where({part: "list", blocks: $shape.walk})],
  sections: [$cells | where({part: "sections", blocks: $shape.sections, threads: 1024})],
  sections_at: [$points | where({part: "sections", blocks: $shape.sections, threads: 1024})],
  machine: $own.ratios, choice: ($own | choice),
  peers: ((if any($peers[]; .repeat > 0) then [] else ["No peer was measured in this run."] end)
    + ([$peers | where({repeat: 0}) | "\(.implementation): \(.note)" | values] | sort | distinct))}
