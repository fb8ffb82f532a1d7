// The list of one's own games: go on with one, or delete it.

import { get, remove } from "./api.js";
import { $, el } from "./dom.js";

export async function showEarlier(current, onDeleted) {
  const { tables } = await get("/api/tables");
  $("earlier").hidden = tables.length === 0;
  $("earlier-list").replaceChildren(...tables.map((game) => entry(game, current, onDeleted)));
}

function entry(game, current, onDeleted) {
  const state = game.over ? (game.result ?? "over") : `${game.moves} ${game.moves === 1 ? "move" : "moves"}`;
  const names = game.names.join(" – ");
  const when = new Date(game.updated).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
  const open = el(
    "a",
    { href: `#t=${encodeURIComponent(game.id)}`, "aria-current": game.id === current ? "true" : null },
    el("strong", {}, game.title),
    el("span", {}, ` ${names}`),
    el("span", { class: "small" }, ` ${state} · ${when}`),
  );
  const drop = async () => {
    await remove(`/api/tables/${encodeURIComponent(game.id)}`);
    onDeleted(game.id);
  };
  const label = `Delete ${game.title}, ${names}, ${state}`;
  return el("li", {}, open, el("button", { type: "button", class: "icon", "aria-label": label, click: drop }, "✕"));
}
