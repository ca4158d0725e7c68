import { AppError } from "../../base/errors.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import type { ThinkingLevel } from "../../protocol/index.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import type { ModelEntry } from "../entry.ts";
import { PROVIDERS, needsNoKey } from "../providers/index.ts";
import {
  agentChoice,
  aliasesOf,
  allowlistOf,
  choiceOf,
  DEFAULT_REF,
  formatRef,
  modelSettings,
  notAllowed,
  OFFLINE_REF,
  parseRef,
  readRef,
  sameRef,
  type Allowlist,
  type ModelRef,
} from "./refs.ts";
import { contextWindowOf, defaultThinking, describeWindow, type ContextWindow } from "./abilities.ts";

export interface SelectionInput {
  readonly config: OpenClawConfig;
  readonly catalogue: Catalogue;
  /** There is a key or profile for it, or it needs none. */
  readonly hasCredential: (provider: string) => boolean;
  readonly agentId?: string | undefined;
  /** The session's choice. */
  readonly session?: { readonly providerOverride?: string | undefined; readonly modelOverride?: string | undefined } | undefined;
  /** The choice of this one run: a reference or an alias. If it may not be used, that is an error, not a reason to take another. */
  readonly override?: string | undefined;
  /** Models found on this machine, for users without any key. */
  readonly local?: readonly ModelEntry[] | undefined;
}

/** Why a model was selected. */
export type SelectionSource = "run" | "session" | "agent" | "defaults" | "standard" | "credential" | "local" | "offline";

export interface Selection {
  readonly ref: ModelRef;
  readonly entry: ModelEntry;
  readonly reason: { readonly source: SelectionSource; readonly text: string };
  /** In the order they are tried after `entry`; without duplicates. */
  readonly fallbacks: readonly ModelEntry[];
  /** For messages with images; undefined when no model accepts them. */
  readonly image: { readonly entry: ModelEntry; readonly fallbacks: readonly ModelEntry[] } | undefined;
  readonly contextWindow: ContextWindow;
  /** Default thinking level. */
  readonly thinking: ThinkingLevel;
  readonly params: Readonly<Record<string, unknown>> | undefined;
  /** The same for any model, also for fallbacks. */
  readonly paramsOf: (model: Pick<ModelEntry, "provider" | "id">) => Readonly<Record<string, unknown>> | undefined;
  /** Warnings for the user: skipped fallbacks, a tight window, a choice that is no longer valid. */
  readonly warnings: readonly string[];
}

interface Choice {
  readonly ref: ModelRef;
  readonly source: SelectionSource;
  readonly text: string;
}

/** The model for a user without a choice: the standard one, any with a credential, one on this machine, the built-in one. */
function unchosen({ catalogue, hasCredential, local }: SelectionInput): Choice {
  if (hasCredential(DEFAULT_REF.provider)) return { ref: DEFAULT_REF, source: "standard", text: "no model is configured; this is the default" };
  for (const { id, defaultModel, picksDefault } of PROVIDERS) {
    if (!picksDefault || defaultModel === undefined || !hasCredential(id)) continue;
    const ref = { provider: id, id: defaultModel };
    if (catalogue.find(ref)) return { ref, source: "credential", text: `no model is configured; there is a credential for ${id}` };
  }
  const found = local?.[0];
  if (found) {
    return { ref: { provider: found.provider, id: found.id }, source: "local", text: `no model is configured; ${found.provider} runs at ${found.baseUrl}` };
  }
  return { ref: OFFLINE_REF, source: "offline", text: "no model is configured, no key was found and no model runs on this machine" };
}

/** The model that agents use by default. */
export function standardChoice(input: SelectionInput, warnings: string[] = []): Choice {
  const { config, agentId } = input;
  const { primary, own } = agentChoice(config, agentId);
  if (primary === undefined) return unchosen(input);
  const read = readRef(primary, aliasesOf(config), DEFAULT_REF.provider);
  if (!read)
    throw new AppError(
      "CONFIG_INVALID",
      `${JSON.stringify(primary)} is not a model: use provider/model or an alias (${own ? "agents.list" : "agents.defaults.model"})`,
    );
  if (read.via === "default-provider") warnings.push(`the model ${JSON.stringify(primary)} has no provider; ${formatRef(read.ref)} is used`);
  return own
    ? { ref: read.ref, source: "agent", text: `agents.list: ${agentId} has its own model` }
    : { ref: read.ref, source: "defaults", text: "agents.defaults.model" };
}

