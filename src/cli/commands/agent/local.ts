import { homedir } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import { lockHolder } from "../../../base/instance-lock.ts";
import { stateLockPath } from "../../../config/index.ts";
import { AppError } from "../../../base/errors.ts";
import type { MethodParams, MethodResult } from "../../../protocol/index.ts";
import { loadFor } from "../../config-source.ts";
import { withGateway } from "../../gateway-call.ts";
import type { Io } from "../../io.ts";
import { reportPendingApprovals } from "./waiting.ts";

interface Showing {
  readonly json: boolean;
  /** Prints the answer; gives the exit code. */
  readonly show: (answer: MethodResult<"agent">) => number;
}

/** As long as a run may take here; the run itself has its own limit. */
const WAIT_MS = 2 ** 31 - 1;
/** How often it is looked whether the state folder is free. */
const POLL_MS = 200;
/** How often it is tried against a lock whose holder cannot be seen: another program may have it for long. */
const UNKNOWN_POLLS = 25;

const ask = (io: Io, params: MethodParams<"agent">, json: boolean) =>
  withGateway(io, { timeout: String(WAIT_MS) }, (client) => {
    if (!json && io.redraw) reportPendingApprovals(io, client, params.idempotencyKey);
    return client.call("agent", params, { timeoutMs: WAIT_MS, expectFinal: true });
  });

/** A gateway of its own for one turn: on a free port, without channels, ended after the answer. */
async function askOwn(io: Io, params: MethodParams<"agent">, json: boolean): Promise<unknown> {
  const { createApp, createProcessLifetime } = await import("../../../app/index.ts");
  using lifetime = createProcessLifetime(io.env, process.pid, { temporary: true });
  await using _app = await createApp({
    env: { ...io.env, OPENCLAW_SKIP_CHANNELS: "1" },
    cwd: io.cwd,
    osHome: homedir(),
    version: io.version,
    pid: process.pid,
    lifetime,
    console: { write: () => {}, color: false, terminal: false },
    flags: { port: 0, allowUnconfigured: true, verbose: false },
  });
  return await ask(io, params, json);
}

/** Where the state folder is in use: several of these take turns, and a gateway that runs there answers itself. */
async function askInTurn(io: Io, params: MethodParams<"agent">, json: boolean): Promise<unknown> {
  const lock = stateLockPath(loadFor(io).paths.state);
  for (let waited = 0; ; waited += 1) {
    const holder = lockHolder(lock);
    if (holder?.port !== undefined && !holder.temporary) {
      io.err(`A gateway is running on this state folder (process ${holder.pid}) and answers this message\n`);
      return await ask(io, params, json);
    }
    try {
      return await askOwn(io, params, json);
    } catch (error) {
      const mayEnd = holder === undefined ? waited < UNKNOWN_POLLS : holder.temporary;
      if (!(error instanceof AppError) || error.code !== "LOCKED" || !mayEnd) throw error;
      if (waited === 0) io.err("Another openclaw process is using this state folder. Waiting for it to finish …\n");
      await wait(POLL_MS, undefined, { signal: io.signal() });
    }
  }
}

export async function runLocally(io: Io, params: MethodParams<"agent">, { json, show }: Showing): Promise<number> {
  return show((await askInTurn(io, params, json)) as MethodResult<"agent">);
}
