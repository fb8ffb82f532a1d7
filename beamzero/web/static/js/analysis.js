// The analysis panel: values of the shown position by an agent, the analyst, and its review of the whole game.

import { $, el, options, percent } from "./dom.js";
import { drawCurve } from "./curve.js";
import { shade } from "./boards/notes.js";
import { agentTitle } from "./newgame.js";
import { FORGOTTEN } from "./session.js";

const PATIENCE = 150; // milliseconds that a position must stay before it is analysed
const LONGEST_LINE = 8; // moves of a line that are drawn

export class Analysis {
  constructor(board) {
    Object.assign(this, { board, session: null, answer: null, reviewed: null, isReviewing: false, chosen: null });
    $("analysis-toggle").addEventListener("click", () => this.toggle());
    $("analyst").addEventListener("change", () => {
      this.chosen = $("analyst").value;
      this.refresh();
    });
    $("review").addEventListener("click", () => this.startReview());
    for (const event of ["pointerenter", "focus"]) $("line").addEventListener(event, () => this.traceLine());
    for (const event of ["pointerleave", "blur"]) $("line").addEventListener(event, () => board.trace(null));
    furnishCurve((step) => this.session?.goToPlayed(this.session.index + step));
  }

  get isOpen() {
    return !$("analysis").hidden;
  }

  use(session) {
    Object.assign(this, { session, answer: null, reviewed: null, isReviewing: false });
    this.showAnswer();
    $("curve").hidden = true;
    $("review-state").textContent = "";
    session.addEventListener("shown", () => this.refresh());
    session.addEventListener("review", ({ detail }) => this.takeReview(detail));
    session.addEventListener("change", () => {
      const isLost = this.isReviewing && session.state !== "open";
      if (isLost) this.takeReview({ type: "error", message: "The connection was lost." });
    });
  }

  toggle() {
    $("analysis").hidden = this.isOpen;
    $("analysis-toggle").setAttribute("aria-expanded", this.isOpen);
    $("analysis-toggle").textContent = this.isOpen ? "Hide" : "Show";
    this.refresh();
  }

  showAnalysts(agents, seats) {
    const known = agents.map((agent) => agent.id);
    const own = [...new Set(seats)].filter((seat) => seat !== "human" && !known.includes(seat));
    const entries = [...own.map((id) => [id, agentTitle(id)]), ...agents.map(({ id, title }) => [id, title])];
    const key = JSON.stringify(entries);
    if (key === this.analysts) return;
    this.analysts = key;
    const strongest = agents.at(-1)?.id;
    options($("analyst"), entries, entries.some(([id]) => id === this.chosen) ? this.chosen : strongest);
  }

  // --- the shown position ------------------------------------------------------------------------------------------

  refresh() {
    clearTimeout(this.timer);
    this.answer = null;
    this.board.trace(null);
    this.showAnswer();
    if (this.isOpen && this.session?.shown) this.timer = setTimeout(() => this.analyse(), PATIENCE);
  }

  // While a review goes on, the position has to wait: the server does one thing at a time for a page.
  async analyse() {
    const { session } = this;
    if (!this.isOpen || this.isReviewing || session !== this.session) return;
    if (session.shown.over) return this.say("The game is over here.");
    const wanted = session.shown;
    this.say("Thinking…");
    try {
      const answer = await session.analyse($("analyst").value);
      if (session.shown !== wanted || session !== this.session) return;
      this.answer = answer;
      this.say("");
    } catch (error) {
      if (error.message !== FORGOTTEN) this.say(error.message);
    }
    this.showAnswer();
  }

  say(text) {
    $("analysis-state").textContent = text;
  }

  showAnswer() {
    const { answer } = this;
    this.board.annotate(answer);
    this.showWinBar();
    const rows = [...(answer?.moves ?? [])].sort((a, b) => b.value - a.value || b.policy - a.policy);
    $("analysis-rows").replaceChildren(...rows.map((row) => this.row(row)));
    $("line").hidden = !answer?.line?.length;
    $("line").replaceChildren();
    if (!answer) return;
    const nodes = answer.nodes ? ` (${answer.nodes.toLocaleString()} positions)` : "";
    $("line").append(el("strong", {}, "Expected: "), answer.line.join(" "), el("span", { class: "small" }, nodes));
  }

