import { failpoint } from "../../base/failpoints.ts";
import type { AssistantMessage, ModelMessage, ToolCallContent, ToolResultMessage, UserMessage } from "../../protocol/index.ts";
import { messageEntry, type MessageExtras } from "../../sessions/index.ts";
import type { StepKind, UsageInput, Write } from "../../store/index.ts";
import { batchesOf } from "../loop/batches.ts";
import type { LastCall } from "./ask.ts";
import { createAppend, type Draft } from "./append.ts";
import type { TurnDeps } from "./deps.ts";
import { turnTrace } from "./hook-context.ts";
import type { Spoken, TurnInput } from "./input.ts";
import type { TurnPlace } from "./place.ts";
import { maskMessage } from "./masked.ts";
import { isSilentReply, textOf } from "./reply.ts";
import { boundedDetails } from "../../tools/index.ts";

/**
 * Plugins may change a message before it is written, or keep it out of the transcript: then undefined. Registered secrets are masked after they had
 * their say: what they add is stored too.
 */
function beforeWrite<M extends ModelMessage>(deps: TurnDeps, input: TurnInput, message: M): M | undefined {
  const written = changedByPlugins(deps, input, message);
  return written && maskMessage(deps.redactor, written);
}

function changedByPlugins<M extends ModelMessage>({ hooks }: TurnDeps, input: TurnInput, message: M): M | undefined {
  if (!hooks.has("before_message_write")) return message;
  const { sessionKey, agentId } = input;
  const said = hooks.run("before_message_write", { message: message as never, sessionKey, agentId }, { sessionKey, agentId, trace: turnTrace(input) });
  if (said?.block) return undefined;
  const changed: unknown = said?.message;
  return isMessage(changed, message.role) ? (changed as M) : message;
}

/** `details` as they are stored: bounded after plugins had their say. */
function stored(message: ToolResultMessage): ToolResultMessage {
  return message.details === undefined ? message : { ...message, details: boundedDetails(message.details) };
}

/** `tool_result_persist`: what is kept of a result. */
function persisted({ hooks }: TurnDeps, input: TurnInput, message: ToolResultMessage): ToolResultMessage {
  if (!hooks.has("tool_result_persist")) return message;
  const { toolName, toolCallId } = message;
  const said = hooks.run(
    "tool_result_persist",
    { toolName, toolCallId, message: message as never, isSynthetic: false },
    { agentId: input.agentId, sessionKey: input.sessionKey, toolName, toolCallId, trace: turnTrace(input) },
  );
  const changed: unknown = said?.message;
  return isMessage(changed, "toolResult") ? (changed as ToolResultMessage) : message;
}

function isMessage(value: unknown, role: string): boolean {
  return typeof value === "object" && value !== null && (value as { role?: unknown }).role === role && "content" in value;
}

export type { Draft } from "./append.ts";

/**
 * What a turn leaves on disk, step by step. Lines and writes that do not have to be there at once go with the next commit.
 */
export interface TurnRecord {
  /** Joins the next commit. */
  later(drafts: readonly Draft[], writes?: readonly Write[]): void;
  /** What somebody said; joins the next commit, after which `committed` is called. The message as it is kept, or undefined when a plugin keeps it out. */
  said(message: UserMessage & MessageExtras, writes?: readonly Write[], committed?: () => void): UserMessage;
  /** An answer with its calls, and what it cost. On disk when this resolves. */
  answered(message: AssistantMessage, usage: UsageInput, facts: AnswerFacts): Promise<AssistantMessage>;
  /** An answer after which nothing is called: joins the next commit, which is the last one unless the turn goes on. */
  concluded(message: AssistantMessage, usage: UsageInput, call?: LastCall): AssistantMessage;
  /** The turn goes on after the answer that concluded it: its text is decided about before anything else is written. */
  reopened(): Promise<void>;
  /** A result. On disk when this resolves. */
  result(message: ToolResultMessage): Promise<ToolResultMessage>;
  /**
   * The last commit of the turn: last lines, how it ended, and what follows from it. Gives what the store answered to the writes. `shown`: what a client
   * was shown in place of the last answer.
   */
  end(drafts: readonly Draft[], writes: readonly Write[], shown?: string): Promise<readonly unknown[]>;
  /** Puts what waits on disk, so that the transcript tells all that was said. */
  flush(): Promise<void>;
  /** An extra commit, for what must not wait for the next step. */
  now(drafts: readonly Draft[], writes?: readonly Write[]): Promise<void>;
  /** What was said and is not in the transcript yet, because it joins the next commit. */
  readonly unwritten: readonly ModelMessage[];
  /** A plugin kept a message out of the transcript: it does not tell the whole conversation of this turn. */
  readonly withheld: boolean;
}

interface AnswerFacts {
  readonly call?: LastCall;
  readonly isParallel: (call: ToolCallContent) => boolean;
}

/** What the journal keeps of an answer. `at` is that of its usage, so that the two are found together. */
function resultNote(
  { stopReason }: AssistantMessage,
  withheld: AssistantMessage | undefined,
  { at }: UsageInput,
  call: LastCall | undefined,
): Readonly<Record<string, unknown>> {
  const { attempts = [], firstMs } = call ?? {};
  return {
    ...(withheld ? { message: withheld } : {}),
    ...(attempts.length === 0 ? {} : { attempts }),
    ...(at === undefined ? {} : { at, stopReason, ...(firstMs === undefined ? {} : { firstMs }) }),
  };
}

/** Calls of one batch start together: after a crash, each of them may have run. */
function intentsOf({ content }: AssistantMessage, isParallel: AnswerFacts["isParallel"]) {
  const calls = content.filter((part) => part.type === "toolCall");
  return batchesOf(calls, isParallel).flatMap((together, batch) => together.map(({ id, name }) => ({ id, name, batch })));
}

