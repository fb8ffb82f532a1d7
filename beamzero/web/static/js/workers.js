// The workers of a run on a cluster: curves over its iterations, and a card with each worker of the last one.

import { el } from "./dom.js";

// Returns charts in the form of the runs page; `plain` makes a series of a run from a value of its rows.
export function workerCharts(plain) {
  return [
    { id: "chart-busy", title: "Workers busy, % of the time, least to most", seriesOf: (run) => [busySeries(run)] },
    { id: "chart-pieces", title: "Pieces of work per second", seriesOf: (run) => [plain(run, pieceRate)] },
    { id: "chart-workers", title: "Workers alive, and deaths in each iteration", seriesOf: (run) => counts(run, plain) },
  ];
}

const pieceRate = (row) => row.crew?.pieces_per_second;
const percents = (share) => 100 * share;

function busySeries({ info, rows, axis, colour }) {
  const known = rows.filter(({ crew: workers }) => Number.isFinite(workers?.busy));
  const points = known.map(({ crew: workers, ...row }) => {
    const [low, high] = [workers.least ?? workers.busy, workers.most ?? workers.busy].map(percents);
    return { x: row[axis], y: percents(workers.busy), low, high };
  });
  return { name: info.id, colour, points };
}

// Runs have colours and kinds have dashes, but for a run alone, whose kinds have the colours.
function counts(run, plain) {
  return ["alive", "deaths"].map((key, i) => ({
    ...plain(run, (row) => row.crew?.[key]),
    name: run.isAlone ? key : `${run.info.id} ${key}`,
    colour: run.isAlone ? i : run.colour,
    dash: run.isAlone ? 0 : i,
  }));
}

export class WorkersCard {
  constructor(id) {
    this.id = id;
    this.title = el("h2", {}, `Workers of ${id}`);
    this.summary = el("p", { class: "small" });
    this.head = el("tr");
    this.body = el("tbody");
    const table = el("table", { class: "runs-table" }, el("thead", {}, this.head), this.body);
    const label = `Each worker of ${id}`;
    this.holder = el("div", { class: "wide workers", tabindex: "0", role: "region", "aria-label": label }, table);
    this.element = el("section", { class: "card", "data-workers": id }, this.title, this.summary, this.holder);
  }

  show(workers) {
    this.element.hidden = !workers;
    const now = JSON.stringify(workers);
    if (!workers || this.known === now) return;
    this.known = now;
    this.summary.textContent = summaryOf(workers);
    this.holder.hidden = workers.rows.length === 0;
    const byWorker = workers.rows.some(({ worker }) => worker !== null);
    const heads = [...(byWorker ? ["Worker", "Machine"] : ["Machine", "Workers"]), "Busy", "Pieces", "Pieces per second"];
    this.head.replaceChildren(...heads.map((head) => el("th", { scope: "col" }, head)));
    this.body.replaceChildren(...workers.rows.map((row) => (byWorker ? workerRow(row) : machineRow(row))));
  }
}

function summaryOf({ iteration, alive, wanted, deaths, twice, rows }) {
  const parts = [
    `Iteration ${iteration}`,
    `${text(alive)} of ${text(wanted)} workers alive`,
    `${text(deaths)} died so far`,
    `${text(twice)} ${twice === 1 ? "piece" : "pieces"} done twice`,
    rows.length === 0 && "too many machines to list here",
  ];
  return parts.filter(Boolean).join(" · ");
}

const workerRow = (row) => rowOf(row.worker, row.machine, `Worker ${row.worker} is busy`, row);
const machineRow = (row) => rowOf(row.machine, text(row.workers), `Workers of ${row.machine} are busy`, row);

function rowOf(name, second, label, { pieces, pieces_per_second, busy }) {
  return el(
    "tr",
    {},
    el("th", { scope: "row" }, name),
    el("td", {}, second),
    el("td", {}, el("div", { class: "busy" }, el("progress", { "aria-label": label, value: busy ?? 0 }), share(busy))),
    el("td", {}, text(pieces)),
    el("td", {}, text(pieces_per_second)),
  );
}

const text = (value) => (Number.isFinite(value) ? String(Number(value.toPrecision(4))) : "–");
const share = (busy) => el("span", {}, Number.isFinite(busy) ? `${Math.round(percents(busy))}%` : "–");
