// The board as one widget: it shows positions, and turns clicks, drags and keys into legal moves.

import { furnish, svg } from "../dom.js";
import { rendererOf } from "./index.js";
import { Motion, mayMove } from "./motion.js";
import { Notes } from "./notes.js";
import { paletteOf } from "./palette.js";

const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
const DRAG_FROM = 6; // pixels that a pointer may tremble in a click

const equal = (a, b) => a[0] === b[0] && a[1] === b[1];
const startsWith = (places, path) => path.every((place, i) => places[i] && equal(places[i], place));

export class Board {
  // `onMove(names)` gets the legal moves that were meant: several where only a choice can tell them apart.
  constructor(root, onMove) {
    Object.assign(this, { root, onMove, legal: [], path: [], hits: new Map(), queue: Promise.resolve() });
    Object.assign(this, { playable: false, wanted: false }); // whether moves can be made, now and after movements
    this.layers = Object.fromEntries(
      ["back", "hints", "front", "hits", "notes"].map((name) => [name, svg("g", { class: `layer-${name}` })]),
    );
    for (const [name, layer] of Object.entries(this.layers)) {
      furnish(layer, name === "hits" ? { role: "rowgroup" } : { "aria-hidden": "true" });
    }
    furnish(root, { role: "grid", "aria-label": "Board" }, Object.values(this.layers));
    this.notes = new Notes(this.layers.notes);
    this.listen();
  }

  // --- showing -----------------------------------------------------------------------------------------------------

  // `step` is how many moves this is from what was shown; one is animated. Movements end before the next position is
  // shown; `hurry` cuts them short.
  show(position, { turned, sides, playable, step, hurry }) {
    Object.assign(this, { latest: position, playable: false, wanted: playable });
    if (hurry) this.motion?.cut();
    this.queue = this.queue.then(() => this.draw(position, { turned, sides, step }));
  }

  async draw(position, { turned, sides, step }) {
    const { view, last } = position;
    const Renderer = rendererOf(view);
    const shape = [view.kind, Renderer.shape(view), turned, sides].join();
    const before = this.shape === shape ? this.position?.view : null;
    if (this.shape !== shape) this.build(new Renderer(view, turned, sides), shape, view);
    this.position = position;
    this.clearPath();
    this.notes.clear();
    furnish(this.root, { "data-ply": position.ply + position.variation.length, "data-turn": position.turn ?? "" });
    if (Math.abs(step) === 1 && before && mayMove()) await this.move(before, view, last, step === 1);
    else this.drawing.paint(view, last);
    this.refit();
    this.dropped = null;
    this.legal = position.legal.filter((move) => this.isOnBoard(move));
    this.playable = this.wanted && position === this.latest;
    this.label();
    this.showNotes();
  }

  async move(before, view, last, isForward) {
    this.motion = new Motion();
    this.root.dataset.busy = "true";
    if (this.dropped && last?.length > 1) this.drawing.paint(view, last);
    else await this.drawing.animate(before, view, last, this.motion, isForward);
    await this.motion.done();
    delete this.root.dataset.busy;
    this.motion = null;
  }

  build(drawing, shape, view) {
    Object.assign(this, { drawing, shape, focused: null });
    const { width, height } = drawing;
    furnish(this.root, { viewBox: `0 0 ${width} ${height}`, class: `board kind-${view.kind} palette-${paletteOf(view)}` });
    this.root.classList.toggle("checkered", Boolean(view.checkered));
    this.root.parentNode.style.setProperty("--aspect", width / height);
    this.layers.back.replaceChildren(drawing.back);
    this.layers.front.replaceChildren(drawing.front);
    this.hits = new Map();
    const rows = drawing.rows.map((places) => svg("g", { role: "row" }, ...places.map((place) => this.makeHit(place))));
    this.layers.hits.replaceChildren(...rows);
    this.notes.use(drawing);
  }

  makeHit(place) {
    const hit = furnish(this.drawing.outline(place), {
      role: "gridcell",
      class: "hit",
      tabindex: -1,
      "data-place": place.join(),
    });
    this.hits.set(place.join(), hit);
    return hit;
  }

  // Where places move about, as cards do, what is clicked moves along; those that are nowhere cannot be met.
  refit() {
    if (!this.drawing.movesPlaces) return;
    for (const [key, hit] of this.hits) {
      const box = this.drawing.boxes.get(key);
      hit.toggleAttribute("hidden", !box);
      furnish(hit, box ?? {});
    }
  }

