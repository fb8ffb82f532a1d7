// The runs page: a table of runs, and charts of those that are chosen, kept up to date while the page is visible.

import { get } from "./api.js";
import { drawChart } from "./chart.js";
import { $, el, options } from "./dom.js";
import { setUpTheme } from "./theme.js";
import { WorkersCard, workerCharts } from "./workers.js";

const PERIOD = 2000;

const CHARTS = [
  { id: "chart-elo", title: "Elo with 95% band", seriesOf: (run) => [banded(run, "elo", "elo")] },
  { id: "chart-loss", title: "Losses", seriesOf: lossSeries },
  { id: "chart-speed", title: "Games per second", seriesOf: (run) => [plain(run, (row) => row.games_per_second)] },
  { id: "chart-gate", title: "Score at the gate with 95% band", seriesOf: (run) => [banded(run, "gate", "score")] },
  ...workerCharts(plain),
];

class RunsPage {
  constructor() {
    this.runs = new Map(); // id -> {info, rows, workers, row, card, colour}
    this.chosen = new Set(new URLSearchParams(location.hash.slice(1)).getAll("run"));
    $("axis").addEventListener("change", () => this.drawCharts());
    for (const { id } of CHARTS) {
      $("chart-grid").append(el("section", { id, class: "card chart", "data-testid": id, "aria-label": id.slice(6) }));
    }
    document.addEventListener("visibilitychange", () => !document.hidden && this.keepUp());
    this.keepUp();
  }

  // One round at a time; none while the page is hidden.
  async keepUp() {
    if (this.isAsking) return;
    this.isAsking = true;
    clearTimeout(this.timer);
    try {
      await this.ask();
      this.tell("");
    } catch (error) {
      this.tell(error.message);
    }
    this.isAsking = false;
    if (!document.hidden) this.timer = setTimeout(() => this.keepUp(), PERIOD);
  }

  async ask() {
    const { runs } = await get("/api/runs");
    this.takeRuns(runs);
    const asked = runs.filter((info) => this.chosen.has(info.id) && !info.damaged);
    await Promise.all(asked.map((info) => this.askRows(this.runs.get(info.id))));
    this.drawCharts();
  }

  async askRows(run) {
    const after = run.rows.at(-1)?.iteration ?? 0;
    if (!run.info.alive && after && after >= run.info.iterations) return;
    const { rows, workers } = await get(`/api/runs/${encodeURIComponent(run.info.id)}?after=${after}`);
    const known = run.rows.at(-1)?.iteration ?? 0;
    run.rows.push(...rows.filter((row) => row.iteration > known));
    run.row.showLoss(run.rows.at(-1));
    run.workers = workers;
  }

  takeRuns(infos) {
    $("none").hidden = infos.length > 0;
    const ids = new Set(infos.map((info) => info.id));
    for (const id of this.runs.keys()) if (!ids.has(id)) this.drop(id);
    if (this.runs.size === 0 && this.chosen.size === 0 && infos.length) this.chosen.add(preferred(infos).id);
    for (const info of infos) {
      const run = this.runs.get(info.id) ?? this.add(info);
      if (info.iterations < run.info.iterations) run.rows = []; // the run began anew
      run.info = info;
      run.row.show(info);
    }
  }

  add(info) {
    const run = { info, rows: [], workers: null, card: new WorkersCard(info.id), colour: this.runs.size };
    run.row = new RunRow(info, run.colour, this.chosen.has(info.id), (isChosen) => this.choose(info.id, isChosen));
    this.runs.set(info.id, run);
    $("runs-rows").append(run.row.element);
    $("workers").append(run.card.element);
    return run;
  }

  drop(id) {
    this.runs.get(id).row.element.remove();
    this.runs.get(id).card.element.remove();
    this.runs.delete(id);
    this.chosen.delete(id);
  }

  choose(id, isChosen) {
    if (isChosen) this.chosen.add(id);
    else this.chosen.delete(id);
    const address = new URLSearchParams([...this.chosen].map((run) => ["run", run]));
    history.replaceState(null, "", `#${address}`);
    this.drawCharts();
    this.keepUp();
  }

  drawCharts() {
    const axis = $("axis").value;
    const runs = [...this.runs.values()].filter((run) => this.chosen.has(run.info.id));
    $("charts").hidden = runs.length === 0;
    for (const run of this.runs.values()) run.card.show(runs.includes(run) ? run.workers : null);
    for (const { id, title, seriesOf } of CHARTS) {
      const series = runs.flatMap((run) => seriesOf({ ...run, axis, isAlone: runs.length === 1 }));
      drawChart($(id), { title, series, xLabel: axis === "seconds" ? "seconds" : "iterations" });
    }
  }

