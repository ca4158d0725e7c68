import { mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { modelsFileValue, readModelsFile, writeModelsFile, type ModelsFileInput } from "./models-json.ts";

const folder = () => mkdtempSync(join(tmpdir(), "models-json-"));
const ids = { hex: () => "00000001" };
const input = (over: Partial<ModelsFileInput> = {}): ModelsFileInput => ({ mode: "merge", explicit: {}, existing: {}, impliedBy: () => undefined, ...over });

test("explicit fields win, explicit models come first, implied ones are added by id", () => {
  const { providers } = modelsFileValue(
    input({
      explicit: { moonshot: { baseUrl: "https://own/v1", models: [{ id: "kimi-k2.5", name: "Mine" }] } },
      impliedBy: (id) => (id === "moonshot" ? "MOONSHOT_API_KEY" : undefined),
    }),
  );
  expect(providers["moonshot"]).toMatchObject({ baseUrl: "https://own/v1", api: "openai-completions", apiKey: "MOONSHOT_API_KEY" });
  expect(providers["moonshot"]?.models?.map(({ id, name }) => [id, name]).slice(0, 2)).toEqual([
    ["kimi-k2.5", "Mine"],
    ["kimi-k2-0905-preview", "Kimi K2 0905 Preview"],
  ]);
});

test("merging preserves existing providers, replacing does not", () => {
  const existing = { old: { baseUrl: "http://old", models: [] }, mine: { baseUrl: "http://stale", models: [] } };
  const explicit = { mine: { baseUrl: "http://mine", models: [] } };
  expect(modelsFileValue(input({ existing, explicit })).providers).toMatchObject({ old: { baseUrl: "http://old" }, mine: { baseUrl: "http://mine" } });
  expect(Object.keys(modelsFileValue(input({ mode: "replace", existing, explicit })).providers)).toEqual(["mine"]);
});

test("a variable is written by its name; a secret from elsewhere is not written at all", () => {
  const { providers } = modelsFileValue(
    input({
      explicit: { a: { baseUrl: "http://a", apiKey: "${A_KEY}", models: [] }, b: { baseUrl: "http://b", apiKey: { source: "file", path: "/k" }, models: [] } },
    }),
  );
  expect(providers).toEqual({ a: { baseUrl: "http://a", apiKey: "A_KEY", models: [] }, b: { baseUrl: "http://b", models: [] } });
});

test("the file is readable by its owner only, and written only when something changed", () => {
  const agentDir = join(folder(), "agent");
  const mine = { mode: "merge" as const, explicit: { mine: { baseUrl: "http://mine", models: [{ id: "m" }] } }, impliedBy: () => undefined };
  expect(writeModelsFile(agentDir, mine, ids)).toBe(true);
  expect(statSync(join(agentDir, "models.json")).mode & 0o777).toBe(0o600);
  expect(writeModelsFile(agentDir, mine, ids)).toBe(false);
  expect(readModelsFile(agentDir).providers).toEqual({ mine: { baseUrl: "http://mine", models: [{ id: "m" }] } });
});

test("nothing is written without providers", () => {
  const agentDir = join(folder(), "agent");
  expect(writeModelsFile(agentDir, { mode: "merge", explicit: {}, impliedBy: () => undefined }, ids)).toBe(false);
  expect(readModelsFile(agentDir)).toEqual({ path: join(agentDir, "models.json"), providers: {} });
});

test("a damaged file is reported, ignored, and never overwritten", () => {
  const agentDir = folder();
  const path = join(agentDir, "models.json");
  writeFileSync(path, "{ half");
  expect(readModelsFile(agentDir)).toMatchObject({ providers: {}, damage: expect.stringContaining("fix or delete it") });
  expect(writeModelsFile(agentDir, { mode: "replace", explicit: { mine: { baseUrl: "http://m", models: [] } }, impliedBy: () => undefined }, ids)).toBe(false);
  expect(readFileSync(path, "utf8")).toBe("{ half");
});

test("invalid entries are ignored, the others used", () => {
  const agentDir = folder();
  writeFileSync(
    join(agentDir, "models.json"),
    JSON.stringify({ providers: { bad: 7, good: { baseUrl: "http://g", models: [null, { name: "no id" }, { id: "m" }] } } }),
  );
  expect(readModelsFile(agentDir).providers).toEqual({ good: { baseUrl: "http://g", models: [{ id: "m" }] } });
});
