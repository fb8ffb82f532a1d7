// The evaluation of a whole game as a curve: side 0's chance of winning after each move.

import { percent, svg } from "./dom.js";

const [WIDTH, HEIGHT] = [400, 120];

export function drawCurve(root, { values, length, marks, shown, onChoose }) {
  const x = (ply) => (length ? (ply / length) * WIDTH : 0);
  const y = (value) => ((1 - value) / 2) * HEIGHT;
  const points = values.map((value, ply) => `${x(ply).toFixed(1)},${y(value).toFixed(1)}`);
  const area = values.length ? `0,${HEIGHT} ${points.join(" ")} ${x(values.length - 1).toFixed(1)},${HEIGHT}` : "";
  const spots = marks.flatMap(({ mark }, i) =>
    mark && values[i + 1] !== undefined
      ? [svg("circle", { class: mark === "??" ? "blunder" : "mistake", cx: x(i + 1), cy: y(values[i + 1]), r: 4 })]
      : [],
  );
  const picture = svg(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("rect", { class: "curve-ground", width: WIDTH, height: HEIGHT }),
    svg("polygon", { class: "curve-area", points: area }),
    svg("line", { class: "curve-middle", x1: 0, x2: WIDTH, y1: HEIGHT / 2, y2: HEIGHT / 2 }),
    svg("polyline", { class: "curve-line", points: points.join(" ") }),
    svg("line", { class: "curve-now", x1: x(shown), x2: x(shown), y1: 0, y2: HEIGHT }),
    ...spots,
  );
  picture.addEventListener("click", (event) => {
    const box = picture.getBoundingClientRect();
    onChoose(Math.round(((event.clientX - box.left) / box.width) * length));
  });
  const value = values[shown];
  root.setAttribute("aria-valuetext", value === undefined ? `move ${shown}` : `move ${shown}, ${percent(value)}`);
  root.setAttribute("aria-valuemax", length);
  root.setAttribute("aria-valuenow", shown);
  root.replaceChildren(picture);
}
