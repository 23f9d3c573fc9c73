# What all programs of reports and tables call beside jq's own. Null is what was not measured: see jq.rs.

def null: [][0];
def values: select(. != null);
def startswith($start): (. / $start)[0] == "";
def when(is; f): if is then f else null end;
def positive: when(. > 0; .);
# In the order of keys; what has equal ones, and objects have no order, stays as it is.
def sort_by(f): [.[] | [[f], {own: .}]] | sort | [.[][1].own];

# The first of what f yields, or null.
def one(f): [f] | .[0];
# What f yields without repetition, one after the other.
def distinct(f): [f | values] | distinct[];
def count(f): [f] | length;
def add: reduce .[] as $x (0; . + $x);
# What all of some arrays have, ascending.
def common: . as $all | [.[0][] | values | select(. as $x | all($all[]; any(.[]; . == $x)))] | sort | distinct;
# In one text, without what is not known; null if there is nothing.
def joined($between; f): reduce (f | values) as $x (null; if . == null then "\($x)" else "\(.)\($between)\($x)" end);
# The same with an `and` before the last.
def listed(f): [f | values] | if length < 2 then joined(""; .[]) else "\(joined(", "; limit(length - 1; .[]))) and \(.[-1])" end;
# Those of all by which something is highest or lowest; of equal ones the last, or the first.
def highest(all; by): reduce (all | select(by != null)) as $x (null; if . == null or ($x | by) >= by then $x else . end) | values;
def lowest(all; by): reduce (all | select(by != null)) as $x (null; if . == null or ($x | by) < by then $x else . end) | values;

# One number of several, known if all of them are.
def of_all(f; one): [f] | if . == [] or any(. == null) then null else one end;
def sum(f): of_all(f; add);
def min(f): of_all(f; sort[0]);
def max(f): of_all(f; sort[-1]);
def spread(f): of_all(f; sort | .[-1] / .[0]);
def median(f): of_all(f; sort | (.[(length - 1) / 2] + .[length / 2]) / 2);
# The geometric mean.
def mean(f): of_all(f; ([.[] | log] | add) / length | exp);
# The share of those below 1.
def below_one(f): of_all(f; count(.[] | select(. < 1)) / length);
# The last less the first.
def change(f): of_all(f; if length > 1 then .[-1] - .[0] else null end);
# The largest ratio of neighbours, of which there must be three.
def roughest(f): of_all(f; if length > 2 then . as $all | max(range(1; length) | max($all[. - 1] / $all[.], $all[.] / $all[. - 1])) else null end);
# The value that all of them have.
def same(f): of_all(f; if distinct | length == 1 then .[0] else error("\(.) are not the same") end);
# The rank correlation (Spearman) of pairs, of which there must be four.
def correlation(pairs): of_all(pairs;
  # Equal values share the mean of their ranks.
  def ranks(f): [.[] | f] as $all | [$all[] as $x | count($all[] | select(. < $x)) + (count($all[] | select(. == $x)) - 1) / 2];
  def products($a; $b): ((length - 1) / 2) as $mean | sum(range(length) | ($a[.] - $mean) * ($b[.] - $mean));
  ranks(.[0]) as $a | ranks(.[1]) as $b | (products($a; $a) * products($b; $b) | sqrt) as $spread
  | if $spread > 0 and length > 3 then products($a; $b) / $spread else null end);

# Formats: `show` in jq.rs has them.
def times: show("times");
def percent: show("percent");
def short: show("short");
def time: show("time");
def digits3: show("digits3");
def number: show("number");
def bytes: show("bytes");
def decimals($n): show("d\($n)");
def yes: show("yes");
# The name of a lock alone: tas of coarse:tas/lane.
def plain: ((. / "coupled:")[-1] / "coarse:")[-1] | (. / "/lane")[0];
# As `bench` reads it: 8M. With a noun: 1 lock, 2 locks.
def counted: show("count");
def counted($noun): show("a \($noun)");

# Cases of a claim: each has a name and a number, which is null if it was not measured.
def case($name; number): [$name, one(try number catch (.lacking | null))];
# Ends a search for cases: this is what was not measured.
def lacking($what): error({lacking: [$what, null]});
def found(f): [try f catch .lacking];
# Cases that a document need not have: those with a number, or else what is missing.
def known(cases): cases | select(.[1] != null);
def known(cases; $missing): [cases] | if . != [] and all(.[1] == null) then [$missing, null] else known(.[]) end;

