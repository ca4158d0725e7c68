import { isRecord } from "../../base/records.ts";
import { heartbeatSettings } from "../../config/index.ts";
import type { AssistantMessage, ModelMessage, SessionEntry } from "../../protocol/index.ts";
import { authProfileOverride, cacheTouchEntry, messageEntry, promptErrorEntry, usageAfterRun, ZERO_USAGE, type MessageExtras } from "../../sessions/index.ts";
import { patchedEntry, type Outcome, type Write } from "../../store/index.ts";
import type { LoopEnd, LoopResult } from "../loop/ports.ts";
import type { TurnDeps, TurnRun } from "./deps.ts";
import { reportEnd } from "./hooks.ts";
import type { TurnEnd, TurnInput } from "./input.ts";
import { usageRow } from "./model.ts";
import type { PreparedTurn } from "./prepare.ts";
import type { Draft } from "./record.ts";
import { replyOf, textOf } from "./reply.ts";

/** The last lines of a turn, with what is shown in place of their text. */
export type LastLines = (shown: MessageExtras) => readonly Draft[];

interface Ended {
  readonly end: TurnEnd;
  readonly lines: LastLines;
}

type Facts = Pick<TurnEnd, "sessionId" | "startedAt" | "endedAt" | "usage" | "provider" | "model" | "window" | "profileId">;

/** How the loop ended becomes the end of the turn, on disk. */
export async function conclude(run: TurnRun, result: LoopResult, before: readonly ModelMessage[]): Promise<TurnEnd> {
  const { deps, input, turn, calls, startedAt } = run;
  const { answers, usage } = result;
  const { entry, contextWindow } = turn.chosen.selection;
  const { provider, model } = answers.at(-1) ?? { provider: entry.provider, model: entry.id };
  const facts: Facts = {
    sessionId: turn.target.sessionId,
    startedAt,
    endedAt: deps.clock.now(),
    usage,
    provider,
    model,
    window: contextWindow.tokens,
    ...(calls.profileId === undefined ? {} : { profileId: calls.profileId }),
  };
  const ended = endOf(run, result, facts);
  const end = await finishTurn(run, ended.end, ended.lines);
  reportEnd(deps, input, turn, { end, answers, texts: answers.map(textOf), messages: [...before, ...result.added] });
  return end;
}

function endOf(run: TurnRun, { end, answers, partial }: LoopResult, facts: Facts): Ended {
  const { tools, deps, input } = run;
  if (end.kind === "aborted") return aborted(run, partial, end.text, facts);
  if (end.kind === "failed") return failed(run, end, facts);
  if (end.kind === "limit") {
    return {
      end: { ...facts, status: "failed", text: "", texts: [], error: end.text, failure: { kind: "turn_limit" }, stopReason: "error" },
      lines: () => [(at) => messageEntry(at, { ...emptyAnswer(run), stopReason: "error", errorMessage: end.text })],
    };
  }
  // A heartbeat may be asked to stay silent about tools that fail.
  const isSuppressed = input.trigger === "heartbeat" && heartbeatSettings(deps.config.current, input.agentId).suppressToolErrorWarnings === true;
  const { text, texts, silent } = replyOf(answers, isSuppressed ? undefined : tools.failed, tools.delivered);
  const delegated = tools.delegated.length === 0 ? { stopReason: end.answer.stopReason } : { stopReason: "toolUse", calls: tools.delegated };
  return { end: { ...facts, status: "ok", text, texts, ...delegated, ...(silent ? { silent } : {}) }, lines: () => [] };
}

/** What was shown of an answer that was stopped stays, marked. */
function aborted(run: TurnRun, partial: string, shownText: string, facts: Facts): Ended {
  const text = partial === "" ? shownText : partial;
  const origin = run.ports.origin();
  const { runId } = run.input;
  const content: AssistantMessage["content"] = partial === "" ? [] : [{ type: "text", text: partial }];
  const message: AssistantMessage = { ...emptyAnswer(run), content, stopReason: "aborted" };
  const mark: MessageExtras = { idempotencyKey: `${runId}:assistant`, openclawAbort: { aborted: true, origin, runId } };
  return {
    end: { ...facts, status: "aborted", text, texts: text === "" ? [] : [text], error: `aborted (${origin})`, abortedBy: origin, stopReason: "aborted" },
    lines: (shown) => [(at) => messageEntry(at, { ...message, ...shown, ...mark, timestamp: at.at })],
  };
}

