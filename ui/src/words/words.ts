/**
 * The page's texts in the reader's language. English is written in the code; a file `<language>.json` in this folder maps each English text to its
 * translation, with `{0}`, `{1}` … where values stand. What a file does not have is shown in English.
 */

import { keep } from "../base/keep.ts";

type Texts = Readonly<Record<string, string>>;

/** `en.json` is what translators begin with: the page itself has the English. */
const TABLES = import.meta.glob<Texts>(["./*.json", "!./en.json"], { import: "default" });

/** The names that their speakers use. */
const NAMES: Readonly<Record<string, string>> = { en: "English", de: "Deutsch" };
export const LANGUAGES: readonly { readonly tag: string; readonly name: string }[] = [
  "en",
  ...Object.keys(TABLES).map((path) => path.replaceAll(/^\.\/|\.json$/g, "")),
].map((tag) => ({ tag, name: NAMES[tag] ?? tag }));

const baseOf = (tag: string): string => tag.toLowerCase().split("-")[0] ?? "en";

function languageNow(): string {
  const wanted = [keep.text("language"), ...navigator.languages].map((tag) => tag && baseOf(tag));
  return wanted.find((tag) => LANGUAGES.some((one) => one.tag === tag)) ?? "en";
}

export const language = languageNow();
/** For dates and numbers: the browser's variant of the language, such as `de-AT`. */
export const locale = navigator.languages.find((tag) => baseOf(tag) === language) ?? language;

const load = TABLES[`./${language}.json`];
// The page is in English when the file cannot be loaded.
const texts: Texts = load ? await load().catch(() => ({})) : {};

/** Loads the page again in this language. */
export function chooseLanguage(tag: string): void {
  keep.setText("language", tag);
  location.reload();
}

/** The key of a template: its text with the positions of values. */
const keyOf = (pieces: readonly string[]): string => pieces.reduce((text, piece, at) => `${text}{${at - 1}}${piece}`);

/** In a name, they would turn around the text that the name stands in, end its line, or do nothing that anyone sees. */
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const UNRULY = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;
const shownValue = (value: string | number | undefined): string => String(value ?? "").replaceAll(UNRULY, "\ufffd");

/** A text in the reader's language: `t("Save")`, or t`Delete ${name}?` with values. */
export function t(text: string | TemplateStringsArray, ...values: readonly (string | number | undefined)[]): string {
  const key = typeof text === "string" ? text : keyOf(text);
  const shown = texts[key] ?? key;
  return values.length === 0 ? shown : shown.replaceAll(/\{(\d)\}/g, (_, at: string) => shownValue(values[Number(at)]));
}
