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
