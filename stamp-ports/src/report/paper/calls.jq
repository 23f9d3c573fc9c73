# What claims, sentences and figures of `bench paper` ask for; sets.jq has the sets.

# The paper's workloads by their plain names, and its algorithms without the choice among them.
def programs: "ra", "ht", "genome", "gn1", "gn2", "labyrinth", "kmeans";
def algorithms: "egpgv", "vbv", "tbv-sorting", "hv-sorting", "hv-backoff";

# The workloads with one of these plain names that have a rate.
def those(plain): distinct($best | where({plain: [plain]}) | select(.rate > 0).workload);
def rate($workload; $variant): one($best | where({$workload, $variant}).rate | values);
# The highest rate but that of `optimized`.
def fastest($workload): max($best | where({$workload}) | select(.variant != "optimized").rate | values);
def over_tbv($workload): rate($workload; "hv-sorting") / rate($workload; "tbv-sorting");
# The result with the largest speed-up over cgl.
def largest(plain): highest($best | where({plain: [plain], variant: [algorithms]}); .gain);
# The points of Figure 3 that ran.
def ran($workload; $variant): $threads | where({$workload, $variant}) | select(.tx_per_s > 0);
# The settings of Figure 4 that both variants ran in, one for each name.
def settings(is): distinct($pairs[] | select(is).setting) as $setting | first($pairs | where({$setting}));
