# Claims of Xu et al. 2014.

# The slower of both hierarchical ways in a workload of modest conflicts that both ran.
def slower: those("ra", "ht", "genome", "gn1", "gn2", "labyrinth") as $w
  | [$best | where({workload: $w, variant: ["tbv-sorting", "hv-sorting"]}) | select(.gain > 0)]
  | select(any(.variant == "tbv-sorting") and any(.variant == "hv-sorting")) | lowest(.[]; .gain);
def in_kmeans: those("kmeans") as $w | highest($best | where({workload: $w}) | select(.variant != "cgl" and .variant != "optimized"); .gain);
# The workloads in which words do not outnumber locks.
def few_words: distinct($best[].workload) as $workload
  | select(any($best | where({$workload, variant: "tbv-sorting"}).locks as $locks | $characteristics | where({$workload}).shared_words <= $locks; .)
    and over_tbv($workload) != null)
  | $workload;
# The rate with 256 threads a processor, or of the next smaller launch, over that of the smallest.
def scaled($workload; $variant): [ran($workload; $variant)] as $all | min($all[].total) as $least
  | one(last($all[] | select(.per_processor <= 256 and .tenth >= $least)).tx_per_s) / $all[0].tx_per_s;
def alone(number; plain): ($breakdown | where({alone: 1, plain: [plain]}) | case("\(.label) \(.variant)"; number))
  // ["a profile of one thread alone", null];