/** The session's choice, if it is still allowed. */
function sessionChoice({ session, catalogue }: SelectionInput, standard: Choice, allowlist: Allowlist, warnings: string[]): Choice | undefined {
  const id = session?.modelOverride?.trim();
  if (!id) return undefined;
  const provider = session?.providerOverride?.trim();
  const ref = parseRef(provider ? `${provider}/${id}` : id) ?? { provider: standard.ref.provider, id };
  const why = allowlist.allows(ref) ? (catalogue.find(ref) ? undefined : "is not known") : "is not allowed";
  if (why === undefined) return { ref, source: "session", text: "chosen for this session" };
  warnings.push(`${formatRef(ref)}, chosen for this session, ${why}; ${formatRef(standard.ref)} is used`);
  return undefined;
}

function runChoice({ override, config }: SelectionInput, standard: Choice, allowlist: Allowlist): Choice | undefined {
  if (!override?.trim()) return undefined;
  const read = readRef(override, aliasesOf(config), standard.ref.provider);
  if (!read) throw new AppError("INVALID_INPUT", `invalid model: ${override} (use provider/model or an alias)`);
  if (!allowlist.allows(read.ref)) throw notAllowed(read.ref);
  return { ref: read.ref, source: "run", text: read.via === "alias" ? `requested by this run, as ${override.trim()}` : "requested by this run" };
}

/** Known and allowed models for `names`, without `taken`; skipped ones cause a warning. */
function following(
  input: SelectionInput,
  names: readonly string[],
  taken: readonly ModelRef[],
  allowlist: Allowlist | undefined,
  warnings: string[],
): ModelEntry[] {
  const aliases = aliasesOf(input.config);
  const seen = [...taken];
  const entries: ModelEntry[] = [];
  for (const name of names) {
    const ref = readRef(name, aliases, DEFAULT_REF.provider)?.ref;
    if (!ref || seen.some((other) => sameRef(other, ref))) continue;
    seen.push(ref);
    const entry = input.catalogue.find(ref);
    if (!entry) warnings.push(`the fallback ${formatRef(ref)} is unknown and is skipped`);
    else if (allowlist && !allowlist.allows(ref)) warnings.push(`the fallback ${formatRef(ref)} is not in agents.defaults.models and is skipped`);
    else entries.push(entry);
  }
  return entries;
}

/** The model for images: the chosen one if it can, otherwise the image model and its fallbacks. */
function imageChoice(input: SelectionInput, entry: ModelEntry, fallbacks: readonly ModelEntry[], warnings: string[]): Selection["image"] {
  if (entry.input.includes("image")) return { entry, fallbacks: fallbacks.filter((other) => other.input.includes("image")) };
  const { primary, fallbacks: names = [] } = choiceOf(input.config.agents?.defaults?.imageModel);
  const [first, ...rest] = following(input, primary === undefined ? names : [primary, ...names], [], undefined, warnings);
  return first ? { entry: first, fallbacks: rest } : undefined;
}

/** The model that a session would use, for showing or changing it. */
export interface DescribedChoice {
  readonly ref: ModelRef;
  /** Absent for an unknown model. */
  readonly entry?: ModelEntry;
  readonly contextWindow?: ContextWindow;
  readonly thinking?: ThinkingLevel;
  /** Why no turn can use it, and what to do. */
  readonly problem?: string;
}

/** What `selectModel` would choose, even if it is unusable: never throws because of the configuration. */
export function describeChoice(input: SelectionInput): DescribedChoice {
  const { config, catalogue, hasCredential } = input;
  let standard: Choice;
  let problem: string | undefined;
  try {
    standard = standardChoice(input);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    problem = error.message;
    standard = unchosen(input);
  }
  const { ref } = sessionChoice(input, standard, allowlistOf(config, standard.ref), []) ?? standard;
  const entry = catalogue.find(ref);
  if (!entry) return { ref, problem: problem ?? `the model ${formatRef(ref)} is not known` };
  const contextWindow = contextWindowOf(entry, config);
  if (contextWindow.rating === "too-small") problem ??= describeWindow(contextWindow, formatRef(ref));
  if (!hasCredential(entry.provider) && !needsNoKey(entry.provider, config))
    problem ??= `there is no key for ${entry.provider}; add one with: openclaw models auth add`;
  const known = { ref: { provider: entry.provider, id: entry.id }, entry, contextWindow, thinking: defaultThinking(entry, config) };
  return problem === undefined ? known : { ...known, problem };
}

