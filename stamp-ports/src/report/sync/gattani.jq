# Claims of Gattani and Anickode 2024.

[
{id: "A-B1", section: "basic",
 claim: "A spin lock makes counting 10.9 times as slow as atomics.",
 theirs: "0.0275 ms and 0.300 ms (+991.40 %)",
 parts: [
  {what: "T(tas) / T(none)", bound: {factor: 10.9},
   cases: found(case("tas / none"; sections("tas"; 0) / sections("none"; 0)))}]},
{id: "A-B2", section: "basic",
 claim: "A ticket lock makes it 20.6 times as slow, 1.88 times the spin lock.",
 theirs: "0.566 ms (+1957.09 %)",
 parts: [
  {what: "T(ticket) / T(none)", bound: {factor: 20.6},
   cases: found(case("ticket / none"; sections("ticket"; 0) / sections("none"; 0)))},
  {what: "T(ticket) / T(tas)", bound: {factor: 1.88},
   cases: found(case("ticket / tas"; sections("ticket"; 0) / sections("tas"; 0)))}]},
{id: "A-N1", section: "low, high",
 claim: "Without a lock the result is wrong, with each lock it is right.",
 theirs: "without a lock 138,999 and 139,700; with one 131,328",
 parts: [
  {what: "the sum of b sections without a lock is not b (b + 1) / 2, at 100 and at 100,000 rounds", bound: "fact",
   cases: found((100, 100000) as $rounds
    | (distinct($sections | where({implementation: "none", $rounds}).sum) as $sum
      | case("\($sum) without a lock at \($rounds) rounds"; any($sections | where({implementation: "none", $rounds}); .right_sum != $sum)))
    // ["the sum without a lock at \($rounds) rounds", null])},
  {what: "it is with each lock", bound: "fact",
   cases: found((100, 100000) as $rounds | locks("none"; $rounds) as $k
    | case("\($k)\(state($k; $rounds)) at \($rounds)"; max($sections_at | where({implementation: $k, $rounds}).sound)))}]},
{id: "A-N2", section: "low, high",
 claim: "Without a lock it is 6.3 and 5.9 times as fast as with a spin lock.",
 theirs: "0.194 ms to 1.222 ms, 117.9 ms to 696.5 ms",
 parts: [
  {what: "T(tas) / T(none) at 100 rounds", bound: {factor: 6.3},
   cases: found(case("tas / none"; sections("tas"; 100) / sections("none"; 100)))},
  {what: "the same at 100,000", bound: {factor: 5.9},
   cases: found(case("tas / none"; sections("tas"; 100000) / sections("none"; 100000)))}]},
{id: "A-L1", section: "low",
 claim: "The ticket lock is 22 % slower than the spin lock.",
 theirs: "1.489 ms (+21.88 %)",
 parts: [
  {what: "T(ticket) / T(tas)", bound: {within: [1.05, 1.39]},
   cases: found(case("ticket / tas"; sections("ticket"; 100) / sections("tas"; 100)))}]},
{id: "A-L2", section: "low",
 claim: "Two spin locks in a row cost 12 %.",
 theirs: "1.368 ms (+12.00 %)",
 parts: [
  {what: "T(spin-spin) / T(tas)", bound: {within: [1.05, 1.25]},
   cases: found(case("spin-spin / tas"; sections("spin-spin"; 100) / sections("tas"; 100)))}]},
{id: "A-L3", section: "low",
 claim: "The mutex written into the kernel equals the spin lock.",
 theirs: "1.207 ms (−1.23 %)",
 parts: [
  {what: "T(tas, measured again) / T(tas), the same code here, so a test of noise,", bound: {within: [0.95, 1.05]},
   cases: found(case("tas-again / tas"; sections("tas-again"; 100) / sections("tas"; 100)))}]},
{id: "A-L4", section: "low",
 claim: "MCS is 6 % slower than the spin lock and the best of the locks with an order.",
 theirs: "1.291 ms (+5.70 %)",
 parts: [
  {what: "T(mcs) / T(tas)", bound: {within: [1, 1.15]},
   cases: found(case("mcs / tas"; sections("mcs"; 100) / sections("tas"; 100)))},
  {what: "T(mcs) / that of the faster of ticket and anderson", bound: {below: 1},
   cases: found(case("mcs / the others"; sections("mcs"; 100) / min(sections("ticket", "anderson"; 100))))}]},
{id: "A-L4x", section: "low, labels exchanged",
 claim: "Anderson's lock is 6 % slower than the spin lock and the best of the locks with an order.",
 theirs: "1.291 ms (+5.70 %)",
 parts: [
  {what: "T(anderson) / T(tas)", bound: {within: [1, 1.15]},
   cases: found(case("anderson / tas"; sections("anderson"; 100) / sections("tas"; 100)))},
  {what: "T(anderson) / that of the faster of ticket and mcs", bound: {below: 1},
   cases: found(case("anderson / the others"; sections("anderson"; 100) / min(sections("ticket", "mcs"; 100))))}]},
{id: "A-L5", section: "low",
 claim: "Anderson's lock is 30 % slower than the spin lock, the slowest of all.",
 theirs: "1.583 ms (+29.57 %)",
 parts: [
  {what: "T(anderson) / T(tas)", bound: {at_least: 1.05},
   cases: found(case("anderson / tas"; sections("anderson"; 100) / sections("tas"; 100)))},
  {what: "T(anderson) / the largest of all others", bound: {at_least: 1},
   cases: found(case("anderson / the others"; sections("anderson"; 100) / max(sections(locks("anderson"; 100); 100))))}]},
{id: "A-L5x", section: "low, labels exchanged",
 claim: "MCS is 30 % slower than the spin lock, the slowest of all.",
 theirs: "1.583 ms (+29.57 %)",
 parts: [
  {what: "T(mcs) / T(tas)", bound: {at_least: 1.05},
   cases: found(case("mcs / tas"; sections("mcs"; 100) / sections("tas"; 100)))},
  {what: "T(mcs) / the largest of all others", bound: {at_least: 1},
   cases: found(case("mcs / the others"; sections("mcs"; 100) / max(sections(locks("mcs"; 100); 100))))}]},
{id: "A-H1", section: "high",
 claim: "With long sections the choice of the lock hardly matters.",
 theirs: "−0.09 % to +1.27 %",
 parts: [
  {what: "largest over smallest T of all at 100,000 rounds", bound: {at_most: 1.05},
   cases: found(case("largest / smallest"; spread(sections(locks("none"; 100000); 100000))))}]},
{id: "A-Q1", section: "best lock",
 claim: "Fairness: spin low, ticket high, Anderson medium, MCS high.",
 theirs: "no figures",
 parts: [
  {what: "most over fewest sections of a block with 512 blocks: spin", bound: {above: 2},
   cases: found(slides as $blocks | case("tas at \($blocks | in_blocks)"; unfairness("tas"; $blocks)))},
  {what: "ticket and mcs", bound: {at_most: 1.1},
   cases: found(("ticket", "mcs") as $k | slides as $blocks | case("\($k) at \($blocks | in_blocks)"; unfairness($k; $blocks)))},
  {what: "anderson", bound: {within: [1.1, 2]},
   cases: found(slides as $blocks | case("anderson at \($blocks | in_blocks)"; unfairness("anderson"; $blocks)))}]},
{id: "A-Q2", section: "best lock",
 claim: "Scalability: spin and ticket low, Anderson medium, MCS high.",
 theirs: "no figures",
 parts: [
  {what: "q = R(512 blocks) / R(8): q(mcs) / q(anderson), and q(anderson) / q(tas) and / q(ticket)", bound: {above: 1.05},
   cases: found(case("q(mcs) / q(anderson)"; growth("mcs") / growth("anderson")),
    case("q(anderson) / q(tas)"; growth("anderson") / growth("tas")),
    case("q(anderson) / q(ticket)"; growth("anderson") / growth("ticket")))}]}
]
