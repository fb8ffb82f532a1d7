// Boards of squares or hexagons with stones or pieces on them, drawn from a view of kind "grid".

import { svg } from "../dom.js";
import { figure, nameOfGlyph, pencilled } from "./figures.js";
import { paletteOf, sideColours } from "./palette.js";

const CELL = 100;
const HALF = CELL / 2;
const MARGIN = 34; // room for the coordinates
const LETTERS = "abcdefghijklmnopqrstuvwxyz";

export class Grid {
  static shape(view) {
    return [view.rows, view.columns, view.slanted, view.checkered, paletteOf(view)].join();
  }

  constructor(view, turned, sides) {
    Object.assign(this, { view, turned, sides, palette: paletteOf(view), colours: sideColours(view) });
    this.rowHeight = view.slanted ? (CELL * Math.sqrt(3)) / 2 : CELL;
    this.tip = view.slanted ? CELL / Math.sqrt(3) - HALF : 0; // how far a hexagon sticks out of its square
    this.margin = view.names ? MARGIN / 3 : MARGIN;
    this.width = view.columns * CELL + (view.slanted ? (view.rows - 1) * HALF : 0) + 2 * this.margin;
    this.height = (view.rows - 1) * this.rowHeight + CELL + 2 * this.tip + 2 * this.margin;
    this.radius = HALF;
    this.hidden = this.palette === "blue" ? 4 : 0; // how much of a cell's edge lies behind the plate, not to shine out
    this.rows = this.placesByRow();
    this.pieces = new Map();
    this.marks = svg("g");
    this.men = svg("g");
    this.back = svg("g", { class: "grid-back" }, this.ground(), this.marks, this.men);
    this.front = svg("g", { class: "grid-front" }, ...(this.palette === "blue" ? [this.frame()] : []), this.coordinates());
  }

  // --- where things are --------------------------------------------------------------------------------------------

  centre([row, column]) {
    const fromBottom = this.view.top_first ? this.view.rows - 1 - row : row;
    const x = this.margin + (column + 0.5) * CELL + (this.view.slanted ? fromBottom * HALF : 0);
    const y = this.height - this.margin - this.tip - HALF - fromBottom * this.rowHeight;
    return this.turned ? [this.width - x, this.height - y] : [x, y];
  }

  placesByRow() {
    const rows = [];
    for (let row = 0; row < this.view.rows; row++) {
      const places = Array.from({ length: this.view.columns }, (_, column) => [row, column]);
      rows.push(this.turned ? places.reverse() : places);
    }
    const fromTop = Boolean(this.view.top_first) !== Boolean(this.turned);
    return fromTop ? rows : rows.reverse();
  }

  outline(place, inset = 0) {
    const [x, y] = this.centre(place);
    if (!this.view.slanted) {
      const side = CELL - 2 * inset;
      return svg("rect", { x: x - side / 2, y: y - side / 2, width: side, height: side });
    }
    return svg("polygon", { points: hexagon(x, y, CELL / Math.sqrt(3) - inset) });
  }

  resolve([row, column], starts) {
    if (!this.view.gravity) return [row, column];
    return starts.find((start) => start[1] === column) ?? [row, column];
  }

  // --- the empty board ---------------------------------------------------------------------------------------------

  ground() {
    const ground = svg("g");
    const { width, height } = this;
    if (this.palette !== "paper" && this.palette !== "cells") {
      ground.append(svg("rect", { class: "board-edge", width, height, rx: 14 }));
    }
    if (this.isLined) return append(ground, this.lines());
    for (const place of this.rows.flat()) {
      const dark = this.view.checkered && (place[0] + place[1]) % 2 === 0;
      const cell = this.outline(place, this.view.slanted ? 1.5 : this.hidden);
      cell.setAttribute("class", this.view.checkered ? (dark ? "cell dark" : "cell light") : "cell");
      ground.append(cell);
      const name = this.view.names?.[place[0]]?.[place[1]];
      if (name) {
        const [x, y] = this.centre(place);
        ground.append(svg("text", { class: "square-name", x: x - HALF + 6, y: y - HALF + 20 }, name));
      }
    }
    return ground;
  }

  // Stones on a wooden board stand where lines cross, as in Go.
  get isLined() {
    return this.palette === "wood" && !this.view.checkered && !this.view.pieces;
  }