  setPlayable(playable) {
    this.wanted = playable;
    if (this.position !== this.latest || this.motion || this.playable === playable) return;
    this.playable = playable;
    this.label();
  }

  // Names each place for those who hear the board, and says what can be done there.
  label() {
    const starts = this.startPlaces();
    for (const hit of this.hits.values()) {
      const place = this.placeOf(hit);
      const meant = this.path.length ? place : this.drawing.resolve(place, starts);
      const moves = this.playable ? this.movesFrom([...this.path, meant]) : [];
      const movable = moves.some((move) => move.places.length > this.path.length + 1);
      const picked = this.isPicked(place);
      const can = picked ? ", picked up" : moves.length === 0 ? "" : movable ? ", can move" : this.playableText();
      furnish(hit, { "aria-label": this.drawing.describe(place) + can, "aria-selected": String(picked) });
      hit.classList.toggle("legal", moves.length > 0);
      hit.classList.toggle("movable", movable || picked);
    }
    this.keepFocusable();
    this.showHints();
  }

  playableText() {
    return this.path.length ? ", can be moved to" : ", playable";
  }

  isPicked(place) {
    return this.path.some((other) => equal(other, place));
  }

  // Exactly one place can be reached with the tab key.
  keepFocusable() {
    const isThere = (hit) => hit && !hit.hasAttribute("hidden");
    if (!isThere(this.hits.get(this.focused))) {
      this.focused = this.drawing.rows.flat().find((place) => isThere(this.hits.get(place.join())))?.join() ?? null;
    }
    for (const [key, hit] of this.hits) hit.setAttribute("tabindex", key === this.focused ? 0 : -1);
  }

  // --- hints and notes ---------------------------------------------------------------------------------------------

  showHints() {
    this.layers.hints.replaceChildren();
    if (!this.playable || this.path.length === 0) return;
    const { drawing } = this;
    for (const place of this.path) {
      this.layers.hints.append(furnish(drawing.outline(place), { class: "hint-picked" }));
    }
    for (const { places } of this.movesFrom(this.path)) {
      const target = places[this.path.length];
      if (!target) continue;
      const [cx, cy] = drawing.centre(target);
      const taken = drawing.pieceAt(target);
      const r = drawing.radius * (taken ? 0.88 : 0.26);
      this.layers.hints.append(svg("circle", { class: taken ? "hint-take" : "hint-dot", cx, cy, r }));
    }
  }

  showGhost(place) {
    this.layers.hints.querySelector(".ghost")?.remove();
    if (!place || !this.playable || this.path.length > 0) return;
    const meant = this.drawing.resolve(place, this.startPlaces());
    if (this.movesFrom([meant]).length === 0) return;
    const ghost = this.drawing.ghost(meant, this.position.turn);
    if (ghost) this.layers.hints.append(ghost);
  }

  annotate(analysis) {
    this.analysis = analysis;
    this.showNotes();
  }

  trace(steps) {
    this.traced = steps;
    this.showNotes();
  }

  showNotes() {
    if (this.motion || !this.drawing) return;
    this.notes.show(this.analysis, this.legal, this.path, this.traced);
  }

  // --- from places to moves ----------------------------------------------------------------------------------------

  movesFrom(path) {
    return this.legal.filter((move) => startsWith(move.places, path));
  }

  isOnBoard(move) {
    return move.places.length > 0 && move.places.every((place) => this.hits.has(place.join()));
  }

  startPlaces() {
    return this.legal.map((move) => move.places[0]);
  }

  choose(place) {
    if (this.motion) return this.motion.cut();
    if (!this.playable) return;
    const meant = this.path.length ? place : this.drawing.resolve(place, this.startPlaces());
    const path = [...this.path, meant];
    const moves = this.movesFrom(path);
    if (moves.length === 0) return this.restart(meant);
    if (moves.some((move) => move.places.length > path.length)) return this.setPath(path);
    this.setPath([]);
    this.onMove(moves.map((move) => move.move));
  }

  // A place that does not go on from the picked one may be another one to pick.
  restart(place) {
    const wasPicked = this.path.length > 0;
    const canPick = wasPicked && !this.isPicked(place) && this.movesFrom([place]).length > 0;
    this.setPath([]);
    if (canPick) this.choose(place);
    else if (!wasPicked && mayMove()) this.refuse();
  }

