// The game's own text, for views of no other kind. Its moves are buttons below the board.

import { svg } from "../dom.js";
import { Still } from "./still.js";

const LINE = 30;
const LETTER = 14.6;

export class TextBoard extends Still {
  static shape(view) {
    const lines = textOf(view).split("\n");
    return [lines.length, Math.max(...lines.map((line) => line.length))].join();
  }

  constructor(view) {
    super();
    const lines = textOf(view).split("\n");
    this.width = Math.max(...lines.map((line) => line.length), 10) * LETTER + 40;
    this.height = lines.length * LINE + 40;
    this.radius = LINE;
    this.text = svg("text", { class: "board-text" });
    this.back = svg("g", {}, svg("rect", { class: "text-ground", width: this.width, height: this.height, rx: 12 }));
    this.back.append(this.text);
    this.front = svg("g");
  }

  paint(view) {
    const lines = textOf(view).split("\n");
    this.text.replaceChildren(...lines.map((line, i) => svg("tspan", { x: 20, y: 44 + i * LINE }, line || " ")));
  }
}

const textOf = (view) => view.text ?? JSON.stringify(view, null, 1);
