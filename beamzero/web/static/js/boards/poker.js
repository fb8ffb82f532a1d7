// Poker with a card each, drawn from a view of kind "poker". Its moves are buttons below the board.

import { svg } from "../dom.js";
import { TALL, WIDE, back, face } from "./deck.js";
import { Still } from "./still.js";

const WIDTH = 900;
const HEIGHT = 620;
const LINE = 34;

export class Poker extends Still {
  static shape() {
    return "";
  }

  constructor(view, turned, sides) {
    super();
    Object.assign(this, { sides, near: turned ? 1 : 0, width: WIDTH, height: HEIGHT, radius: 40 });
    this.drawn = svg("g", { class: "card-words" });
    const felt = svg("rect", { class: "board-edge", width: WIDTH, height: HEIGHT, rx: 18 });
    this.back = svg("g", { class: "cards" }, felt, this.drawn);
    this.front = svg("g");
  }

  paint(view) {
    const [cx, cy] = [WIDTH / 2, HEIGHT / 2];
    const far = 1 - this.near;
    const places = [
      [view.cards[far], cx, 150],
      [view.cards[this.near], cx, HEIGHT - 150],
      ...view.public.map((card, i) => [card, cx + i * (WIDE + 20), cy]),
    ];
    const cards = places.map(([rank, x, y]) =>
      svg("g", { transform: `translate(${x - WIDE / 2} ${y - TALL / 2})` }, rank ? face(rank) : back()),
    );
    const seats = [this.seat(view, far, 46), this.seat(view, this.near, HEIGHT - 40)];
    const pot = svg("text", { class: "card-contract end", x: WIDTH - 40, y: cy }, `Pot ${view.paid[0] + view.paid[1]}`);
    this.drawn.replaceChildren(...cards, ...seats, pot, ...this.talk(view));
  }

  seat({ paid }, side, y) {
    const chips = `${this.sides[side]} · ${paid[side]} ${paid[side] === 1 ? "chip" : "chips"} in the pot`;
    return svg("text", { class: "card-label middle", x: WIDTH / 2, y }, chips);
  }

  // What was said, round by round, the first side first.
  talk({ said }) {
    return said.flatMap((actions, round) => {
      const x = 40 + 150 * round;
      const head = svg("text", { class: "card-count", x, y: 60 }, `Round ${round + 1}`);
      const lines = actions.map((action, i) =>
        svg("text", { class: "card-said", x, y: 60 + LINE * (i + 1) }, `${this.sides[i % 2]}: ${action}`),
      );
      return [head, ...lines];
    });
  }
}