  row({ move, value, policy, proven, plies }) {
    const isBest = move === this.answer.best;
    const end = proven && plies !== null && plies !== undefined ? ` in ${plies}` : "";
    const name = el("button", { type: "button", class: "link", click: () => this.session.tryMove(move) }, move);
    name.setAttribute("aria-label", `Try ${move}`);
    return el(
      "tr",
      { class: isBest ? "best" : null },
      el("th", { scope: "row" }, name),
      el("td", {}, bar((value + 1) / 2, shade(value)), el("span", {}, percent(value) + (proven ? "!" : "") + end)),
      el("td", {}, bar(policy, "policy"), el("span", {}, `${Math.round(100 * policy)}%`)),
    );
  }

  showWinBar() {
    const bar = $("winbar");
    const near = this.board.nearSide ?? 0;
    bar.hidden = !this.isOpen;
    bar.dataset.near = near;
    if (bar.hidden || !this.answer) return;
    const { value, turn } = this.answer;
    const first = Math.round(50 * ((turn === 0 ? value : -value) + 1));
    const nearShare = near === 0 ? first : 100 - first;
    $("winbar-far").style.height = `${100 - nearShare}%`;
    $("winbar-text").textContent = nearShare;
    bar.setAttribute("aria-valuenow", first);
    bar.setAttribute("aria-valuetext", `${this.session.info.sides[0]} wins with ${first}%`);
  }

  // Where the moves of the line go is not in the answer: the positions on its way tell.
  async traceLine() {
    const { answer, session } = this;
    if (!answer || session.info.secret) return;
    if (!answer.steps) {
      const moves = answer.line.slice(0, LONGEST_LINE);
      const asked = moves.map((_, i) => session.peek(moves.slice(0, i + 1)));
      const positions = await Promise.all(asked).catch(() => []);
      const turns = [answer.turn, ...positions.map((position) => position.turn)];
      answer.steps = positions.map(({ last }, i) => ({ places: last ?? [], side: turns[i] }));
    }
    const isStill = answer === this.answer && $("line").matches(":hover, :focus");
    if (isStill) this.board.trace(answer.steps);
  }

  // --- the whole game ----------------------------------------------------------------------------------------------

  startReview() {
    this.reviewed = { moves: this.session.info.moves, values: [], marks: [] };
    this.isReviewing = true;
    this.say("");
    $("review-state").textContent = "Reviewing…";
    this.session.review($("analyst").value);
    this.showCurve();
  }

  takeReview({ type, message, done, of, values, moves }) {
    const failed = type === "error";
    if (this.reviewed && !failed) Object.assign(this.reviewed, { values, marks: moves });
    this.isReviewing = !failed && (done < of || values.length < of);
    const outcome = failed ? message : summary(moves, this.session.info.sides);
    $("review-state").textContent = this.isReviewing ? `Reviewing, ${done} of ${of}…` : outcome;
    this.session.emit("change");
    if (!this.isReviewing && !this.answer) this.refresh();
  }

  // A review holds as long as the game still begins with the moves that it saw.
  get marks() {
    const played = this.session?.info?.moves ?? [];
    const holds = this.reviewed?.moves.every((move, i) => move === played[i]);
    if (this.reviewed && !holds) this.reviewed = null;
    return this.reviewed?.marks ?? [];
  }

  showCurve() {
    const { marks } = this;
    $("curve").hidden = !this.reviewed;
    if (!this.reviewed) return;
    const { values, moves } = this.reviewed;
    const shown = Math.min(this.session.address().ply, moves.length);
    const onChoose = (ply) => this.session.goToPlayed(ply);
    drawCurve($("curve"), { values, length: moves.length, marks, shown, onChoose });
  }
}

function bar(share, kind) {
  const fill = el("i", { class: kind });
  fill.style.width = `${Math.round(100 * share)}%`;
  return el("span", { class: "bar", "aria-hidden": "true" }, fill);
}

function summary(moves, sides) {
  const counts = [0, 1].map((side) => {
    const own = moves.filter((move) => move.side === side);
    const [mistakes, blunders] = ["?", "??"].map((mark) => own.filter((move) => move.mark === mark).length);
    return `${sides[side]}: ${mistakes} ?, ${blunders} ??`;
  });
  return counts.join(" · ");
}

function furnishCurve(onStep) {
  const curve = $("curve");
  for (const [name, value] of Object.entries({ role: "slider", tabindex: 0, "aria-valuemin": 0 })) {
    curve.setAttribute(name, value);
  }
  curve.setAttribute("aria-label", "Evaluation of the game: choose a move");
  curve.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    onStep(step);
  });
}
