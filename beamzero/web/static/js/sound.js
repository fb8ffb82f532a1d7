// Short clicks for moves, made on the spot; off until a person turns them on.

const KEY = "beamzero.sound";
const TONES = { move: [520, 0.05], tick: [900, 0.02], end: [330, 0.35] };
let context = null;

export const soundIsOn = () => localStorage.getItem(KEY) === "on";

export function play(kind) {
  if (!soundIsOn()) return;
  context ??= new AudioContext();
  const [frequency, seconds] = TONES[kind];
  const oscillator = context.createOscillator();
  const gain = context.createGain();
  oscillator.type = "triangle";
  oscillator.frequency.value = frequency;
  gain.gain.setValueAtTime(0.18, context.currentTime);
  gain.gain.exponentialRampToValueAtTime(0.001, context.currentTime + seconds);
  oscillator.connect(gain).connect(context.destination);
  oscillator.start();
  oscillator.stop(context.currentTime + seconds);
}

export function setUpSound() {
  const button = document.querySelector("[data-testid=sound]");
  const apply = () => {
    button.textContent = "♪";
    button.setAttribute("aria-pressed", soundIsOn());
  };
  apply();
  button.addEventListener("click", () => {
    localStorage.setItem(KEY, soundIsOn() ? "off" : "on");
    apply();
    play("move");
  });
}