function failed({ deps, input, record, calls }: TurnRun, { failure }: Extract<LoopEnd, { kind: "failed" }>, facts: Facts): Ended {
  const { text, message, kind, status, trouble, retryAfterMs } = failure;
  const { attempts, ms } = calls.last;
  const tried: Write[] = attempts.length === 0 ? [] : [["journal.append", { turnId: input.runId, kind: "note", data: { attempts } }]];
  record.later([], [["usage.add", usageRow(input, message, ms, deps.clock.now())], ...tried]);
  const { provider, model, api } = message;
  const error = { runId: input.runId, sessionId: facts.sessionId, provider, model, api, error: text };
  return {
    end: {
      ...facts,
      status: "failed",
      text: "",
      texts: [],
      error: text,
      failure: {
        kind,
        ...(status === undefined ? {} : { status }),
        ...(trouble === undefined ? {} : { trouble }),
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      },
      stopReason: "error",
    },
    lines: (shown) => [(at) => messageEntry(at, { ...message, ...shown }), (at) => promptErrorEntry(at, error)],
  };
}

/** An answer of the turn's model with nothing in it. */
function emptyAnswer({ deps, turn }: TurnRun): AssistantMessage {
  const { provider, id, api } = turn.chosen.selection.entry;
  return { role: "assistant", content: [], provider, model: id, api, usage: ZERO_USAGE, stopReason: "stop", timestamp: deps.clock.now() };
}

/** The last commit of a turn: the answer, what is sent of it, the input's outcome, the session's fields. Gives the end as it is on disk. */
export async function finishTurn({ deps, input, ports, turn, record, tools, hookLog }: TurnRun, made: TurnEnd, lines: LastLines): Promise<TurnEnd> {
  const sent = (await ports.replies?.(made)) ?? [];
  const { writes: replies, shown, isWritten = false, isForgotten = false } = "shown" in sent ? sent : { writes: sent };
  const inPlace = isWritten ? undefined : shown;
  const drafts = lines(inPlace === undefined ? {} : { openclawShown: inPlace });
  const end = shown === undefined ? made : { ...made, shown };
  const outcome = outcomeOf(end);
  const why = end.status === "ok" ? undefined : (end.error ?? end.status);
  const pruned = deps.config.current.agents?.defaults?.contextPruning?.mode === "cache-ttl";
  const touched: Draft[] = pruned && end.status === "ok" ? [(at) => cacheTouchEntry(at, turn.chosen.selection.entry)] : [];
  const decided: Write[] = hookLog.entries.length === 0 ? [] : [["journal.append", { turnId: input.runId, kind: "note", data: { hooks: hookLog.entries } }]];
  // Who waits for an answer reads it; a chat gets only what is sent to it.
  const isRead = outcome === "answered" && !isForgotten && (input.hearing === undefined || replies.some(([kind]) => kind === "outbox.add"));
  const isUnheard = !isRead && !(tools.delivered && end.status === "ok");
  const { row, before, file } = turn.target;
  const { patches, others } = ownPatches(replies, input.sessionKey);
  const patch = Object.assign({ ...patchOf(deps, input, turn, end, isForgotten) }, ...patches);
  const writes: Write[] = [
    ["sessions.merge", { key: input.sessionKey, patch }],
    ...decided,
    ["inbox.settle", { ids: input.inboxIds, outcome, why, turnId: input.runId }],
    ...others,
    ...(isUnheard ? ([["injections.release", { sessionKey: input.sessionKey, turnId: input.runId }]] as const) : []),
    ...(isForgotten && before !== undefined ? ([["transcripts.branch", { file, leafId: before }]] as const) : []),
    // The text once: its pieces are in the transcript.
    ["turns.end", { id: input.runId, outcome, why, detail: { ...end, texts: [] } }],
  ];
  if (isForgotten) record.forgetLines();
  const [merged] = await record.end(isForgotten ? [] : [...drafts, ...touched], writes, inPlace);
  const version = row.version + 1;
  // Saves the next turn reading it. Another version: someone else changed it while the turn ran, and it is read again.
  const isOurs = isRecord(merged) && merged["version"] === version && deps.session.isTouched !== true && !isForgotten;
  if (isUnheard && deps.session.isTouched !== undefined) deps.session.isTouched = true;
  deps.session.row = isOurs ? { ...row, version, entry: patchedEntry(row.entry, patch) } : undefined;
  return end;
}

