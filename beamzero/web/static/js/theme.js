// Light or dark: as the system says, until the button says otherwise.

const KEY = "beamzero.theme";
const dark = matchMedia("(prefers-color-scheme: dark)");

function apply(theme) {
  document.documentElement.dataset.theme = theme;
  const button = document.querySelector("[data-testid=theme]");
  if (!button) return;
  button.textContent = theme === "dark" ? "☾" : "☀";
  button.setAttribute("aria-pressed", theme === "dark");
}

function current() {
  return localStorage.getItem(KEY) ?? (dark.matches ? "dark" : "light");
}

export function setUpTheme() {
  apply(current());
  dark.addEventListener("change", () => apply(current()));
  document.querySelector("[data-testid=theme]").addEventListener("click", () => {
    localStorage.setItem(KEY, current() === "dark" ? "light" : "dark");
    apply(current());
  });
}
