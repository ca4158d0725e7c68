import { AppError, messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { ModelEntry, Models, ModelRequest, Selection } from "../../models/index.ts";
import type { AgentHookContext } from "../../hooks/index.ts";
import type { AssistantMessage, SessionEntry, ThinkingLevel } from "../../protocol/index.ts";
import { authProfileOverride, modelOverride, thinkingLevel } from "../../sessions/index.ts";
import type { UsageInput } from "../../store/index.ts";
import { windowCheck } from "../compaction/index.ts";
import type { TurnDeps } from "./deps.ts";
import type { TurnInput } from "./input.ts";

/** The model of a turn and how it is called. */
export interface ChosenModel {
  readonly models: Models;
  readonly selection: Selection;
  /** In the order they are tried. */
  readonly tried: readonly ModelEntry[];
  readonly thinking: ThinkingLevel;
  readonly pin?: { readonly profileId: string; readonly locked: boolean };
}

interface Override {
  readonly providerOverride?: string | undefined;
  readonly modelOverride?: string | undefined;
}

/** What plugins ask for, once in a run: a turn that has to be prepared again does not ask again. */
export interface AskedOnce {
  asked?: Promise<Override | undefined>;
}

/** What plugins say, then what was chosen for the session, then the configuration. */
export async function chooseModel(
  deps: TurnDeps,
  input: TurnInput,
  entry: SessionEntry,
  { context, once = {} }: { readonly context: AgentHookContext; readonly once?: AskedOnce },
): Promise<ChosenModel> {
  const models = await deps.models();
  const asked = deps.hooks.has("before_model_resolve") ? await (once.asked ??= askPlugins(deps, input, context)) : undefined;
  return withOverride(deps, input, entry, { models, asked: asked ?? (input.model === undefined ? undefined : { modelOverride: input.model }) });
}

async function askPlugins({ hooks }: TurnDeps, { message, images = [] }: TurnInput, context: AgentHookContext): Promise<Override | undefined> {
  const attachments = images.map(({ mimeType, data }) => ({ kind: "image", mimeType, size: Math.floor(data.length * 0.75) }));
  return hooks.run("before_model_resolve", { prompt: message, ...(attachments.length === 0 ? {} : { attachments }) }, { ...context });
}

const UNUSABLE = { unusableModel: true };

/** True when a turn could not begin because of the model that was chosen for it: trying again does not help, and the message says what does. */
export function isUnusableModel(error: unknown): error is AppError {
  return error instanceof AppError && error.details["unusableModel"] === true;
}

/** What the session or the configuration says. A model that cannot be used is marked, so that status and replies can say so. */
async function selectUsable(models: Models, wish: ModelRequest): Promise<Selection> {
  try {
    return await models.select(wish);
  } catch (error) {
    if (!(error instanceof AppError) || !["INVALID_INPUT", "NOT_FOUND", "CONFIG_INVALID"].includes(error.code)) throw error;
    throw new AppError(error.code, error.message, { cause: error, details: { ...error.details, ...UNUSABLE } });
  }
}

/** The model under an override; without one, what the session or the configuration says. */
export async function withOverride(
  { config, log }: TurnDeps,
  input: TurnInput,
  entry: SessionEntry,
  { models, asked }: { readonly models: Models; readonly asked: Override | undefined },
): Promise<ChosenModel> {
  const session = modelOverride(entry);
  const wish = { agentId: input.agentId, ...(session ? { session } : {}) };
  const isRequired = input.modelRequired === true && asked?.modelOverride !== undefined && asked.modelOverride === input.model;
  const wished = asked && (isRequired ? await selectUsable(models, { ...wish, override: asked.modelOverride }) : await selectWished(models, wish, asked, log));
  const selection = wished ?? (await selectUsable(models, wish));
  const isUncertain = wished?.entry.source === "generic";
  const standard = isUncertain && !isRequired ? await standardModels(models, wish, wished, log) : [];
  const small = windowCheck(selection.contextWindow.tokens);
  if (small?.level === "refuse") throw new AppError("UNAVAILABLE", small.text, { details: UNUSABLE });
  for (const warning of selection.warnings) log.debug(warning, { sessionKey: input.sessionKey });
  const thinking = thinkingLevel(config.current, entry, { run: input.thinking, modelDefault: selection.thinking }).value;
  const profile = authProfileOverride(entry);
  // A model that reads no images is no use for them: the one that does answers instead.
  const seeing = input.images && input.images.length > 0 && !selection.entry.input.includes("image") && selection.image ? selection.image : selection;
  return {
    models,
    selection,
    tried: isUncertain && isRequired ? [seeing.entry] : [seeing.entry, ...seeing.fallbacks, ...standard],
    thinking,
    ...(profile ? { pin: { profileId: profile.profile, locked: profile.source === "user" } } : {}),
  };
}

/** A model that no catalogue has may not be there: then the one that would have answered does. */
async function standardModels(models: Models, wish: ModelRequest, { entry, fallbacks }: Selection, log: Logger): Promise<readonly ModelEntry[]> {
  log.warn(`a run asks for ${entry.provider}/${entry.id}, which is in no catalogue; if its provider does not know it either, the default model answers`);
  const usual = await models.select(wish).catch(() => undefined);
  const known = new Set([entry, ...fallbacks].map(({ provider, id }) => `${provider}/${id}`));
  return usual ? [usual.entry, ...usual.fallbacks].filter(({ provider, id }) => !known.has(`${provider}/${id}`)) : [];
}

/** What a plugin asks for. A model that is not there or not allowed is reported in the log, and the turn goes on without it. */
async function selectWished(models: Models, wish: ModelRequest, asked: Override, log: Logger): Promise<Selection | undefined> {
  const model = asked.modelOverride?.trim();
  const provider = asked.providerOverride?.trim();
  if (!model && !provider) return undefined;
  try {
    const id = model || (await models.select(wish)).entry.id;
    return await models.select({ ...wish, override: provider && !id.startsWith(`${provider}/`) ? `${provider}/${id}` : id });
  } catch (error) {
    log.warn(`a plugin asked for a model that cannot be used: ${messageOf(error)}`, { agentId: wish.agentId });
    return undefined;
  }
}

/** Who pays for the calls of a turn. */
export type Payer = Pick<TurnInput, "agentId" | "sessionKey" | "runId" | "channel" | "senderId" | "trigger">;

/** Clients of the gateway (the page, the terminal, `/v1`, commands) have no sender id; they count together. */
const CLIENTS = "webchat";

/** Why a call may not be made: the money for it is spent. */
export async function overspent(deps: TurnDeps, { agentId, sessionKey, senderId = CLIENTS }: Payer, { provider }: ModelEntry): Promise<string | undefined> {
  const budget = await (await deps.budgets()).check({ agentId, provider, senderId, sessionKey });
  if (budget.state === "warn") deps.log.warn(budget.text, { sessionKey });
  return budget.state === "stop" ? budget.text : undefined;
}

/** A row for what one call of a model took. `at`: when the call was over; when it is written without it. */
export function usageRow(
  { agentId, sessionKey, runId, channel, trigger, senderId = trigger ?? CLIENTS }: Payer,
  message: AssistantMessage,
  durationMs: number,
  at?: number,
): UsageInput {
  const { usage, provider, model } = message;
  return {
    sessionKey,
    agentId,
    provider,
    model,
    input: usage.input,
    output: usage.output,
    cacheRead: usage.cacheRead,
    cacheWrite: usage.cacheWrite,
    cost: usage.cost.total,
    costs: usage.cost,
    durationMs: Math.round(durationMs),
    failed: message.stopReason === "error",
    // What nobody asked for is counted under its own name.
    channel: trigger ?? channel,
    turnId: runId,
    ...(at === undefined ? {} : { at }),
    sender: senderId,
  };
}
