import { isRecord } from "../../base/records.ts";
import { heartbeatAgents, heartbeatSettings, type OpenClawConfig } from "../../config/index.ts";
import type { AgentHookContext, TurnInjection } from "../../hooks/index.ts";
import { parseSessionKey, type ModelMessage, type SessionEntry, type ToolSchema, type UserMessage } from "../../protocol/index.ts";
import { reasoningLevel, type MessageExtras } from "../../sessions/index.ts";
import type { InjectionRow } from "../../store/index.ts";
import { SHOWN_OUTPUT_CHARS } from "../../tools/index.ts";
import { repoRoot, userTimeZone, type SessionFacts } from "../prompt/facts.ts";
import { injectFiles } from "../prompt/injected-files.ts";
import type { BootstrapFile } from "../workspace/bootstrap-names.ts";
import { buildSystemPrompt, type SystemPrompt } from "../prompt/system-prompt.ts";
import { skillsOfAgent } from "../skills/eligibility.ts";
import { searchedSkills, type SkillsSnapshot } from "../skills/snapshot.ts";
import { belongsTo } from "../workspace/bootstrap-files.ts";
import type { Injections } from "./begin.ts";
import type { TurnDeps } from "./deps.ts";
import type { TurnInput } from "./input.ts";
import type { ChosenModel } from "./model.ts";

/** A session and its workspace, as far as a prompt depends on them. */
export interface PromptSession {
  readonly entry: SessionEntry;
  readonly facts: SessionFacts;
  readonly workspaceDir: string;
}

interface PromptParts extends PromptSession {
  readonly tools: readonly ToolSchema[];
  readonly chosen: ChosenModel;
  readonly skills: SkillsSnapshot | undefined;
  readonly files: readonly BootstrapFile[];
}

/** The system prompt of a turn, of facts that no one outside can write. */
export function systemPromptFor(deps: TurnDeps, input: TurnInput, parts: PromptParts): SystemPrompt {
  const { entry, facts: ofSession, workspaceDir, tools, chosen, skills, files } = parts;
  const config = deps.config.current;
  const defaults = config.agents?.defaults;
  const { mode, channel = input.channel } = ofSession;
  const { entry: model } = chosen.selection;
  const sandbox = deps.sandbox?.({ agentId: input.agentId, sessionKey: input.sessionKey });
  const reasoning = reasoningLevel(entry).value;
  const timezone = userTimeZone(defaults?.userTimezone, deps.timezone);
  const today = deps.today(timezone, deps.clock.now());
  // Known of the channel that the message came over, which need not be the session's last one.
  const facts = channel === input.channel ? input.channelFacts : undefined;
  const chat = [channel, input.direct, input.inbound, input.systemPrompt, facts && JSON.stringify(facts)];
  const scalars = [mode, input.agentId, workspaceDir, model.provider, model.id, chosen.thinking, reasoning, today, ...chat, skills?.prompt];
  return deps.session.prompt([config, tools, sandbox && JSON.stringify(sandbox), ...scalars, ...files], build);

  function build(): SystemPrompt {
    // Only where heartbeats come in: the section would only cost tokens elsewhere.
    const heartbeatPrompt = heartbeatPromptOf(config, input);
    const aliases = modelAliases(defaults?.models);
    const repo = sandbox?.sandboxed === true ? undefined : repoRoot(defaults?.repoRoot, workspaceDir);
    const owners = (config.commands?.ownerAllowFrom ?? []).map(String);
    const searched = skills && searchedSkills(skills);
    return buildSystemPrompt({
      mode,
      agentId: input.agentId,
      workspaceDir,
      tools,
      files: injectFiles(files, { maxChars: defaults?.bootstrapMaxChars, totalMaxChars: defaults?.bootstrapTotalMaxChars }),
      timezone,
      today,
      ...(defaults?.timeFormat === undefined ? {} : { timeFormat: defaults.timeFormat }),
      outputChars: SHOWN_OUTPUT_CHARS,
      ...(heartbeatPrompt === undefined ? {} : { heartbeatPrompt }),
      channels: Object.keys(config.channels ?? {}).filter((name) => name !== "defaults"),
      host: { ...deps.host, ...(repo === undefined ? {} : { repoRoot: repo }) },
      turn: {
        model: `${model.provider}/${model.id}`,
        thinking: chosen.thinking,
        reasoning,
        channel,
        ...(facts ? { capabilities: facts.capabilities, buttonsOff: facts.buttonsOff === true, messageHints: facts.hints ?? [] } : {}),
        ...(facts?.reactions === undefined ? {} : { reactions: facts.reactions }),
        ...(input.direct === undefined ? {} : { direct: input.direct }),
        ...(input.inbound === undefined ? {} : { inbound: input.inbound }),
        ...(input.systemPrompt === undefined ? {} : { instructions: input.systemPrompt }),
        ...(input.voiceHint === undefined ? {} : { voiceHint: input.voiceHint }),
      },
      ...(skills ? { skillsPrompt: skills.prompt } : {}),
      ...(searched && tools.some(({ name }) => name === "skills_search") ? { searchedSkills: searched.length } : {}),
      ...(aliases.length === 0 ? {} : { modelAliases: aliases }),
      // Inside a sandbox that folder is not seen.
      ...(deps.docsPath === undefined || sandbox?.sandboxed === true ? {} : { docsPath: deps.docsPath }),
      ...(sandbox ? { sandbox } : {}),
      ...(owners.length === 0 ? {} : { owners }),
      ...(config.memory?.citations === undefined ? {} : { memoryCitations: config.memory.citations }),
    });
  }
}

