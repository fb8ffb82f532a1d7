// Stones and pieces, drawn around the point (0, 0) of a square that is 100 wide.

import { svg } from "../dom.js";

const SOLID = { "♔": "♚", "♕": "♛", "♖": "♜", "♗": "♝", "♘": "♞", "♙": "♟" };
const CHESSMEN = { "♚": "king", "♛": "queen", "♜": "rook", "♝": "bishop", "♞": "knight", "♟": "pawn" };
const DRAUGHTS = { "⛀": "man", "⛁": "king", "⛂": "man", "⛃": "king" };
const AS_TEXT = "\uFE0E"; // asks for a plain glyph where a font would draw a coloured picture
const CROWN = "M-22 16 L-27 -12 L-12 1 L0 -18 L12 1 L27 -12 L22 16 Z";

export const nameOfGlyph = (glyph) => CHESSMEN[SOLID[glyph] ?? glyph] ?? DRAUGHTS[glyph];

// A stone where `glyph` is null; else a chessman, a draughtsman, or a stone with the glyph on it. What is of no side is
// the glyph alone.
export function figure(glyph, side, fill = "#888888") {
  const contrast = isLight(fill) ? "#26282b" : "#e9e4da";
  if (glyph === null) return stone(fill, side);
  if (side === null) return [svg("text", { class: "letter unowned", y: 16 }, glyph)];
  if (glyph in DRAUGHTS) {
    const crown = DRAUGHTS[glyph] === "king" ? [svg("path", { class: "crown", d: CROWN })] : [];
    return [...stone(fill, side), svg("circle", { class: "groove", r: 26, stroke: contrast }), ...crown];
  }
  const solid = SOLID[glyph] ?? glyph;
  if (solid in CHESSMEN) return [svg("text", { class: "glyph", fill, stroke: contrast, y: 29 }, solid + AS_TEXT)];
  return [...stone(fill, side), svg("text", { class: "letter", fill: contrast, y: 16 }, solid)];
}

// A cross for the first side, a nought for the second.
export function pencilled(side, stroke) {
  const shape = side === 0 ? svg("path", { d: "M-26 -26 L26 26 M26 -26 L-26 26" }) : svg("circle", { r: 28 });
  shape.setAttribute("class", `pencilled side-${side}`);
  shape.setAttribute("stroke", stroke);
  return [shape];
}

function stone(fill, side) {
  return [
    svg("circle", { class: "stone-shadow", r: 40, cy: 3 }),
    svg("circle", { class: `stone side-${side}`, r: 40, fill }),
    svg("circle", { class: "stone-shine", r: 36 }),
  ];
}

function isLight(colour) {
  const [red, green, blue] = [1, 3, 5].map((start) => parseInt(colour.slice(start, start + 2), 16));
  return 0.3 * red + 0.6 * green + 0.1 * blue > 140;
}
