// Deterministic generator: node generate.mjs [folder] (default: ./generated); `-` prints both to stdout.
import { mkdirSync, writeFileSync, existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadBank, random } from "./generator/bank.mjs";
import { makeWorld } from "./generator/world.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const target = process.argv[2] ?? join(here, "generated");
const seed = Number(process.argv[3] ?? 20260117);
const full = { people: 74, me: 40, group: 20, recs: 12, chains: 6, eventTypes: 2, perEvent: 6, codes: 9, firsts: 2, lists: 4, appts: 3 };
const part = { people: 32, me: 18, group: 9, recs: 5, chains: 5, eventTypes: 2, perEvent: 5, codes: 5, firsts: 2, lists: 2, appts: 3 };
const plan = [
  ...[1, 2, 3, 4, 5, 6, 7].map((i) => ({ lang: "en", name: `g-en${i}`, sessions: 80, quota: full })),
  ...["de", "es", "fr", "it", "pt"].flatMap((lang) => [1, 2].map((i) => ({ lang, name: `g-${lang}${i}`, sessions: 38, quota: part }))),
];
const banks = {};
const taken = new Set();
const conversations = [];
const questions = [];
plan.forEach((entry, index) => {
  const file = join(here, "generator", `${entry.lang}.txt`);
  if (!existsSync(file)) return;
  const bank = (banks[entry.lang] ??= loadBank(file));
  const r = random(seed + index * 7919);
  const end = Date.UTC(2024, 2 + ((index * 5) % 21), r.int(5, 18), 18);
  const world = makeWorld({ ...entry, bank, r, taken, end, days: r.int(520, 780), zone: r.int(0, 2) });
  conversations.push(...world.conversations);
  questions.push(...world.questions);
});
const lines = (rows) => rows.map((row) => JSON.stringify(row)).join("\n") + "\n";
if (target === "-") {
  process.stdout.write(lines(conversations) + lines(questions));
} else {
  mkdirSync(target, { recursive: true });
  writeFileSync(join(target, "conversations.jsonl"), lines(conversations));
  writeFileSync(join(target, "questions.jsonl"), lines(questions));
  const messages = conversations.reduce((n, c) => n + c.messages.length, 0);
  console.log(`${conversations.length} sessions, ${messages} messages, ${questions.length} questions -> ${target}`);
}