/** The prompt of the heartbeats that run in this session; undefined when none do. */
function heartbeatPromptOf(config: OpenClawConfig, { agentId, sessionKey }: TurnInput): string | undefined {
  const isMain = sessionKey === "global" || sessionKey === `agent:${agentId}:main`;
  if (!isMain || !heartbeatAgents(config).includes(agentId.toLowerCase())) return undefined;
  const { everyMs, prompt, isolated } = heartbeatSettings(config, agentId);
  return everyMs > 0 && isolated !== true ? prompt : undefined;
}

function modelAliases(models: Readonly<Record<string, { readonly alias?: string | undefined }>> | undefined) {
  return Object.entries(models ?? {}).flatMap(([model, { alias }]) => (alias === undefined || alias.trim() === "" ? [] : [{ alias, model }]));
}

/** The workspace's files for this session, as internal hooks left them. */
export async function bootstrapFiles(deps: TurnDeps, input: TurnInput, session: PromptSession): Promise<readonly BootstrapFile[]> {
  const { sessionKey, agentId } = input;
  const { entry, workspaceDir } = session;
  const which = session.facts.files;
  const files = await deps.readFiles({ folder: workspaceDir, which });
  const hooks = deps.internalHooks;
  if (!hooks?.has("agent", "bootstrap")) return files;
  const context: Record<string, unknown> = {
    workspaceDir,
    bootstrapFiles: files.map((file) => ({ ...file })),
    cfg: structuredClone(deps.config.current),
    sessionKey,
    sessionId: entry.sessionId,
    agentId,
  };
  await hooks.trigger("agent", "bootstrap", sessionKey, context);
  const changed = context["bootstrapFiles"];
  return Array.isArray(changed) ? changed.filter((file): file is BootstrapFile => isBootstrapFile(file) && belongsTo(which, file.name)) : files;
}

function isBootstrapFile(file: unknown): file is BootstrapFile {
  if (!isRecord(file)) return false;
  const { name, path, content, missing } = file;
  return typeof name === "string" && typeof path === "string" && typeof missing === "boolean" && (content === undefined || typeof content === "string");
}

/** Skills for this session: the agent's own list, or all. Subagents and jobs go without. */
export async function skillsFor(deps: TurnDeps, input: TurnInput, session: PromptSession): Promise<SkillsSnapshot | undefined> {
  if (!deps.skills || session.facts.mode !== "full") return undefined;
  const agentId = parseSessionKey(input.sessionKey)?.kind === "agent" ? input.agentId : undefined;
  const filter = input.skillFilter ?? skillsOfAgent(deps.config.current, agentId);
  return deps.skills.snapshot({ workspace: session.workspaceDir, stored: session.entry["skillsSnapshot"], filter });
}

/** What hooks and injections made of a turn's prompt. */
export interface TurnPrompt {
  /** The user's message, after lines of the system. */
  readonly text: string;
  /** What plugins put before and behind it: parts of their own, so that it is never taken for the user's own. */
  readonly before: string;
  readonly after: string;
  readonly systemPrompt: string;
  /** Only these tools in this turn. */
  readonly toolsAllow?: readonly string[];
  /** Of the old hook that may also choose a model. */
  readonly override?: { readonly providerOverride?: string; readonly modelOverride?: string };
}

