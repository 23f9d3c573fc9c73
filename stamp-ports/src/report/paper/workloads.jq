# The names of workloads. What they call is judged as it is.

# The place and the names of a workload, or of a kernel of it, with the paper's row of Table 1 and its launch of Table 2.
def in_paper($workload): ($workload | plain_workload) as $plain
  | first((range($workloads | length) | select($workloads[.][0] == $plain)), null) as $at
  | (if $at == null then [null, $workload, null, []] else $workloads[$at] end) as [$_, $label, $what, $cells]
  | {$plain, $label, heading: ("\($label), \($what)" // $label), $cells, place: ($at // ($workloads | length))};
def short_name: in_paper(.).label;
def judged: judge;
