// Draws an arrow from each write to the read that returned its value, and from
// that read to the write that ended the value. Without it the numbers say the same.
(() => {
  const grid = document.querySelector(".grid");
  const svg = grid && grid.querySelector(".arrows");
  const list = grid && grid.dataset.arrows;
  if (!list) return;
  const draw = () => {
    svg.querySelectorAll(":scope > path").forEach((path) => path.remove());
    const origin = grid.getBoundingClientRect();
    for (const arrow of list.split(";")) {
      const [from, to, kind] = arrow.split(" ");
      const ends = [from, to].map((id) => document.getElementById(id));
      if (!ends[0] || !ends[1]) continue;
      const [a, b] = ends.map((end) => end.getBoundingClientRect());
      const middle = (box) => box.top + box.height / 2 - origin.top;
      let x1, x2, bend;
      if (a.right < b.left) {
        [x1, x2, bend] = [a.right, b.left, 1];
      } else if (b.right < a.left) {
        [x1, x2, bend] = [a.left, b.right, -1];
      } else {
        [x1, x2, bend] = [a.right, b.right, 0];
      }
      x1 -= origin.left;
      x2 -= origin.left;
      const [y1, y2] = [middle(a), middle(b)];
      const reach = Math.max(24, Math.abs(x2 - x1) / 2);
      const [c1, c2] = bend ? [x1 + bend * reach, x2 - bend * reach] : [x1 + 24, x2 + 24];
      const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
      path.setAttribute("d", `M${x1},${y1} C${c1},${y1} ${c2},${y2} ${x2},${y2}`);
      path.setAttribute("class", kind);
      path.setAttribute("marker-end", `url(#${kind})`);
      svg.append(path);
    }
  };
  new ResizeObserver(draw).observe(grid);
  grid.addEventListener("toggle", draw, true);
  draw();
})();
