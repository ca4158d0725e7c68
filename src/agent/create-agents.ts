import type { Env } from "../config/index.ts";
import type { SeenFiles } from "../memory/index.ts";
import { openSession, type OpenSession } from "../sessions/index.ts";
import type { TurnDeps } from "./turn/deps.ts";
import type { TurnEnd, TurnInput, TurnPorts } from "./turn/input.ts";
import { runTurn, type GIVEN_UP } from "./turn/turn.ts";
import { compactSession, flushMemory, type CompactionOutcome, type CompactionWish } from "./turn/upkeep.ts";
import { createToday } from "./prompt/facts.ts";
import { createBootstrapReader } from "./workspace/bootstrap-files.ts";
import { seedWorkspace } from "./seed-workspace.ts";
import { watch } from "node:fs";

/** Reports changes in a folder itself, not below it. Undefined where the system cannot. It does not keep the process alive. */
function watchFolder(folder: string, onChange: () => void): Disposable | undefined {
  try {
    const watcher = watch(folder, { persistent: false }, onChange);
    // A folder that goes away, or a watch that fails later: from then on everything counts as changed.
    watcher.on("error", onChange);
    return { [Symbol.dispose]: () => watcher.close() };
  } catch {
    return undefined;
  }
}

export interface AgentsDeps extends Omit<TurnDeps, "session" | "workspace" | "readFiles" | "today"> {
  /** Folder of an agent's files. */
  readonly workspaceOf: (agentId: string) => string;
  readonly env: Env;
  /** Is shown what turns read of the workspace's files, and what they are after a turn that used tools. */
  readonly files?: SeenFiles;
  /** No turn begins before this resolves; undefined when it has. */
  readonly ready?: () => Promise<void> | undefined;
}

/** The session as the lane that runs it holds it; without it, everything is read. */
interface Owned {
  readonly session?: OpenSession | undefined;
}

/** Runs turns. */
export interface Agents {
  /** Runs one turn. Undefined when the process stops first; `given-up` when it was interrupted too often before. */
  turn(input: TurnInput, ports: TurnPorts & Owned): Promise<TurnEnd | typeof GIVEN_UP | undefined>;
  /** What is to be done after a turn, before the session's next one: notes are written before a conversation has to be summed up. */
  after(input: TurnInput, end: TurnEnd, ports: Pick<TurnPorts, "signal" | "stopping"> & Owned): Promise<void>;
  /** Sums up a session's conversation now. No one else may work in the session at the same time. */
  compact(request: CompactionWish & Owned): Promise<CompactionOutcome>;
}

export function createAgents(deps: AgentsDeps): Agents {
  const shared = {
    ...deps,
    workspace: workspaces(deps),
    readFiles: createBootstrapReader({ watch: watchFolder, now: deps.clock.monotonic }),
    today: createToday(),
  };
  /** What a turn of a session works with, once everything is ready. */
  async function depsFor(key: string, session = openSession(key, deps.store)): Promise<TurnDeps> {
    await deps.ready?.();
    return { ...shared, session };
  }
  return {
    async turn(input, { session, ...ports }) {
      const own = await depsFor(input.sessionKey, session);
      return deps.files ? runSeen(own, input, ports, deps.files) : runTurn(own, input, ports);
    },
    after: async (input, end, { session, ...ports }) => flushMemory(await depsFor(input.sessionKey, session), input, end, ports),
    compact: async ({ session, ...request }) => compactSession(await depsFor(request.sessionKey, session), request),
  };
}

/** Runs a turn, and shows what it read of the agent's files and what it left of them. */
async function runSeen(deps: TurnDeps, input: TurnInput, ports: TurnPorts, files: SeenFiles): ReturnType<typeof runTurn> {
  const { agentId, runId } = input;
  let folder: string | undefined;
  let tools = 0;
  const readFiles: TurnDeps["readFiles"] = async (options) => {
    ({ folder } = options);
    const found = await deps.readFiles(options);
    files.seen(agentId, found, { by: "outside" });
    return found;
  };
  const emit: TurnPorts["emit"] = (event) => {
    if (event.stream === "tool") tools += 1;
    ports.emit(event);
  };
  const end = await runTurn({ ...deps, readFiles }, input, { ...ports, emit });
  // Nothing waits for it. Without tools a turn cannot have changed anything.
  if (tools > 0 && folder !== undefined) {
    void deps
      .readFiles({ folder, which: "all" })
      .then((found) => files.seen(agentId, found, { by: "agent", runId }))
      .catch((error: unknown) => deps.log.debug("the agent's files could not be read after a turn", { agentId, error }));
  }
  return end;
}

/** Makes an agent's workspace and its first files, once in the life of the process. */
function workspaces({ workspaceOf, config, clock, ids, log, env }: AgentsDeps): TurnDeps["workspace"] {
  const seeded = new Map<string, Promise<unknown>>();
  return async (agentId) => {
    const folder = workspaceOf(agentId);
    let seeding = seeded.get(folder);
    if (!seeding) {
      const skipBootstrap = config.current.agents?.defaults?.skipBootstrap === true;
      seeding = seedWorkspace({ folder, skipBootstrap, now: clock.now, unique: () => ids.hex(6), initRepository: repository(log, env) });
      seeded.set(folder, seeding);
      // What failed is tried again by the next turn.
      seeding.catch(() => seeded.delete(folder));
    }
    await seeding;
    return folder;
  };
}

const repository =
  (log: AgentsDeps["log"], env: Env) =>
  async (folder: string): Promise<void> => {
    // Nothing waits for it: the first turn does not need a repository.
    void import("./workspace/repository.ts")
      .then(({ initRepository }) => initRepository(folder, env))
      .then((made) => made || log.debug("the workspace is not a git repository: git is missing or failed", { folder }))
      .catch((error: unknown) => log.debug("the workspace is not a git repository", { folder, error }));
  };