interface Around {
  readonly prependContext?: string;
  readonly appendContext?: string;
}

interface BuildResult extends Around {
  readonly systemPrompt?: string;
  readonly prependSystemContext?: string;
  readonly appendSystemContext?: string;
  readonly toolsAllow?: string[];
  readonly providerOverride?: string;
  readonly modelOverride?: string;
}

const SYSTEM_EVENT = "system-event";

/** Hooks that may shape the prompt, in their order. */
const SHAPING = ["agent_turn_prepare", "before_prompt_build", "before_agent_start"] as const;

/** What the prompt of a turn is shaped from. */
interface Unshaped {
  readonly context: AgentHookContext;
  readonly messages: readonly ModelMessage[];
  readonly systemPrompt: string;
  readonly injections: Injections;
  /** Tokens the model can see. */
  readonly window: number;
}

/** Runs what may shape the prompt. */
export async function shapePrompt(deps: TurnDeps, input: TurnInput, turn: Unshaped): Promise<TurnPrompt> {
  const { hooks } = deps;
  const { context, injections, systemPrompt } = turn;
  const prompt = input.message;
  const isBeat = input.trigger === "heartbeat" && hooks.has("heartbeat_prompt_contribution");
  const recalled = await recall(deps, input, context.sessionId);
  const isPlain = recalled === undefined && injections.length === 0 && input.events === undefined && !isBeat && !SHAPING.some((name) => hooks.has(name));
  if (isPlain) return { before: "", text: prompt, after: "", systemPrompt };
  const messages: unknown[] = [...turn.messages];
  const waiting = injections.filter(({ placement }) => placement !== SYSTEM_EVENT);
  const around: Around[] = waiting.map(injected);
  if (recalled !== undefined) around.push({ appendContext: recalled });
  if (hooks.has("agent_turn_prepare")) {
    around.push((await hooks.run("agent_turn_prepare", { prompt, messages, injections: waiting.map(injectionFact) }, { ...context })) ?? {});
  }
  if (isBeat) around.push((await hooks.run("heartbeat_prompt_contribution", { prompt, messages, runId: input.runId }, { ...context })) ?? {});
  const built: BuildResult[] = [];
  if (hooks.has("before_prompt_build")) {
    built.push((await hooks.run("before_prompt_build", { prompt, messages, currentUserMessage: prompt }, { ...context })) ?? {});
  }
  if (hooks.has("before_agent_start")) {
    built.push((await hooks.run("before_agent_start", { prompt, messages, runId: input.runId }, { ...context })) ?? {});
  }
  const last = built.at(-1);
  const override = last && (last.modelOverride !== undefined || last.providerOverride !== undefined) ? overrideOf(last) : undefined;
  const toolsAllow = built.map((result) => result.toolsAllow).findLast((names) => names !== undefined);
  const all = [...around, ...built];
  const limit = Math.min(CONTEXT_CHARS, turn.window);
  const bounded = (where: string, texts: readonly (string | undefined)[]): string => boundedContext(deps, where, filled(texts).join("\n\n"), limit);
  const events = systemEvents(deps, injections, input.events);
  return {
    before: bounded(
      "before the message",
      all.map(({ prependContext }) => prependContext),
    ),
    text: events.length === 0 ? prompt : `${events.join("\n")}\n\n${prompt}`,
    after: bounded(
      "after the message",
      all.map(({ appendContext }) => appendContext),
    ),
    systemPrompt: systemText(systemPrompt, built, bounded),
    ...(toolsAllow === undefined ? {} : { toolsAllow }),
    ...(override ? { override } : {}),
  };
}

/** Only people's messages are answered from memory: what starts by itself knows what it is about. */
const recall = ({ recall: find }: TurnDeps, { trigger, agentId, sessionKey, message }: TurnInput, sessionId: string | undefined) =>
  trigger === undefined && sessionId !== undefined ? find?.({ agentId, sessionKey, sessionId, message }) : undefined;

const filled = (texts: readonly (string | undefined)[]): readonly string[] =>
  texts.filter((text): text is string => typeof text === "string" && text.trim() !== "");

/** Most characters of what plugins put in one position; never more than a quarter of what the model can see, counting four for a token. */
const CONTEXT_CHARS = 32_000;

