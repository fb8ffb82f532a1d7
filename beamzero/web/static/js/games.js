// The list of one's own games: go on with one, or delete it.

import { get, remove } from "./api.js";
import { $, el } from "./dom.js";

export async function showEarlier(current, onDeleted) {
  const { tables } = await get("/api/tables");
  $("earlier").hidden = tables.length === 0;
  $("earlier-list").replaceChildren(...tables.map((table) => entry(table, current, onDeleted)));
}

function entry(table, current, onDeleted) {
  const state = table.over ? (table.result ?? "over") : `${table.moves} ${table.moves === 1 ? "move" : "moves"}`;
  const names = table.names.join(" – ");
  const when = new Date(table.updated).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
  const open = el(
    "a",
    { href: `#t=${encodeURIComponent(table.id)}`, "aria-current": table.id === current ? "true" : null },
    el("strong", {}, table.title),
    el("span", {}, ` ${names}`),
    el("span", { class: "small" }, ` ${state} · ${when}`),
  );
  const drop = async () => {
    await remove(`/api/tables/${encodeURIComponent(table.id)}`);
    onDeleted(table.id);
  };
  const label = `Delete ${table.title}, ${names}, ${state}`;
  return el("li", {}, open, el("button", { type: "button", class: "icon", "aria-label": label, click: drop }, "✕"));
}
