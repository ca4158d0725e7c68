import { lazy } from "../base/lazy.ts";
import type { SubagentsDeps } from "./subagents/child.ts";
import type { Subagents } from "./subagents/subagents.ts";

/** Sub-agents: their code is loaded when one is started or asked for, or when a previous process left some. */
export function createLazySubagents(deps: SubagentsDeps): Subagents {
  const open = lazy(async () => {
    const { createSubagents } = await import("./subagents/index.ts");
    return createSubagents(deps);
  });
  return {
    async start() {
      const { open: left, archiveAt } = await deps.store.read("subagents.pending", {});
      if (left > 0 || archiveAt !== null) await (await open()).start();
    },
    spawn: async (request) => (await open()).spawn(request),
    list: async (...asked) => (await open()).list(...asked),
    find: async (...asked) => (await open()).find(...asked),
    log: async (...asked) => (await open()).log(...asked),
    kill: async (...asked) => (await open()).kill(...asked),
    // Nothing is below a session while nothing was started.
    killBelow: async (...asked) => (open.started() ? (await open()).killBelow(...asked) : 0),
    readerOf: async (sessionKey) => (sessionKey.includes(":subagent:") ? (await open()).readerOf(sessionKey) : { sessionKey }),
    sessionEnding: async (...asked) => (open.started() ? (await open()).sessionEnding(...asked) : undefined),
    steer: async (...asked) => (await open()).steer(...asked),
    send: async (...asked) => (await open()).send(...asked),
    wait: async (...asked) => (await open()).wait(...asked),
    overview: async (...asked) => (await open()).overview(...asked),
    killChild: async (...asked) => (await open()).killChild(...asked),
    steerChild: async (...asked) => (await open()).steerChild(...asked),
    async [Symbol.asyncDispose]() {
      if (open.started()) await (await open())[Symbol.asyncDispose]();
    },
  };
}
