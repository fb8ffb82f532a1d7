// The palette of a board by name, and the colours of its two sides.

const COLOURS = {
  black: "#1d1f21",
  white: "#f7f5ef",
  red: "#d8433b",
  yellow: "#f2c230",
  blue: "#2f6fd0",
};

const USUAL = {
  blue: ["red", "yellow"],
  felt: ["black", "white"],
  wood: ["white", "black"],
  paper: ["blue", "red"],
  cells: ["red", "blue"],
};

export function paletteOf(view) {
  if (view.look in USUAL) return view.look;
  if (view.kind === "cards") return "felt";
  if (view.kind !== "grid" || view.checkered) return "wood";
  if (view.gravity) return "blue";
  return view.slanted ? "cells" : "paper";
}

export function sideColours(view) {
  const usual = USUAL[paletteOf(view)];
  return [0, 1].map((side) => COLOURS[view.sides?.[side]?.toLowerCase()] ?? COLOURS[usual[side]]);
}
