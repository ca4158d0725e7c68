import type { AttemptNote } from "../../agent/index.ts";
import type { Redactor } from "../../base/redaction.ts";
import type { HookLogEntry } from "../../hooks/index.ts";
import type { ApprovalRow, StepRow, TurnRow, UsageOfTurn } from "../../store/index.ts";
import { hookSteps } from "./message-steps.ts";
import { given, type StoryStep, type StoryStore } from "./story.ts";
import { callsOfTurn, type TurnCall } from "./turn-calls.ts";

/** What the store holds of a turn. */
export interface TurnFacts {
  readonly turn: TurnRow;
  readonly journal: readonly StepRow[];
  readonly usage: readonly UsageOfTurn[];
  readonly approvals: readonly ApprovalRow[];
  /** What its tools were asked and gave, where that is asked for. */
  readonly calls: ReadonlyMap<string, TurnCall>;
}

/** `closely`: with what tools were asked and gave, without the secrets that it knows. */
export async function turnFacts(store: StoryStore, turn: TurnRow, closely?: Pick<Redactor, "text" | "value">): Promise<TurnFacts> {
  const { id: turnId, sessionKey, startedAt } = turn;
  const [journal, usage, approvals] = await Promise.all([
    store.read("journal.steps", { turnId }),
    store.read("usage.ofTurn", { sessionKey, turnId, since: startedAt }),
    turn.state === "running" ? store.read("approvals.pending", { turnId }) : [],
  ]);
  const called = journal.some(({ kind }) => kind === "tool.intent");
  return { turn, journal, usage, approvals, calls: closely && called ? await callsOfTurn(store, turn, closely) : new Map<string, TurnCall>() };
}

/** What a step of the journal keeps. */
interface StepData {
  readonly name?: string;
  readonly isError?: boolean;
  readonly message?: { readonly isError?: boolean };
  readonly kind?: string;
  readonly resumed?: number;
  /** Its process was ended in the middle of it, and why. */
  readonly exit?: { readonly at: number; readonly message: string; readonly pluginId?: string; readonly what?: string };
  readonly hooks?: readonly HookLogEntry[];
  readonly attempts?: readonly AttemptNote[];
  /** Of an answer: the `at` of its usage, and how long after its beginning it began to come. */
  readonly at?: number;
  readonly firstMs?: number;
  readonly stopReason?: string;
  /** Of a summary: how long it took. */
  readonly ms?: number;
}

const dataOf = ({ data }: StepRow): StepData => (typeof data === "object" && data !== null ? data : {});

/** Answers that ended by themselves: nothing has to be said of it. */
const PLAIN_STOPS: ReadonlySet<string> = new Set(["stop", "toolUse"]);

function modelStep(
  { at, provider, model, input, output, cacheRead, cacheWrite, cost, durationMs, failed }: UsageOfTurn,
  { firstMs, stopReason }: StepData = {},
): StoryStep {
  const cached = cacheRead > 0 ? ` (${cacheRead} cached)` : "";
  const stopped = stopReason === undefined || PLAIN_STOPS.has(stopReason) ? "" : `, ended by ${stopReason}`;
  const tokens = `${input + cacheRead + cacheWrite} tokens in${cached}, ${output} out`;
  const text = `${provider}/${model}: ${failed ? "failed" : `${tokens}${stopped}`}`;
  const details = given({ provider, model, input, output, cacheRead, cacheWrite, cost, failed, firstMs, stopReason });
  return { at: at - durationMs, ms: durationMs, kind: "model", text, details };
}

/** The last attempt of a turn to reach a model, where it needed more than one or none worked. */
export const lastAttempt = (facts: TurnFacts | undefined): AttemptNote | undefined => facts?.journal.flatMap((step) => dataOf(step).attempts ?? []).at(-1);

/** Attempts before the one that worked, or all where none did. */
function attemptSteps(step: StepRow): StoryStep[] {
  return (dataOf(step).attempts ?? [])
    .filter(({ outcome }) => outcome !== "ok")
    .map(({ provider, model, at, ms, firstMs, outcome, trouble, error }) => ({
      at,
      ms,
      kind: "attempt",
      text: `${provider}/${model}: ${trouble ?? outcome}${error === undefined ? "" : `: ${error}`}`,
      details: given({ provider, model, outcome, trouble, error, firstMs }),
    }));
}

