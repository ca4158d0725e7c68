import { AppError } from "../../base/errors.ts";
import {
  indexTime,
  reasonsOf,
  statusReport,
  understoodText,
  type Forgetting,
  type FoundMessage,
  type ForgetTarget,
  type Memory,
  type Notebook,
  type SearchHit,
} from "../../memory/index.ts";
import type { MethodParams, MethodResult } from "../../protocol/index.ts";
import type { MethodDeps } from "./deps.ts";
import type { HandlersOf } from "./handler.ts";
import { agentList, agentOf, canonicalKey, knownAgent } from "./sessions/keys.ts";

/** Turns of one session that are looked at for what was recalled in them. */
const SPANS = 2000;

/** What agents know, as the methods need it. */
export interface MemoryPort {
  readonly memory: Pick<Memory, "status" | "search" | "messages" | "sync" | "recalls" | "timeZone">;
  readonly notes: Notebook;
  readonly forgetting: Forgetting;
  workspaceOf(agentId: string): string;
}

const DEFAULT_FOUND = 20;

/** Where the next page begins: an agent, and a place in its index. */
const cursorOf = (agentId: string, after = ""): string => `${agentId}:${after}`;

function readCursor(cursor: string | undefined, ids: readonly string[]): { readonly at: number; readonly after?: string } {
  if (cursor === undefined) return { at: 0 };
  const split = cursor.lastIndexOf(":");
  const [at, after] = [ids.indexOf(cursor.slice(0, Math.max(split, 0))), cursor.slice(split + 1)];
  if (at < 0 || !/^(?:-?\d+\.\d+)?$/.test(after)) throw new AppError("INVALID_INPUT", "cursor must be `next` of the previous response");
  return after === "" ? { at } : { at, after };
}

/** Messages of all agents that have some words: of one agent after the other, newest first. */
async function searchMessages(params: MethodParams<"chat.search">, { config, memory, store }: MessageSearchDeps): Promise<MethodResult<"chat.search">> {
  const words = params.query;
  if (words.trim() === "") throw new AppError("INVALID_INPUT", "query required: words to find in messages");
  const { limit = DEFAULT_FOUND } = params;
  const sessionKey = params.sessionKey === undefined ? undefined : canonicalKey(params.sessionKey, config.current);
  const named = sessionKey === undefined ? params.agentId : agentOf(sessionKey, config.current);
  const ids = named === undefined ? agentList(config.current).map(({ id }) => id.toLowerCase()) : [knownAgent(named, config.current)];
  let { at, after } = readCursor(params.cursor, ids);
  const found: (FoundMessage & { readonly agentId: string })[] = [];
  let [indexing, searched, next]: [boolean, boolean, string | undefined] = [false, false, undefined];
  for (; at < ids.length && next === undefined; at += 1, after = undefined) {
    const agentId = ids[at] ?? "";
    const page = await memory.memory.messages(agentId, { words, sessionKey, after, limit: limit - found.length });
    if (!page) continue;
    searched = true;
    indexing ||= page.indexing;
    found.push(...page.messages.map((message) => ({ ...message, agentId })));
    if (page.next !== undefined) next = cursorOf(agentId, page.next);
    else if (found.length >= limit && at + 1 < ids.length) next = cursorOf(ids[at + 1] ?? "");
  }
  const names = new Map((await store.read("sessions.names", { keys: [...new Set(found.map((one) => one.sessionKey))] })).map(({ key, name }) => [key, name]));
  return {
    results: found.map(({ marks, ...one }) => ({
      ...one,
      name: names.get(one.sessionKey) ?? one.sessionKey,
      marks: marks.map(([from, to]) => ({ from, to })),
    })),
    indexing,
    ...(searched ? {} : { off: true }),
    ...(next === undefined ? {} : { next }),
  };
}

export interface MessageSearchDeps extends Pick<MethodDeps, "config" | "store"> {
  readonly memory: Pick<MemoryPort, "memory">;
}

/** Words in the messages of all sessions. */
export const messageSearchHandlers = (deps: MessageSearchDeps): HandlersOf<"chat.search"> => ({ "chat.search": (params) => searchMessages(params, deps) });

export interface MemoryMethodsDeps extends Pick<MethodDeps, "config"> {
  /** Knows the turns of recalls; a command without a gateway has none. */
  readonly store?: Pick<MethodDeps["store"], "read"> | undefined;
  readonly memory: MemoryPort;
}

async function status({ agentId, deep }: MethodParams<"memory.status">, { config, memory }: MemoryMethodsDeps): Promise<MethodResult<"memory.status">> {
  const ids = agentId === undefined ? agentList(config.current).map(({ id }) => id.toLowerCase()) : [knownAgent(agentId, config.current)];
  const agents = [];
  for (const id of ids) {
    const report = statusReport(id, memory.workspaceOf(id), await memory.memory.status(id, { deep: deep ?? false }));
    const updatedAtMs = await indexTime(report.status.dbPath);
    agents.push({ ...report, status: { ...report.status, ...(updatedAtMs === undefined ? {} : { updatedAtMs }) } });
  }
  return { agents, timeZone: memory.memory.timeZone() };
}

