import { expect, test } from "vitest";
import { compoundsOf, createAnalyser, folded, wordsOf } from "./analyser.ts";
import { languageOf } from "./languages.ts";

const words = (text: string): readonly string[] => wordsOf(text).map(({ word }) => word);

test("words are in lower case and without diacritics, in every alphabet", () => {
  expect(words("Café-Besuch, Größe 42!")).toEqual(["cafe", "besuch", "grosse", "42"]);
  expect(words("Привет, мир")).toEqual(["привет", "мир"]);
  expect(words("مَرحَباً بالعالم")).toEqual(["مرحبا", "بالعالم"]);
  expect(words("")).toEqual([]);
});

test("plain text gives the same words as any other", () => {
  const text = "It's 5 o'clock -- e-mail me at A_b@x.org, ok?";
  expect(words(`${text} é`).slice(0, -1)).toEqual(words(text));
});

test("scripts without blanks come in overlapping pieces, mixed text in both forms", () => {
  expect(words("我的狗叫小白")).toEqual(["我的", "的狗", "狗叫", "叫小", "小白"]);
  expect(words("新しいiPhone15を買った")).toEqual(["新し", "しい", "iphone15", "を買", "買っ", "った"]);
  expect(words("ฉันรักแมว").length).toBeGreaterThan(3);
});

test("positions point into the text as it was written", () => {
  const text = "Grüße an Zoë";
  expect(wordsOf(text).map(({ start, end }) => text.slice(start, end))).toEqual(["Grüße", "an", "Zoë"]);
});

test("ids and addresses are also words as a whole", () => {
  expect(compoundsOf("order AB-1234, mail jo@example.org, version 2.10.3, well-known")).toEqual(["ab1234", "joexampleorg", "2103"]);
});

test("forms of a word have one stem", () => {
  const { stem } = createAnalyser();
  expect(stem("running", "en")).toBe(stem("runs", "en"));
  expect(stem("katzen", "de")).toBe(stem("katze", "de"));
  expect(stem("gatos", "es")).toBe(stem("gato", "es"));
  expect(stem("ab1234", "en")).toBe("ab1234");
});

test("the same text in a known language always gives the same terms", () => {
  const analyser = createAnalyser();
  const text = "Die Katzen schlafen auf dem Sofa, Kennzeichen HH-X 77.";
  const first = analyser.analyse(text, { fallback: "en" });
  expect(first.language).toBe("de");
  expect(createAnalyser().analyse(text, { known: first.language }).terms).toEqual(first.terms);
});

test("the language is the one whose common words occur most, else the one before", () => {
  const of = (text: string, fallback: "en" | "de" = "en"): string => languageOf(words(text), fallback);
  expect(of("où est-ce que tu habites maintenant")).toBe("fr");
  expect(of("¿dónde está el perro de mi hermana?")).toBe("es");
  expect(of("Telescope!", "de")).toBe("de");
});

test("folding leaves nothing that two spellings of a word could differ by", () => {
  expect(folded("Ångström ﬁne Ł")).toBe("angstrom fine l");
});
