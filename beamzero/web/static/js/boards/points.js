// Backgammon's board of 24 points with a bar and trays, drawn from a view of kind "points".
//
// Places are [0, point] as the first side counts, [1, side] for that side's half of the bar, [2, side] for its tray.

import { svg } from "../dom.js";
import { figure } from "./figures.js";
import { sideColours } from "./palette.js";

const WIDE = 96; // from one point to the next
const TALL = 430; // of a point's column
const GAP = 80; // between the upper and the lower half, for the dice
const RIM = 46; // for the numbers
const SMALL = 0.92; // checkers, of a stone on other boards
const STEP = 82; // from one checker to the next in a column
const MOST = 5; // checkers in a column before they move together
const POINT = 0;
const BAR = 1;
const OFF = 2;

export class Points {
  static shape() {
    return "24";
  }

  constructor(view, turned, sides) {
    Object.assign(this, { view, sides, bottom: turned ? 1 : 0, colours: sideColours(view) });
    this.width = 14.4 * WIDE + 2 * RIM;
    this.height = 2 * TALL + GAP + 2 * RIM;
    this.radius = 44;
    this.rows = this.placesByRow();
    this.pieces = new Map();
    this.marks = svg("g");
    this.men = svg("g");
    this.dice = svg("g", { class: "dice" });
    this.back = svg("g", { class: "points" }, this.ground(), this.marks, this.men);
    this.front = svg("g", {}, this.dice);
  }

  // --- where things are --------------------------------------------------------------------------------------------

  placesByRow() {
    const from = (first, last) => {
      const step = first < last ? 1 : -1;
      return Array.from({ length: 6 }, (_, i) => [POINT, this.counted(first + step * i)]);
    };
    const [near, far] = [this.bottom, 1 - this.bottom];
    return [
      [...from(13, 18), [BAR, far], ...from(19, 24), [OFF, far]],
      [...from(12, 7), [BAR, near], ...from(6, 1), [OFF, near]],
    ];
  }

  // A point as the side below counts it, as the first side does; and the other way round.
  counted(point) {
    return this.bottom === 0 ? point : 25 - point;
  }

  isUpper([kind, number]) {
    return kind === POINT ? this.counted(number) > 12 : number !== this.bottom;
  }

  column([kind, number]) {
    if (kind === BAR) return 6;
    if (kind === OFF) return 13.2;
    const own = this.counted(number);
    const left = own > 12 ? own - 13 : 12 - own; // from the left, the bar not counted
    return left < 6 ? left : left + 1;
  }

  x(place) {
    return RIM + (this.column(place) + 0.5) * WIDE;
  }

  centre(place) {
    return [this.x(place), this.isUpper(place) ? RIM + TALL / 2 : this.height - RIM - TALL / 2];
  }

  outline(place) {
    const y = this.isUpper(place) ? RIM : this.height - RIM - TALL;
    return svg("rect", { x: this.x(place) - WIDE / 2 + 2, y, width: WIDE - 4, height: TALL, rx: 8 });
  }

  // The middle of a checker: those on the bar lie next to the middle of the board, all others at its edge.
  spot(place, index, number) {
    const tight = number > MOST ? ((MOST - 1) * STEP) / (number - 1) : STEP;
    const fromEdge = 44 + index * tight;
    const outward = place[0] === BAR ? TALL - fromEdge : fromEdge;
    return [this.x(place), this.isUpper(place) ? RIM + outward : this.height - RIM - outward];
  }

  resolve(place) {
    return place;
  }

  has([kind, number]) {
    return kind === POINT ? number >= 1 && number <= 24 : (kind === BAR || kind === OFF) && number in [0, 1];
  }

  // --- the empty board ---------------------------------------------------------------------------------------------

  ground() {
    const { width, height } = this;
    const ground = svg("g", {}, svg("rect", { class: "board-edge", width, height, rx: 14 }));
    for (const side of [0, 1]) {
      ground.append(furnished(this.outline([BAR, side]), "points-bar"), furnished(this.outline([OFF, side]), "points-tray"));
    }
    for (let point = 1; point <= 24; point++) {
      const place = [POINT, point];
      const [x, isUpper] = [this.x(place), this.isUpper(place)];
      const [foot, tip] = isUpper ? [RIM, RIM + TALL - 30] : [height - RIM, height - RIM - TALL + 30];
      const corners = `${x - WIDE / 2 + 4},${foot} ${x + WIDE / 2 - 4},${foot} ${x},${tip}`;
      const label = svg("text", { x, y: isUpper ? RIM / 2 : height - RIM / 2 }, String(this.counted(point)));
      ground.append(
        svg("polygon", { class: point % 2 ? "point odd" : "point even", points: corners }),
        svg("g", { class: "coordinates", "font-size": 28 }, label),
      );
    }
    return ground;
  }

