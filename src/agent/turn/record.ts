import { failpoint } from "../../base/failpoints.ts";
import { isRecord } from "../../base/records.ts";
import type { AssistantMessage, ModelMessage, ToolCallContent, ToolResultMessage, UserMessage } from "../../protocol/index.ts";
import { messageEntry, type EntryPosition, type MessageExtras, type NewEntry } from "../../sessions/index.ts";
import type { StepKind, UsageInput, Write } from "../../store/index.ts";
import { boundedDetails } from "../../tools/index.ts";
import { batchesOf } from "../loop/batches.ts";
import type { LastCall } from "./ask.ts";
import { overtaken, type TurnTarget } from "./begin.ts";
import type { TurnDeps } from "./deps.ts";
import { turnTrace } from "./hooks.ts";
import type { Spoken, TurnInput, TurnPorts } from "./input.ts";
import { maskMessage } from "./masked.ts";
import { isSilentReply, textOf } from "./reply.ts";

/** A line of the transcript, once its parent is known. */
export type Draft = (position: EntryPosition) => NewEntry;

const MAX_RETRIES = 5;

/** Appends lines with other writes in one commit. Gives what the store answered to the writes. */
export type Append = (drafts: readonly Draft[], writes: readonly Write[]) => Promise<readonly unknown[]>;

/** Each commit asserts the transcript's leaf; when another writer appended in between, the lines go below what it wrote. */
export function createAppend({ store, clock, ids, session }: TurnDeps, { file, path }: Pick<TurnTarget, "file" | "path">): Append {
  let { leafId } = path;
  return async (drafts, writes) => {
    if (drafts.length === 0) return writes.length > 0 ? store.commit(writes, { by: session }) : [];
    for (let attempt = 0; ; attempt += 1) {
      const entries: NewEntry[] = [];
      const at = clock.now();
      let parentId = leafId;
      for (const draft of drafts) {
        const entry = draft({ ids, parentId, at });
        parentId = entry.id;
        entries.push(entry);
      }
      try {
        const [appended, ...answers] = await store.commit([["transcripts.append", { file, entries, expectLeaf: leafId }], ...writes], { by: session });
        session.appended(file, leafId, entries, appended);
        leafId = parentId;
        return answers;
      } catch (error) {
        if (!overtaken(error, "leaf") || attempt === MAX_RETRIES) throw error;
        leafId = (await store.read("transcripts.get", { file }))?.leafId ?? null;
      }
    }
  };
}

/**
 * Plugins may change a message before it is written, or keep it out of the transcript: then undefined. Registered secrets are masked after that: what
 * plugins add is stored too.
 */
function beforeWrite<M extends ModelMessage>({ hooks, redactor }: TurnDeps, input: TurnInput, message: M): M | undefined {
  if (!hooks.has("before_message_write")) return maskMessage(redactor, message);
  const { sessionKey, agentId } = input;
  const result = hooks.run("before_message_write", { message: message as never, sessionKey, agentId }, { sessionKey, agentId, trace: turnTrace(input) });
  if (result?.block) return undefined;
  const changed: unknown = result?.message;
  return maskMessage(redactor, isMessageLike(changed, message) ? changed : message);
}

/** `tool_result_persist`: what is stored of a result. */
function persisted({ hooks }: TurnDeps, input: TurnInput, message: ToolResultMessage): ToolResultMessage {
  if (!hooks.has("tool_result_persist")) return message;
  const { toolName, toolCallId } = message;
  const result = hooks.run(
    "tool_result_persist",
    { toolName, toolCallId, message: message as never, isSynthetic: false },
    { agentId: input.agentId, sessionKey: input.sessionKey, toolName, toolCallId, trace: turnTrace(input) },
  );
  const changed: unknown = result?.message;
  return isMessageLike(changed, message) ? changed : message;
}

/** Whether a plugin gave back a message of the same role. */
function isMessageLike<M extends ModelMessage>(value: unknown, { role }: M): value is M {
  return isRecord(value) && value["role"] === role && "content" in value;
}