/** Calls are carried out one after the other: each begins when it was decided and the one before it is over. */
function toolSteps({ turn, journal, approvals, calls }: TurnFacts): StoryStep[] {
  const results = new Map(journal.flatMap((step) => (step.kind === "tool.result" && step.callId !== null ? [[step.callId, step] as const] : [])));
  let free = 0;
  return journal
    .filter(({ kind }) => kind === "tool.intent")
    .map((step): StoryStep => {
      const { name = "a tool" } = dataOf(step);
      const result = step.callId === null ? undefined : results.get(step.callId);
      const at = Math.max(step.at, free);
      const { asked, gave } = (step.callId === null ? undefined : calls.get(step.callId)) ?? {};
      if (!result) {
        const asks = approvals.length > 0;
        const text = turn.state === "running" ? `${name}: ${asks ? "waiting for approval" : "running"}` : `${name}: outcome unknown`;
        return { at, kind: "tool", text, details: given({ name, callId: step.callId, unknown: turn.state === "ended", asked }) };
      }
      free = result.at;
      const isError = dataOf(result).isError ?? dataOf(result).message?.isError ?? false;
      return {
        at,
        ms: Math.max(0, result.at - at),
        kind: "tool",
        text: `${name}: ${isError ? "failed" : "done"}${gave?.exitCode ? ` with exit code ${gave.exitCode}` : ""}`,
        details: given({ name, callId: step.callId, isError, asked, gave }),
      };
    });
}

function exitStep({ at, message, pluginId, what }: NonNullable<StepData["exit"]>): StoryStep {
  const cause = pluginId === undefined ? "" : `: plugin ${pluginId}${what === undefined ? "" : ` (${what})`}`;
  return { at, kind: "resumed", text: `the watchdog ended the gateway${cause}; ${message}`, details: given({ exit: message, pluginId, what }) };
}

function journalStep(step: StepRow): StoryStep[] {
  const { at, kind } = step;
  const { resumed, exit, hooks, kind: said, ms } = dataOf(step);
  if (kind === "compaction")
    return [{ at: at - (ms ?? 0), ...(ms === undefined ? {} : { ms }), kind: "compaction", text: "the conversation was compacted to free up space" }];
  if (kind === "reply.block") return [{ at, kind: "block", text: said === "tool" ? "a tool notice was sent" : "part of the answer was sent early" }];
  if (hooks) return hookSteps(hooks);
  if (exit) return [exitStep(exit)];
  if (resumed !== undefined) return [{ at, kind: "resumed", text: `resumed after a restart (${resumed} of at most 3)`, details: { resumptions: resumed } }];
  return [];
}

/** From the beginning of a turn to its end. */
export function turnSteps(facts: TurnFacts): StoryStep[] {
  const { turn, journal, usage, approvals } = facts;
  const { id, startedAt, endedAt, outcome, why } = turn;
  const start: StoryStep = {
    at: startedAt,
    kind: "start",
    text: `turn ${id} started`,
    details: { turnId: id, sessionKey: turn.sessionKey, agentId: turn.agentId },
  };
  const end: StoryStep[] =
    endedAt === null
      ? []
      : [
          {
            at: endedAt,
            ms: endedAt - startedAt,
            kind: "end",
            text: `turn ended: ${outcome ?? "?"}${why === null ? "" : `: ${why}`}`,
            details: given({ outcome, why, resumptions: turn.resumptions }),
          },
        ];
  const asks = approvals.map(({ id: approval, kind, createdAt }): StoryStep => ({
    at: createdAt,
    kind: "approval",
    text: `waiting for approval (${kind}, ${approval})`,
    details: { id: approval },
  }));
  const answers = new Map(journal.map(dataOf).map((data) => [data.at, data]));
  const models = usage.map((call) => modelStep(call, answers.get(call.at)));
  return [start, ...journal.flatMap(journalStep), ...journal.flatMap(attemptSteps), ...models, ...toolSteps(facts), ...asks, ...end];
}
