// The list of moves: which is shown, what a review thinks of them, and the what-if that is tried.

import { $, el } from "./dom.js";

export class MoveList {
  constructor(onChoose) {
    this.onChoose = onChoose;
    this.key = "";
  }

  // `marks` are a review's: for each ply "", "?" or "??", and what was better.
  show(session, marks) {
    const { moves } = session.info;
    const key = JSON.stringify([session.id, moves, marks]);
    if (key !== this.key) this.rebuild(moves, marks);
    this.key = key;
    const ply = session.isWhatIf ? session.branch.at : session.index;
    const buttons = $("moves").querySelectorAll("button");
    buttons.forEach((button, i) => {
      if (i + 1 === ply) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    });
    this.reveal(buttons[ply - 1]);
    $("whatif").hidden = !session.isWhatIf;
    if (session.isWhatIf) {
      const tried = session.branch.moves.slice(0, session.index - session.branch.at);
      $("whatif-line").textContent = `after ${session.branch.at} moves, ${tried.join(" ")}`;
    }
  }

  // Scrolls the list alone, never the page.
  reveal(button) {
    const list = $("moves");
    if (!button) return void (list.scrollTop = 0);
    const bottom = button.offsetTop + button.offsetHeight;
    const isSeen = button.offsetTop >= list.scrollTop && bottom <= list.scrollTop + list.clientHeight;
    if (!isSeen) list.scrollTop = button.offsetTop - list.clientHeight / 2;
  }

  rebuild(moves, marks) {
    $("moves").replaceChildren(
      ...moves.map((move, i) => {
        const mark = marks[i]?.mark ?? "";
        const better = mark ? `, better: ${marks[i].best}` : "";
        const attributes = { type: "button", class: mark ? "marked" : null, title: better.slice(2) || null };
        return el(
          "li",
          {},
          el("button", { ...attributes, click: () => this.onChoose(i + 1) }, move, el("b", { class: "mark" }, mark)),
        );
      }),
    );
  }
}
