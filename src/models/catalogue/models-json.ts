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
  /** `models.providers`. */
  readonly explicit: Readonly<Record<string, ProviderSettings>>;
  readonly existing: Readonly<Record<string, ProviderSettings>>;
  /** Variable or other non-secret mark of the credential that implies a provider; undefined without one. */
  readonly impliedBy: (provider: string) => string | undefined;
  /** What a host told about its models; in place of those that are known without asking. */
  readonly listed?: ((provider: string) => ProviderSettings | undefined) | undefined;
  /** Finds the variable that holds a text, so that its name is written and not what is in it. */
  readonly variableOf?: ((value: string) => string | undefined) | undefined;
}

function implied({ impliedBy, listed }: ModelsFileInput): Record<string, ProviderSettings> {
  const found = PROVIDERS.flatMap(({ id, baseUrl, api, presence, ambient, models }) => {
    const told = listed?.(id);
    const known = told?.models ?? (presence === "implied" ? models : undefined);
    const mark = known === undefined ? undefined : impliedBy(id);
    const address = told?.baseUrl ?? baseUrl;
    // An address with places to be filled means something to nobody who reads the file.
    if (known === undefined || mark === undefined || address.includes("{")) return [];
    return [[id, { baseUrl: address, api, ...(ambient ? { auth: "aws-sdk" } : { apiKey: mark }), models: known }] as const];
  });
  return Object.fromEntries(found);
}

const SECRET_HEADER = /auth|key|token|secret|cookie/i;
const VARIABLE_NAME = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/;

/** What may be written down: the names of variables, never what is in them, and no secret that stands in the configuration. */
function withoutSecrets({ apiKey, headers, ...rest }: ProviderSettings, variableOf: ModelsFileInput["variableOf"]): ProviderSettings {
  const given = typeof apiKey === "string" ? variableName(apiKey) : undefined;
  const name = given === undefined ? undefined : (variableOf?.(given) ?? (given !== apiKey || VARIABLE_NAME.test(given) ? given : undefined));
  const kept = Object.entries(headers ?? {}).filter(
    ([header, value]) => typeof value === "string" && !SECRET_HEADER.test(header) && value !== apiKey && variableOf?.(value) === undefined,
  );
  return { ...rest, ...(name === undefined ? {} : { apiKey: name }), ...(kept.length > 0 ? { headers: Object.fromEntries(kept) } : {}) };
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
