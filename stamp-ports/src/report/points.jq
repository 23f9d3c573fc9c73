# What the programs of `bench sync` and `bench nw` call.

def of_gpu: $document.device.compute_capability != null;
# A point as a record: its parameters are fields too, which no name of a field hides. What has a wrong result does not count.
def point: (.repeat > 0) as $measured | (.verified and .ms > 0 and .per_s > 0) as $counts
  | .parameters + . + {
    counts: (if $counts then 1 else 0 end),
    # Without blocks the program chose, and said how many in the note.
    launch: "\(if .blocks == 0 then "as noted" else .blocks end) x \(.threads)",
    said: joined(", "; .parameters | to_entries[] | "\(.key) \(.value)"),
    time: when($measured; .ms), time_min: when($measured; .ms_min), time_max: when($measured; .ms_max),
    rate: when($measured; .per_s), runs: when($measured; .repeat), right: when($measured; .verified),
    unfairness: when(.fewest > 0; .most / .fewest),
    hop: (.ms / if .operations > 0 then .operations else 1 end),
    sound: (if $counts then 1 elif $measured and (.verified | not) then 0 else null end)};
# The claims and targets are about GPUs.
def judged: judge | if of_gpu then . else . + {verdict: "cannot be judged", figures: "measured on a CPU, which this is not about"} end;

# The table of all points of a part, if it has any.
def all_points($points; $part): table("All points of the part \($part)"; 1; $points | where({$part});
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
def wrong_results($points): [$points | where({right: false})]
  | "With a wrong result, \(length) of \($points | length) points: \(joined("; "; .[] | "\(.part) \(.implementation) \(.blocks) x \(.threads): \(.note // "no reason given")")). No figure, claim or sentence counts these.";
