import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileError, messageOf, systemCode } from "../../base/errors.ts";
import { ensureFolder, writeAtomic } from "../../base/files.ts";
import type { Ids } from "../../base/ids.ts";
import { canonicalProvider, PROVIDERS, providerFacts } from "../providers/index.ts";
import type { ModelSettings, ProviderSettings } from "./layer.ts";
import { isRecord } from "../../base/records.ts";

export interface ModelsFile {
  readonly path: string;
  readonly providers: Readonly<Record<string, ProviderSettings>>;
  /** Why a damaged file is not used; it is left as it is. */
  readonly damage?: string;
}

const hasId = (model: unknown): model is ModelSettings => isRecord(model) && typeof model["id"] === "string" && model["id"].trim() !== "";

/** A provider as written by hand: invalid parts are ignored. */
function parseProvider(value: unknown): ProviderSettings | undefined {
  if (!isRecord(value)) return undefined;
  const models = Array.isArray(value["models"]) ? value["models"].filter(hasId) : [];
  return { ...value, models };
}

/** Reads `models.json` of an agent's folder. A missing one is empty; a damaged one is reported and ignored. */
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
    return { path, providers: {}, damage: `${path} is not JSON (${messageOf(error)}) and is ignored; fix or delete it` };
  }
}

/** `${X}` becomes `X`: the file contains names of variables, never their values. */
const variableName = (key: string): string => /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/.exec(key.trim())?.[1] ?? key;

/** The model list as it is to be written. */
export interface ModelsFileInput {
  readonly mode: "merge" | "replace";
  /** `models.providers`. */
  readonly explicit: Readonly<Record<string, ProviderSettings>>;
  readonly existing: Readonly<Record<string, ProviderSettings>>;
  /** Variable or other non-secret marker of the credential that implies a provider; undefined without one. */
  readonly impliedBy: (provider: string) => string | undefined;
  /** Models from a host's own list; they replace the built-in ones. */
  readonly listed?: ((provider: string) => ProviderSettings | undefined) | undefined;
  /** Finds the variable with this value, so that its name is written instead. */
  readonly variableOf?: ((value: string) => string | undefined) | undefined;
}

function implied({ impliedBy, listed }: ModelsFileInput): Record<string, ProviderSettings> {
  const found = PROVIDERS.flatMap(({ id, baseUrl, api, presence, ambient, models }) => {
    const fromHost = listed?.(id);
    const known = fromHost?.models ?? (presence === "implied" ? models : undefined);
    const mark = known === undefined ? undefined : impliedBy(id);
    const address = fromHost?.baseUrl ?? baseUrl;
    // A URL with placeholders is useless to readers of the file.
    if (known === undefined || mark === undefined || address.includes("{")) return [];
    return [[id, { baseUrl: address, api, ...(ambient ? { auth: "aws-sdk" } : { apiKey: mark }), models: known }] as const];
  });
  return Object.fromEntries(found);
}

const SECRET_HEADER = /auth|key|token|secret|cookie/i;
const VARIABLE_NAME = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/;

/** What may be written: names of variables, never their values, and no secrets from the configuration. */
function withoutSecrets({ apiKey, headers, ...rest }: ProviderSettings, variableOf: ModelsFileInput["variableOf"]): ProviderSettings {
  const written = typeof apiKey === "string" ? variableName(apiKey) : undefined;
  const name = written === undefined ? undefined : (variableOf?.(written) ?? (written !== apiKey || VARIABLE_NAME.test(written) ? written : undefined));
  const shown = Object.entries(headers ?? {}).filter(
    ([header, value]) => typeof value === "string" && !SECRET_HEADER.test(header) && value !== apiKey && variableOf?.(value) === undefined,
  );
  return { ...rest, ...(name === undefined ? {} : { apiKey: name }), ...(shown.length > 0 ? { headers: Object.fromEntries(shown) } : {}) };
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
    if (id !== "") providers[id] = merged(providers[id], withoutSecrets(own, input.variableOf));
  }
  const all = input.mode === "merge" ? { ...input.existing, ...providers } : providers;
  return { providers: all };
}

/**
 * Writes `models.json` for programs that read it. Returns false when there is nothing to write or nothing changed. A damaged file is never
 * overwritten.
 */
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
    return undefined; // It does not exist yet.
  }
}
