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
