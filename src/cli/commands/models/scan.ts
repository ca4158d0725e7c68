import { systemClock } from "../../../base/clock.ts";
import { AppError } from "../../../base/errors.ts";
import { createRedactor } from "../../../base/redaction.ts";
import { clip } from "../../../base/text.ts";
import { loadProbe, loadScan } from "../../../models/index.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { describeEdit, editConfig } from "../../config-edit.ts";
import { printJson, type Io } from "../../io.ts";
import { createStyle } from "../../output/style.ts";
import { formatTable } from "../../output/table.ts";
import { packageFolders } from "./probe.ts";
import { openModels, type ModelsView } from "./source.ts";

type ScanModule = Awaited<ReturnType<typeof loadScan>>;
type Scanned = ReturnType<ScanModule["rankScanned"]>[number];
type FreeModel = Awaited<ReturnType<ScanModule["listFreeModels"]>>[number];

const PROVIDER = "openrouter";
const TOOL = { name: "ping", description: "Answers pong. Call it now.", parameters: { type: "object", properties: {}, additionalProperties: false } };
/** One white pixel. */
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

function amount(text: string | undefined, flag: string): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!Number.isFinite(value) || value <= 0) throw new AppError("INVALID_INPUT", `--${flag} takes a number above 0, got ${JSON.stringify(text)}`);
  return value;
}

interface TryOptions {
  readonly timeoutMs: number;
  readonly concurrency: number;
}

/** Asks each model to call a tool, and those that say they see to look at a picture. */
async function tryModels(io: Io, view: ModelsView, models: readonly FreeModel[], { timeoutMs, concurrency }: TryOptions): Promise<readonly Scanned[]> {
  const [candidate] = view.credentials.get(PROVIDER) ?? [];
  if (!candidate)
    throw new AppError(
      "UNAVAILABLE",
      "testing models needs an OpenRouter key: set OPENROUTER_API_KEY or run openclaw models auth add; use --no-probe to only list them",
    );
  const { apiKey } = await view.auth.credential(candidate);
  const { probeModel, inParallel } = await loadProbe();
  const redactor = createRedactor();
  if (apiKey !== undefined) redactor.register(apiKey);
  const settings = view.catalogue.settings(PROVIDER);
  return inParallel(models, concurrency, async (free): Promise<Scanned> => {
    const known = {
      id: free.id,
      name: free.name,
      input: free.takesImages ? (["text", "image"] as const) : (["text"] as const),
      contextWindow: free.contextLength || undefined,
      maxTokens: free.maxTokens,
    };
    const model = view.choice.entryOf(PROVIDER, known, settings, "discovery");
    const base = {
      model,
      apiKey,
      timeoutMs,
      maxTokens: 256,
      clock: systemClock,
      signal: io.signal(),
      longTail: { from: packageFolders(io), version: io.version },
    };
    const outcome = (ok: boolean, { latencyMs, error }: { readonly latencyMs: number; readonly error?: string }, otherwise: string) => ({
      ok,
      latencyMs,
      ...(ok ? {} : { error: clip(redactor.text(error ?? otherwise), 200) }),
    });
    if (!free.takesTools) return { ...free, tool: { ok: false, latencyMs: 0, error: "no tool support" } };
    const called = await probeModel({ ...base, content: "Call the tool ping now. Do not answer in words.", tools: [TOOL] });
    const tool = outcome(called.status === "ok" && called.calledTool, called, "it did not call the tool");
    if (!free.takesImages || !tool.ok) return { ...free, tool };
    const seen = await probeModel({
      ...base,
      content: [
        { type: "text", text: "Reply with OK." },
        { type: "image", data: PIXEL, mimeType: "image/png" },
      ],
    });
    return { ...free, tool, image: outcome(seen.status === "ok", seen, "it rejected the picture") };
  });
}

const refOf = ({ id }: FreeModel): string => `${PROVIDER}/${id}`;

interface Picked {
  readonly text: readonly string[];
  readonly image: readonly string[];
}

/** What becomes of one kind of model: the first is the primary when asked to, and no primary is its own fallback. */
function chosen(view: ModelsView, kind: "model" | "imageModel", picked: readonly string[], setsPrimary: boolean): Record<string, unknown> {
  if (picked.length === 0) return {};
  const primary = setsPrimary ? picked[0] : view.choice.choiceOf(view.config.agents?.defaults?.[kind]).primary;
  return { [kind]: { fallbacks: picked.filter((ref) => ref !== primary), ...(setsPrimary ? { primary } : {}) } };
}