/** What the replies change of the session itself belongs to the one change that a turn makes of it: more would look like someone else's. */
function ownPatches(replies: readonly Write[], sessionKey: string) {
  const isOwn = (write: Write): write is Extract<Write, readonly ["sessions.merge", unknown]> => write[0] === "sessions.merge" && write[1].key === sessionKey;
  return { patches: replies.filter(isOwn).map(([, { patch }]) => patch), others: replies.filter((write) => !isOwn(write)) };
}

/** How the inputs of a turn end. */
function outcomeOf({ status, text, texts, calls }: TurnEnd): Outcome {
  if (status === "aborted") return "cancelled";
  if (status === "failed") return "failed";
  if (status === "blocked") return "refused";
  return text === "" && texts.length === 0 && calls === undefined ? "silent" : "answered";
}

/** What of a session's entry follows from a turn. */
function patchOf(deps: TurnDeps, input: TurnInput, turn: PreparedTurn, end: TurnEnd, isForgotten: boolean): Readonly<Record<string, unknown>> {
  const { entry } = turn.target;
  const { selection } = turn.chosen;
  const { provider = selection.entry.provider, model = selection.entry.id, profileId } = end;
  const pinned = authProfileOverride(entry);
  // A session stays with the credential that worked, so that the provider's cache does; unless a person chose one.
  const sticks = profileId !== undefined && pinned?.source !== "user" && pinned?.profile !== profileId;
  const profile = sticks
    ? { authProfileOverride: profileId, authProfileOverrideSource: "auto", authProfileOverrideCompactionCount: entry["compactionCount"] ?? 0 }
    : {};
  if (isForgotten) return changedSnapshots(deps, input, turn);
  return {
    updatedAt: end.endedAt,
    systemSent: true,
    abortedLastRun: end.status === "aborted",
    ...(input.entryFields ?? { lastChannel: input.channel }),
    // What goes on is no longer archived.
    ...(entry["archivedAt"] === undefined ? {} : { archivedAt: null }),
    ...(end.status === "ok" ? usageAfterRun({ provider, model, contextTokens: selection.contextWindow.tokens, calls: end.usage }) : {}),
    ...(end.status === "ok" ? profile : {}),
    ...changedSnapshots(deps, input, turn),
  };
}

/** Snapshots are large and rarely change: they are written when they did. */
function changedSnapshots(
  { clock, session }: TurnDeps,
  { sessionKey }: TurnInput,
  { target, report, skills, chosen }: PreparedTurn,
): Readonly<Record<string, unknown>> {
  const { provider, id } = chosen.selection.entry;
  const { entry } = target;
  const changes: Record<string, unknown> = {};
  if (session.promptReport !== report) {
    const made = { source: "run", sessionId: target.sessionId, sessionKey, provider, model: id, ...report };
    if (!isSameReport(entry, made)) changes["systemPromptReport"] = { ...made, generatedAt: clock.now() };
    session.promptReport = report;
  }
  if (skills && entry["skillsSnapshot"] !== skills) changes["skillsSnapshot"] = skills;
  return changes;
}

function isSameReport(entry: SessionEntry, made: object): boolean {
  const stored = entry["systemPromptReport"];
  if (!isRecord(stored)) return false;
  const { generatedAt: _at, ...facts } = stored;
  return JSON.stringify(facts) === JSON.stringify(made);
}