/**
 * Chooses the model of one run: the run's choice, the session's, the agent's, the default, else what is available. Throws `NOT_FOUND`
 * for an unknown model, `INVALID_INPUT` for one that is not allowed or has too small a window. Pure.
 */
export function selectModel(input: SelectionInput): Selection {
  const warnings: string[] = [];
  const standard = standardChoice(input, warnings);
  const allowlist = allowlistOf(input.config, standard.ref);
  const { ref, source, text } = runChoice(input, standard, allowlist) ?? sessionChoice(input, standard, allowlist, warnings) ?? standard;
  const entry = input.catalogue.get(ref);
  const contextWindow = contextWindowOf(entry, input.config);
  const small = describeWindow(contextWindow, formatRef(ref));
  if (small !== undefined && contextWindow.rating === "too-small")
    throw new AppError("INVALID_INPUT", small, { details: { ref: formatRef(ref), ...contextWindow } });
  if (small !== undefined) warnings.push(small);
  const fallbacks = following(input, agentChoice(input.config, input.agentId).fallbacks ?? [], [ref], allowlist, warnings);
  // The configured model comes last, for runs and sessions with another choice.
  const isSpecific = source === "run" || source === "session";
  const last =
    isSpecific && ![ref, ...fallbacks.map(({ provider, id }) => ({ provider, id }))].some((other) => sameRef(other, standard.ref))
      ? input.catalogue.find(standard.ref)
      : undefined;
  const chain = last ? [...fallbacks, last] : fallbacks;
  const settings = modelSettings(input.config);
  const paramsOf: Selection["paramsOf"] = ({ provider, id }) => settings.get(`${provider}/${id.toLowerCase()}`)?.params;
  return {
    ref: { provider: entry.provider, id: entry.id },
    entry,
    reason: { source, text },
    fallbacks: chain,
    image: imageChoice(input, entry, chain, warnings),
    contextWindow,
    thinking: defaultThinking(entry, input.config),
    params: paramsOf(ref),
    paramsOf,
    warnings,
  };
}

/** Default models for images, in order, if there is a credential. */
const STANDARD: readonly ModelRef[] = [{ provider: "openai", id: "gpt-5-mini" }, DEFAULT_REF];

/**
 * Models that can describe an image, best first: the requested one alone; else the image model and its fallbacks; else models with vision at the main
 * provider, then the defaults.
 */
export function imageModels(input: SelectionInput, asked?: string): readonly ModelEntry[] {
  const { config, catalogue, hasCredential } = input;
  if (asked?.trim()) return [selectModel({ ...input, override: asked }).entry];
  const { primary, fallbacks = [] } = choiceOf(config.agents?.defaults?.imageModel);
  const aliases = aliasesOf(config);
  const named = [...(primary === undefined ? [] : [primary]), ...fallbacks].flatMap((name) => readRef(name, aliases, DEFAULT_REF.provider)?.ref ?? []);
  const configured = named.flatMap((ref) => catalogue.find(ref) ?? []);
  if (configured.length > 0) return unique(configured);
  const { entry } = selectModel(input);
  const sees = (model: ModelEntry): boolean => model.input.includes("image");
  const own = sees(entry) ? entry : catalogue.list({ provider: entry.provider }).find(sees);
  const standard = STANDARD.filter(({ provider }) => hasCredential(provider)).flatMap((ref) => catalogue.find(ref) ?? []);
  return unique([...(own ? [own] : []), ...standard.filter(sees)]);
}

const unique = (models: readonly ModelEntry[]): readonly ModelEntry[] =>
  models.filter((model, at) => models.findIndex((other) => sameRef(other, model)) === at);
