# What the pages of both call.

# The table of all points of a part, if it has any.
def all_points($part): table("All points of the part \($part)"; 1; $points | where({$part});
  column("Implementation"; .implementation),
  column("Launch"; .launch),
  column("Parameters"; .said),
  column("Time"; .time | time),
  column("Range"; "\(.time_min | time) to \(.time_max | time)"),
  column("Runs"; .runs),
  column("Operations/s"; .rate | short),
  column("Of a block"; "\(.fewest) to \(.most)"),
  column("Right"; .right | yes),
  column("Note"; .note));

# The lines of a panel, each of the points of one kind, with the slots of their looks.
def kinds($points; $kinds): [$kinds[] as [$name, $slot] | {name: $name, slot: $slot, points: [$points | where({implementation: $name})]}];
# What a reader has to know first.
def of_a_cpu: when(of_gpu | not; "Measured on a CPU: no target and no claim is judged.");
def wrong_results: [$points | where({right: false})]
  | "With a wrong result, \(length) of \($points | length) points: \(joined("; "; .[] | "\(.part) \(.implementation) \(.blocks) x \(.threads): \(.note // "no reason given")")). No figure, claim or sentence counts these.";
