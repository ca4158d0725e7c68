import { AppError } from "../../base/errors.ts";
import { reasonsOf, statusReport, understoodText, type Memory, type Notebook, type SearchHit } from "../../memory/index.ts";
import type { MethodParams, MethodResult } from "../../protocol/index.ts";
import type { MethodDeps } from "./deps.ts";
import { unavailable, type HandlersOf } from "./handler.ts";
import { agentList, knownAgent } from "./sessions/keys.ts";

/** What agents know, as the methods need it. */
export interface MemoryPort {
  readonly memory: Pick<Memory, "status" | "search" | "sync">;
  readonly notes: Notebook;
  workspaceOf(agentId: string): string;
}

export interface MemoryMethodsDeps extends Pick<MethodDeps, "config"> {
  readonly memory: MemoryPort;
}

async function status({ agentId, deep }: MethodParams<"memory.status">, { config, memory }: MemoryMethodsDeps): Promise<MethodResult<"memory.status">> {
  const ids = agentId === undefined ? agentList(config.current).map(({ id }) => id.toLowerCase()) : [knownAgent(agentId, config.current)];
  const agents = [];
  for (const id of ids) agents.push(statusReport(id, memory.workspaceOf(id), await memory.memory.status(id, { deep: deep ?? false })));
  return { agents };
}

const shownHit = (hit: SearchHit): MethodResult<"memory.search">["results"][number] => ({ ...hit, ...(hit.why ? { reasons: [...reasonsOf(hit.why)] } : {}) });

async function search(params: MethodParams<"memory.search">, { config, memory }: MemoryMethodsDeps): Promise<MethodResult<"memory.search">> {
  const agentId = knownAgent(params.agentId, config.current);
  const query = params.query.trim();
  if (query === "") throw new AppError("INVALID_INPUT", "query required: what to search for, in words");
  const { maxResults, minScore, explain, now } = params;
  const { hits, understood, ...answer } = await memory.memory.search(agentId, {
    query,
    maxResults,
    minScore,
    explain,
    now,
    scope: { notes: true, sessions: "all" },
  });
  return { agentId, ...answer, results: hits.map(shownHit), ...(understood ? { understood: { ...understood, text: understoodText(understood) } } : {}) };
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

/** What agents know: notes, conversations and their index. */
export function memoryHandlers(deps: MemoryMethodsDeps): HandlersOf<"memory"> {
  const { config, memory } = deps;
  return {
    ...unavailable("memory.forget", "memory.recalls"),
    "memory.status": (params) => status(params, deps),
    "memory.search": (params) => search(params, deps),
    async "memory.index"({ agentId: named, force }) {
      const agentId = knownAgent(named, config.current);
      return { ok: true, agentId, ...(await memory.memory.sync(agentId, force === true ? { rebuild: true } : {})) };
    },
    ...notesHandlers(deps),
  };
}
