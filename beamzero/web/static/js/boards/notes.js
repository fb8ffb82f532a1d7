// An analysis on the board: values at the places of moves, arrows, and the expected line.

import { percent, svg } from "../dom.js";

const ARROWS = 3; // best moves that are drawn where moves go from place to place
const HEAD = 26;

// Five steps from a lost position to a won one, for colours.
export const shade = (value) => `value-${Math.min(4, Math.floor(((value + 1) / 2) * 5))}`;

export class Notes {
  constructor(layer) {
    this.layer = layer;
  }

  use(drawing) {
    this.drawing = drawing;
    this.clear();
  }

  clear() {
    this.layer.replaceChildren();
  }

  // `path` are the places picked so far; `steps` the places of each move of a line, which then is all that is drawn.
  show(analysis, legal, path, steps) {
    this.clear();
    if (steps) return this.line(steps);
    if (!analysis) return;
    const places = new Map(legal.map(({ move, places }) => [move, places]));
    const moves = analysis.moves
      .map((entry) => ({ ...entry, places: places.get(entry.move) ?? [] }))
      .filter((entry) => entry.places.length > 0 && entry.places.every((place) => this.drawing.has(place)))
      .sort((a, b) => b.value - a.value);
    const reached = moves.filter((entry) => path.every((place, i) => entry.places[i]?.join() === place.join()));
    const far = reached.filter((entry) => entry.places.length > path.length + 1);
    const near = reached.filter((entry) => entry.places.length === path.length + 1);
    this.values(near, analysis.best);
    const shown = [...far].sort((a, b) => (b.move === analysis.best) - (a.move === analysis.best)).slice(0, ARROWS);
    for (const entry of shown.reverse()) this.arrow(entry.places, shade(entry.value), entry.move === analysis.best);
    this.values(shown.map((entry) => ({ ...entry, places: [entry.places.at(-1)] })), analysis.best);
  }

  values(entries, best) {
    const said = new Set();
    for (const { places, value, move } of entries) {
      const place = places.at(-1);
      if (said.has(place.join())) continue;
      said.add(place.join());
      const [x, y] = this.drawing.centre(place);
      const isBest = move === best;
      const size = this.drawing.radius;
      const badge = { x: x - size * 0.76, y: y - size * 0.4, width: size * 1.52, height: size * 0.8, rx: size * 0.2 };
      const text = percent(value);
      const height = size * (text.length > 3 ? 0.5 : 0.6); // so that 100% has room
      this.layer.append(
        svg("rect", { class: `badge ${shade(value)}${isBest ? " best" : ""}`, ...badge }),
        svg("text", { class: "badge-text", x, y: y + height * 0.35, "font-size": height }, text),
      );
    }
  }

  arrow(places, kind, strong, number) {
    const [[x1, y1], [x2, y2]] = [this.drawing.centre(places[0]), this.drawing.centre(places.at(-1))];
    const length = Math.hypot(x2 - x1, y2 - y1);
    if (length === 0) return;
    const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length];
    const [bx, by] = [x2 - ux * HEAD, y2 - uy * HEAD];
    const [wx, wy] = [-uy * HEAD * 0.6, ux * HEAD * 0.6];
    this.layer.append(
      svg("line", { class: `arrow ${kind}${strong ? " best" : ""}`, x1, y1, x2: bx, y2: by }),
      svg("polygon", { class: `arrow-head ${kind}`, points: [x2, y2, bx + wx, by + wy, bx - wx, by - wy].join(" ") }),
    );
    if (number) this.number((x1 + x2) / 2, (y1 + y2) / 2, number, kind);
  }

  line(steps) {
    steps.forEach(({ places, side }, i) => {
      const known = places.filter((place) => this.drawing.has(place));
      if (known.length > 1) this.arrow(known, `side-${side}`, i === 0, i + 1);
      else if (known.length === 1) this.number(...this.drawing.centre(known[0]), i + 1, `side-${side}`);
    });
  }

  number(x, y, number, kind) {
    const r = this.drawing.radius * 0.42;
    this.layer.append(
      svg("circle", { class: `step ${kind}`, cx: x, cy: y, r }),
      svg("text", { class: "badge-text", x, y: y + r * 0.36, "font-size": r * 1.1 }, String(number)),
    );
  }
}
