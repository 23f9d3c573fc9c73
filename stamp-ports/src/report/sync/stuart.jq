# Claims of Stuart and Owens 2011.

# The paper's own kinds.
def barriers: ["two-stage", "xiao-feng"];
def mutexes: ["tas", "tas-backoff", "fetch-add", "ring"];
def semaphores: ["spin", "spin-backoff", "sleeping"];

# A ratio of memory accesses.
def accesses($name; ratio): memory_blocks as $blocks | case("\($name) at \($blocks | in_blocks)"; $machine | ratio);
# Whether the fastest kind at a full load is one of those expected.
def fastest_is($name; $part; $kinds; $count; $expected):
  (full("fermi"; $part; $kinds; $count) as $blocks | fastest_of($part; $kinds; $blocks; $count) as $k
    | case("\($name) at \($blocks | in_blocks): \($k), expected \(joined(" or "; $expected[]))"; any($expected[]; . == $k)))
  // [$name, null];
# The rate of a kind over that of the fastest of others at a full load, where all of some kinds were measured.
def ratio($paper; $part; $kinds; $count; $k; $others): full($paper; $part; $kinds; $count) as $blocks
  | case(if $count == null then "" else "count \($count), " end + "\($k) / \(joined(" or "; $others[])) at \($blocks | in_blocks)";
    rate($part; $k; $blocks; $count) / max(rate($part; $others[]; $blocks; $count)));
def ratio($paper; $part; $kinds; $k; $others): ratio($paper; $part; $kinds; null; $k; $others);

