// Which renderer draws which kind of view. A new kind of board is one more file and one more line here.
//
// A renderer is a class. `new Renderer(view, turned, sides)` makes an empty board; then
//   width, height          the size of its drawing; back, front: what is drawn below and above the marks
//   rows                   lists of places, as the eye meets them: what can be clicked and walked over with arrow keys
//   outline(place)         a new SVG shape that covers a place; centre(place): [x, y]; radius: how much room there is
//   paint(view, last)      puts the pieces of a view on the board, the last move marked
//   animate(before, after, last, motion, isForward)   the same, with movements from another view, one move away
//   describe(place)        what is there, in words
//   pieceAt(place)         the element to drag, or null
//   ghost(place, side)     an element that shows where a move would put a stone, or null
//   resolve(place, starts) the place that a click on `place` means, among those where moves start
// Where places move about, `movesPlaces` is true, `boxes` is a map from "a,b" to {x, y, width, height}, and `rows` holds
// all places at first, and then those that are there.

import { Cards } from "./cards.js";
import { Grid } from "./grid.js";
import { Points } from "./points.js";
import { Poker } from "./poker.js";
import { Sowing } from "./sowing.js";
import { TextBoard } from "./text.js";

const RENDERERS = { cards: Cards, grid: Grid, points: Points, poker: Poker, sowing: Sowing, text: TextBoard };

export function rendererOf(view) {
  return RENDERERS[view.kind] ?? TextBoard;
}
