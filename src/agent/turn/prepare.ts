import { AppError, messageOf } from "../../base/errors.ts";
import { isRecord } from "../../base/records.ts";
import type { AgentHookContext, HookLog } from "../../hooks/index.ts";
import type { ToolSchema, UserMessage } from "../../protocol/index.ts";
import { view, viewSettings, type MessageExtras, type View } from "../../sessions/index.ts";
import type { StepRow } from "../../store/index.ts";
import { failedOutcome, sessionChoice, type Toolbox } from "../../tools/index.ts";
import { sessionFacts } from "../prompt/facts.ts";
import type { BootstrapFile } from "../workspace/bootstrap-names.ts";
import type { SystemPrompt } from "../prompt/system-prompt.ts";
import { searchedSkills, type SkillsSnapshot } from "../skills/snapshot.ts";
import { beginTurn, isBeginningRefused, type Begun, type TurnTarget } from "./begin.ts";
import type { TurnDeps } from "./deps.ts";
import { hookContext, turnSpan, turnTrace, withWindow } from "./hooks.ts";
import type { TurnInput } from "./input.ts";
import { chooseModel, withOverride, type AskedOnce, type ChosenModel } from "./model.ts";
import { bootstrapFiles, shapePrompt, skillsFor, systemPromptFor, userMessage, type PromptSession } from "./prompt.ts";
import { TurnRecord } from "./record.ts";

/** Everything that is known before the model is asked. */
export interface PreparedTurn {
  readonly target: TurnTarget;
  readonly context: AgentHookContext;
  readonly chosen: ChosenModel;
  readonly toolbox: Toolbox;
  /** Tools that the client carries out. */
  readonly clientTools: readonly ToolSchema[];
  /** The tools a model is shown: the host's and the client's. */
  readonly tools: readonly ToolSchema[];
  readonly systemPrompt: string;
  readonly report: SystemPrompt["report"];
  readonly skills: SkillsSnapshot | undefined;
  readonly files: readonly BootstrapFile[];
  /** The conversation before this turn; of a turn that is resumed, with what it has so far. */
  readonly seen: View;
  /** What is asked. Undefined when it is in the transcript already: the turn is resumed, or answers it once more. */
  readonly prompt: (UserMessage & MessageExtras) | undefined;
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
      const isOvertaken = isBeginningRefused(error);
      if (!isOvertaken && !input.resumed) await storeMessage(deps, input, begun);
      if (!isOvertaken || attempt === MAX_RETRIES) throw error;
    }
  }
}