  lines() {
    const { rows, columns } = this.view;
    const ends = [];
    for (let row = 0; row < rows; row++) ends.push([[row, 0], [row, columns - 1]]);
    for (let column = 0; column < columns; column++) ends.push([[0, column], [rows - 1, column]]);
    return ends.map(([from, to]) => {
      const [[x1, y1], [x2, y2]] = [this.centre(from), this.centre(to)];
      return svg("line", { class: "grid-line", x1, y1, x2, y2 });
    });
  }

  // A plate with holes, in front of the stones that fall behind it.
  frame() {
    const { width, height, margin } = this;
    const plate = `M${margin} ${margin}H${width - margin}V${height - margin}H${margin}Z`;
    const holes = this.rows.flat().map((place) => circlePath(...this.centre(place), 40));
    const rims = this.rows.flat().map((place) => {
      const [cx, cy] = this.centre(place);
      return svg("circle", { class: "rim", cx, cy, r: 40 });
    });
    return svg("g", {}, svg("path", { class: "plate", d: plate + holes.join(""), "fill-rule": "evenodd" }), ...rims);
  }

  coordinates() {
    const group = svg("g", { class: "coordinates", "font-size": Math.min(28, 0.027 * this.width) });
    if (this.view.names) return group;
    const { rows, columns, top_first: topFirst } = this.view;
    const edge = HALF + this.margin / 2;
    const away = (topFirst ? -1 : 1) * (edge + this.tip);
    const letters = this.view.letters ?? LETTERS;
    for (let column = 0; column < columns; column++) {
      const [x, y] = this.centre([this.turned ? rows - 1 : 0, column]);
      group.append(svg("text", { x: x - (this.view.slanted ? 24 : 0), y: y + away }, letters[column]));
    }
    for (let row = 0; row < rows; row++) {
      const [x, y] = this.centre([row, this.turned ? columns - 1 : 0]);
      group.append(svg("text", { x: x - edge, y }, String(row + 1)));
    }
    return group;
  }

  // --- pieces ------------------------------------------------------------------------------------------------------

  cell(view, [row, column]) {
    return view.cells[row][column];
  }

  sideOf(view, cell) {
    if (cell === 0 || cell === "") return null;
    return typeof cell === "number" ? cell - 1 : (view.pieces?.[cell]?.side ?? null);
  }

  paint(view, last) {
    this.view = view;
    this.men.replaceChildren();
    this.pieces.clear();
    for (const place of this.rows.flat()) this.put(place, this.cell(view, place));
    this.mark(last);
  }

  put(place, cell) {
    if (cell === 0 || cell === "") return;
    const [x, y] = this.centre(place);
    const body = svg("g", { class: "piece-body" }, ...this.figure(cell));
    this.men.append(svg("g", { class: "piece", transform: `translate(${x} ${y})` }, body));
    this.pieces.set(place.join(), body);
  }

  figure(cell) {
    const side = this.sideOf(this.view, cell);
    const glyph = typeof cell === "number" ? null : (this.view.pieces?.[cell]?.glyph ?? cell);
    const isPencilled = glyph === null && this.palette === "paper" && !this.view.sides;
    return isPencilled ? pencilled(side, this.colours[side]) : figure(glyph, side, this.colours[side]);
  }

  mark(last) {
    const places = (last ?? []).filter((place) => this.has(place));
    this.marks.replaceChildren(
      ...places.map((place) => {
        const shape = this.outline(place, this.view.slanted ? 2 : this.hidden);
        shape.setAttribute("class", "last");
        return shape;
      }),
    );
    this.front.querySelectorAll(".last-dot").forEach((dot) => dot.remove());
    if (this.view.checkered || this.palette === "paper") return;
    for (const place of places.filter((place) => this.cell(this.view, place))) {
      const [cx, cy] = this.centre(place);
      this.front.append(svg("circle", { class: "last-dot", cx, cy, r: 9 }));
    }
  }

  has(place) {
    const [row, column] = place;
    return row >= 0 && row < this.view.rows && column >= 0 && column < this.view.columns;
  }

  pieceAt(place) {
    return this.pieces.get(place.join()) ?? null;
  }

  ghost(place, side) {
    const isStones = !this.view.pieces;
    if (!isStones || side === null || this.pieceAt(place)) return null;
    const [x, y] = this.centre(place);
    return svg("g", { class: "ghost", transform: `translate(${x} ${y})` }, ...this.figure(side + 1));
  }

  // --- movement ----------------------------------------------------------------------------------------------------

