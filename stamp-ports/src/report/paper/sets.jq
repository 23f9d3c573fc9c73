# The sets of a document of `bench paper`: its points with what claims, tables and figures ask of them.
#
# | set | holds |
# | --- | --- |
# | `speedups` | the results of Figure 2, by workload and variant |
# | `best` | the same of the kernels of a program apart, which count as workloads, as in the paper |
# | `winners` | the fastest algorithm of each workload, those that win most often first |
# | `kernels`, `sections` | the kernels of programs, and the critical sections |
# | `reasons`, `sums` | every result with every reason for which any attempt aborted, without any every result; and these over all results |
# | `threads`, `lines` | the points of Figure 3, and how far each of their lines rises, and whether it falls again |
# | `eigenbench` | the points of Figure 4 |
# | `pairs` | the settings of Figure 4 in which tbv-sorting and hv-sorting ran |
# | `breakdown` | the profiles of Figure 5 |
# | `characteristics`, `table_1` | what was measured of Table 1, and with the paper's rows |
#
# The paper (Xu et al., Software transactional memory for GPU architectures, CGO 2014) gives its Tables 1 and 2 in figures; its
# Figures 2 to 5 are drawings without numbers. A result that was not verified is shown, marked, and never counts: not as the
# best, not as the baseline, not in a sentence. Claims are about the paper's own variants.

# Points of the variants that are asked for, by a section's name.
def of_view($section): $document[$section][] | select($view != "paper" or (.variant as $own | any($variants[]; . == $own)));
def named($workload): . + (in_paper($workload) | {label, heading, plain})
  + {launch: "\(.blocks) x \(.threads)", total: (.blocks * .threads)};
# What orders workloads: the paper's first, in its order, and others behind by name.
def order: in_paper(.workload).place, .workload;
def sorted: sort_by(order, (.variant | rank));
def counts: .verified and .tx_per_s > 0;
# Aborts over attempts, if anything was attempted.
def abort_rate($aborts; $commits): when($aborts + $commits > 0; $aborts / ($aborts + $commits));
# A kernel's rate, and what it does: `gn1` for the kernel `gn1_hv_sorting`.
def rate_of_kernel: if .time_ms > 0 then .commits / (.time_ms * 1e-3) else 0 end;
def work: (.kernel / "_")[0];

