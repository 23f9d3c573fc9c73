# Claims of Li et al. 2015.

[
{id: "L-4",
 claim: "A tiny lock is 4.0× as fast as a spin lock for each lane.",
 theirs: "Table 2",
 parts: [
  {what: "cycles(atom-lock) / cycles(tagged) with 16 warps", bound: {graded: [3.2, 2.0]},
   cases: found(case("atom-lock / tagged"; cycles("atom-lock") / cycles("tagged")))}]},
{id: "L-5",
 claim: "A tiny lock is 1.5× as fast as a pair of named barriers.",
 theirs: "4.0 and 2.6 in Table 2",
 parts: [
  {what: "cycles(warp-barr) / cycles(tagged) with 16 warps", bound: {graded: [1.2, 1.05]},
   cases: found(case("warp-barr / tagged"; cycles("warp-barr") / cycles("tagged")))}]},
{id: "L-6",
 claim: "A spin lock for each warp is slower than one for each lane, and a vote slower than named barriers.",
 theirs: "0.8 and 1.0; 2.0 and 2.6 in Table 2",
 parts: [
  {what: "cycles(shrd-lock) / cycles(atom-lock), and cycles(warp-vote) / cycles(warp-barr)", bound: {above: 1.05},
   cases: found(case("shrd-lock / atom-lock"; cycles("shrd-lock") / cycles("atom-lock")),
    case("warp-vote / warp-barr"; cycles("warp-vote") / cycles("warp-barr")))}]},
{id: "L-1",
 claim: "Dataflow with tiny locks is far faster than with locks of atomics, by 296× at 1,984 letters.",
 theirs: "48,808 µs and 165 µs",
 parts: [
  {what: "T(locks) / T(cells) at 1,984 letters", bound: {graded: [236.8, 148.0]},
   cases: found(case("1984 letters"; ms("locks"; 1984) / ms("cells"; 1984)))}]},
{id: "L-2",
 claim: "Dataflow with tiny locks is more than 1.15× as fast as launches up to 248 letters.",
 theirs: "57 to 59 µs and 49 to 51 µs",
 parts: [
  {what: "T(diagonals) / T(cells) at 31, 62, 124 and 248 letters", bound: {above: 1.05},
   cases: found((31, 62, 124, 248) as $n | case("\($n) letters"; ms("diagonals"; $n) / ms("cells"; $n)))}]},
{id: "L-3",
 claim: "Dataflow with tiny locks is slower than launches from 496 letters on.",
 theirs: "79, 109 and 165 µs, and 72, 79 and 80 µs",
 parts: [
  {what: "T(cells) / T(diagonals) at 496, 992 and 1,984 letters", bound: {above: 1.05},
   cases: found((496, 992, 1984) as $n | case("\($n) letters"; ms("cells"; $n) / ms("diagonals"; $n)))}]}
]
