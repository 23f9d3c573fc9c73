# What the library is to reach by `bench sync`.

# The default barrier's latency over its peer's, for each block size.
def barrier($blocks):
  known(([[$points | where({part: "barrier", $blocks}).threads]] | common[]) as $threads
    | [$cells | where({part: "barrier", $blocks, $threads})] as $own | default_of($own; "grid.sync") as $k
    | case("\($blocks) x \($threads), \($k)"; one($own | where({implementation: "grid.sync"}).per_s) / one($own | where({implementation: $k}).per_s));
    "\($blocks) blocks")
  // ["\($blocks) blocks", null];

# The shortest time of some kinds over that of others, whose names begin so, for each number of blocks.
def ratios($place; $more; $ours; $others):
  def fastest($points; $start): lowest($points[] | select(.implementation | startswith($start)); .ms);
  ([[$points | where($place).blocks]] | common[]) as $blocks
  | [$cells | where($place + $more + {$blocks})] as $own
  | one(fastest($own; $ours)) as $a | one(fastest($own; $others)) as $b
  | case("\($blocks) x \($place.threads), \($a.implementation // $ours) / \($b.implementation // $others)"; $a.ms / $b.ms);
def in_table($ours; $others): ratios({part: "table", threads: 256}; {buckets: 16}; $ours; $others);

[
{id: "T-1",
 claim: "The default mutex against cuda::binary_semaphore, one thread a block asks.",
 parts: [
  {what: "R(default) / R(peer) with 1, 8 and 32 blocks", bound: {at_least: 1},
   cases: found((1, 8, 32) as $blocks | case($blocks | in_blocks; rate("mutex"; "default"; $blocks) / rate("mutex"; "cuda::binary_semaphore"; $blocks)))},
  {what: "with 132 and 528", bound: {at_least: 1.3},
   cases: found((132, 528) as $blocks | case($blocks | in_blocks; rate("mutex"; "default"; $blocks) / rate("mutex"; "cuda::binary_semaphore"; $blocks)))}]},
{id: "T-2",
 claim: "Combining against TAS with backoff, one hot lock, 132 blocks.",
 parts: [
  {what: "R(combining) / R(tas-backoff)", bound: {at_least: 10},
   cases: found(case("combining / tas-backoff"; rate("mutex"; "combining"; 132) / rate("mutex"; "tas-backoff"; 132)))}]},
{id: "T-3",
 claim: "Fairness of the default mutex, 132 blocks.",
 parts: [
  {what: "most over fewest sections of a block (cuda::binary_semaphore stands beside)", bound: {at_most: 2},
   cases: found(case("default"; unfairness("default"; 132)))},
  {bound: "shown",
   cases: found(case("cuda::binary_semaphore"; unfairness("cuda::binary_semaphore"; 132)))}]},
{id: "T-4",
 claim: "The default barrier against grid.sync().",
 parts: [
  {what: "its latency / that of the peer with 132 and 264 blocks", bound: {at_most: 1}, cases: found(barrier(132), barrier(264))},
  {what: "with 528", bound: {at_most: 0.9}, cases: found(barrier(528))},
  {what: "with 1,056", bound: {at_most: 0.8}, cases: found(barrier(1056))}]},
{id: "T-5",
 claim: "Hash table, 16 buckets: combining against MCS.",
 parts: [
  {what: "T(mcs) / T(combining) (the table by transaction stands beside both)", bound: {at_least: 10}, cases: found(in_table("mcs"; "combining"))},
  {bound: "shown", cases: found(in_table("mcs"; "stm:"), in_table("stm:"; "combining"))}]},
{id: "T-6",
 claim: "Sorted list by transaction against lock coupling, 16 entry points.",
 parts: [
  {what: "T of the fastest coupled list / T of the fastest by transaction", bound: {at_least: 5},
   cases: found(ratios({part: "list", threads: 128}; {"entry-points": 16}; "coupled:"; "stm:"))}]},
{id: "T-7",
 claim: "Semaphore of count 10 against cuda::counting_semaphore, 132 blocks.",
 parts: [
  {what: "R(default) / R(peer)", bound: {at_least: 1},
   cases: found("cuda::counting_semaphore" as $peer
    | (one(default_of([$cells | where({part: "semaphore", blocks: 132, count: 10})]; $peer)) // "default") as $k
    | case("\($k) / \($peer)"; rate("semaphore"; $k; 132; 10) / rate("semaphore"; $peer; 132; 10)))}]}
]