/** Writes what was picked: as fallbacks, and as the first choice when asked to. */
function patchFor(view: ModelsView, { text, image }: Picked, set: { readonly main: boolean; readonly image: boolean }): unknown {
  const listed = Object.keys(view.config.agents?.defaults?.models ?? {}).length > 0;
  return {
    agents: {
      defaults: {
        ...chosen(view, "model", text, set.main),
        ...chosen(view, "imageModel", image, set.image),
        ...(listed ? { models: Object.fromEntries([...new Set([...text, ...image])].map((ref) => [ref, {}])) } : {}),
      },
    },
  };
}

function show(io: Io, results: readonly Scanned[], tried: boolean): void {
  const style = createStyle(io.color);
  const mark = (probe: Scanned["tool"], claimed: boolean): string =>
    probe ? (probe.ok ? style.green(`${probe.latencyMs} ms`) : style.red("no")) : claimed ? (tried ? "-" : "claimed") : "-";
  const rows = results.map((model) => [
    refOf(model),
    mark(model.tool, model.takesTools),
    mark(model.image, model.takesImages),
    `${Math.round(model.contextLength / 1000)}k`,
    model.params === undefined ? "-" : `${model.params}b`,
  ]);
  if (rows.length === 0) io.out("No matching free models\n");
  else io.out(formatTable(["Model", "Tools", "Images", "Context", "Size"], rows, { style, columns: io.columns }));
}

export const scan = defineCommand({
  options: {
    "min-params": { type: "string", value: "billions", help: "Minimum number of parameters, in billions" },
    "max-age-days": { type: "string", value: "days", help: "Maximum age in days" },
    provider: { type: "string", value: "name", help: "Only model ids with this prefix" },
    "max-candidates": { type: "string", value: "n", help: "Number of fallbacks (default 6)" },
    timeout: { type: "string", value: "ms", help: "Time to wait for an answer, in ms (default 12000)" },
    concurrency: { type: "string", value: "n", help: "Number of parallel tests (default 3)" },
    "no-probe": { type: "boolean", help: "List models without testing them" },
    yes: { type: "boolean", help: "Save the result without asking" },
    "no-input": { type: "boolean", help: "Don't ask; nothing is saved without --yes" },
    "set-default": { type: "boolean", help: "Make the first one the default model" },
    "set-image": { type: "boolean", help: "Make the first one with image support the image model" },
    json: JSON_OPTION,
  },
  examples: [],
  async run({ io, values }) {
    const { listFreeModels, rankScanned } = await loadScan();
    const filter = {
      minParams: amount(values["min-params"], "min-params"),
      maxAgeDays: amount(values["max-age-days"], "max-age-days"),
      maker: values.provider,
    };
    const limit = Math.ceil(amount(values["max-candidates"], "max-candidates") ?? 6);
    const timeoutMs = amount(values.timeout, "timeout") ?? 12_000;
    const concurrency = Math.ceil(amount(values.concurrency, "concurrency") ?? 3);
    const view = await openModels(io);
    const baseUrl = view.catalogue.settings(PROVIDER)?.baseUrl ?? view.choice.providerFacts(PROVIDER)!.baseUrl;
    const free = await listFreeModels({ baseUrl, timeoutMs, clock: systemClock, filter, signal: io.signal() });
    const tried = !values["no-probe"];
    const results = rankScanned(tried ? await tryModels(io, view, free, { timeoutMs, concurrency }) : free);
    const usable = results.filter((model) => model.tool?.ok === true);
    const picked = {
      text: usable.slice(0, limit).map(refOf),
      image: usable
        .filter((model) => model.image?.ok === true)
        .slice(0, limit)
        .map(refOf),
    };
    if (!values.json) show(io, results, tried);
    const isNothing = picked.text.length === 0;
    if (tried && isNothing && !values.json) io.err("None of them called a tool. No changes made\n");
    const may =
      !isNothing && (values.yes === true || (!values["no-input"] && !values.json && (await io.confirm(`Use ${picked.text.length} of them as fallbacks?`))));
    const set = { main: values["set-default"] ?? false, image: values["set-image"] ?? false };
    const written = may ? await editConfig(io, { kind: "patch", value: patchFor(view, picked, set) }, "cli models scan") : undefined;
    if (values.json)
      return printJson(io, {
        selected: picked.text,
        selectedImages: picked.image,
        setDefault: may && set.main,
        setImage: may && set.image && picked.image.length > 0,
        written: written !== undefined,
        results,
      });
    if (written) io.out(io.runnable(describeEdit(`Fallbacks: ${picked.text.join(", ")}`, written)));
  },
});
