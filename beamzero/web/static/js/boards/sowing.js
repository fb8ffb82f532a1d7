// Boards of houses and stores with seeds in them, drawn from a view of kind "sowing".

import { svg } from "../dom.js";
import { play } from "../sound.js";
import { counts, wayOfSeeds } from "./seeds.js";

const WIDE = 110; // from one house to the next
const RIM = 88; // above and below the houses, for counts and numbers
const STORE = 140;
const PIT = 47; // half of its width
const MOST_SEEDS = 20; // that are drawn one by one
const GOLDEN = 2.39996;
const LONGEST = 1800; // milliseconds, however many seeds there are

export class Sowing {
  static shape(view) {
    return view.houses.map((houses) => houses.length).join();
  }

  constructor(view, turned, sides) {
    Object.assign(this, { view, sides, bottom: turned ? 1 : 0 });
    const columns = Math.max(...view.houses.map((houses) => houses.length));
    this.tall = Math.min(300, Math.max(210, 34 * columns)); // long boards have tall houses, to fill a narrow screen
    this.width = columns * WIDE + 2 * STORE;
    this.height = 2 * this.tall + 2 * RIM;
    this.radius = 54;
    const far = view.houses[1 - this.bottom].map((_, house) => [1 - this.bottom, house]);
    this.rows = [far.reverse(), view.houses[this.bottom].map((_, house) => [this.bottom, house])];
    this.pits = new Map();
    this.flying = svg("g");
    this.back = svg("g", { class: "sowing" }, svg("rect", { class: "board-edge", ...this.size, rx: 40 }));
    for (const place of [...this.rows.flat(), [0, "store"], [1, "store"]]) this.dig(place);
    this.front = svg("g", {}, this.flying);
  }

  // The whole drawing, but for the outer half of the edge's line.
  get size() {
    return { x: 3, y: 3, width: this.width - 6, height: this.height - 6 };
  }

  // --- where things are --------------------------------------------------------------------------------------------

  // A side's store is on its right.
  centre([side, house]) {
    const near = side === this.bottom;
    if (house === "store") return [near ? this.width - STORE / 2 : STORE / 2, this.height / 2];
    const x = STORE + (house + 0.5) * WIDE;
    return near ? [x, RIM + 1.5 * this.tall] : [this.width - x, RIM + 0.5 * this.tall];
  }

  outline(place) {
    const [x, y] = this.centre(place);
    const height = this.tall - 6;
    return svg("rect", { x: x - WIDE / 2 + 3, y: y - height / 2, width: WIDE - 6, height, rx: 44 });
  }

  resolve(place) {
    return place;
  }

  has([side, house]) {
    return house < (this.view.houses[side]?.length ?? 0);
  }

  dig(place) {
    const [side, house] = place;
    const [x, y] = this.centre(place);
    const isStore = house === "store";
    const outer = side === this.bottom ? 1 : -1;
    const [rx, ry] = isStore ? [52, this.tall * 0.76] : [PIT, this.tall / 2 - 15];
    const seeds = svg("g");
    const count = svg("text", { class: "count", x, y: y + outer * (isStore ? ry + 36 : this.tall / 2 + 14) });
    const ring = svg("rect", { class: "pit-mark", x: x - rx, y: y - ry, width: 2 * rx, height: 2 * ry, rx });
    const pit = svg("rect", { class: "pit", x: x - rx, y: y - ry, width: 2 * rx, height: 2 * ry, rx });
    const number = isStore ? "" : String(house + 1);
    const label = svg("text", { class: "house-number", x, y: y + outer * (this.tall / 2 + 56) }, number);
    this.back.append(pit, ring, seeds, count, label);
    this.pits.set(place.join(), { x, y, rx, ry, seeds, count, ring, pit, held: -1 });
  }

  // --- seeds -------------------------------------------------------------------------------------------------------

  paint(view, last) {
    this.view = view;
    for (const [key, count] of counts(view)) this.fill(key, count);
    const [lastKey, marked] = [last?.[0]?.join(), (view.marked ?? []).map((place) => place.join())];
    for (const [key, { ring, pit }] of this.pits) {
      ring.classList.toggle("played", key === lastKey);
      pit.classList.toggle("marked", marked.includes(key));
    }
  }

  fill(key, count) {
    const pit = this.pits.get(key);
    if (pit.held === count) return;
    pit.held = count;
    pit.count.textContent = count;
    const drawn = Math.min(count, key.endsWith("store") ? 2 * MOST_SEEDS : MOST_SEEDS);
    pit.seeds.replaceChildren(...Array.from({ length: drawn }, (_, i) => seedAt(...this.seedPlace(pit, i, drawn))));
  }

  // Seeds lie in a spiral that fills the pit.
  seedPlace(pit, index, drawn) {
    const reach = Math.sqrt((index + 0.5) / Math.max(drawn, 9)) * 0.8;
    const angle = index * GOLDEN;
    return [pit.x + reach * pit.rx * Math.cos(angle), pit.y + reach * pit.ry * Math.sin(angle)];
  }

  pieceAt() {
    return null;
  }

  ghost() {
    return null;
  }

  // --- movement ----------------------------------------------------------------------------------------------------

  async animate(before, after, last, motion, isForward) {
    const start = isForward && last?.[0]?.join();
    const way = start && wayOfSeeds(before, after, start);
    if (!way) return this.paint(after, last);
    this.paint(before, last);
    this.view = after;
    this.fill(start, 0);
    const step = Math.min(110, LONGEST / way.length);
    const landings = way.map((key, i) =>
      this.fly(start, key, { delay: i * step, duration: 170 }, motion).then(() => {
        this.fill(key, this.pits.get(key).held + 1);
        play("tick");
      }),
    );
    await Promise.all(landings);
    await Promise.all(this.captures(after, motion));
    this.paint(after, last);
  }

  // What sowing alone does not explain was taken: it flies to the store that gained.
  captures(after, motion) {
    const target = counts(after);
    const winner = [0, 1].find((side) => target.get(`${side},store`) > this.pits.get(`${side},store`).held) ?? 0;
    const taken = [...target].filter(([key, count]) => !key.endsWith("store") && count < this.pits.get(key).held);
    return taken.map(([key, count]) => {
      this.fill(key, count);
      return this.fly(key, `${winner},store`, { duration: 320 }, motion);
    });
  }

  fly(from, to, timing, motion) {
    const [a, b] = [this.pits.get(from), this.pits.get(to)];
    const seed = seedAt(b.x, b.y);
    seed.setAttribute("opacity", 0);
    this.flying.append(seed);
    const lift = `translate(${(a.x - b.x) / 2}px, ${(a.y - b.y) / 2 - 40}px)`;
    const frames = [
      { transform: `translate(${a.x - b.x}px, ${a.y - b.y}px)`, opacity: 1 },
      { transform: lift, opacity: 1 },
      { transform: "none", opacity: 1 },
    ];
    return motion.add(seed, frames, { easing: "ease-in-out", ...timing }).then(() => seed.remove());
  }

  // --- words -------------------------------------------------------------------------------------------------------

  name([side, house]) {
    return `house ${house + 1} of ${this.sides[side]}`;
  }

  describe(place) {
    const [side, house] = place;
    const count = this.view.houses[side][house];
    const marked = (this.view.marked ?? []).some((other) => other.join() === place.join());
    return `${this.name(place)}, ${count} ${count === 1 ? "seed" : "seeds"}${marked ? ", marked" : ""}`;
  }
}

function seedAt(cx, cy) {
  return svg("circle", { class: "seed", cx: cx.toFixed(1), cy: cy.toFixed(1), r: 10 });
}