const shownHit = (hit: SearchHit): MethodResult<"memory.search">["results"][number] => ({ ...hit, ...(hit.why ? { reasons: [...reasonsOf(hit.why)] } : {}) });

async function search(params: MethodParams<"memory.search">, { config, memory }: MemoryMethodsDeps): Promise<MethodResult<"memory.search">> {
  const agentId = knownAgent(params.agentId, config.current);
  const query = params.query.trim();
  if (query === "") throw new AppError("INVALID_INPUT", "query required: the text to search for");
  const { maxResults, minScore, explain, now } = params;
  const { hits, understood, ...answer } = await memory.memory.search(agentId, {
    query,
    maxResults,
    minScore,
    explain,
    now,
    scope: { notes: true, sessions: "all" },
  });
  const timeZone = memory.memory.timeZone();
  return {
    agentId,
    timeZone,
    ...answer,
    results: hits.map(shownHit),
    ...(understood ? { understood: { ...understood, text: understoodText(understood, timeZone) } } : {}),
  };
}

function notesHandlers({ config, memory: { notes } }: MemoryMethodsDeps): HandlersOf<"memory.notes"> {
  const idOf = ({ agentId }: { readonly agentId?: string | undefined }): string => knownAgent(agentId, config.current);
  return {
    async "memory.notes.list"(params) {
      const agentId = idOf(params);
      return { agentId, ...(await notes.list(agentId)) };
    },
    async "memory.notes.get"(params) {
      const agentId = idOf(params);
      return { agentId, ...(await notes.get(agentId, params.path)) };
    },
    async "memory.notes.set"(params) {
      const agentId = idOf(params);
      const { path, hash } = await notes.set(agentId, params);
      return { ok: true, agentId, path, hash };
    },
    async "memory.notes.delete"(params) {
      const agentId = idOf(params);
      return { ok: true, agentId, ...(await notes.remove(agentId, params.path, params.hash)) };
    },
    async "memory.notes.restore"({ undo }) {
      const { agentId, path, hash } = await notes.restore(undo);
      return { ok: true, agentId, path, hash };
    },
  };
}

function targetOf({ text, path, startLine, endLine, sessionId, entryId }: MethodParams<"memory.forget">): ForgetTarget {
  const named = [text, path, sessionId].filter((value) => value !== undefined).length;
  if (named === 1 && text !== undefined) return { text };
  if (named === 1 && path !== undefined && startLine !== undefined) return { path, startLine, endLine: endLine ?? startLine };
  if (named === 1 && sessionId !== undefined && entryId !== undefined) return { sessionId, entryId };
  throw new AppError("INVALID_INPUT", "set what to forget: text, or path with startLine and endLine, or sessionId with entryId");
}

type Recalls = MethodResult<"memory.recalls">["recalls"];

/** Recalls with the turns that they were part of. Turns of a session follow one another, so the time tells. */
async function withTurns(recalls: Recalls, store: Pick<MethodDeps["store"], "read">): Promise<Recalls> {
  const timeOf = ({ at }: Recalls[number]): number => (at === undefined ? Number.NaN : Date.parse(at));
  const spans = new Map<string, Awaited<ReturnType<typeof store.read<"turns.spans">>>>();
  for (const [sessionKey, group] of Map.groupBy(recalls, (recall) => recall.sessionKey)) {
    const times = group.map(timeOf).filter((time) => !Number.isNaN(time));
    if (sessionKey === undefined || times.length === 0) continue;
    spans.set(sessionKey, await store.read("turns.spans", { sessionKey, from: Math.min(...times), until: Math.max(...times), limit: SPANS }));
  }
  return recalls.map((recall) => {
    const time = timeOf(recall);
    const turn = spans.get(recall.sessionKey ?? "")?.find(({ startedAt, endedAt }) => startedAt <= time && (endedAt === null || time <= endedAt));
    return turn ? { ...recall, runId: turn.id } : recall;
  });
}

/** What agents know: notes, conversations and their index. */
export function memoryHandlers(deps: MemoryMethodsDeps): HandlersOf<"memory"> {
  const { config, memory, store } = deps;
  return {
    "memory.status": (params) => status(params, deps),
    "memory.search": (params) => search(params, deps),
    async "memory.index"({ agentId: named, force }) {
      const agentId = knownAgent(named, config.current);
      return { ok: true, agentId, ...(await memory.memory.sync(agentId, force === true ? { rebuild: true } : {})) };
    },
    ...notesHandlers(deps),
    async "memory.forget"(params) {
      const agentId = knownAgent(params.agentId, config.current);
      const { preview, plan, only } = params;
      return {
        ok: true,
        agentId,
        timeZone: memory.memory.timeZone(),
        ...(await memory.forgetting.forget(agentId, { target: targetOf(params), preview, plan, only })),
      };
    },
    async "memory.recalls"({ agentId: named, limit = 50 }) {
      const agentId = knownAgent(named, config.current);
      const recalls = [...(await memory.memory.recalls(agentId, limit))];
      return { agentId, timeZone: memory.memory.timeZone(), recalls: store ? await withTurns(recalls, store) : recalls };
    },
  };
}
