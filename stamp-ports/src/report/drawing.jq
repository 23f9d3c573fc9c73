# Figures as the page's program states them, made ready to be drawn: each panel is of lines, of bars at one place, or of the
# phases of a thread's time. Then the parts of the page, as sections.

# A quantity: its name and unit for the axis, how a number is shown, what the best is called and the worst, and whether the
# least is the best.
def quantity: {
  cost: {name: "share of the time", form: "percent", unit: "", best: "the highest", worst: "the lowest"},
  gain: {name: "speed-up over cgl", form: "times", unit: "", best: "the highest", worst: "the lowest"},
  cycles: {name: "cycles", form: "d0", unit: "", best: "the fewest cycles", worst: "the most", least: true},
  ms: {name: "kernel time in ms", form: "time", unit: "", best: "the shortest time", worst: "the longest", least: true},
  per_s: {name: "operations a second", form: "short", unit: "/s", best: "the highest rate", worst: "the lowest"},
  tx_per_s: {name: "transactions a second", form: "short", unit: "/s", best: "the highest rate", worst: "the lowest"},
  beside: {name: "ratio of rates", form: "times", unit: "", best: "the highest ratio", worst: "the lowest"},
  unfairness: {name: "most / fewest sections of a block", form: "times", unit: "", best: "the smallest ratio", worst: "the largest", least: true}
  }[.] // error("\(.) is no quantity");
def shown_as($quantity): show($quantity.form) + $quantity.unit;

def without_repetition: reduce .[] as $x ([]; if last == $x then . else . + [$x] end);

