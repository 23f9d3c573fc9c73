# What the library is to reach by `bench nw`.

[
{id: "T-1",
 claim: "Reduction: a tagged word against a spin lock a lane.",
 parts: [
  {what: "cycles of atom-lock / those of tagged", bound: {at_least: 4},
   cases: found(case("atom-lock / tagged"; cycles("atom-lock") / cycles("tagged")))}]},
{id: "T-2",
 claim: "Reduction: a tagged word against named barriers.",
 parts: [
  {what: "cycles of warp-barr / those of tagged", bound: {at_least: 1.5},
   cases: found(case("warp-barr / tagged"; cycles("warp-barr") / cycles("tagged")))}]},
{id: "T-3",
 claim: "Dataflow against diagonals with tiles of 32, 248 letters and fewer.",
 parts: [
  {what: "T(diagonals) / T(dataflow) with 31, 62, 124 and 248", bound: {at_least: 3},
   cases: found((31, 62, 124, 248) as $n | case("\($n) letters"; ms("diagonals"; $n; 32) / ms("dataflow"; $n)))}]},
{id: "T-4",
 claim: "Dataflow against diagonals with the best tile, 248 letters and fewer.",
 parts: [
  {what: "T(diagonals) / T(dataflow) with 31, 62, 124 and 248", bound: {at_least: 3},
   cases: found((31, 62, 124, 248) as $n | case("\($n) letters"; ms("diagonals"; $n) / ms("dataflow"; $n)))}]},
{id: "T-5",
 claim: "Dataflow against diagonals with tiles of 32, 1,984 letters.",
 parts: [
  {what: "T(diagonals) / T(dataflow)", bound: {at_least: 2},
   cases: found(case("1984 letters"; ms("diagonals"; 1984; 32) / ms("dataflow"; 1984)))}]},
{id: "T-6",
 claim: "Dataflow against diagonals with the best tile, 1,984 letters.",
 parts: [
  {what: "T(diagonals) / T(dataflow)", bound: {at_least: 2},
   cases: found(case("1984 letters"; ms("diagonals"; 1984) / ms("dataflow"; 1984)))}]},
{id: "T-7",
 claim: "Dataflow against the graph with tiles of 32, 32 K letters.",
 parts: [
  {what: "T(graph) / T(dataflow)", bound: {at_least: 3},
   cases: found(case("32768 letters"; ms("graph"; 32768; 32) / ms("dataflow"; 32768)))}]},
{id: "T-8",
 claim: "Dataflow against the graph with its best tile, 32 K letters.",
 parts: [
  {what: "T(graph) / T(dataflow)", bound: {at_least: 1.3},
   cases: found(case("32768 letters"; ms("graph"; 32768) / ms("dataflow"; 32768)))}]}
]
