// Playing cards, drawn.

import { svg } from "../dom.js";

export const WIDE = 92;
export const TALL = 128;
export const RANKS = "23456789TJQKA";
export const SUITS = "SHDC";

const GLYPHS = { S: "♠", H: "♥", D: "♦", C: "♣" };
const WORDS = { S: "spades", H: "hearts", D: "diamonds", C: "clubs" };
const COURT = { T: "ten", J: "jack", Q: "queen", K: "king", A: "ace" };

// A card face up; one that has a rank but no suit shows the rank alone.
export function face(rank, suit = null) {
  const isRed = suit === "H" || suit === "D";
  const number = rank === "T" ? "10" : rank;
  return svg(
    "g",
    { class: isRed ? "playing-card red" : "playing-card" },
    svg("rect", { width: WIDE, height: TALL, rx: 9 }),
    svg("text", { class: rank === "T" ? "card-rank ten" : "card-rank", x: suit ? 22 : WIDE / 2, y: suit ? 25 : TALL / 2 }, number),
    suit ? svg("text", { class: "card-suit", x: 53, y: 25 }, GLYPHS[suit]) : null,
    suit ? svg("text", { class: "card-pip", x: 58, y: 92 }, GLYPHS[suit]) : null,
  );
}

// A card face down.
export function back() {
  return svg(
    "g",
    { class: "playing-card down" },
    svg("rect", { width: WIDE, height: TALL, rx: 9 }),
    svg("rect", { class: "card-lining", x: 8, y: 8, width: WIDE - 16, height: TALL - 16, rx: 5 }),
  );
}

export function suitText(text) {
  return text.replace(/^(\d)([SHDC])/, (_, level, suit) => level + GLYPHS[suit]);
}

export function cardName(rank, suit = null) {
  const number = COURT[rank] ?? rank;
  return suit ? `${number} of ${WORDS[suit]}` : number;
}

export function suitWord(suit) {
  return WORDS[suit];
}
