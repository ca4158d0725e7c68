/**
 * Freezes the tables of `@earendil-works/pi-ai` (MIT) into `src/models/catalogue/data/models.json`: ids, names, windows, prices and abilities of known
 * models. The package is no dependency: fetch it with `npm pack @earendil-works/pi-ai`, unpack it, and name its folder.
 *
 *   node scripts/catalogue.ts <folder of the unpacked package>
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PROVIDERS, type ProviderFacts } from "../src/models/providers/index.ts";

const TARGET = "src/models/catalogue/data/models.json";
const COMPAT = ["supportsStore", "supportsDeveloperRole", "supportsReasoningEffort", "supportsUsageInStreaming", "maxTokensField", "thinkingFormat"];
const THINKING_FORMATS = ["openai", "zai", "qwen"];

interface Source {
  readonly type: string;
  readonly id: string;
  readonly name: string;
  readonly api: string;
  readonly reasoning: boolean;
  readonly input: readonly string[];
  readonly cost: { readonly input: number; readonly output: number; readonly cacheRead: number; readonly cacheWrite: number };
  readonly contextWindow: number;
  readonly maxTokens: number;
  readonly compat?: Readonly<Record<string, unknown>>;
}

/** Only what the wire formats here understand, and only when the model is spoken to in the same format there. */
function compatOf({ compat }: Source): Record<string, unknown> | undefined {
  const kept = Object.entries(compat ?? {}).filter(
    ([key, value]) => COMPAT.includes(key) && (key !== "thinkingFormat" || THINKING_FORMATS.includes(String(value))),
  );
  return kept.length > 0 ? Object.fromEntries(kept) : undefined;
}

/** Id, name, reasons, sees, window, output, prices, own wire format, differences; what is empty at the end is left out. */
function rowOf(model: Source, { api, alsoAt }: ProviderFacts): unknown[] {
  const own = model.api === api ? undefined : alsoAt?.[model.api] === undefined ? undefined : model.api;
  const compat = own !== undefined || model.api === api ? compatOf(model) : undefined;
  const { input, output, cacheRead, cacheWrite } = model.cost;
  const row: unknown[] = [
    model.id,
    model.name === model.id ? "" : model.name,
    model.reasoning ? 1 : 0,
    model.input.includes("image") ? 1 : 0,
    model.contextWindow,
    model.maxTokens,
    [input, output, cacheRead, cacheWrite],
  ];
  if (own !== undefined || compat) row.push(own ?? "");
  if (compat) row.push(compat);
  return row;
}

const folder = process.argv[2];
if (folder === undefined) throw new Error("expected the folder of the unpacked package @earendil-works/pi-ai");
const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string };
let count = 0;
const tables = PROVIDERS.flatMap((facts) => {
  const file = join(folder, "dist/providers/data", `${facts.table ?? facts.id}.json`);
  if (!existsSync(file)) return [];
  const groups = JSON.parse(readFileSync(file, "utf8")) as Record<string, Record<string, Source>>;
  const models = Object.values(groups)
    .flatMap((group) => Object.values(group))
    .filter((model) => model.type === "chat")
    .sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
  const unique = models.filter((model, at) => models[at - 1]?.id !== model.id);
  count += unique.length;
  return [`  ${JSON.stringify(facts.id)}: [\n${unique.map((model) => `    ${JSON.stringify(rowOf(model, facts))}`).join(",\n")}\n  ]`];
});
writeFileSync(TARGET, `{\n${tables.join(",\n")}\n}\n`);
console.log(`${count} models of ${tables.length} providers, from version ${version}`);