  // --- checkers ----------------------------------------------------------------------------------------------------

  // How many checkers of which side are at a place.
  held(view, [kind, number]) {
    if (kind === BAR) return [view.bar[number], number];
    if (kind === OFF) return [view.off[number], number];
    const first = view.checkers[0][number - 1];
    return first ? [first, 0] : [view.checkers[1][24 - number], 1];
  }

  paint(view, last) {
    this.view = view;
    this.men.replaceChildren();
    this.pieces.clear();
    for (const place of this.rows.flat()) this.pile(place, ...this.held(view, place));
    const marked = (last ?? []).filter((place) => this.has(place));
    this.marks.replaceChildren(...marked.map((place) => furnished(this.outline(place), "last")));
    this.roll(view);
  }

  pile(place, number, side) {
    for (let index = 0; index < number; index++) {
      const body = svg("g", { class: "piece-body" }, ...this.checker(side));
      const [x, y] = this.spot(place, index, number);
      this.men.append(svg("g", { class: "piece", transform: `translate(${x} ${y})` }, body));
      this.pieces.set(place.join(), body);
    }
    if (number > MOST) {
      const [x, y] = this.spot(place, number - 1, number);
      const class_ = this.colours[side] === "#1d1f21" ? "checkers on-dark" : "checkers";
      this.pieces.get(place.join()).append(svg("text", { class: class_ }, String(number)));
      this.pieces.get(place.join()).parentNode.setAttribute("transform", `translate(${x} ${y})`);
    }
  }

  checker(side) {
    return [svg("g", { transform: `scale(${SMALL})` }, ...figure(null, side, this.colours[side]))];
  }

  pieceAt(place) {
    return this.pieces.get(place.join()) ?? null;
  }

  ghost() {
    return null;
  }

  roll(view) {
    const isNear = view.side === this.bottom;
    const middle = RIM + (isNear ? 10 : 3) * WIDE;
    this.dice.replaceChildren(
      ...view.dice.map((face, i) => {
        const x = middle + (i - (view.dice.length - 1) / 2) * 84;
        return die(x, this.height / 2, face, `side-${view.side}`);
      }),
    );
  }

  // --- movement ----------------------------------------------------------------------------------------------------

  animate(before, after, last, motion, isForward) {
    this.paint(after, last);
    if (!isForward || last?.length !== 2) return;
    const [from, to] = last;
    const body = this.pieceAt(to);
    if (!body) return;
    const [[x0, y0], [x1, y1]] = [this.spot(from, this.held(before, from)[0] - 1, this.held(before, from)[0]), at(body)];
    body.parentNode.parentNode.append(body.parentNode);
    motion.slide(body, x0 - x1, y0 - y1, { duration: 260, easing: "ease-out" });
  }

  // --- words -------------------------------------------------------------------------------------------------------

  name([kind, number]) {
    if (kind === BAR) return `bar of ${this.sides[number]}`;
    if (kind === OFF) return `tray of ${this.sides[number]}`;
    return `point ${this.counted(number)}`;
  }

  describe(place) {
    const [number, side] = this.held(this.view, place);
    if (!number) return `${this.name(place)}, empty`;
    return `${this.name(place)}, ${number} ${this.sides[side].toLowerCase()} ${number === 1 ? "checker" : "checkers"}`;
  }
}

function furnished(shape, name) {
  shape.setAttribute("class", name);
  return shape;
}

// Where a checker was drawn.
function at(body) {
  return body.parentNode.getAttribute("transform").match(/-?[\d.]+/g).map(Number);
}

const PIPS = { 1: [4], 2: [0, 8], 3: [0, 4, 8], 4: [0, 2, 6, 8], 5: [0, 2, 4, 6, 8], 6: [0, 2, 3, 5, 6, 8] };

function die(x, y, face, name) {
  const pips = PIPS[face].map((spot) => {
    const [cx, cy] = [x + ((spot % 3) - 1) * 18, y + (Math.floor(spot / 3) - 1) * 18];
    return svg("circle", { cx, cy, r: 6 });
  });
  return svg("g", { class: `die ${name}` }, svg("rect", { x: x - 34, y: y - 34, width: 68, height: 68, rx: 12 }), ...pips);
}