interface AnswerFacts {
  readonly call?: LastCall;
  readonly isParallel: (call: ToolCallContent) => boolean;
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

/** What a turn leaves on disk, step by step. Lines and writes that do not have to be there at once go with the next commit. */
export class TurnRecord {
  readonly #deps: TurnDeps;
  readonly #input: TurnInput;
  readonly #begun: Promise<unknown> | undefined;
  readonly #append: Append;
  readonly #spoken: TurnPorts["spoken"];
  #waiting: Waiting;
  /** An answer that waits for the next commit, and what is shown in its place. */
  #lastAnswer: { message: AssistantMessage; openclawShown?: string } | undefined;
  /** A plugin kept a message out of the transcript: it does not have the whole conversation of this turn. */
  withheld: boolean;

  constructor(deps: TurnDeps, input: TurnInput, target: Pick<TurnTarget, "file" | "path" | "begun">, spoken?: TurnPorts["spoken"]) {
    this.#deps = deps;
    this.#input = input;
    this.#begun = target.begun;
    this.#append = createAppend(deps, target);
    this.#spoken = spoken;
    this.#waiting = nothing();
    this.withheld = false;
  }

  /** Messages that are not in the transcript yet, because they join the next commit. */
  get unwritten(): readonly ModelMessage[] {
    return this.#waiting.unwritten;
  }

  /** Joins the next commit. */
  later(drafts: readonly Draft[], writes: readonly Write[] = []): void {
    this.#waiting.drafts.push(...drafts);
    this.#waiting.writes.push(...writes);
  }

  /** A user's message joins the next commit, after which `committed` is called. Gives the message as it is used from now on. */
  addUser(message: UserMessage & MessageExtras, writes: readonly Write[] = [], committed?: () => void): UserMessage {
    this.#waiting.writes.push(...writes);
    if (committed) this.#waiting.committed.push(committed);
    const checked = this.#checked(message);
    if (!checked) return message;
    this.#waiting.drafts.push((at) => messageEntry(at, checked));
    this.#waiting.unwritten.push(checked);
    return checked;
  }