# The look of a line or a bar: that of a slot, of its place among numbers of locks, or of a variant.
def look: if .slot != null then {slot} elif .lock != null then {lock} else {variant: (.variant // .name)} end;
# Its points in the order of their places. Of several in one place it has the one with the most operations, and of those the
# fastest.
def placed(place): [.points[] | {x: place, point: .} | select(.x != null)] | sort_by(.x, (.point.operations | try (0 - .) catch null), .point.ms)
  | reduce .[] as $next ([]; if last.x == $next.x then . else . + [$next] end);
# A place on the abscissa in words: `16 entry points`, `1 block`.
def in_words($name): ($name / "s") as $parts
  | if . == 1 and $parts[-1] == "" then $parts | "1 \(joined("s"; limit(length - 1; .[])))" else "\(.) \($name)" end;
# The lowest place of lines and the highest.
def ends: [.[].points[].x] | (min(.[]), max(.[])) | values;
# A line as its name, its look and its points: the place, the value, and what is said under the pointer. One that is flat is a
# single point that stands for all of the abscissa of those before.
def line($panel; $quantity; $before): . as $line | $panel.x as [$noun, $field]
  | [(if .flat then placed(0)[0].point as $point | select($point) | $before | ends as $x | {$x, $point} else placed(.[$field])[] end)
    | .x as $x | .point | (.[$panel.y] | when(. < 1 / 0; .)) as $y
    | {$x, $y, tooltip: (.tooltip // "\($line.name), \($x | in_words($noun)): \($y | shown_as($quantity))" // "")}] as $points
  | {name, look: look, $points};
# What is best and worst at a place where more than one line has a point.
def clause($noun; $quantity; $x): [.[] | .name as $name | .points[] | select(.x == $x and .y != null) | [$name, .y]]
  | sort_by(.[1]) | select(length > 1)
  | (if $quantity.least then [.[0], .[-1]] else [.[-1], .[0]] end) as [[$best, $good], [$worst, $bad]]
  | ($good | shown_as($quantity)) as $most | ($bad | shown_as($quantity)) as $least
  | "at \($x | in_words($noun)) \(if max($good / $bad, $bad / $good) <= 1.05 then "all \(length) are within 5 %, \($most) to \($least)"
    else "\($quantity.best) is that of \($best), \($most), \($quantity.worst) that of \($worst), \($least)" end)";
def of_lines: . as $panel | (.y | quantity) as $quantity
  | reduce .lines[] as $line ([]; . + [. as $before | $line | line($panel; $quantity; $before)]) | . as $lines
  | ([clause($panel.x[0]; $quantity; ends)] | without_repetition | "\($panel.title): \(joined("; "; .[])).") as $sentence
  | count($panel.cap | values as $cap | $lines[].points[] | select(.y > $cap)) as $above
  | (if $above == 0 then "" elif $above == 1 then "; 1 point is above" else "; \($above | counted("point")) are above" end) as $above
  | {kind: "lines", series: $lines, about: ($panel.said // $sentence // "Not measured."), computed: ($panel.said == null and $sentence != null),
    x: "\($panel.x[0])\(if $panel.said then " (log scale)" else "" end)",
    below: "\($quantity.name) (\(if $panel.cap then "linear" else "log" end) scale\($above))"};

# A bar as its name, its look and its point, if there is one: the value with the lowest and the highest measured, if they are
# known.
def bar($panel; $base): .name as $name | {name, look: look} + (placed(0)[0].point | values
  | [.[$panel.y, "\($panel.y)_min", "\($panel.y)_max"]] as $ends | when(all($ends[]; . < 1 / 0); $ends) as $ends
  | ((if $panel.label then .[$panel.label] else $ends[0] | time end) // "not measured") as $label
  | when($name != $panel.beside; $ends[0] / $base | " (\(times) that of \($panel.beside))") as $ratio
  | {points: [{y: $ends[0], range: when($ends; [$ends[1, 2]]), $label, tooltip: (.tooltip // "\($name), \($label)\($ratio // "")")}]});
# Says what takes the shortest time and what the longest, and what excludes nothing, which is no lock.
def of_bars: . as $panel | (.y | quantity) as $quantity
  | one(.lines[] | select(.name == $panel.beside) | bar($panel; null).points[0].y) as $base | [.lines[] | bar($panel; $base)] as $bars
  | def is_open: .name == "none" or .name == "added" or .name == "lock-free";
    [$bars[] | {name} + .points[0] | select(.y != null)] | ([.[] | select(is_open | not)] | sort_by(.y)) as $locks
  | joined("; "; ($locks | select(. != []) | "the shortest time is that of \(.[0].tooltip), the longest that of \(.[-1].tooltip)"),
      (.[] | select(is_open) | "without a lock \(.tooltip)")) as $clauses
  | {kind: "bars", series: $bars, about: ($panel.said // "\($panel.title): \($clauses // "")."), computed: ($panel.said == null),
    x: $quantity.name, below: $panel.below};

def phases: "native", "initialisation", "buffering", "consistency", "locks", "commit", "aborted", "warp";
# A phase has a segment in the row of each line.
def of_stacks: [.lines[] | {name, point: placed(0)[0].point}] as $rows
  | [phases as $phase | {name: $phase, look: {phase: $phase}, points: [$rows[] | (.point[$phase] // 0) as $y
    | {label: .name, $y, tooltip: "\(.name), \($phase): \($y | percent)"}]}] as $series
  | {kind: "stacks", $series, about: (.said // ""), computed: (.said == null), x: "% of the time (linear)", below};

def panel: {title, quantity: .y, shared, same_y, cap} + if .x then of_lines elif .phases then of_stacks else of_bars end;

def has_point: .kind as $kind | any(.series[].points[]; .y != null or $kind != "lines");
# What is measured of a panel, as far as an axis can show it.
def measured: .series[].points[] | (.y, .range[]) | select(. > 0 and . < 1 / 0);
# From this ratio of times on the axis of bars is logarithmic, and from this speed-up on that of all such panels: below, a
# linear one shows more.
def is_large: any(measured; . >= 10);
# The axes of a panel among these, as axis.rs has them, with the values that they show; and where bars begin, if that is not
# the lowest.
def axes($figure; $all): . as $panel | [measured] as $own
  | if .kind == "lines" then
      (if $figure.apart and (.same_y | not) then $own else [$all[] | select(.quantity == $panel.quantity) | measured] end) as $y
      | {axes: [{binary: (if $figure.apart then $figure.span else [.series[].points[].x] end)},
        if .cap then {linear: [1.2, ($y[] | select(. <= $panel.cap))]} else {decimal: $y} end]}
    elif .kind == "stacks" then {}
    elif .shared and is_large then {axes: [{decimal: [0.5, ($all[] | select(is_large) | measured)]}], base: 1}
    elif .shared then {axes: [{linear: [1, $own[]]}]}
    elif max($own[]) >= 10 * min($own[]) then {axes: [{tens: $own}]}
    else {axes: [{linear: $own}]} end;
# A part's figure: its panels that have a point, with one axis for each quantity, or with `apart` an ordinate for each panel
# and the abscissa of all; and one legend. Null if none has a point.
def figure($part): . as $figure | [.panels[] | panel] as $all | [$all[] | select(has_point)] as $shown
  | joined("; "; [$all[] | select(has_point | not).title] | without_repetition[]) as $missing
  | when($shown != []; {id: $part.id, title: $part.name, pairs: (.pairs == true),
    about: ($part.shows // [($shown[] | select(.computed).about), ("Not measured: \($missing)." | values)]),
    legend: ([$shown[] | (.kind == "lines") as $line | .series[] | select(.points != []) | {name, look, $line}] as $keys
      | [distinct($keys[].name) as $name | first($keys | where({$name}))]),
    panels: [$shown[] | {title, below, x, about, series} + axes($figure; $shown)]});
# A part as a section of the page, with whether any of it was measured, and its figure. How many of its claims hold is said
# first.
def section($page): . as $part | one(.figure | values | figure($part)) as $figure | (.figure != null and $figure == null) as $elsewhere
  | [$judged[.id][] | . + {part: $page}] as $claims | (.id / "-" | any(. == "targets")) as $targets
  | [.tables[] | select(.rows != [] or .or_none)] as $tables
  | [.judged != null or (.measured != false and ($tables != [] or ($elsewhere | not))), $figure,
    {id, name, theirs, only, $claims, $targets, $tables, open: [.open[] | select(.rows != [] or .or_none)],
      shows: (if .judged then ["\($claims | tally(if $targets then "targets" else "claims" end)) \(.judged)"]
        elif $figure then $figure.about
        elif $elsewhere then ["Nothing was measured with these launches; the tables have what was asked for."]
        else .shows // [] end)}];
# The page with its sections, the names of those of which nothing was measured, and the figures.
def ready: .id as $page | [.parts[] | section($page)] as $all
  | {page: reduce (to_entries[] | select(.key != "parts")) as {$key, $value} ({}; . + {($key): $value}),
    sections: [$all[] | select(.[0])[2]], lacking: [$all[] | select(.[0] | not)[2].name], figures: [$all[][1] | values]};
