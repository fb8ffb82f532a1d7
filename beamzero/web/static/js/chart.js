// Lines with bands in an SVG, with axes that suit them.

import { el, svg } from "./dom.js";

const [WIDTH, HEIGHT] = [480, 260];
const EDGE = { left: 52, right: 12, top: 10, bottom: 36 };
const SHADES = 8; // colours that the style sheet knows
const DASHES = 4;

// A series is {name, colour, dash, points: [{x, y, low?, high?}]}.
export function drawChart(root, { title, series, xLabel }) {
  const points = series.flatMap((one) => one.points);
  root.hidden = points.length === 0;
  if (root.hidden) return;
  const farthest = Math.max(...points.map(({ x }) => x), 1);
  const xs = ticks(0, farthest).filter((value) => value <= farthest);
  const ys = ticks(
    Math.min(...points.map(({ y, low }) => low ?? y)),
    Math.max(...points.map(({ y, high }) => high ?? y)),
  );
  const x = scale([0, farthest], EDGE.left, WIDTH - EDGE.right);
  const y = scale(ys, HEIGHT - EDGE.bottom, EDGE.top);
  const summary = series.filter(({ points }) => points.length).map(latest);
  root.replaceChildren(
    el("h2", {}, title),
    svg(
      "svg",
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${title}. ${summary.join("; ")}` },
      ...axes(xs, ys, x, y, xLabel),
      ...series.flatMap((one) => drawSeries(one, x, y)),
    ),
    el("ul", { class: "legend" }, ...series.filter(({ points }) => points.length).map(legendEntry)),
  );
}

const latest = ({ name, points }) => `${name}: ${short(points.at(-1).y)}`;

function legendEntry(one) {
  return el("li", {}, el("i", { class: shadeOf(one), "aria-hidden": "true" }), latest(one));
}

const shadeOf = ({ colour }) => `series-${colour % SHADES}`;

function drawSeries(one, x, y) {
  const { points, dash = 0 } = one;
  const at = (point, value) => `${x(point.x).toFixed(1)},${y(value).toFixed(1)}`;
  const banded = points.filter(({ low, high }) => low !== undefined && high !== undefined);
  const outline = [...banded.map((point) => at(point, point.high)), ...banded.map((p) => at(p, p.low)).reverse()];
  const last = points.at(-1);
  const kind = shadeOf(one);
  return [
    ...(banded.length > 1 ? [svg("polygon", { class: `series-band ${kind}`, points: outline.join(" ") })] : []),
    svg("polyline", {
      class: `series-line ${kind} dash-${dash % DASHES}`,
      points: points.map((point) => at(point, point.y)).join(" "),
    }),
    ...(last ? [svg("circle", { class: `series-dot ${kind}`, cx: x(last.x), cy: y(last.y), r: 3 })] : []),
  ];
}

function axes(xs, ys, x, y, xLabel) {
  const bottom = HEIGHT - EDGE.bottom;
  return [
    ...ys.flatMap((value) => [
      svg("line", { class: "tick", x1: EDGE.left, x2: WIDTH - EDGE.right, y1: y(value), y2: y(value) }),
      svg("text", { x: EDGE.left - 6, y: y(value) + 4, "text-anchor": "end" }, short(value)),
    ]),
    ...xs.map((value) => svg("text", { x: x(value), y: bottom + 16, "text-anchor": "middle" }, short(value))),
    svg("text", { x: (EDGE.left + WIDTH) / 2, y: HEIGHT - 4, "text-anchor": "middle" }, xLabel),
  ];
}

function scale(values, from, to) {
  const [low, high] = [values[0], values.at(-1)];
  return (value) => from + ((value - low) / (high - low)) * (to - from);
}

// Round numbers from below `low` to above `high`, about five of them.
function ticks(low, high) {
  const span = high - low || Math.abs(high) || 1;
  const rough = span / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
  const first = Math.floor(low / step);
  const last = Math.max(Math.ceil(high / step), first + 1);
  return Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step);
}

function short(value) {
  if (Math.abs(value) >= 10_000) return `${Math.round(value / 1000)}k`;
  return Number(value.toPrecision(value >= 1000 ? 4 : 3)).toString();
}
