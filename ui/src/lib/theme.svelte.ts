/** Light, dark, or as the system says. */

export type Theme = "auto" | "light" | "dark";

const KEY = "headrace.theme";
const NEXT: Record<Theme, Theme> = { auto: "light", light: "dark", dark: "auto" };

class ThemeChoice {
  chosen = $state<Theme>("auto");
  /** Grows with every change, for drawings that read colours from the page. */
  version = $state(0);

  constructor() {
    const stored = localStorage.getItem(KEY);
    if (stored === "light" || stored === "dark") this.chosen = stored;
    this.apply();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => (this.version += 1));
  }

  next(): void {
    this.chosen = NEXT[this.chosen];
    localStorage.setItem(KEY, this.chosen);
    this.apply();
  }

  private apply(): void {
    if (this.chosen === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = this.chosen;
    this.version += 1;
  }
}

export const theme = new ThemeChoice();
