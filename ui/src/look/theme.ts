import { keep } from "../base/keep.ts";
import { createSignal, type Signal } from "../base/signal.ts";

export type ThemeChoice = "system" | "light" | "dark";

export interface Theme {
  readonly choice: Signal<ThemeChoice>;
  choose(choice: ThemeChoice): void;
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
  dark.addEventListener("change", apply);
  apply();
  return {
    choice,
    choose(next) {
      keep.setText("theme", next);
      choice.set(next);
      apply();
    },
  };
}