  animate(before, after, last, motion, isForward) {
    const gone = [];
    const came = [];
    for (const place of this.rows.flat()) {
      const [was, now] = [this.cell(before, place), this.cell(after, place)];
      if (was === now) continue;
      if (was) gone.push({ place, cell: was });
      if (now) came.push({ place, cell: now });
    }
    const leaving = new Map(gone.map(({ place }) => [place.join(), this.pieceAt(place)?.parentNode]));
    this.paint(after, last);
    const moved = this.view.pieces || last?.length > 1 ? pairUp(gone, came, isForward ? last : null, this) : new Map();
    for (const { place, cell } of came) {
      const body = this.pieceAt(place);
      const from = moved.get(place.join());
      const wasHere = gone.some((other) => other.place.join() === place.join());
      if (from) {
        const [[x0, y0], [x1, y1]] = [this.centre(from), this.centre(place)];
        body.parentNode.parentNode.append(body.parentNode);
        motion.slide(body, x0 - x1, y0 - y1, { duration: 220, easing: "ease-out" });
        leaving.delete(from.join());
      } else if (wasHere && typeof cell === "number") {
        const flip = [{ transform: "scaleX(0.05)" }, { transform: "none" }];
        motion.add(body, flip, { duration: 240, easing: "ease-out" });
        leaving.delete(place.join());
      } else {
        this.enter(body, place, motion);
      }
    }
    for (const piece of leaving.values()) {
      if (!piece) continue;
      this.men.prepend(piece);
      motion.add(piece, [{ opacity: 1 }, { opacity: 0 }], { duration: 220 }).then(() => piece.remove());
    }
  }

  enter(body, place, motion) {
    if (!this.view.gravity) {
      const grow = [{ transform: "scale(0.4)", opacity: 0.2 }, { transform: "none", opacity: 1 }];
      return motion.add(body, grow, { duration: 160, easing: "ease-out" });
    }
    const fall = this.centre(place)[1] - this.margin + HALF;
    const duration = 120 + 14 * Math.sqrt(fall);
    return motion.slide(body, 0, -fall, { duration, easing: "cubic-bezier(0.55, 0, 0.9, 0.6)" });
  }

  // --- words -------------------------------------------------------------------------------------------------------

  name([row, column]) {
    const own = this.view.names?.[row]?.[column];
    return own || `${(this.view.letters ?? LETTERS)[column]}${row + 1}`;
  }

  describe(place) {
    const cell = this.cell(this.view, place);
    const letter = (this.view.letters ?? LETTERS)[place[1]];
    const where = this.view.gravity ? `column ${letter}, row ${place[0] + 1}` : this.name(place);
    const side = this.sideOf(this.view, cell);
    if (side === null) return `${where}, ${cell || "empty"}`;
    const glyph = this.view.pieces?.[cell]?.glyph;
    const kind = glyph ? (nameOfGlyph(glyph) ?? cell) : "stone";
    return `${where}, ${this.sides[side].toLowerCase()} ${kind}`;
  }
}

// Which piece that came is one that left: the last move's own first, then any of the same kind, then of the same side.
function pairUp(gone, came, last, grid) {
  const pairs = new Map();
  const left = [...gone];
  const sameSide = (a, b) => grid.sideOf(grid.view, a.cell) === grid.sideOf(grid.view, b.cell);
  const same = (a, b) => a.cell === b.cell;
  const isMove = (a, b) => last?.length > 1 && equal(a.place, last[0]) && equal(b.place, last.at(-1)) && sameSide(a, b);
  for (const fits of [isMove, same, sameSide]) {
    for (const arrival of came) {
      if (pairs.has(arrival.place.join())) continue;
      const index = left.findIndex((start) => !equal(start.place, arrival.place) && fits(start, arrival));
      if (index >= 0) pairs.set(arrival.place.join(), left.splice(index, 1)[0].place);
    }
  }
  return pairs;
}

const equal = (a, b) => a[0] === b[0] && a[1] === b[1];

function append(group, children) {
  group.append(...children);
  return group;
}

function hexagon(x, y, size) {
  const corner = (i) => [x + size * Math.sin((i * Math.PI) / 3), y + size * Math.cos((i * Math.PI) / 3)];
  return [0, 1, 2, 3, 4, 5].map((i) => corner(i).map((n) => n.toFixed(2)).join(",")).join(" ");
}

function circlePath(x, y, r) {
  return `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`;
}
