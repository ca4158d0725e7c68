import type { HookLog } from "../../hooks/index.ts";
import type { AssistantMessage, SessionEntry } from "../../protocol/index.ts";
import { authProfileOverride, cacheTouchEntry, messageEntry, usageAfterRun, type MessageExtras } from "../../sessions/index.ts";
import { patchedEntry, type Outcome, type Write } from "../../store/index.ts";
import type { TurnDeps } from "./deps.ts";
import type { TurnEnd, TurnInput, TurnPorts } from "./input.ts";
import type { PreparedTurn } from "./prepare.ts";
import type { Draft, TurnRecord } from "./record.ts";

/** What the end of a turn needs. */
interface Finishing {
  readonly deps: TurnDeps;
  readonly input: TurnInput;
  readonly ports: Pick<TurnPorts, "replies">;
  readonly turn: PreparedTurn;
  readonly record: TurnRecord;
  readonly hookLog: Pick<HookLog, "entries">;
}

/** How the inputs of a turn end. */
function outcomeOf({ status, text, texts, calls }: TurnEnd): Outcome {
  if (status === "aborted") return "cancelled";
  if (status === "failed") return "failed";
  if (status === "blocked") return "refused";
  return text === "" && texts.length === 0 && calls === undefined ? "silent" : "answered";
}

/** What of a session's entry follows from a turn. */
function patchOf(deps: TurnDeps, input: TurnInput, turn: PreparedTurn, end: TurnEnd): Readonly<Record<string, unknown>> {
  const { selection } = turn.chosen;
  const { provider = selection.entry.provider, model = selection.entry.id } = end;
  const used = usageAfterRun({ provider, model, contextTokens: selection.contextWindow.tokens, calls: end.usage });
  return {
    updatedAt: end.endedAt,
    systemSent: true,
    abortedLastRun: end.status === "aborted",
    ...(input.entryFields ?? { lastChannel: input.channel }),
    ...(end.status === "ok" ? { ...used, ...stickyProfile(turn.place.entry, end) } : {}),
    ...changedSnapshots(deps, input, turn),
  };
}

/** A session stays with the credential that worked, so that the provider's cache does; unless a person chose one. */
function stickyProfile(entry: SessionEntry, { profileId }: TurnEnd): Readonly<Record<string, unknown>> {
  const pinned = authProfileOverride(entry);
  if (profileId === undefined || pinned?.source === "user" || pinned?.profile === profileId) return {};
  return { authProfileOverride: profileId, authProfileOverrideSource: "auto", authProfileOverrideCompactionCount: entry["compactionCount"] ?? 0 };
}

/** Snapshots are large and rarely change: they are written when they did. */
function changedSnapshots(
  { clock, session }: TurnDeps,
  { sessionKey }: TurnInput,
  { place, report, skills, chosen }: PreparedTurn,
): Readonly<Record<string, unknown>> {
  const { provider, id } = chosen.selection.entry;
  const { entry } = place;
  const made = { source: "run", sessionId: place.sessionId, sessionKey, provider, model: id, ...report };
  const changes: Record<string, unknown> = {};
  if (session.promptReport !== report && !sameReport(entry, made)) changes["systemPromptReport"] = { ...made, generatedAt: clock.now() };
  session.promptReport = report;
  if (skills && entry["skillsSnapshot"] !== skills) changes["skillsSnapshot"] = skills;
  return changes;
}

function sameReport(entry: SessionEntry, made: object): boolean {
  const kept = entry["systemPromptReport"];
  if (typeof kept !== "object" || kept === null) return false;
  const { generatedAt: _at, ...facts } = kept as Record<string, unknown>;
  return JSON.stringify(facts) === JSON.stringify(made);
}

/** The last lines of a turn, with what is shown in place of their text. */
export type LastLines = (shown: MessageExtras) => readonly Draft[];

/** The last commit of a turn: the answer, what is sent of it, the input's outcome, the session's fields. Gives the end as it is on disk. */
export async function finishTurn({ deps, input, ports, turn, record, hookLog }: Finishing, made: TurnEnd, lines: LastLines): Promise<TurnEnd> {
  const said = (await ports.replies?.(made)) ?? [];
  const { writes: replies, shown, isWritten = false } = "shown" in said ? said : { writes: said };
  const inPlace = isWritten ? undefined : shown;
  const drafts = lines(inPlace === undefined ? {} : { openclawShown: inPlace });
  const end = shown === undefined ? made : { ...made, shown };
  const outcome = outcomeOf(end);
  const why = end.status === "ok" ? undefined : (end.error ?? end.status);
  const pruned = deps.config.current.agents?.defaults?.contextPruning?.mode === "cache-ttl";
  const touched: Draft[] = pruned && end.status === "ok" ? [(at) => cacheTouchEntry(at, turn.chosen.selection.entry)] : [];
  const decided: Write[] = hookLog.entries.length === 0 ? [] : [["journal.append", { turnId: input.runId, kind: "note", data: { hooks: hookLog.entries } }]];
  const patch = patchOf(deps, input, turn, end);
  const writes: Write[] = [
    ["sessions.merge", { key: input.sessionKey, patch }],
    ...decided,
    ["inbox.settle", { ids: input.inboxIds, outcome, why, turnId: input.runId }],
    ...replies,
    // The text once: its pieces are in the transcript.
    ["turns.end", { id: input.runId, outcome, why, detail: { ...end, texts: [] } }],
  ];
  const [merged] = (await record.end([...drafts, ...touched], writes, inPlace)) as readonly [{ readonly version: number }];
  const { row } = turn.place;
  // Saves the next turn reading it. Another version: someone else changed it while the turn ran, and it is read again.
  deps.session.row =
    merged.version === row.version + 1 && deps.session.isTouched !== true
      ? { ...row, version: merged.version, entry: patchedEntry(row.entry, patch) }
      : undefined;
  return end;
}

interface Stopped extends Pick<MessageExtras, "openclawShown"> {
  readonly text: string;
  readonly origin: string;
}

/** What was shown of an answer that was stopped stays, marked. */
export function abortedDraft(input: TurnInput, message: AssistantMessage, { text, origin, ...shown }: Stopped): Draft {
  const extras: MessageExtras = { ...shown, idempotencyKey: `${input.runId}:assistant`, openclawAbort: { aborted: true, origin, runId: input.runId } };
  const stopped = { ...message, content: text === "" ? [] : [{ type: "text" as const, text }], stopReason: "aborted" as const, ...extras };
  return (at) => messageEntry(at, { ...stopped, timestamp: at.at });
}