# A claim or a target, judged by the numbers of its parts: stated.rs says how. What a bound says of a number: whether it is
# met, whether it is in part, and its words.
def bound($x; number):
  (.above | values | [$x > ., false, "> \(number)"]),
  (.at_least | values | [$x >= ., false, "≥ \(number)"]),
  (.below | values | [$x < ., false, "< \(number)"]),
  (.at_most | values | [$x <= ., false, "≤ \(number)"]),
  (.within | values | [$x >= .[0] and $x <= .[1], false, "from \(.[0] | number) to \(.[1] | number)"]),
  # The first or more; in part from the second on.
  (.graded | values | [$x >= .[0], $x >= .[1], "≥ \(.[0] | number), in part from \(.[1] | number) on"]),
  # So many times as fast: 0.8 of it is enough, and it holds in part if there is a difference.
  (.factor | values | [$x >= 0.8 * ., $x > 1.05, "≥ 0.8 × \(.), in part above 1.05"]);
def bound_of($part; $x): one($part.bound
  | if . == "fact" then [$x > 0, false] elif . == "shown" then [true] else bound($x; if $part.unit == "percent" then percent else "\(.)" end) end)
  // error("\($part.bound) is no bound");
def verdict($x): bound_of(.; $x) as [$met, $partly] | if $met then "holds" elif $partly then "holds in part" else "does not hold" end;
def rule: (.what // "") as $what | bound_of(.; null)[2] as $words
  | if $words == null then $what else $what + when($what / ", " | length > 1 and ($what / "," | last != ""); ",") // $what | "\(.) \($words)" end;
def in_unit($part): if $part.unit == "percent" then percent elif $part.unit == "plain" then decimals(2) else times end;
# The cases that decide in words: all, or of many how many meet the rule.
def cases_in_words($not): (length - ($not | length)) as $met
  | (if length > 8 then .[0].part as $part
      | "\($met) of \(length) cases meet it" + if $part.bound == "fact" then "" else ", \(min(.[].x) | in_unit($part)) to \(max(0, .[].x) | in_unit($part))" end
    else joined(", "; .[] | if .part.bound == "fact" then .name else "\(.name) \(.part as $part | .x | in_unit($part))" end) end),
    (select($met > 0 and ($not | length) > 0 and ($not | length) <= 8) | "not \(joined(", "; $not[]))");
def missing_in_words: reduce .[] as $name ([]; if last == $name then . else . + [$name] end)
  | "not measured: \(joined(", "; limit(8; .[]), (select(length > 8) | "…")))";
def judge: {id, claim, section, theirs} as $said
  | [.parts[] as $part | $part.cases[] as [$name, $x] | {$part, $name, x: (if $x == true then 1 elif $x == false then 0 else $x end)}] as $all
  | [$all[] | select(.part.bound != "shown")] as $rest | [$rest[] | select(.x == null).name] as $missing
  | [$rest[] | select(.x != null) | .x as $x | . + {verdict: (.part | verdict($x))}] as $cases
  | [$cases[] | select(.verdict != "holds").name] as $not
  | $said + {
    rule: (joined("; "; .parts[] | select(.bound != "shown") | rule) // ""),
    verdict: (if $missing == ["a hand-written critical section"] then "critical section not measured"
      elif $cases == [] or $missing != [] then "cannot be judged"
      elif $not == [] then "holds"
      elif all($cases[]; .verdict == "does not hold") then "does not hold" else "holds in part" end),
    figures: (joined("; "; ($cases | select(. != []) | cases_in_words($not)),
      ($all[] | select(.part.bound == "shown" and .x != null) | "\(.name) \(.part as $part | .x | in_unit($part))"),
      ($missing | select(. != []) | missing_in_words)) // "not measured")};

# How many of some claims came out how, in sentences: of those that can be judged and are listed, and of the others.
def is_judged: any(.verdict, .verdict_here; . == "holds" or . == "holds in part" or . == "does not hold");
def verdicts_in_words($name): . as $all
  | joined(", "; ("holds", "holds in part", "does not hold", "cannot be judged", "critical section not measured") as $verdict
    | count($all | where({$verdict})) | select(. > 0) | "\($verdict) \(.)") | " \($name): \(.)." // "";
def tally($noun): "\(length) \($noun).\([.[] | select(is_judged)] | verdicts_in_words("Verdicts"))\([.[] | select(is_judged | not)] | verdicts_in_words("Not listed"))";

# A table: what its rows are about, and the columns of each, of which the first $left are words.
def column($head; cell): [$head, one(cell | "\(.)"), false];
# One that is left out if no row fills it.
def if_filled(column): column | [.[0], .[1], true];
def table($name; $left; rows; columns): {name: $name, left: $left, rows: [rows | [columns]]};
# With a row for each key of some records, and a column behind the others for each value of a field, in the order of the
# legends.
def table_by($name; $left; $all; key; columns; $field; cell):
  ([distinct($all[][$field]) | [rank, .]] | sort | [.[][1]]) as $values
  | table($name; $left; distinct($all[] | key) as $key | first($all | where($key));
    columns,
    (key as $key | $values[] as $value | column(joined(" "; ($value / "_")[]); first($all | where($key + {($field): $value})) | cell)));
# One that says so if it has no rows.
def or_none(table): table + {or_none: true};
