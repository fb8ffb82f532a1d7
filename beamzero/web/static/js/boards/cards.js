// Four hands of cards, drawn from a view of kind "cards". Hidden hands are hidden in the view already.
//
// Places are cards, [suit, rank]: they lie in a hand, in the trick, or nowhere visible.

import { svg } from "../dom.js";
import { RANKS, SUITS, TALL, WIDE, back, cardName, face, suitText, suitWord } from "./deck.js";

const CLOCKWISE = ["N", "E", "S", "W"];
const POINTS = { N: "North", E: "East", S: "South", W: "West" };
const RIM = 34;
const LABEL = 40; // the line with a hand's name
const ACROSS = 70; // from one card to the next in the hands above and below
const DOWN = 44; // the same in the hands at the sides
const MIDDLE = 12 * DOWN + TALL;

const key = (card) => [SUITS.indexOf(card[0]), RANKS.indexOf(card[1])].join();
const suitOf = ([suit]) => SUITS[suit];
const rankOf = ([, rank]) => RANKS[rank];

export class Cards {
  static shape(view) {
    return bottomOf(view);
  }

  constructor(view, turned, sides) {
    Object.assign(this, { view, sides, movesPlaces: true, boxes: new Map(), pieces: new Map(), radius: 36 });
    const bottom = CLOCKWISE.indexOf(bottomOf(view));
    // From the bottom clockwise: the next hand sits to the left.
    this.seats = ["bottom", "left", "top", "right"].map((where, i) => [CLOCKWISE[(bottom + i) % 4], where]);
    this.where = Object.fromEntries(this.seats);
    this.width = 12 * ACROSS + WIDE + 2 * RIM + 160;
    this.height = 2 * (TALL + 2 * LABEL + RIM) + MIDDLE;
    this.rows = [...SUITS].map((_, suit) => [...RANKS].map((_, rank) => [suit, rank]));
    this.felt = svg("rect", { class: "board-edge", width: this.width, height: this.height, rx: 18 });
    this.words = svg("g", { class: "card-words" });
    this.hands = svg("g");
    this.back = svg("g", { class: "cards" }, this.felt, this.words, this.hands);
    this.front = svg("g");
  }

  // --- where things are --------------------------------------------------------------------------------------------

  // The upper left corner of card `index` of `number` in a hand.
  spot(point, index, number) {
    const [cx, cy] = [this.width / 2, this.height / 2];
    const along = index - (number - 1) / 2;
    switch (this.where[point]) {
      case "bottom":
        return [cx + along * ACROSS - WIDE / 2, this.height - RIM - LABEL - TALL];
      case "top":
        return [cx + along * ACROSS - WIDE / 2, RIM + LABEL];
      case "left":
        return [RIM, cy + along * DOWN - TALL / 2];
      default:
        return [this.width - RIM - WIDE, cy + along * DOWN - TALL / 2];
    }
  }

  // Where a hand's card lies in the trick.
  trickSpot(point) {
    const [x, y] = { bottom: [0, 78], top: [0, -78], left: [-112, 0], right: [112, 0] }[this.where[point]];
    return [this.width / 2 + x - WIDE / 2, this.height / 2 + y - TALL / 2];
  }

  // Where a hand's name stands, and which part of it stands there.
  labelSpot(point) {
    switch (this.where[point]) {
      case "bottom":
        return [this.width / 2, this.height - RIM / 2 - LABEL / 2, "middle"];
      case "top":
        return [this.width / 2, RIM / 2 + LABEL / 2, "middle"];
      case "left":
        return [RIM, this.height / 2 - MIDDLE / 2 - 22, "start"];
      default:
        return [this.width - RIM, this.height / 2 - MIDDLE / 2 - 22, "end"];
    }
  }

  outline() {
    return svg("rect", { x: 0, y: 0, width: WIDE, height: TALL, rx: 9 });
  }

  centre(place) {
    const box = this.boxes.get(place.join());
    if (!box) return [this.width / 2, this.height / 2];
    // Beside the rank, where no other card lies.
    return box.height < TALL ? [box.x + 64, box.y + box.height / 2] : [box.x + box.width / 2, box.y + TALL - 24];
  }

  resolve(place) {
    return place;
  }

  has(place) {
    return this.boxes.has(place.join());
  }

  // --- cards -------------------------------------------------------------------------------------------------------

  paint(view, last) {
    this.view = view;
    this.hands.replaceChildren();
    this.boxes.clear();
    this.pieces.clear();
    this.rows = [];
    for (const point of [this.seats[2], this.seats[1], this.seats[3], this.seats[0]].map(([name]) => name)) {
      this.layHand(point, view.hands[point]);
    }
    const trick = view.trick.length || view.to_play === null ? view.trick : view.last_trick;
    const isOld = trick !== view.trick;
    for (const [point, card] of trick) this.layTrick(point, card, isOld, last);
    this.write(view);
  }

