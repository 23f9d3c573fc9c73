# What claims and tables of `bench nw` ask for.

# The cycles of a round of the reduction by 16 warps.
def cycles($scheme): one($points | where({part: "reduction", implementation: $scheme, warps: 16, counts: 1}).cycles | values);
# The shortest time of one table of so many letters of nucleotides with linear gaps, of all tiles or of those of one side.
def table($implementation; $letters): $points | where({$implementation, $letters, pairs: 1, affine: 0, protein: 0, counts: 1});
def ms($implementation; $letters): min(table($implementation; $letters).ms);
def ms($implementation; $letters; $side): min(table($implementation; $letters) | select(.side == $side).ms);
