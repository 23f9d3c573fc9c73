# The sets of a document of `bench nw`: its points, of which each has the side of a tile, and those of single hops.

[$document.points[] | point | . + {side_or_0: (.parameters.side // 0)}]
| {points: ., hops: [where({part: "hops", counts: 1})]}
