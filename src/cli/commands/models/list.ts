import type { ModelEntry, ModelRef } from "../../../models/index.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { printJson } from "../../io.ts";
import { createStyle } from "../../output/style.ts";
import { formatTable } from "../../output/table.ts";
import { openModels, type ModelsView } from "./source.ts";

/** One row, as machines get it. */
interface Row {
  readonly key: string;
  readonly name: string;
  readonly input: string;
  readonly contextWindow: number | null;
  readonly local: boolean | null;
  /** There is a credential, or none is needed. */
  readonly available: boolean | null;
  readonly tags: readonly string[];
  /** The configuration names it, and no catalogue has it. */
  readonly missing: boolean;
}

/** Roles of models in the configuration, by reference, the most important first. */
function configured({ choice, config, selection }: ModelsView): ReadonlyMap<string, { readonly ref: ModelRef; readonly tags: string[] }> {
  const all = new Map<string, { readonly ref: ModelRef; readonly tags: string[] }>();
  const aliases = choice.aliasesOf(config);
  const tag = (ref: ModelRef | undefined, name: string): void => {
    if (!ref) return;
    const key = choice.formatRef(ref).toLowerCase();
    const known = all.get(key) ?? { ref, tags: [] };
    known.tags.push(name);
    all.set(key, known);
  };
  const read = (text: string): ModelRef | undefined => choice.readRef(text, aliases, choice.DEFAULT_REF.provider)?.ref;
  tag(choice.standardChoice(selection).ref, "default");
  for (const [at, text] of (choice.agentChoice(config, selection.agentId).fallbacks ?? []).entries()) tag(read(text), `fallback#${at + 1}`);
  const image = choice.choiceOf(config.agents?.defaults?.imageModel);
  if (image.primary !== undefined) tag(read(image.primary), "image");
  for (const [at, text] of (image.fallbacks ?? []).entries()) tag(read(text), `img-fallback#${at + 1}`);
  for (const [key, settings] of Object.entries(config.agents?.defaults?.models ?? {})) {
    const ref = choice.parseRef(key);
    tag(ref, "configured");
    if (settings?.alias?.trim()) tag(ref, `alias:${settings.alias.trim()}`);
  }
  return all;
}

function rowOf(view: ModelsView, key: string, entry: ModelEntry | undefined, tags: readonly string[]): Row {
  if (!entry) return { key, name: key, input: "-", contextWindow: null, local: null, available: null, tags: [...tags, "missing"], missing: true };
  return {
    key,
    name: entry.name,
    input: entry.input.join("+"),
    contextWindow: entry.contextWindow,
    local: view.choice.isLocal(entry),
    available: view.hasCredential(entry.provider) || view.choice.needsNoKey(entry.provider, view.config),
    tags,
    missing: false,
  };
}

function rowsOf(view: ModelsView, { all, local, provider }: { readonly all?: boolean; readonly local?: boolean; readonly provider?: string }): readonly Row[] {
  const { choice, catalogue } = view;
  const named = configured(view);
  const wanted = provider === undefined ? undefined : choice.canonicalProvider(provider);
  if (all || local) {
    const entries = catalogue.list({ provider: wanted, local: local ?? false });
    return entries.map((entry) => {
      const key = `${entry.provider}/${entry.id}`;
      return rowOf(view, key, entry, named.get(key.toLowerCase())?.tags ?? []);
    });
  }
  return [...named.values()]
    .filter(({ ref }) => wanted === undefined || ref.provider === wanted)
    .map(({ ref, tags }) => rowOf(view, choice.formatRef(ref), catalogue.find(ref), tags));
}

export const list = defineCommand({
  options: {
    all: { type: "boolean", help: "All known models, not only configured ones" },
    local: { type: "boolean", help: "Only models served on this machine" },
    provider: { type: "string", value: "name", help: "Only this provider" },
    json: JSON_OPTION,
    plain: { type: "boolean", help: "Print one model per line" },
  },
  examples: [
    { line: "openclaw models list", does: "Configured models" },
    { line: "openclaw models list --all --plain", does: "All known models, one per line" },
    { line: "openclaw models list --local --json", does: "Models that Ollama, vLLM, LM Studio and llama.cpp serve on this machine" },
  ],
  async run({ io, values }) {
    const view = await openModels(io, { discover: values.local || values.all ? "always" : "when-empty" });
    const rows = rowsOf(view, values);
    if (values.json) return printJson(io, { count: rows.length, models: rows });
    if (values.plain) {
      for (const { key } of rows) io.out(`${key}\n`);
      return;
    }
    const style = createStyle(io.color);
    if (rows.length === 0)
      io.out(io.runnable(values.local ? "No models found on this machine\n" : "No matching models. List all known models with: openclaw models list --all\n"));
    else {
      const cells = rows.map(({ key, input, contextWindow, available, missing, tags }) => [
        key,
        input,
        contextWindow === null ? "-" : `${Math.round(contextWindow / 1000)}k`,
        missing ? style.red("unknown") : available ? style.green("yes") : style.yellow("no key"),
        tags.join(", "),
      ]);
      io.out(formatTable(["Model", "Input", "Context", "Usable", "Tags"], cells, { style, columns: io.columns }));
    }
  },
});
