import { keep } from "../base/keep.ts";
import { createSignal, type Signal } from "../base/signal.ts";

export type ThemeChoice = "system" | "light" | "dark";

export interface Theme {
  readonly choice: Signal<ThemeChoice>;
  choose(choice: ThemeChoice): void;
  /** Asked for here; the system may ask for more contrast by itself. */
  readonly hasMoreContrast: boolean;
  setMoreContrast(on: boolean): void;
}

const isChoice = (word: string | undefined): word is ThemeChoice => word === "light" || word === "dark" || word === "system";

/** Light or dark, as the system says or as chosen. */
export function createTheme(): Theme {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const kept = keep.text("theme");
  const choice = createSignal<ThemeChoice>(isChoice(kept) ? kept : "system");
  const apply = (): void => {
    const isDark = choice.value === "dark" || (choice.value === "system" && dark.matches);
    document.documentElement.dataset["theme"] = isDark ? "dark" : "light";
  };
  const root = document.documentElement.dataset;
  if (keep.text("contrast") === "more") root["contrast"] = "more";
  dark.addEventListener("change", apply);
  apply();
  return {
    choice,
    choose(next) {
      keep.setText("theme", next);
      choice.set(next);
      apply();
    },
    get hasMoreContrast() {
      return root["contrast"] === "more";
    },
    setMoreContrast(on) {
      keep.setText("contrast", on ? "more" : undefined);
      if (on) root["contrast"] = "more";
      else delete root["contrast"];
    },
  };
}
