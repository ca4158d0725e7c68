import { messageOf } from "../../base/errors.ts";
import type { HookLog } from "../../hooks/index.ts";
import type { ModelMessage, SessionEntry, ToolSchema, UserMessage } from "../../protocol/index.ts";
import { gatewayMessage, messageEntry, view, viewSettings, type View } from "../../sessions/index.ts";
import type { StepRow } from "../../store/index.ts";
import { failedOutcome, sessionChoice, type ToolContext, type Toolbox } from "../../tools/index.ts";
import type { BootstrapFile } from "../prompt/injected-files.ts";
import type { SystemPrompt } from "../prompt/system-prompt.ts";
import type { SkillsSnapshot } from "../skills/snapshot.ts";
import { chooseModel, withOverride, type AskedOnce, type ChosenModel } from "./choose-model.ts";
import type { TurnDeps } from "./deps.ts";
import { hookContext, turnSpan, turnTrace, type AgentContext } from "./hook-context.ts";
import type { TurnInput } from "./input.ts";
import { beginTurn, overtaken, type Begun, type TurnPlace } from "./place.ts";
import { createRecord } from "./record.ts";
import { stepsOf } from "./resume.ts";
import { bootstrapFiles, skillsFor, systemPromptFor, type PromptParts } from "./system-prompt.ts";
import { shapePrompt, userMessage } from "./turn-prompt.ts";

/** Everything that is known before the model is asked. */
export interface PreparedTurn {
  readonly place: TurnPlace;
  readonly workspaceDir: string;
  readonly context: AgentContext;
  readonly chosen: ChosenModel;
  readonly toolbox: Toolbox;
  readonly systemPrompt: string;
  readonly report: SystemPrompt["report"];
  readonly skills: SkillsSnapshot | undefined;
  readonly files: readonly BootstrapFile[];
  /** The conversation before this turn; of a turn that goes on, with what it has so far. */
  readonly seen: View;
  /** What is asked. Undefined when the turn goes on and it was asked before. */
  readonly prompt: UserMessage | undefined;
  /** Steps of the process before this one. */
  readonly steps: readonly StepRow[];
}

/** Clients may change a session as often as they like; a turn waits for a moment between two changes. */
const MAX_RETRIES = 20;

/** Begins the turn and gathers what it needs. Undefined: it died too often. */
export async function prepareTurn(deps: TurnDeps, input: TurnInput, hookLog: HookLog): Promise<PreparedTurn | undefined> {
  const workspaceDir = await deps.workspace(input.agentId);
  const once: AskedOnce = {};
  for (let attempt = 0; ; attempt += 1) {
    const begun = await beginTurn(deps, input, workspaceDir);
    if (!begun) return undefined;
    try {
      return await gather(deps, input, { workspaceDir, begun, hookLog, once });
    } catch (error) {
      // The session was changed, or reset, since it was read: the turn belongs to the one that is there now.
      const isOvertaken = overtaken(error, "key") || overtaken(error, "lines");
      if (!isOvertaken && !input.resumed) await keepWords(deps, input, begun, error);
      if (!isOvertaken || attempt === MAX_RETRIES) throw error;
    }
  }
}

/** A turn that cannot be prepared, for want of a model for instance: what was said stands in the conversation all the same, and what is wrong. */
async function keepWords(deps: TurnDeps, input: TurnInput, { place, committed }: Begun, error: unknown): Promise<void> {
  try {
    await committed;
    const record = createRecord(deps, input, place);
    record.said(userMessage(input, { text: input.message }, deps.clock.now()));
    await record.now([(at) => messageEntry(at, { ...gatewayMessage("gateway-injected", "", at.at), stopReason: "error", errorMessage: messageOf(error) })]);
  } catch (problem) {
    deps.log.warn(`what was said could not be kept in the conversation: ${messageOf(problem)}`, { runId: input.runId });
  }
}

interface Gathering {
  readonly workspaceDir: string;
  readonly begun: Begun;
  readonly hookLog: HookLog;
  readonly once: AskedOnce;
}

