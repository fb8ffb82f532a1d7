// The dialog for a new game: what, against whom, on which side, with what clock, from which position.

import { post } from "./api.js";
import { $, options } from "./dom.js";

const RUN = /^run:(.+?)(?:@(\d+))?$/;

export class NewGame {
  constructor(games, onStarted) {
    Object.assign(this, { games, onStarted, extra: null });
    options($("game"), games.map((game) => [game.id, game.title]));
    $("game").addEventListener("change", () => this.showGame());
    $("mode").addEventListener("change", () => this.showMode());
    $("opponent").addEventListener("change", () => this.showOpponent());
    $("clock").addEventListener("change", () => ($("clock-fields").hidden = !$("clock").checked));
    $("record-file").addEventListener("change", () => this.readFile());
    $("new-cancel").addEventListener("click", () => $("new-dialog").close());
    $("new-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.start();
    });
  }

  // `opponent` may be an agent that no list has, such as one of a run.
  open({ game, opponent } = {}) {
    this.extra = opponent && !this.offerOf(game)?.agents.some((agent) => agent.id === opponent) ? opponent : null;
    if (this.offerOf(game)) $("game").value = game;
    this.showGame(opponent);
    if (opponent) $("mode").value = "agent";
    this.showMode();
    $("position").value = $("record").value = $("record-file").value = "";
    this.tell("");
    $("new-dialog").showModal();
  }

  offerOf(id) {
    return this.games.find((game) => game.id === id);
  }

  get offer() {
    return this.offerOf($("game").value);
  }

  get agents() {
    const { extra, offer } = this;
    if (!extra) return offer.agents;
    return [{ id: extra, title: agentTitle(extra), about: "An agent of a training run." }, ...offer.agents];
  }

  showGame(chosen = this.extra) {
    const { about, sides, first, hidden, default: usual } = this.offer;
    const entries = this.agents.map(({ id, title, level }) => [id, level ? `${title} · level ${level}` : title]);
    for (const id of ["opponent", "agent-0", "agent-1"]) options($(id), entries, usual);
    if (chosen) $("opponent").value = chosen;
    const named = sides.map((side, i) => [String(i), i === first ? `${side} (moves first)` : side]);
    const seats = [...named, ["random", "Either, by chance"]];
    options($("side"), seats, $("side").value);
    sides.forEach((side, i) => ($(`agent-${i}-label`).textContent = side));
    $("game-about").textContent = about;
    // At one screen each would see the other's cards.
    $("mode").querySelector("[value=people]").disabled = hidden;
    if (hidden && $("mode").value === "people") $("mode").value = "agent";
    this.showMode();
    this.showOpponent();
  }

  showMode() {
    for (const part of document.querySelectorAll("#new-form [data-mode]")) {
      part.hidden = part.dataset.mode !== $("mode").value;
    }
  }

  showOpponent() {
    const agent = this.agents.find(({ id }) => id === $("opponent").value);
    const note = agent?.ready === false ? " It will be compiled first, which takes a moment." : "";
    $("opponent-about").textContent = (agent?.about ?? "") + note;
  }

  async readFile() {
    const [file] = $("record-file").files;
    if (file) $("record").value = await file.text();
  }

  get seats() {
    const mode = $("mode").value;
    if (mode === "people") return ["human", "human"];
    if (mode === "watch") return [$("agent-0").value, $("agent-1").value];
    const side = $("side").value === "random" ? Math.floor(2 * Math.random()) : Number($("side").value);
    return side === 0 ? ["human", $("opponent").value] : [$("opponent").value, "human"];
  }

  get clock() {
    return $("clock").checked
      ? { minutes: Number($("minutes").value), increment: Number($("increment").value) }
      : null;
  }

  async start() {
    $("start").disabled = true;
    this.tell("");
    try {
      const { id } = await post("/api/tables", {
        game: $("game").value,
        seats: this.seats,
        clock: this.clock,
        position: $("position").value.trim() || null,
        record: $("record").value.trim() || null,
      });
      $("new-dialog").close();
      this.onStarted(id);
    } catch (error) {
      this.tell(error.message);
    } finally {
      $("start").disabled = false;
    }
  }

  tell(message) {
    $("new-error").textContent = message;
    $("new-error").hidden = !message;
  }
}

export function agentTitle(id) {
  const [, run, checkpoint] = RUN.exec(id) ?? [];
  if (!run) return id;
  return checkpoint ? `Run ${run}, iteration ${checkpoint}` : `Run ${run}, latest`;
}