def result: counts as $counts | when($counts; .over_cgl) as $gain | when($counts; .over_critical_section) as $over_section
  | "\($over_section | times) over the critical section" as $over_it
  | (if $gain then $gain | times elif .verified then "\(.tx_per_s | short) tx/s" else "not verified" end) as $label_of_bar
  | named(.workload) + {$gain, $over_section, $label_of_bar,
    rate: when($counts; .tx_per_s), gain_min: ($gain * (.tx_per_s_min / .tx_per_s)), gain_max: ($gain * (.tx_per_s_max / .tx_per_s)),
    abort_rate: abort_rate([.aborts[]] | add; .commits),
    unstopped: (if .aborts.stopped > 0 then 0 else 1 end),
    ran: (if .resolved == .variant then "" else ", as \(.resolved)" end),
    bar: ("\($label_of_bar) over cgl, \($over_it)" // $label_of_bar),
    # Both ratios, as far as there are: `46× (12× over the critical section)`.
    gains: ("\($gain | times) (\($over_it))" // ($gain | times)),
    wrong: when(.verified | not; "NO"), jit: (.jit_ms | positive), theirs: in_paper(.workload).cells[6]};
# A result's kernels as results of their own; the result itself if it has not several.
def parts: [.kernels[] | select(.commits > 0 and .time_ms > 0)] as $kernels
  | if $kernels | length < 2 then . else . as $run | $kernels[] | rate_of_kernel as $rate | $run + {over_cgl, over_critical_section,
      workload: "\($run.workload)/\(work)", tx_per_s: $rate, tx_per_s_min: $rate, tx_per_s_max: $rate} end;
# The points of Figure 3, of which another note than that of the time limit says why a launch did not run at all.
def of_threads($hv): (.tx_per_s > 0) as $committed | (.note == $time_limit) as $late | . as {$workload, $blocks, $threads}
  | first(($hv | where({$workload, $blocks, $threads})), null).tx_per_s as $reference
  | named($workload) | . + {rate: (.tx_per_s | positive), beside: (.tx_per_s / ($reference | positive)), tenth: (.total / 10),
    per_processor: (.total / $document.device.processors), committed: (if $committed then 1 else 0 end), late: (if $late then 1 else 0 end),
    ran: (if $committed or .note == null or $late then 1 else 0 end)};
def of_line: .[-1].rate as $last | max(.[].rate) as $best
  | .[0] + {grown: ($best / .[0].rate), falls: (if $last < $best * 0.95 then 1 else 0 end)};
def pair($hv): . as {$hot_words, $locks, $blocks, $threads, tx_per_s: $tbv_rate, abort_rate: $tbv_aborts}
  | first($hv | where({$hot_words, $locks, $blocks, $threads})) | (.blocks * .threads) as $total
  | . + {setting: "\($hot_words | counted)/\($locks | counted)/\($total | counted)", $total, gain: (.tx_per_s / $tbv_rate), $tbv_rate,
    $tbv_aborts, less_aborted: ($tbv_aborts - .abort_rate),
    fewer: (if $tbv_aborts > 0 then .abort_rate / $tbv_aborts elif .abort_rate <= 0 then 0 else null end)};
def profile: .shares as $shares | (.blocks == 1 and .threads == 1) as $alone
  | one(highest($shares | to_entries[] | select(.key != "native"); .value)) as $overhead
  | max(0, ($shares | .initialisation, .consistency, .locks, .commit, .aborted, .warp | values)) as $largest
  | (if $alone then [", one thread alone", "one thread alone"] else [" in full launches", "a full launch"] end) as [$how, $of]
  | $shares + named(.workload) + {bar: "\(.workload) \(.variant)", $how, $of, alone: (if $alone then 1 else 0 end),
    own: ($shares.native // 0), overhead: $overhead.key, overhead_share: $overhead.value,
    buffering_over: when($largest > 0; ($shares.buffering // 0) / $largest)};
# A row of Table 1 with the largest speed-up of the workload.
def row($speedups): .workload as $workload
  | named($workload) + {gain: max($speedups | where({$workload}) | select(.variant != "optimized" and .variant != "cgl").gain | values)};
def theirs($workload): in_paper($workload).cells as $cells | select($cells != [])
  | {variant: "in the paper"} | named($workload) + {theirs0: $cells[0], theirs1: $cells[1], theirs2: $cells[2], theirs3: $cells[3],
    theirs4: $cells[4], theirs5: $cells[5]};

([of_view("speedups")] | sorted) as $all | [$all[] | result] as $speedups | [[$all[] | parts] | sorted[] | result] as $best
| [of_view("threads")] as $launches | [$launches | where({variant: "hv-sorting"})] as $hv
| [$launches | sort_by(order, .blocks * .threads, .blocks, (.variant | rank))[] | of_threads($hv)] as $threads
| [of_view("eigenbench")] as $eigenbench | [$eigenbench | where({variant: "hv-sorting"}) | select(.tx_per_s > 0)] as $hv
| [$document.characteristics[] | row($speedups)] as $characteristics
| [distinct($best[].workload) as $workload | highest($best | where({$workload}) | select(.variant != "optimized"); .rate)] as $winners
| {$speedups, $best, $threads, $characteristics,
  winners: ($winners | sort_by(.variant as $variant | -count($winners | where({$variant})))),
  kernels: [$all[] | counts as $counts | .variant as $variant | .workload as $workload | .kernels[]
    | named($workload) + {$variant, rate: (rate_of_kernel | positive), gain: when($counts; .over_cgl),
      over_section: when($counts; .over_critical_section), abort_rate: abort_rate(.aborts; .commits)}],
  sections: [$document.critical_sections[] | .workload as $workload | named($workload)
    + {over_cgl: (.tx_per_s / when(counts; one($best | where({$workload, variant: "cgl"}).rate | values)))}],
  reasons: ([$all[].aborts | to_entries[] | select(.value > 0).key] | sort as $reasons | [distinct($reasons[])] as $reasons
    | if $reasons == [] then $speedups else [$speedups[] | . + ($reasons[] as $reason | {$reason, n: .aborts[$reason]})] end),
  sums: ([$all[].aborts | to_entries[]] as $each | ([$each[].value] | add) as $sum | [[$each[].key] | sort | distinct[] as $key
    | ([$each | where({$key}).value] | add) as $n | {reason: joined(" "; ($key / "_")[]), $n, share: ($n / $sum)}]),
  lines: ([$threads[] | select(.rate != null)] as $all | [distinct($all[] | {workload, variant})] | sort_by(.workload, .variant)
    | [.[] as $line | [$all | where($line)] | of_line]),
  eigenbench: [$eigenbench | sort_by(.blocks * .threads, .blocks, .hot_words, .locks, (.variant | rank))[]
    | named("eigenbench") + {rate: (.tx_per_s | positive)}],
  pairs: [$eigenbench | where({variant: "tbv-sorting"}) | select(.tx_per_s > 0) | pair($hv)],
  breakdown: [$document.breakdown | sorted[] | profile],
  table_1: [[distinct($characteristics[].workload) | {workload: .}] | sort_by(order)[].workload as $workload
    | ($characteristics | where({$workload})), theirs($workload)]}