[
{id: "S-A1", section: "3",
 claim: "Atomics are slower than volatile accesses.",
 theirs: "Table 3, reads: Tesla 92.5× contended, 1.43× not; Fermi 2.99× and 10.2× (the text says about 3× at worst)",
 parts: [
  {what: "both ratios of reads", bound: {above: 1.05},
   cases: found(accesses("contended reads"; .reads.atomic_to_volatile.contended),
    accesses("uncontended reads"; .reads.atomic_to_volatile.uncontended))},
  {bound: "shown",
   cases: found(accesses("writes"; .writes.atomic_to_volatile.contended),
    accesses("uncontended writes"; .writes.atomic_to_volatile.uncontended))}]},
{id: "S-A2", section: "3",
 claim: "Contended accesses are slower than uncontended ones.",
 theirs: "Table 2, reads: Tesla 1.44×, 92.8×, 1.54×; Fermi 11.5×, 3.38×, 11.8×",
 parts: [
  {what: "the three ratios of reads (volatile, atomic, after an atomic)", bound: {above: 1.05},
   cases: found(accesses("volatile"; .reads.volatile),
    accesses("atomic"; .reads.atomic),
    accesses("after an atomic"; .reads.after_atomic))},
  {bound: "shown",
   cases: found(accesses("writes"; .writes.volatile),
    accesses("writes"; .writes.atomic),
    accesses("writes"; .writes.after_atomic))}]},
{id: "S-A3", section: "3, 4",
 claim: "Atomics that wait in a queue hold their line, as on Fermi and not on Tesla.",
 theirs: "Table 3: Fermi 2.98×, Tesla 1.08×",
 parts: [
  {what: "contended reads, after an atomic over volatile", bound: {graded: [2, 1.25]},
   cases: found(accesses("contended reads"; .reads.after_atomic_to_volatile.contended))}]},
{id: "S-A4", section: "4, 7",
 claim: "Uncontended volatile accesses are about 10 times as fast as contended ones (Fermi).",
 theirs: "Table 2: 11.5× for reads",
 parts: [
  {what: "the ratio of reads", bound: {within: [8, 12.5]},
   cases: found(accesses("reads"; .reads.volatile))},
  {bound: "shown",
   cases: found(accesses("writes"; .writes.volatile))}]},
{id: "S-P1", section: "7",
 claim: "Atomics will come closer to volatile accesses on later GPUs.",
 theirs: "Fermi: 2.99× for contended reads",
 parts: [
  {what: "contended reads, atomic over volatile", bound: {below: 2.99},
   cases: found(accesses("contended reads"; .reads.atomic_to_volatile.contended))}]},
{id: "S-P2", section: "7",
 claim: "As atomics get closer to loads, backoff becomes the most important factor.",
 theirs: "no figures",
 parts: [
  {what: "R(tas-backoff) / R of the faster of tas and fetch-add with the most blocks", bound: {at_least: 0.95},
   cases: found(ratio("fermi"; "mutex"; ["tas-backoff", "tas", "fetch-add"]; "tas-backoff"; ["tas", "fetch-add"]))},
  {bound: "shown",
   cases: found(accesses("atomic / volatile reads"; .reads.atomic_to_volatile.contended))}]},
{id: "S-T5", section: "Table 5",
 claim: "The best choices are those of Tesla or of Fermi.",
 theirs: "Tesla: Xiao-Feng, fetch-and-add, sleeping, sleeping. Fermi: Xiao-Feng, spin with backoff, spin with backoff, sleeping (barrier, mutex, semaphore of count 1 and 120)",
 parts: [
  {what: "row by row, the fastest of the paper's own kinds with the most blocks is the choice for one of both", bound: "fact",
   cases: found(fastest_is("barrier"; "barrier"; barriers; null; ["xiao-feng"]),
    fastest_is("mutex"; "mutex"; mutexes; null; ["fetch-add", "tas-backoff"]),
    fastest_is("count 1"; "semaphore"; semaphores; 1; ["sleeping", "spin-backoff"]),
    fastest_is("count 120"; "semaphore"; semaphores; 120; ["sleeping"]))}]},
{id: "S-T6", section: "4",
 claim: "The ratios of memory accesses predict the best kind.",
 theirs: "Table 5 follows from Tables 1 to 3",
 parts: [
  {what: "row by row, the choice by ratios is the fastest measured: of all our barriers, of tas-backoff and fetch-add, of the paper's three semaphores", bound: "fact",
   cases: found(fastest_is("barrier"; "barrier"; $barriers; null; [expected("barrier")]),
    fastest_is("mutex"; "mutex"; ["tas-backoff", "fetch-add"]; null; [expected("mutex")]),
    fastest_is("count 1"; "semaphore"; semaphores; 1; [expected("low")]),
    fastest_is("count 120"; "semaphore"; semaphores; 120; [expected("high")]))}]},
{id: "S-B1", section: "6, Table 5",
 claim: "The barrier of Xiao and Feng is the best at scale.",
 theirs: "a plot; best on both devices",
 parts: [
  {what: "R(xiao-feng) / R(two-stage) with the most blocks", bound: {above: 1.05},
   cases: found(ratio("fermi"; "barrier"; barriers; "xiao-feng"; ["two-stage"]))},
  {what: "R(xiao-feng) / that of each other barrier", bound: {at_least: 0.95},
   cases: found(full("fermi"; "barrier"; barriers) as $blocks | ($barriers[] | select(. != "two-stage" and . != "xiao-feng")) as $k | case("xiao-feng / \($k | plain) at \($blocks | in_blocks)"; rate("barrier"; "xiao-feng"; $blocks) / rate("barrier"; $k; $blocks)))}]},
{id: "S-B2", section: "6",
 claim: "Both barriers start alike; the two-stage one falls below 5 % of Xiao and Feng's (Tesla).",
 theirs: "below 5 % at 60 blocks",
 parts: [
  {what: "R(two-stage) / R(xiao-feng) with one block", bound: {within: [0.8, 1.25]},
   cases: found(case("1 block"; rate("barrier"; "two-stage"; 1) / rate("barrier"; "xiao-feng"; 1)))},
  {what: "the same with 64 blocks (this machine's shape: with the most)", bound: {below: 0.05},
   cases: found(full("sixty"; "barrier"; barriers) as $blocks | case($blocks | in_blocks; rate("barrier"; "two-stage"; $blocks) / rate("barrier"; "xiao-feng"; $blocks)))}]},
{id: "S-B3", section: "6",
 claim: "The two-stage barrier starts at about 75 % of Xiao and Feng's and falls to about 30 % (Fermi).",
 theirs: "75 % and 30 %",
 parts: [
  {what: "R(two-stage) / R(xiao-feng) with one block", bound: {within: [0.6, 0.94]},
   cases: found(case("1 block"; rate("barrier"; "two-stage"; 1) / rate("barrier"; "xiao-feng"; 1)))},
  {what: "the same with the most", bound: {within: [0.24, 0.375]},
   cases: found(full("fermi"; "barrier"; barriers) as $blocks | case($blocks | in_blocks; rate("barrier"; "two-stage"; $blocks) / rate("barrier"; "xiao-feng"; $blocks)))}]},
{id: "S-X1", section: "6, Table 5",
 claim: "Fetch-and-add is the best mutex; the spin lock with backoff reaches less than 5 % of it (Tesla).",
 theirs: "below 5 %",
 parts: [
  {what: "R(fetch-add) / R of the fastest of tas, tas-backoff and ring with 240 blocks", bound: {at_least: 0.95},
   cases: found(ratio("tesla"; "mutex"; mutexes; "fetch-add"; ["tas", "tas-backoff", "ring"]))},
  {what: "R(tas-backoff) / R(fetch-add)", bound: {below: 0.05},
   cases: found(ratio("tesla"; "mutex"; mutexes; "tas-backoff"; ["fetch-add"]))}]},
{id: "S-X2", section: "6, Table 5",
 claim: "The spin lock with backoff is the best mutex, almost 45 % ahead of the plain one, which is second (Fermi).",
 theirs: "almost 45 %; elsewhere in the same paper about 60 % and nearly 40 %",
 parts: [
  {what: "R(tas-backoff) / R of the fastest of tas, fetch-add and ring with 128 blocks", bound: {at_least: 0.95},
   cases: found(ratio("fermi"; "mutex"; mutexes; "tas-backoff"; ["tas", "fetch-add", "ring"]))},
  {what: "R(tas) / R of the faster of fetch-add and ring", bound: {above: 1.05},
   cases: found(ratio("fermi"; "mutex"; mutexes; "tas"; ["fetch-add", "ring"]))},
  {what: "R(tas-backoff) / R(tas)", bound: {at_least: 1.36},
   cases: found(ratio("fermi"; "mutex"; mutexes; "tas-backoff"; ["tas"]))}]},
{id: "S-X3", section: "6",
 claim: "The sleeping mutex has about half the rate of spin with backoff (Fermi).",
 theirs: "about half",
 parts: [
  {what: "R(fetch-add) / R(tas-backoff)", bound: {within: [0.4, 0.625]},
   cases: found(ratio("fermi"; "mutex"; ["fetch-add", "tas-backoff"]; "fetch-add"; ["tas-backoff"]))}]},
{id: "S-X4", section: "6",
 claim: "Backoff makes scaling smoother.",
 theirs: "a plot",
 parts: [
  {what: "the largest ratio of rates between neighbouring numbers of blocks, from 32 on: that of tas-backoff / that of tas", bound: {below: 1},
   cases: found(case("roughest step, tas-backoff over tas"; roughest(rate("mutex"; "tas-backoff"; axis("mutex"; ["tas", "tas-backoff"]; 32; 3))) / roughest(rate("mutex"; "tas"; axis("mutex"; ["tas", "tas-backoff"]; 32; 3)))))},
  {bound: "shown",
   cases: found(case("tas-backoff"; roughest(rate("mutex"; "tas-backoff"; axis("mutex"; ["tas", "tas-backoff"]; 32; 3)))))}]},
{id: "S-X5", section: "6",
 claim: "Backoff gains 5 to 10 % over the plain spin lock (Tesla).",
 theirs: "5 to 10 %",
 parts: [
  {what: "R(tas-backoff) / R(tas) with 128 blocks (this machine's shape: with the most)", bound: {within: [1.05, 1.25]},
   cases: found(ratio("fermi"; "mutex"; ["tas-backoff", "tas"]; "tas-backoff"; ["tas"]))}]},
{id: "S-X6", section: "5",
 claim: "The ring buffer is inferior to fetch-and-add.",
 theirs: "no figures",
 parts: [
  {what: "R(ring) / R(fetch-add) with each number of blocks", bound: {below: 0.95},
   cases: found(axis("mutex"; ["ring", "fetch-add"]; 0; 0) as $blocks | case($blocks | in_blocks; rate("mutex"; "ring"; $blocks) / rate("mutex"; "fetch-add"; $blocks)))}]},
{id: "S-X7", section: "5",
 claim: "Fetch-and-add is fair, a spin lock is not.",
 theirs: "no figures",
 parts: [
  {what: "most over fewest sections of a block of fetch-add, with the most blocks", bound: {at_most: 1.1},
   cases: found(full("fermi"; "mutex"; ["fetch-add", "tas"]) as $blocks | case("fetch-add at \($blocks | in_blocks)"; unfairness("fetch-add"; $blocks)))},
  {what: "the same of tas", bound: {above: 2},
   cases: found(full("fermi"; "mutex"; ["fetch-add", "tas"]) as $blocks | case("tas at \($blocks | in_blocks)"; unfairness("tas"; $blocks)))}]},
{id: "S-E1", section: "6, Table 5",
 claim: "The sleeping semaphore is the fastest at a high count.",
 theirs: "a plot; on both devices",
 parts: [
  {what: "R(sleeping) / R of the faster of the others at count 120 with the most blocks", bound: {at_least: 0.95},
   cases: found(ratio("fermi"; "semaphore"; ["sleeping", "spin", "spin-backoff"]; 120; "sleeping"; ["spin", "spin-backoff"]))}]},
{id: "S-E2", section: "6, Table 5",
 claim: "At a low count the sleeping semaphore is the best (Tesla), or spin with backoff (Fermi).",
 theirs: "a plot",
 parts: [
  {what: "the larger of R(sleeping) / R(spin-backoff), as on Tesla, and its inverse, as on Fermi, at count 1 with the most blocks", bound: {above: 1.05},
   cases: found(full("fermi"; "semaphore"; ["sleeping", "spin-backoff"]; 1) as $blocks
    | (one(fastest_of("semaphore"; ["sleeping", "spin-backoff"]; $blocks; 1)) // lacking("count 1, sleeping / spin-backoff at \($blocks | in_blocks)")) as $k
    | case("\($k | plain) is ahead by"; spread(rate("semaphore"; "sleeping", "spin-backoff"; $blocks; 1))))}]},
{id: "S-E3", section: "6",
 claim: "The sleeping semaphore equals the spinning one at count 2 and is faster at 10 and 120 (Fermi).",
 theirs: "a plot",
 parts: [
  {what: "R(sleeping) / R(spin) at count 2", bound: {within: [0.8, 1.25]},
   cases: found(ratio("fermi"; "semaphore"; ["sleeping", "spin"]; 2; "sleeping"; ["spin"]))},
  {what: "the same at 10 and 120", bound: {above: 1.05},
   cases: found(ratio("fermi"; "semaphore"; ["sleeping", "spin"]; 10; "sleeping"; ["spin"]),
    ratio("fermi"; "semaphore"; ["sleeping", "spin"]; 120; "sleeping"; ["spin"]))}]},
{id: "S-E4", section: "6",
 claim: "The sleeping semaphore gains over spin with backoff at each count (Tesla; the factors are lost in our copy of the text).",
 theirs: "not known",
 parts: [
  {what: "R(sleeping) / R(spin-backoff) at counts 1, 2, 10 and 120", bound: {above: 1.05},
   cases: found((1, 2, 10, 120) as $c | ratio("tesla"; "semaphore"; ["sleeping", "spin-backoff"]; $c; "sleeping"; ["spin-backoff"]))}]},
{id: "S-E5", section: "6",
 claim: "Backoff is a drastic gain for semaphores, as on Tesla, and not a loss, as on Fermi.",
 theirs: "Tesla more than 10×",
 parts: [
  {what: "R(spin-backoff) / R(spin) at count 1", bound: {graded: [8, 0.95]},
   cases: found(ratio("fermi"; "semaphore"; ["spin-backoff", "spin"]; 1; "spin-backoff"; ["spin"]))}]},
{id: "S-E6", section: "6",
 claim: "With backoff the rate hardly depends on blocks or count.",
 theirs: "a plot",
 parts: [
  {what: "largest over smallest R(spin-backoff) of all numbers of blocks from 8 on and all counts", bound: {at_most: 1.25},
   cases: found(case("largest / smallest"; spread((1, 2, 10, 120) as $c | rate("semaphore"; "spin-backoff"; axis("semaphore"; ["spin-backoff"]; 8; 2; $c); $c))))}]},
{id: "S-E7", section: "6",
 claim: "At full load the rate of the sleeping semaphore grows almost linearly with the count.",
 theirs: "a plot",
 parts: [
  {what: "R(10) / R(1)", bound: {factor: 10},
   cases: found(full("fermi"; "semaphore"; ["sleeping"]; 1) as $blocks | case("R(10) / R(1) at \($blocks | in_blocks)"; rate("semaphore"; "sleeping"; $blocks; 10) / rate("semaphore"; "sleeping"; $blocks; 1)))},
  {what: "R(120) / R(10)", bound: {factor: 12},
   cases: found(full("fermi"; "semaphore"; ["sleeping"]; 1) as $blocks | case("R(120) / R(10) at \($blocks | in_blocks)"; rate("semaphore"; "sleeping"; $blocks; 120) / rate("semaphore"; "sleeping"; $blocks; 10)))}]},
{id: "S-E8", section: "6",
 claim: "A sleeping semaphore beats a spinning one, and yet a spinning mutex beats a sleeping one (Fermi).",
 theirs: "a plot",
 parts: [
  {what: "R(sleeping) / R(spin) at count 10 with the most blocks", bound: {above: 1.05},
   cases: found(ratio("fermi"; "semaphore"; ["sleeping", "spin"]; 10; "sleeping"; ["spin"]))},
  {what: "R(tas) / R(fetch-add) with the most blocks", bound: {above: 1.05},
   cases: found(ratio("fermi"; "mutex"; ["tas", "fetch-add"]; "tas"; ["fetch-add"]))}]}
]
