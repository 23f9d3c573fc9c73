# What all programs of reports and tables call beside jq's own. Null is what was not measured: see jq.rs.

def null: [][0];
def values: select(. != null);

# The first of what f yields, or null.
def one(f): [f] | .[0];
# What f yields without repetition, one after the other.
def distinct(f): [f | values] | distinct[];
def count(f): [f] | length;
def add: reduce .[] as $x (0; . + $x);
# In one text, without what is not known; null if there is nothing.
def listed(f): [f] | listed;
def joined($between; f): reduce (f | values) as $x (null; if . == null then "\($x)" else "\(.)\($between)\($x)" end);
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