  refuse() {
    const shake = [0, -4, 4, -2, 0].map((x) => ({ transform: `translateX(${x}px)` }));
    this.root.animate(shake, { duration: 180 });
  }

  setPath(path) {
    this.path = path;
    this.label();
    this.showNotes();
  }

  clearPath() {
    this.path = [];
    this.dragged = null;
    this.layers.hints.replaceChildren();
  }

  // --- pointer and keys --------------------------------------------------------------------------------------------

  placeOf(element) {
    const hit = element?.closest?.("[data-place]");
    return hit ? hit.dataset.place.split(",").map(Number) : null;
  }

  placeUnder(event) {
    return this.placeOf(document.elementsFromPoint(event.clientX, event.clientY).find((e) => this.placeOf(e)));
  }

  listen() {
    const { root } = this;
    root.addEventListener("pointerdown", (event) => this.pressed(event));
    root.addEventListener("pointermove", (event) => this.dragging(event));
    root.addEventListener("pointerup", (event) => this.released(event));
    root.addEventListener("pointercancel", () => this.putBack());
    root.addEventListener("pointerover", (event) => this.showGhost(this.placeOf(event.target)));
    root.addEventListener("pointerleave", () => this.showGhost(null));
    root.addEventListener("focusin", (event) => this.showGhost(this.placeOf(event.target)));
    root.addEventListener("focusout", () => this.showGhost(null));
    root.addEventListener("keydown", (event) => this.key(event));
    root.addEventListener("click", (event) => event.detail === 0 && this.clickWithoutPointer(event));
  }

  // What assistive technology sends as a click.
  clickWithoutPointer(event) {
    const place = this.placeOf(event.target);
    if (place) this.choose(place);
  }

  pressed(event) {
    const place = this.placeOf(event.target);
    if (!place || event.button !== 0) return;
    event.preventDefault();
    this.focus(place);
    this.press = { place, x: event.clientX, y: event.clientY, justPicked: false, piece: null };
    const isTarget = this.path.length > 0 && this.movesFrom([...this.path, place]).length > 0;
    const canPick = this.movesFrom([place]).some((move) => move.places.length > 1);
    if (!this.playable || isTarget || !canPick) return;
    this.press.justPicked = !this.isPicked(place);
    this.press.piece = this.drawing.pieceAt(place);
    if (this.press.justPicked) this.setPath([place]);
    this.root.setPointerCapture(event.pointerId); // so that a drag goes on outside the board
  }

  dragging(event) {
    const { press } = this;
    if (!press?.piece) return;
    const [dx, dy] = [event.clientX - press.x, event.clientY - press.y];
    if (!press.moved && Math.hypot(dx, dy) < DRAG_FROM) return;
    press.moved = true;
    const scale = this.drawing.width / this.root.getBoundingClientRect().width;
    press.piece.style.transform = `translate(${dx * scale}px, ${dy * scale}px)`;
    press.piece.parentNode.parentNode.append(press.piece.parentNode);
    this.root.classList.add("dragging");
  }

  released(event) {
    const { press } = this;
    if (!press) return;
    const place = this.placeUnder(event);
    this.press = null;
    this.root.classList.remove("dragging");
    if (!press.moved) {
      if (place && !press.justPicked) this.choose(place);
      return;
    }
    if (place && !equal(place, press.place) && this.movesFrom([press.place, place]).length > 0) {
      this.dropped = press.piece;
      this.choose(place);
    } else {
      press.piece.style.transform = "";
    }
  }

  putBack() {
    if (this.press?.piece) this.press.piece.style.transform = "";
    if (this.dropped) this.dropped.style.transform = "";
    this.press = this.dropped = null;
    this.root.classList.remove("dragging");
  }

  focus(place) {
    this.focused = place.join();
    this.keepFocusable();
    this.hits.get(this.focused)?.focus({ preventScroll: true });
  }

  key(event) {
    const place = this.placeOf(event.target);
    if (!place || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key in STEPS) this.walk(place, STEPS[event.key]);
    else if (event.key === "Enter" || event.key === " ") this.choose(place);
    else if (event.key === "Escape" && this.path.length) this.setPath([]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  walk(place, [down, right]) {
    const { rows } = this.drawing;
    const row = rows.findIndex((places) => places.some((other) => equal(other, place)));
    if (row < 0) return;
    const column = rows[row].findIndex((other) => equal(other, place));
    const next = rows[row + down]?.[column + right];
    if (next) this.focus(next);
  }
}