  layHand(point, held) {
    if (typeof held === "number") {
      for (let i = 0; i < held; i++) this.lay(back(), this.spot(point, i, held));
      return;
    }
    const cards = inOrder(held, this.view.contract);
    const row = cards.map((card, i) => {
      const spot = this.spot(point, i, cards.length);
      const isSide = ["left", "right"].includes(this.where[point]);
      const isLast = i === cards.length - 1;
      this.lay(face(card[1], card[0]), spot, key(card));
      // Only what is not covered by the next card can be clicked.
      const width = isSide || isLast ? WIDE : ACROSS;
      const height = isSide && !isLast ? DOWN : TALL;
      this.boxes.set(key(card), { x: spot[0], y: spot[1], width, height });
      return key(card).split(",").map(Number);
    });
    if (row.length) this.rows.push(row);
  }

  layTrick(point, card, isOld, last) {
    const drawn = this.lay(face(card[1], card[0]), this.trickSpot(point), key(card));
    if (isOld) drawn.classList.add("gathered");
    if (last?.some((place) => place.join() === key(card))) drawn.classList.add("last-card");
  }

  lay(card, [x, y], name = null) {
    const body = svg("g", { class: "piece-body" }, card);
    const piece = svg("g", { class: "piece", transform: `translate(${x} ${y})` }, body);
    this.hands.append(piece);
    if (name) this.pieces.set(name, body);
    return piece;
  }

  // Cards are played by one click and are not dragged.
  pieceAt() {
    return null;
  }

  ghost(place) {
    const box = this.boxes.get(place.join());
    return box ? svg("rect", { class: "ghost card-ghost", ...box, rx: 9 }) : null;
  }

  // --- movement ----------------------------------------------------------------------------------------------------

  animate(before, after, last, motion, isForward) {
    const from = last?.length ? this.placeBefore(before, last[0]) : null;
    this.paint(after, last);
    const body = last?.length ? this.pieces.get(last[0].join()) : null;
    if (!isForward || !body || !from) return;
    const [x, y] = body.parentNode.getAttribute("transform").match(/-?[\d.]+/g).map(Number);
    motion.slide(body, from[0] - x, from[1] - y, { duration: 280, easing: "ease-out" });
  }

  // Where the card that is played next lay: it may come from a hand that is hidden.
  placeBefore(before, place) {
    const box = this.boxes.get(place.join());
    if (box) return [box.x, box.y];
    const number = before.hands[before.to_play];
    return before.to_play && typeof number === "number" ? this.spot(before.to_play, 0, 1) : null;
  }

  // --- words -------------------------------------------------------------------------------------------------------

  write(view) {
    const [declarer, defenders] = view.won;
    const lines = [
      `${suitText(view.contract)} by ${POINTS[view.declarer]}`,
      `${this.sides[0]} ${declarer}`,
      `${this.sides[1]} ${defenders}`,
    ];
    const [left, upper] = [RIM + WIDE + LABEL, RIM + TALL + 3 * LABEL];
    const corner = lines.map((line, i) =>
      svg("text", { class: i ? "card-count" : "card-contract", x: left, y: upper + 36 * i }, line),
    );
    const labels = CLOCKWISE.map((point) => {
      const [x, y, side] = this.labelSpot(point);
      const name = point === view.to_play ? `card-label ${side} to-play` : `card-label ${side}`;
      return svg("text", { x, y, class: name }, this.label(view, point));
    });
    this.words.replaceChildren(...corner, ...labels);
  }

  label(view, point) {
    const notes = [];
    if (point === view.seat) notes.push("you");
    if (point === view.declarer) notes.push("declarer");
    if (point === view.dummy) notes.push("dummy");
    const voids = typeof view.hands[point] === "number" ? view.voids[point] : [];
    if (voids.length) notes.push(`no ${voids.map(suitWord).join(", ")}`);
    return notes.length ? `${POINTS[point]} (${notes.join(", ")})` : POINTS[point];
  }

  describe(place) {
    const name = cardName(rankOf(place), suitOf(place));
    const isIn = (held) => Array.isArray(held) && held.some((card) => key(card) === place.join());
    const point = CLOCKWISE.find((one) => isIn(this.view.hands[one]));
    return point ? `${name}, ${POINTS[point]}` : name;
  }
}

// The hand at the bottom: the person's own, or the declarer's where all hands are open.
function bottomOf(view) {
  return view.seat ?? view.declarer;
}

// Trumps on the left, black and red suits in turn, the highest card first.
function inOrder(cards, contract) {
  const trump = contract[1];
  const suits = { H: "HSDC", D: "DSHC", C: "CHSD" }[trump] ?? "SHCD";
  const place = (card) => suits.indexOf(card[0]) * 13 - RANKS.indexOf(card[1]);
  return [...cards].sort((a, b) => place(a) - place(b));
}
