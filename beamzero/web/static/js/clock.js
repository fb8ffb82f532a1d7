// The two clocks. The server's figures hold as of its message; from there the page counts down by itself.

import { $ } from "./dom.js";

const SHORT = 20; // seconds from which on tenths are shown

export function clockText(seconds) {
  const left = Math.max(0, seconds);
  if (left < SHORT) return left.toFixed(1);
  const whole = Math.ceil(left);
  const parts = [Math.floor(whole / 60) % 60, whole % 60].map((part) => String(part).padStart(2, "0"));
  return whole >= 3600 ? [Math.floor(whole / 3600), ...parts].join(":") : parts.join(":");
}

export class Clocks {
  constructor() {
    setInterval(() => this.show(), 100);
  }

  set(info) {
    this.info = info;
    this.show();
  }

  show() {
    if (!this.info) return;
    const { clock } = this.info;
    for (const side of [0, 1]) {
      const face = $(`clock-${side}`);
      face.hidden = !clock;
      if (!clock) continue;
      const runs = clock.running === side;
      const left = clock.left[side] - (runs ? (performance.now() - this.info.received) / 1000 : 0);
      const text = clockText(left);
      if (face.textContent !== text) face.textContent = text;
      face.classList.toggle("running", runs);
      face.classList.toggle("short", left < SHORT);
    }
  }
}