  /** An answer with its calls, and what it cost. On disk when this resolves. */
  async addAnswer(message: AssistantMessage, usage: UsageInput, { call, isParallel }: AnswerFacts): Promise<AssistantMessage> {
    const checked = this.#checked(message);
    const spoken = await this.#askSpoken(checked ?? message);
    const shown: MessageExtras = spoken?.shown === undefined ? {} : { openclawShown: spoken.shown };
    const lines: Draft[] = checked ? [(at) => messageEntry(at, { ...checked, ...shown })] : [];
    const calls = (checked ?? message).content.filter((part) => part.type === "toolCall");
    // Calls of one batch start together: after a crash, each of them may have run.
    const intents = batchesOf(calls, isParallel).flatMap((together, batch) =>
      together.map(({ id, name }) => this.#journal("tool.intent", { name, batch }, id)),
    );
    await this.#commit(lines, [this.#modelResult(message, !checked, usage, call), ...intents, ["usage.add", usage], ...(spoken?.writes ?? [])]);
    spoken?.committed();
    failpoint("model.result.committed");
    if (intents.length > 0) failpoint("tool.intent.committed");
    return checked ?? message;
  }

  /** An answer after which nothing is called: joins the next commit, which is the last one unless the turn goes on. */
  addLastAnswer(message: AssistantMessage, usage: UsageInput, call?: LastCall): AssistantMessage {
    const checked = this.#checked(message);
    const own: { message: AssistantMessage; openclawShown?: string } = { message: checked ?? message };
    this.#lastAnswer = own;
    if (checked) {
      this.#waiting.drafts.push((at) => messageEntry(at, own.openclawShown === undefined ? checked : { ...checked, openclawShown: own.openclawShown }));
      this.#waiting.unwritten.push(checked);
    }
    this.#waiting.writes.push(this.#modelResult(message, this.withheld, usage, call), ["usage.add", usage]);
    return own.message;
  }

  /** The turn goes on after its last answer: plugins decide about its text before anything else is written. */
  async reopen(): Promise<void> {
    const own = this.#lastAnswer;
    this.#lastAnswer = undefined;
    const spoken = own && (await this.#askSpoken(own.message));
    if (!spoken) return;
    if (spoken.shown !== undefined) own.openclawShown = spoken.shown;
    this.#waiting.writes.push(...spoken.writes);
    this.#waiting.committed.push(() => spoken.committed());
  }

  /** A result. On disk when this resolves. */
  async addResult(message: ToolResultMessage): Promise<ToolResultMessage> {
    const masked = maskMessage(this.#deps.redactor, persisted(this.#deps, this.#input, message));
    const checked = this.#checked(masked);
    // Bounded after plugins have changed them.
    const stored = checked?.details === undefined ? checked : { ...checked, details: boundedDetails(checked.details) };
    const data = checked ? { isError: message.isError } : { message: masked };
    await this.#commit(stored ? [(at) => messageEntry(at, stored)] : [], [this.#journal("tool.result", data, message.toolCallId)]);
    failpoint("tool.done");
    return checked ?? masked;
  }

  /** Lines that wait are not written; what else waits is. */
  forgetLines(): void {
    this.#waiting.drafts.length = 0;
    this.#waiting.unwritten.length = 0;
  }

  /** Puts what waits on disk, so that the transcript has the whole conversation. */
  async flush(): Promise<void> {
    // A turn that is resumed after this finds its message in the transcript.
    if (this.#waiting.drafts.length > 0) await this.#commit([], [this.#journal("note", { said: true })]);
  }

  /** An extra commit, for what must not wait for the next step. */
  async now(drafts: readonly Draft[], writes: readonly Write[] = []): Promise<void> {
    await this.#commit(drafts, writes);
  }

  /**
   * The last commit of the turn: last lines, how it ended, and what follows from it. Gives what the store answered to the writes. `shown`: what a client
   * was shown in place of the last answer.
   */
  async end(drafts: readonly Draft[], writes: readonly Write[], shown?: string): Promise<readonly unknown[]> {
    if (shown !== undefined && this.#lastAnswer) this.#lastAnswer.openclawShown = shown;
    const answers = await this.#commit(drafts, writes);
    failpoint("outbox.committed");
    return answers;
  }

  /** What waits and these, in one commit. */
  async #commit(moreDrafts: readonly Draft[], moreWrites: readonly Write[]): Promise<readonly unknown[]> {
    const { drafts, writes, committed } = this.#waiting;
    this.#waiting = nothing();
    const appending = this.#append([...drafts, ...moreDrafts], [...writes, ...moreWrites]);
    appending.catch(() => {});
    // A beginning that was refused is why the rest is, too.
    await this.#begun;
    const answers = await appending;
    for (const notify of committed) notify();
    return answers.slice(writes.length);
  }

  /** The message as it is stored, or undefined when a plugin keeps it out. */
  #checked<M extends ModelMessage>(message: M): M | undefined {
    const checked = beforeWrite(this.#deps, this.#input, message);
    this.withheld ||= checked === undefined;
    return checked;
  }

  async #askSpoken(message: AssistantMessage): Promise<Spoken | undefined> {
    const text = this.#spoken ? textOf(message) : "";
    return text === "" || isSilentReply(text) ? undefined : this.#spoken?.(text);
  }

  #journal(kind: StepKind, data: unknown, callId?: string): Write {
    return ["journal.append", { turnId: this.#input.runId, kind, data, callId }];
  }

  /** What the journal has of an answer: a message that the transcript does not hold, a resumed turn finds here. */
  #modelResult(message: AssistantMessage, isWithheld: boolean, { at }: UsageInput, { attempts = [], firstMs }: Partial<LastCall> = {}): Write {
    return this.#journal("model.result", {
      ...(isWithheld ? { message: maskMessage(this.#deps.redactor, message) } : {}),
      ...(attempts.length === 0 ? {} : { attempts }),
      // That of its usage, so that the two are found together.
      ...(at === undefined ? {} : { at, stopReason: message.stopReason, ...(firstMs === undefined ? {} : { firstMs }) }),
    });
  }
}