  tell(message) {
    $("connection").textContent = message;
    $("connection").hidden = !message;
  }
}

// One run in the table. Its controls stay as they are while its figures change.
class RunRow {
  constructor(info, colour, isChosen, onChoose) {
    const choose = (event) => onChoose(event.target.checked);
    this.box = el("input", { type: "checkbox", "aria-label": `Show ${info.id}`, change: choose, checked: isChosen });
    this.progress = el("progress", { "aria-label": `Iterations of ${info.id}` });
    this.checkpoints = el("select", { "aria-label": `Checkpoint of ${info.id}` });
    this.play = el("button", { type: "button", click: () => this.goPlay(), "aria-label": `Play ${info.id}` }, "Play");
    this.alive = el("i", { class: "alive", role: "img" });
    this.cells = Object.fromEntries(["count", "time", "elo", "range", "loss", "damaged"].map((name) => [name, el("span")]));
    const { count, time, elo, range, loss, damaged } = this.cells;
    damaged.className = "damaged small";
    this.element = el(
      "tr",
      { "data-run": info.id },
      el("td", {}, this.box, " ", el("i", { class: `swatch series-${colour % 8}`, "aria-hidden": "true" })),
      el("th", { scope: "row" }, this.alive, info.id, el("div", { class: "small" }, info.title), damaged),
      el("td", {}, info.algorithm, el("div", { class: "small" }, info.recipe ?? "")),
      el("td", {}, this.progress, count),
      el("td", {}, time),
      el("td", {}, elo, el("div", { class: "small" }, range)),
      el("td", {}, loss),
      el("td", {}, el("div", { class: "play" }, this.checkpoints, this.play)),
    );
  }

  show(info) {
    this.info = info;
    this.progress.max = Math.max(1, info.of);
    this.progress.value = info.iterations;
    this.cells.count.textContent = `${info.iterations} of ${info.of}`;
    this.cells.time.textContent = timeText(info.seconds);
    this.cells.elo.textContent = info.elo ? Math.round(info.elo.elo) : "–";
    this.cells.range.textContent = info.elo ? rangeText(info.elo) : "";
    this.cells.damaged.textContent = info.damaged ?? "";
    this.alive.className = info.alive ? "alive yes" : "alive";
    this.alive.setAttribute("aria-label", info.alive ? "in training" : "not in training");
    this.showCheckpoints([...info.checkpoints].reverse());
  }

  showCheckpoints(numbers) {
    this.play.disabled = this.checkpoints.disabled = numbers.length === 0;
    if (this.known === numbers.join()) return;
    this.known = numbers.join();
    const chosen = this.checkpoints.value;
    const entries = numbers.map((number) => [String(number), `after ${number}`]);
    options(this.checkpoints, [["", "latest"], ...entries], chosen);
  }

  showLoss(row) {
    const losses = Object.values(row?.losses ?? {});
    if (losses.length === 0) return;
    this.cells.loss.textContent = losses.map((loss) => loss.toFixed(3)).join(" · ");
    this.cells.loss.title = Object.keys(row.losses).map(lossName).join(" · ");
  }

  goPlay() {
    const checkpoint = this.checkpoints.value;
    const opponent = `run:${this.info.id}${checkpoint ? `@${checkpoint}` : ""}`;
    location.href = `/#${new URLSearchParams({ new: this.info.game, opponent })}`;
  }
}

const preferred = (infos) => infos.find(({ alive }) => alive) ?? infos.find(({ damaged }) => !damaged) ?? infos[0];
const lossName = (key) => key.replace(/_loss$/, "").replaceAll("_", " ");
const rangeText = ({ low, high }) => `${Math.round(low)} to ${Math.round(high)}`;

function timeText(seconds) {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

function banded({ info, rows, axis, colour }, key, value) {
  const known = rows.filter((row) => row[key]);
  const points = known.map((row) => ({ x: row[axis], y: row[key][value], low: row[key].low, high: row[key].high }));
  return { name: info.id, colour, points };
}

function plain({ info, rows, axis, colour }, valueOf) {
  const points = rows.map((row) => ({ x: row[axis], y: valueOf(row) })).filter(({ y }) => Number.isFinite(y));
  return { name: info.id, colour, points };
}

// Runs have colours and losses have dashes, but for a run alone, whose losses have the colours.
function lossSeries(run) {
  const keys = [...new Set(run.rows.flatMap((row) => Object.keys(row.losses ?? {})))].sort();
  return keys.map((key, i) => ({
    ...plain(run, (row) => row.losses?.[key]),
    name: run.isAlone ? lossName(key) : `${run.info.id} ${lossName(key)}`,
    colour: run.isAlone ? i : run.colour,
    dash: run.isAlone ? 0 : i,
  }));
}

setUpTheme();
new RunsPage();
