import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { readConversations } from "../../scripts/memory/pool.ts";
import { createAnalyser } from "../../src/memory/text/analyser.ts";
import { languageOf } from "../../src/memory/text/languages.ts";
import { createReader } from "../../src/memory/search/reading.ts";

const FIXTURES = fileURLToPath(new URL("../fixtures/memory/heldout/", import.meta.url));
const passage = { id: 1, first: 1, last: 1, at: null, role: "user", entry: null } as const;

test("a passage is read with every occurrence of the terms, as if all of its words were analysed", () => {
  const analyser = createAnalyser();
  const messages = readConversations(join(FIXTURES, "conversations.jsonl")).flatMap((conversation) => conversation.messages);
  const texts = [
    "Flies buys eyed Eyes ties, agreed; RUNNING cries",
    "order ab-12-cd of 12.05.2026, mail anna@example.org",
    "Straßenbahn für die Müllers, ça va, 東京に行きました и ещё книга",
    "",
    ...messages.map(({ text }) => text).filter((_, index) => index % 7 === 0),
  ];
  for (const text of texts) {
    const words = text.toLowerCase().split(/\s+/);
    const language = languageOf(words, "en");
    const { terms } = analyser.analyse(text.slice(0, 4000), { known: language });
    const stems = new Set(terms.filter((_, index) => index % 3 === 0));
    const read = createReader(analyser, stems)({ ...passage, text, language, about: null });
    expect(read.occurrences).toEqual(terms.flatMap((stem, at) => (stems.has(stem) ? [{ stem, at }] : [])));
    expect(read.stems).toEqual(stems);
    expect(read.length).toBe(terms.length);
  }
});

test("the words of who said it, or of the headings above, are terms too", () => {
  const analyser = createAnalyser();
  const read = createReader(analyser, new Set(["plumber"]))({ ...passage, text: "Call on Monday", language: "en", about: "House > Plumbers" });
  expect([...read.about]).toEqual(["hous", "plumber"]);
  expect(read.stems.size).toBe(0);
});