/** The message of a turn that cannot be prepared, for want of a model for instance, stands in the conversation all the same. The turn's end adds why it failed. */
async function storeMessage(deps: TurnDeps, input: TurnInput, { target, committed }: Begun): Promise<void> {
  if (input.again) return;
  try {
    await committed;
    const record = new TurnRecord(deps, input, target);
    record.addUser(userMessage(input, { text: input.message }, deps.clock.now()));
    await record.flush();
  } catch (problem) {
    deps.log.warn(`a message could not be stored in its conversation: ${messageOf(problem)}`, { runId: input.runId });
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
  const { target, committed } = begun;
  const session: PromptSession = { entry: target.entry, facts: sessionFacts(input.sessionKey, target.entry), workspaceDir };
  const context = hookContext(input, target.sessionId, workspaceDir);
  const [model, files, skills, injections, steps] = await Promise.all([
    chooseModel(deps, input, target.entry, { context, once }),
    bootstrapFiles(deps, input, session),
    skillsFor(deps, input, session),
    committed,
    input.resumed ? deps.store.read("journal.steps", { turnId: input.runId }) : [],
  ]);
  const parts = { target, session, files, skills, hookLog };
  let ready = await withModel(deps, input, model, parts);
  const shaped = await shapePrompt(deps, input, {
    context: withWindow(context, model.selection),
    messages: ready.seen.messages,
    systemPrompt: ready.systemPrompt.text,
    injections,
    window: model.selection.contextWindow.tokens,
  });
  if (shaped.override) {
    ready = await withModel(deps, input, await withOverride(deps, input, target.entry, { models: model.models, asked: shaped.override }), parts);
  }
  const { chosen, seen } = ready;
  const asked = steps.some(isAsked);
  if (input.again && !asked && seen.messages.at(-1)?.role !== "user")
    throw new AppError("CONFLICT", "the conversation continued or was reset before the message could be answered again; load it again and retry");
  const toolbox = shaped.toolsAllow ? allowedOnly(ready.toolbox, shaped.toolsAllow) : ready.toolbox;
  // Names of the host win.
  const clientTools = input.clientTools?.filter(({ name }) => !toolbox.schemas.some((own) => own.name === name)) ?? [];
  return {
    target,
    context: withWindow(context, chosen.selection),
    chosen,
    toolbox,
    clientTools,
    tools: clientTools.length === 0 ? toolbox.schemas : [...toolbox.schemas, ...clientTools],
    systemPrompt: shaped.systemPrompt,
    report: ready.systemPrompt.report,
    skills,
    files,
    seen,
    prompt: input.again || asked ? undefined : userMessage(input, shaped, deps.clock.now()),
    steps,
  };
}

/** A step after which the turn's message is in the transcript. */
export function isAsked({ kind, data }: StepRow): boolean {
  return kind === "model.result" || (kind === "note" && isRecord(data) && data["said"] === true);
}

interface ModelParts {
  readonly target: TurnTarget;
  readonly session: PromptSession;
  readonly files: readonly BootstrapFile[];
  readonly skills: SkillsSnapshot | undefined;
  readonly hookLog: HookLog;
}

/** What depends on the model: tools, the system prompt, how much of the conversation it can see. */
async function withModel(deps: TurnDeps, input: TurnInput, chosen: ChosenModel, { target, session, files, skills, hookLog }: ModelParts) {
  const { agentId, sessionKey, runId, owner, channel, senderId, accountId, jobId } = input;
  const { entry: model, contextWindow } = chosen.selection;
  const choice = sessionChoice(target.entry);
  const searched = skills && searchedSkills(skills);
  const opened = await deps.broker.open({
    agentId,
    sessionKey,
    sessionId: target.sessionId,
    runId,
    workspaceDir: session.workspaceDir,
    owner,
    provider: model.provider,
    modelId: model.id,
    channel,
    contextWindow: contextWindow.tokens,
    hookLog,
    trace: { ...turnTrace(input), span: turnSpan(runId) },
    ...(senderId === undefined ? {} : { senderId }),
    ...(accountId === undefined ? {} : { accountId }),
    ...(jobId === undefined ? {} : { jobId }),
    ...(choice ? { choice } : {}),
    ...(searched ? { skills: searched } : {}),
    ...(skills && skills.skills.length > 0 && deps.skills ? { skillEnv: deps.skills.environment(skills) } : {}),
  });
  const offered = input.tools ? allowedOnly(opened, input.tools) : opened;
  const toolbox = input.withoutTools ? without(offered, input.withoutTools) : offered;
  const settings = viewSettings(deps.config.current, sessionKey);
  const seen = view({ path: target.path.items, model, settings, now: deps.clock.now(), memo: deps.session.view });
  const systemPrompt = systemPromptFor(deps, input, { ...session, files, skills, chosen, tools: toolbox.schemas });
  return { chosen, toolbox, seen, systemPrompt };
}

const without = (toolbox: Toolbox, names: readonly string[]): Toolbox =>
  allowedOnly(
    toolbox,
    toolbox.schemas.flatMap(({ name }) => (names.includes(name) ? [] : [name])),
  );

/** Tools may be taken away for a turn, by a plugin or by who asks for it; none are added. */
function allowedOnly(toolbox: Toolbox, names: readonly string[]): Toolbox {
  const allowed = new Set(names.map((name) => name.toLowerCase()));
  return {
    ...toolbox,
    schemas: toolbox.schemas.filter((schema) => allowed.has(schema.name)),
    run: (call) => (allowed.has(call.name.toLowerCase()) ? toolbox.run(call) : Promise.resolve(failedOutcome(`Tool ${call.name} not found`))),
  };
}