/** What plugins add must not push out the conversation itself. */
function boundedContext({ log }: TurnDeps, where: string, text: string, limit: number): string {
  if (text.length <= limit) return text;
  log.warn(`plugins added ${text.length} characters ${where}: only the first ${limit} are used`);
  return `${text.slice(0, limit).toWellFormed()}\n[${text.length - limit} more characters of plugins were left out]`;
}

function systemText(own: string, built: readonly BuildResult[], bounded: (where: string, texts: readonly (string | undefined)[]) => string): string {
  const replaced = filled(built.map(({ systemPrompt }) => systemPrompt)).at(-1);
  const before = bounded(
    "before the system prompt",
    built.map(({ prependSystemContext }) => prependSystemContext),
  );
  const after = bounded(
    "after the system prompt",
    built.map(({ appendSystemContext }) => appendSystemContext),
  );
  return filled([before, replaced ?? own, after]).join("\n\n");
}

function injected({ placement, text }: InjectionRow): Around {
  return placement === "append_context" ? { appendContext: text } : { prependContext: text };
}

function injectionFact({ pluginId, text, placement, payload }: InjectionRow): TurnInjection {
  return { pluginId, text, placement, ...(isRecord(payload) ? { metadata: payload } : {}) };
}

/** What some reader takes for the end of a line. */
const LINE_END = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/;

/** The text of an event. Anybody may have written it: lines after its first are indented, so that none of them looks like an event of its own. */
function eventText(text: string): string {
  const lines = text.toWellFormed().trim().split(LINE_END);
  return lines.filter((line) => line.trim() !== "").join("\n  ");
}

/** Lines of the system, the oldest first. There is no empty line in them: the first one ends them, so that they can be distinguished from the message. */
function systemEvents({ config, timezone }: TurnDeps, injections: Injections, own: TurnInput["events"] = []): readonly string[] {
  const queued = injections.filter(({ placement }) => placement === SYSTEM_EVENT).map(({ text, createdAt }) => ({ text, at: createdAt }));
  const events = [...queued, ...own];
  if (events.length === 0) return [];
  const zone = eventZone(config.current.agents?.defaults, timezone);
  return events.map(({ text, at }) => `System: [${stamp(at, zone)}] ${eventText(text)}`);
}

function eventZone(
  defaults: { readonly envelopeTimezone?: string | undefined; readonly userTimezone?: string | undefined } | undefined,
  machine: string,
): string {
  const asked = defaults?.envelopeTimezone?.trim() ?? "local";
  if (asked.toLowerCase() === "utc") return "UTC";
  if (asked.toLowerCase() === "user") return defaults?.userTimezone?.trim() || machine;
  return asked === "" || asked.toLowerCase() === "local" ? machine : asked;
}

/** `2026-01-05 16:26:03 UTC`; in UTC when there is no such zone. */
function stamp(at: number, timeZone: string): string {
  try {
    const parts = new Intl.DateTimeFormat("en-CA", {
      timeZone,
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
      hourCycle: "h23",
      timeZoneName: "short",
    }).formatToParts(at);
    const part = (type: string): string => parts.find((found) => found.type === type)?.value ?? "";
    return `${part("year")}-${part("month")}-${part("day")} ${part("hour")}:${part("minute")}:${part("second")} ${part("timeZoneName")}`;
  } catch {
    return stamp(at, "UTC");
  }
}

function overrideOf({ providerOverride, modelOverride }: BuildResult): TurnPrompt["override"] & {} {
  return { ...(providerOverride === undefined ? {} : { providerOverride }), ...(modelOverride === undefined ? {} : { modelOverride }) };
}

/** The message as it stands in the conversation. */
export function userMessage(
  input: TurnInput,
  { text, before = "", after = "" }: Pick<TurnPrompt, "text"> & Partial<TurnPrompt>,
  timestamp: number,
): UserMessage & MessageExtras {
  const context = (added: string): UserMessage["content"] & object => (added === "" ? [] : [{ type: "text", text: added, openclawContext: true }]);
  const content = [...context(before), { type: "text" as const, text }, ...context(after), ...(input.images ?? [])];
  return {
    role: "user",
    content,
    timestamp,
    ...(input.provenance ? { provenance: input.provenance } : {}),
    ...(input.isVerbatim ? { openclawVerbatim: true } : {}),
  };
}
