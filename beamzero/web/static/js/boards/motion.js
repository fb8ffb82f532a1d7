// A bundle of animations that ends together, and can be cut short.

const calm = matchMedia("(prefers-reduced-motion: reduce)");

export const mayMove = () => !calm.matches && !document.hidden;

export class Motion {
  animations = [];
  isCut = false;

  // Returns a promise of the animation's end, also where it is cut short.
  add(element, frames, timing) {
    const animation = element.animate(frames, timing);
    this.animations.push(animation);
    if (this.isCut) animation.finish();
    return animation.finished.catch(() => {});
  }

  slide(element, dx, dy, timing) {
    return this.add(element, [{ transform: `translate(${dx}px, ${dy}px)` }, { transform: "none" }], timing);
  }

  cut() {
    this.isCut = true;
    for (const animation of this.animations) animation.finish();
  }

  done() {
    return Promise.allSettled(this.animations.map((animation) => animation.finished));
  }
}
