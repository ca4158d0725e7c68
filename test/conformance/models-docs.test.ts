import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { manualClock } from "../../src/base/clock.ts";
import { decide, type Situation } from "../../src/models/failover/decide.ts";
import type { FailureClass } from "../../src/models/failover/classify.ts";
import { createOfflineModel, OFFLINE_MODEL } from "../../src/models/offline/index.ts";
import { PROVIDERS } from "../../src/models/providers/index.ts";
import { ROOT } from "../harness/gateway-process.ts";

/** The rows of the table under this header, cell by cell. */
function rowsOf(page: string, header: string): readonly (readonly string[])[] {
  const lines = readFileSync(join(ROOT, "docs/models", page), "utf8").split("\n");
  const at = lines.findIndex((line) => cells(line).join("|") === header);
  expect(at, `${page} has a table ${header}`).toBeGreaterThan(-1);
  const rows = lines.slice(at + 2);
  return rows
    .slice(
      0,
      rows.findIndex((line) => !line.startsWith("|")),
    )
    .map(cells);
}

const cells = (line: string): readonly string[] =>
  line
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());
const ticked = (text: string): readonly string[] => [...text.matchAll(/`([^`]+)`/g)].map((match) => match[1]!);

test("the table of providers has every one of them, with its variables in order and its wire format", () => {
  const shown = rowsOf("overview.md", "provider|variables|wire format").map(([name, variables, api]) => [
    ...ticked(name!),
    ...ticked(variables!),
    ...ticked(api!),
  ]);
  const known = PROVIDERS.filter(({ id }) => id !== "builtin").map(({ id, aliases = [], env, api }) => [id, ...aliases, ...env, ...(api === "" ? [] : [api])]);
  expect(shown).toEqual(known);
});

test("the table of local servers has their addresses", () => {
  const shown = rowsOf("local.md", "server|provider|address").map(([, id, address]) => [...ticked(id!), ...ticked(address!)]);
  expect(shown).toEqual(PROVIDERS.filter(({ presence }) => presence === "local").map(({ id, baseUrl }) => [id, baseUrl]));
});

/** What is tried, as the page says it. */
function tried(kind: FailureClass): string {
  const step = (over: Partial<Situation>) =>
    decide({ kind, attempt: 1, afterContent: false, moreProfiles: true, moreModels: true, thinking: "high", chance: 0, ...over }).do;
  const steps: string[] = [];
  if (step({}) === "lower-thinking") steps.push("lower level");
  let retries = 0;
  while (step({ attempt: retries + 1 }) === "retry") retries += 1;
  if (retries > 0) steps.push(`again ${retries}×`);
  if (step({ attempt: retries + 1, thinking: "off" }) === "rotate") steps.push("next account");
  if (step({ attempt: retries + 1, thinking: "off", moreProfiles: false }) === "next-model") steps.push("next model");
  return steps.length === 0 ? "none" : steps.join(", ");
}

describe("the table of failover says what is done", () => {
  const rows = rowsOf("failover.md", "kind|when|tried");
  test("about many kinds of trouble", () => expect(rows.length).toBeGreaterThanOrEqual(15));
  test.each(rows.map(([kind, , shown]) => [ticked(kind!)[0] as FailureClass, shown!]))("%s: %s", (kind, shown) =>
    expect(tried(kind)).toBe(shown.split(":")[0]),
  );
});

describe("the offline model does what its page says", () => {
  const TEXT = { type: "string" };
  const schemas = {
    exec: ["command"],
    read: ["path"],
    write: ["path", "content"],
    edit: ["path", "oldText", "newText"],
    memory_search: ["query"],
    cron: ["action"],
  };
  const tools = Object.entries(schemas).map(([name, required]) => ({
    name,
    description: "",
    parameters: { type: "object", properties: Object.fromEntries(required.map((key) => [key, TEXT])), required },
  }));
  const model = createOfflineModel();

  test.each(rowsOf("offline.md", "you say|it does").map(([words, does]) => [ticked(words!)[0]!, does!]))("%s", async (words, does) => {
    const request = { model: OFFLINE_MODEL, messages: [{ role: "user" as const, content: words, timestamp: 0 }], tools, thinking: "off" as const };
    const events = await Array.fromAsync(model.stream(request, { clock: manualClock(), headersMs: 1, progressMs: 1 }));
    const end = events.at(-1)!;
    const done = (end.type === "end" ? end.message.content : []).map((part) =>
      part.type === "text" ? `says: ${part.text}` : part.type === "toolCall" ? `calls \`${part.name}\` with \`${JSON.stringify(part.arguments)}\`` : "",
    );
    if (does.startsWith("says: ")) expect(done.join("")).toContain(does.slice("says: ".length));
    else expect(done).toEqual([does]);
  });
});