[
{id: "X-1", section: "abstract, 4.4",
 claim: "The new variants gain up to 20-fold over coarse-grained locking, in GN-2",
 parts: [
  {what: "the rate of the best of them / that of the hand-written critical section in GN-2", bound: {at_least: 20},
   cases: found(known(those("gn2") as $w | highest($best | where({workload: $w, variant: ["tbv-sorting", "hv-sorting", "hv-backoff"]}); .gain)
      | case(.label; .over_section); "a hand-written critical section"))},
  {bound: "shown",
   cases: found(those(programs) as $w | highest($best | where({workload: $w, variant: ["tbv-sorting", "hv-sorting", "hv-backoff"]}); .gain)
      | case("\(.label) by \(.variant) over cgl"; .gain))}]},
{id: "X-2", section: "4.2",
 claim: "optimized is the fastest or level with it",
 parts: [
  {what: "its rate / that of the fastest other variant, in each workload of the paper", bound: {at_least: 0.95}, unit: "percent",
   cases: found(known(those(programs) as $w | case($w | short_name; rate($w; "optimized") / fastest($w))))}]},
{id: "X-3", section: "4.2",
 claim: "egpgv is held back by one transaction a block",
 parts: [
  {what: "its rate / that of the fastest variant, in each workload of the paper in which any variant has twice the rate of cgl or more", bound: {below: 0.95}, unit: "percent",
   cases: found(known(those(programs) as $w | select(any($best | where({workload: $w}) | select(.variant != "optimized" and .variant != "cgl"); .gain >= 2))
      | case($w | short_name; rate($w; "egpgv") / fastest($w))))}]},
{id: "X-4", section: "4.2",
 claim: "vbv suffers where there are many transactions: RA, HT, GN, KM",
 parts: [
  {what: "its rate / that of the fastest variant, in each of them", bound: {below: 0.5}, unit: "percent",
   cases: found(known(those("ra", "ht", "genome", "gn1", "gn2", "kmeans") as $w | case($w | short_name; rate($w; "vbv") / fastest($w))))}]},
{id: "X-5", section: "4.2",
 claim: "tbv and hv gain where conflicts are modest: RA, HT, GN, LB",
 parts: [
  {what: "the rate of the slower of tbv-sorting and hv-sorting / that of the hand-written critical section, in each of them that has one", bound: {above: 1.05},
   cases: found(known(slower | case(.label; .over_section); "a hand-written critical section"))},
  {bound: "shown",
   cases: found(slower | case("\(.label) by \(.variant) over cgl"; .gain))}]},
{id: "X-6", section: "4.2",
 claim: "KM gains nothing",
 parts: [
  {what: "the rate of its fastest variant / that of the hand-written critical section", bound: {at_most: 1.05},
   cases: found(known(in_kmeans | case(.label; .over_section); "a hand-written critical section"))},
  {bound: "shown",
   cases: found(in_kmeans | case("\(.label) by \(.variant) over cgl"; .gain))},
  {bound: "shown", unit: "percent",
   cases: found(case("attempts of optimized that abort"; $best | where({workload: "kmeans", variant: "optimized"}).abort_rate))}]},
{id: "X-7", section: "4.2",
 claim: "The more of its time is in transactions, the more a workload gains",
 parts: [
  {what: "the rank correlation of that share and the largest speed-up, over four workloads or more,", bound: {at_least: 0.7}, unit: "plain",
   cases: found([$characteristics[] | select(.gain != null and .time_in_tx >= 0)] as $all
      | case("the correlation over \($all | length | counted("workload"))"; correlation($all[] | [.time_in_tx, .gain])))}]},
{id: "X-8", section: "4.2",
 claim: "Sorting is ahead of backoff where conflicts are few: RA, HT, GN",
 parts: [
  {what: "the rate of hv-sorting / that of hv-backoff, in each of them", bound: {above: 1.05},
   cases: found(known(those("ra", "ht", "genome", "gn1", "gn2") as $w | case($w | short_name; rate($w; "hv-sorting") / rate($w; "hv-backoff"))))}]},
{id: "X-9", section: "4.2",
 claim: "hv is ahead of tbv where data outnumber the locks: RA, LB",
 parts: [
  {what: "the rate of hv-sorting / that of tbv-sorting, in both", bound: {above: 1.05},
   cases: found(known(those("ra", "labyrinth") as $w | case($w | short_name; over_tbv($w))))}]},
{id: "X-10", section: "4.2",
 claim: "hv costs a little where it cannot gain",
 parts: [
  {what: "where words do not outnumber locks, the median of the rate of hv-sorting / that of tbv-sorting, in Figure 4 and over the workloads of Figure 2,", bound: {within: [0.75, 0.95]},
   cases: found(known(case("Figure 4"; median($pairs[] | select(.hot_words <= .locks).gain)), case("Figure 2"; median(over_tbv(few_words)))))}]},
{id: "X-11", section: "Figure 3",
 claim: "vbv does not scale",
 parts: [
  {what: "its best rate / that of its smallest launch, in each workload", bound: {below: 2},
   cases: found(known(distinct($threads[].workload) as $w | case($w | short_name; max(ran($w; "vbv").tx_per_s) / one(ran($w; "vbv").tx_per_s))))}]},
{id: "X-12", section: "Figure 3",
 claim: "egpgv ends early: beyond few threads it crashes",
 parts: [
  {what: "its best rate with more than 256 threads a processor, 0 if such launches do not run, / that of the smaller ones, in each workload", bound: {at_most: 1.05},
   cases: found(known(distinct($threads[].workload) as $w
      | case($w | short_name; max($threads | where({workload: $w, variant: "egpgv"}) | select(.per_processor > 256).tx_per_s)
        / max(ran($w; "egpgv") | select(.per_processor <= 256).tx_per_s))))}]},
{id: "X-13", section: "Figure 3",
 claim: "tbv and hv scale",
 parts: [
  {what: "the rate with 256 threads a processor, or of the next smaller launch, / that of the smallest launch, the smaller of tbv-sorting and hv-sorting, in each workload", bound: {at_least: 10},
   cases: found(known(distinct($threads[].workload) as $w | case($w | short_name; min(scaled($w; "tbv-sorting", "hv-sorting")))))}]},
{id: "X-14", section: "4.2",
 claim: "More threads bring more conflicts",
 parts: [
  {what: "the share of attempts that hv-sorting aborts at its largest launch less that at its smallest, in each workload", bound: {above: 0}, unit: "percent",
   cases: found(known(distinct($threads[].workload) as $w | case($w | short_name; change(ran($w; "hv-sorting").abort_rate))))}]},
{id: "X-15", section: "3.2.2",
 claim: "There is no livelock",
 parts: [
  {what: "no attempt of Figure 2 was stopped, and at every point of Figure 3 that ran transactions committed", bound: "fact",
   cases: found([$threads | where({ran: 1})] as $ran | min($speedups[].unstopped) as $unstopped | min($ran[].committed) as $committed
      | case("\(count($speedups | where({unstopped: 0}))) of \($speedups | length) measurements of Figure 2 had an attempt stopped, "
        + "\(count($ran | where({committed: 0}))) of \($ran | length) points of Figure 3 committed nothing, "
        + "\(count($ran | where({late: 1}))) ended at their time limit";
        if $unstopped == 0 or $committed == 0 then 0 else $unstopped * $committed end))}]},
{id: "X-16", section: "4.3",
 claim: "hv and tbv are level below 1K threads",
 parts: [
  {what: "the rate of hv-sorting / that of tbv-sorting in each such setting", bound: {within: [0.95, 1.05]},
   cases: found((settings(.total < 1024) | case(.setting; .gain)) // ["a setting with fewer than 1K threads", null])}]},
{id: "X-17", section: "4.3",
 claim: "hv and tbv are level with 1M words",
 parts: [
  {what: "the rate of hv-sorting / that of tbv-sorting in each such setting", bound: {within: [0.95, 1.05]},
   cases: found(settings(.hot_words <= 1048576) | case(.setting; .gain))},
  {bound: "shown",
   cases: found(case("the median"; median($pairs[] | select(.hot_words <= 1048576).gain)))}]},
{id: "X-18", section: "4.3",
 claim: "With much data tbv gains much from more locks",
 parts: [
  {what: "with the most words, the rate of tbv-sorting with the most locks / that with the fewest, at each number of threads", bound: {at_least: 2},
   cases: found(highest($pairs[]; .hot_words).hot_words as $hot_words
      | ([[$pairs | where({$hot_words}).total]] | common[]) as $total | [$pairs | where({$hot_words, $total})]
      | lowest(.[]; .locks) as $few | highest(.[] | select(.locks > $few.locks); .locks) as $many
      | case($total | counted("thread"); $many.tbv_rate / $few.tbv_rate))}]},
{id: "X-19", section: "4.3",
 claim: "With more data than that, hv is near its best with 4M locks",
 parts: [
  {what: "its rate / its best rate with any number of locks, in each setting with more than 4M words", bound: {at_least: 0.9}, unit: "percent",
   cases: found(settings(.locks == 4194304 and .hot_words > 4194304) | . as {$hot_words, $blocks, $threads}
      | case(.setting; .tx_per_s / max($eigenbench | where({variant: "hv-sorting", $hot_words, $blocks, $threads}).tx_per_s)))}]},
{id: "X-20", section: "4.3",
 claim: "hv aborts far less with few locks",
 parts: [
  {what: "the share of attempts that hv-sorting aborts / that of tbv-sorting, in each setting (words/locks/threads) with the fewest locks in which words outnumber them", bound: {at_most: 0.5},
   cases: found(min($pairs[].locks) as $few | settings(.locks == $few and .hot_words > .locks) | case(.setting; .fewer))}]},
{id: "X-21", section: "4.3",
 claim: "Fewer aborts gain little time",
 parts: [
  {what: "the rate of hv-sorting / that of tbv-sorting, in each setting in which words outnumber locks and it aborts ten points less of the attempts than tbv-sorting", bound: {at_most: 1.25},
   cases: found(settings(.hot_words > .locks and .less_aborted >= 0.1) | case(.setting; .gain))},
  {bound: "shown",
   cases: found(case("the median"; median($pairs[] | select(.hot_words > .locks and .less_aborted >= 0.1).gain)))}]},
{id: "X-22", section: "4.4",
 claim: "GN-2 is dominated by the STM's own work, LB and KM by buffering",
 parts: [
  {what: "in a profile of one thread alone, as the paper's, the share of GN's own code", bound: {below: 0.5}, unit: "percent",
   cases: found(alone(.own; "genome", "gn2"))},
  {what: "there the share of buffering in LB and KM / that of the largest other phase but their own code", bound: {at_least: 1},
   cases: found(alone(.buffering_over; "labyrinth", "kmeans"))}]}
]