/** What joins the next commit. */
interface Waiting {
  readonly drafts: Draft[];
  readonly writes: Write[];
  readonly unwritten: ModelMessage[];
  /** Called after it. */
  readonly committed: (() => void)[];
}

const nothing = (): Waiting => ({ drafts: [], writes: [], unwritten: [], committed: [] });

/** An answer that waits for the next commit, and what is shown in its place. */
interface Concluded {
  message: AssistantMessage;
  openclawShown?: string;
}

/** What joins the next commit, and the commits. */
function createPending(deps: TurnDeps, input: TurnInput, place: TurnPlace) {
  const append = createAppend(deps, place);
  let waiting = nothing();
  let withheld = false;

  /** What waits and what is given, in one commit. */
  async function commit(moreDrafts: readonly Draft[], moreWrites: readonly Write[]): Promise<readonly unknown[]> {
    const { drafts, writes, committed } = waiting;
    waiting = nothing();
    const appending = append([...drafts, ...moreDrafts], [...writes, ...moreWrites]);
    appending.catch(() => {});
    // A beginning that was refused is why the rest is, too.
    await place.begun;
    const answers = await appending;
    for (const tell of committed) tell();
    return answers.slice(writes.length);
  }

  function checked<M extends ModelMessage>(message: M): M | undefined {
    const kept = beforeWrite(deps, input, message);
    withheld ||= kept === undefined;
    return kept;
  }

  /** Puts a message among what waits, unless a plugin keeps it out. */
  function wait<M extends ModelMessage>(message: M, extras: () => MessageExtras = () => ({})): M {
    const kept = checked(message);
    if (!kept) return message;
    waiting.drafts.push((at) => messageEntry(at, { ...kept, ...extras() }));
    waiting.unwritten.push(kept);
    return kept;
  }

  return {
    commit,
    checked,
    wait,
    get waiting() {
      return waiting;
    },
    get withheld() {
      return withheld;
    },
  };
}

export function createRecord(deps: TurnDeps, input: TurnInput, place: TurnPlace, ask?: (text: string) => Promise<Spoken | undefined>): TurnRecord {
  const pending = createPending(deps, input, place);
  const { commit, checked, wait } = pending;
  let concluded: Concluded | undefined;

  async function spoken(message: AssistantMessage): Promise<Spoken | undefined> {
    const text = ask ? textOf(message) : "";
    return text === "" || isSilentReply(text) ? undefined : ask?.(text);
  }

  const journal = (kind: StepKind, data: unknown, callId?: string): Write => ["journal.append", { turnId: input.runId, kind, data, callId }];
  /** What the transcript does not hold, a resumed turn finds here. */
  const resulted = (message: AssistantMessage, keepsWhole: boolean, usage: UsageInput, call?: LastCall): Write =>
    journal("model.result", resultNote(message, keepsWhole ? maskMessage(deps.redactor, message) : undefined, usage, call));

  return {
    get unwritten() {
      return pending.waiting.unwritten;
    },
    get withheld() {
      return pending.withheld;
    },
    later(more, also = []) {
      pending.waiting.drafts.push(...more);
      pending.waiting.writes.push(...also);
    },
    said(message, also = [], committed?: () => void) {
      pending.waiting.writes.push(...also);
      if (committed) pending.waiting.committed.push(committed);
      return wait(message);
    },
    concluded(message, usage, call) {
      const own: Concluded = { message };
      const kept = wait(message, () => (own.openclawShown === undefined ? {} : { openclawShown: own.openclawShown }));
      own.message = kept;
      concluded = own;
      pending.waiting.writes.push(resulted(message, pending.withheld, usage, call), ["usage.add", usage]);
      return kept;
    },
    async answered(message, usage, { call, isParallel }) {
      const kept = checked(message);
      const said = await spoken(kept ?? message);
      const shown: MessageExtras = said?.shown === undefined ? {} : { openclawShown: said.shown };
      const intents = intentsOf(kept ?? message, isParallel).map(({ id, ...intent }) => journal("tool.intent", intent, id));
      const lines: Draft[] = kept ? [(at) => messageEntry(at, { ...kept, ...shown })] : [];
      await commit(lines, [resulted(message, !kept, usage, call), ...intents, ["usage.add", usage], ...(said?.writes ?? [])]);
      said?.committed();
      failpoint("model.result.committed");
      if (intents.length > 0) failpoint("tool.intent.committed");
      return kept ?? message;
    },
    async reopened() {
      const own = concluded;
      concluded = undefined;
      const said = own && (await spoken(own.message));
      if (!said) return;
      if (said.shown !== undefined) own.openclawShown = said.shown;
      pending.waiting.writes.push(...said.writes);
      pending.waiting.committed.push(() => said.committed());
    },
    async result(message) {
      const told = maskMessage(deps.redactor, persisted(deps, input, message));
      const kept = checked(told);
      const data = kept ? { isError: message.isError } : { message: told };
      await commit(kept ? [(at) => messageEntry(at, stored(kept))] : [], [journal("tool.result", data, message.toolCallId)]);
      failpoint("tool.done");
      return kept ?? told;
    },
    async flush() {
      // A turn that is taken up after this finds its message in the transcript.
      if (pending.waiting.drafts.length > 0) await commit([], [journal("note", { said: true })]);
    },
    now: async (more, also = []) => void (await commit(more, also)),
    async end(more, also, shown) {
      if (shown !== undefined && concluded) concluded.openclawShown = shown;
      const answers = await commit(more, also);
      failpoint("outbox.committed");
      return answers;
    },
  };
}
