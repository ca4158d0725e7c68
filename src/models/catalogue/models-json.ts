import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileError, messageOf, systemCode } from "../../base/errors.ts";
import { ensureFolder, writeAtomic } from "../../base/files.ts";
import type { Ids } from "../../base/ids.ts";
import { canonicalProvider, PROVIDERS, providerFacts } from "../providers/index.ts";
import type { ModelSettings, ProviderSettings } from "./layer.ts";

export interface ModelsFile {
  readonly path: string;
  readonly providers: Readonly<Record<string, ProviderSettings>>;
  /** Why the file is not used, when it is damaged; it is left as it is. */
  readonly damage?: string;
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

const hasId = (model: unknown): model is ModelSettings => isRecord(model) && typeof model["id"] === "string" && model["id"].trim() !== "";

/** A provider as somebody wrote it by hand: what does not fit is passed over. */
function parseProvider(value: unknown): ProviderSettings | undefined {
  if (!isRecord(value)) return undefined;
  const models = Array.isArray(value["models"]) ? value["models"].filter(hasId) : [];
  return { ...value, models };
}

/** Reads `models.json` of an agent's folder. One that is missing is empty; one that is damaged is told about and passed over. */
export function readModelsFile(agentDir: string): ModelsFile {
  const path = join(agentDir, "models.json");
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (systemCode(error) === "ENOENT") return { path, providers: {} };
    throw fileError(path, "could not read the model list", error);
  }
  try {
    const value: unknown = JSON.parse(text);
    const providers = isRecord(value) && isRecord(value["providers"]) ? value["providers"] : {};
    const parsed = Object.entries(providers).flatMap(([name, provider]) => {
      const settings = parseProvider(provider);
      return settings ? [[name, settings] as const] : [];
    });
    return { path, providers: Object.fromEntries(parsed) };
  } catch (error) {
    return { path, providers: {}, damage: `${path} is no JSON (${messageOf(error)}) and is not used; correct or delete it` };
  }
}

/** `${X}` becomes `X`: the file names variables and never holds what is in them. */
const variableName = (key: string): string => /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/.exec(key.trim())?.[1] ?? key;

/** The model list as it is to be written. */
export interface ModelsFileInput {
  readonly mode: "merge" | "replace";
  /** `models.providers` as the user wrote it, before variables were put in. */
  readonly explicit: Readonly<Record<string, ProviderSettings>>;
  readonly existing: Readonly<Record<string, ProviderSettings>>;
  /** Variable or other non-secret mark of the credential that implies a provider; undefined without one. */
  readonly impliedBy: (provider: string) => string | undefined;
}

function implied({ impliedBy }: ModelsFileInput): Record<string, ProviderSettings> {
  const found = PROVIDERS.filter(({ presence, models }) => presence === "implied" && models !== undefined).flatMap(({ id, baseUrl, api, models = [] }) => {
    const mark = impliedBy(id);
    return mark === undefined ? [] : [[id, { baseUrl, api, apiKey: mark, models }] as const];
  });
  return Object.fromEntries(found);
}

/** Explicit fields win, explicit models come first, implied ones are added by id. */
function merged(base: ProviderSettings | undefined, own: ProviderSettings): ProviderSettings {
  const taken = new Set((own.models ?? []).map(({ id }) => id.trim()));
  return { ...base, ...own, models: [...(own.models ?? []), ...(base?.models ?? []).filter(({ id }) => !taken.has(id.trim()))] };
}

export function modelsFileValue(input: ModelsFileInput): { readonly providers: Readonly<Record<string, ProviderSettings>> } {
  const providers = implied(input);
  for (const [name, own] of Object.entries(input.explicit)) {
    const id = providerFacts(name) ? canonicalProvider(name) : name.trim();
    if (id !== "") providers[id] = merged(providers[id], own);
  }
  const all = input.mode === "merge" ? { ...input.existing, ...providers } : providers;
  const named = Object.entries(all).map(
    ([id, { apiKey, ...rest }]) => [id, typeof apiKey === "string" ? { ...rest, apiKey: variableName(apiKey) } : rest] as const,
  );
  return { providers: Object.fromEntries(named) };
}

/** Writes `models.json` for programs that read it. Gives false when there is nothing to write or nothing changed. A damaged file is never written over. */
export function writeModelsFile(agentDir: string, input: Omit<ModelsFileInput, "existing">, ids: Pick<Ids, "hex">): boolean {
  const { path, providers: existing, damage } = readModelsFile(agentDir);
  const value = modelsFileValue({ ...input, existing });
  if (damage !== undefined || Object.keys(value.providers).length === 0) return false;
  const text = `${JSON.stringify(value, null, 2)}\n`;
  if (text === currentText(path)) return false;
  ensureFolder(agentDir);
  writeAtomic(path, text, { mode: 0o600, temporary: `${path}.${ids.hex(4)}.tmp` });
  return true;
}

function currentText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined; // Not there yet.
  }
}