/** While the beginning is being written, the rest is looked up. */
async function gather(deps: TurnDeps, input: TurnInput, { workspaceDir, begun, hookLog, once }: Gathering): Promise<PreparedTurn> {
  const { place, committed } = begun;
  const at = { entry: place.entry, workspaceDir };
  const context = hookContext(input, { sessionId: place.sessionId, workspaceDir });
  const [model, files, skills, injections, steps] = await Promise.all([
    chooseModel(deps, input, place.entry, { context, once }),
    bootstrapFiles(deps, input, at),
    skillsFor(deps, input, at),
    committed,
    input.resumed ? stepsOf(deps.store, input.runId) : [],
  ]);
  const goesOn = steps.some(({ kind, data }) => kind === "model.result" || (kind === "note" && (data as { said?: boolean } | null)?.said === true));
  const parts = { ...at, sessionId: place.sessionId, skills, files, hookLog };
  let ready = await withModel(deps, input, place, { chosen: model, parts });
  const ask = { context, messages: ready.seen.messages, systemPrompt: ready.prompt.text, injections, window: model.selection.contextWindow.tokens };
  context.chosen(model.selection);
  const shaped = await shapePrompt(deps, input, ask);
  if (shaped.override) {
    const chosen = await withOverride(deps, input, place.entry, { models: model.models, asked: shaped.override });
    context.chosen(chosen.selection);
    ready = await withModel(deps, input, place, { chosen, parts });
  }
  return {
    place,
    workspaceDir,
    context,
    chosen: ready.chosen,
    toolbox: allowedOnly(ready.toolbox, shaped.toolsAllow),
    systemPrompt: shaped.systemPrompt,
    report: ready.prompt.report,
    skills,
    files,
    seen: ready.seen,
    prompt: goesOn ? undefined : userMessage(input, shaped, deps.clock.now()),
    steps,
  };
}

/** What depends on the model: tools, the system prompt, how much of the conversation it can see. */
async function withModel(
  deps: TurnDeps,
  input: TurnInput,
  place: TurnPlace,
  { chosen, parts }: { readonly chosen: ChosenModel; readonly parts: Omit<PromptParts, "chosen" | "tools"> & { readonly hookLog: HookLog } },
) {
  const toolbox = await openToolbox(deps, input, place, chosen, parts);
  const seen = view({
    path: place.path.items,
    model: chosen.selection.entry,
    settings: viewSettings(deps.config.current, input.sessionKey),
    now: deps.clock.now(),
    memo: deps.session.view,
  });
  const prompt = systemPromptFor(deps, input, { ...parts, chosen, tools: toolbox.schemas });
  return { chosen, toolbox, seen, prompt };
}

async function openToolbox(
  deps: TurnDeps,
  input: TurnInput,
  place: TurnPlace,
  { selection }: ChosenModel,
  { workspaceDir, skills, hookLog }: Pick<PromptParts, "workspaceDir" | "skills"> & { readonly hookLog: HookLog },
): Promise<Toolbox> {
  const { agentId, sessionKey, runId, owner, channel, senderId, accountId } = input;
  const context: ToolContext = {
    agentId,
    sessionKey,
    sessionId: place.sessionId,
    runId,
    workspaceDir,
    owner,
    provider: selection.entry.provider,
    modelId: selection.entry.id,
    channel,
    contextWindow: selection.contextWindow.tokens,
    hookLog,
    trace: { ...turnTrace(input), span: turnSpan(runId) },
    ...(senderId === undefined ? {} : { senderId }),
    ...(accountId === undefined ? {} : { accountId }),
    ...chosenForSession(place.entry),
    ...(skills && deps.skills ? { skillEnv: (await deps.skills()).environment(skills) } : {}),
  };
  return (await deps.broker()).open(context);
}

/** What was chosen for the session about commands. */
function chosenForSession(entry: SessionEntry): Pick<ToolContext, "choice"> {
  const choice = sessionChoice(entry);
  return choice ? { choice } : {};
}

/** A plugin may take tools away for a turn, and not give any. */
function allowedOnly(toolbox: Toolbox, names: readonly string[] | undefined): Toolbox {
  if (names === undefined) return toolbox;
  const allowed = new Set(names.map((name) => name.toLowerCase()));
  return {
    ...toolbox,
    schemas: toolbox.schemas.filter((schema) => allowed.has(schema.name)),
    run: (call) => (allowed.has(call.name.toLowerCase()) ? toolbox.run(call) : Promise.resolve(failedOutcome(`Tool ${call.name} not found`))),
  };
}

/** The tools a model is shown: the host's and those that whoever asks carries out. Names of the host win. */
export function shownTools(toolbox: Toolbox, { clientTools = [] }: TurnInput): readonly ToolSchema[] {
  if (clientTools.length === 0) return toolbox.schemas;
  const taken = new Set(toolbox.schemas.map(({ name }) => name));
  return [...toolbox.schemas, ...clientTools.filter(({ name }) => !taken.has(name))];
}

/** The conversation that the model is asked with first. */
export function firstMessages({ seen, prompt }: PreparedTurn): readonly ModelMessage[] {
  return prompt ? [...seen.messages, prompt] : seen.messages;
}
