import { homedir } from "node:os";
import type { MethodParams, MethodResult } from "../../../protocol/index.ts";
import { withGateway } from "../../gateway-call.ts";
import { printJson, type Io } from "../../io.ts";

interface Showing {
  readonly json: boolean;
  readonly show: (answer: MethodResult<"agent">) => void;
}

/** As long as a run may take here; the run itself has its own limit. */
const WAIT_MS = 2 ** 31 - 1;

/** A gateway of its own for one turn: on a free port, without channels, ended after the answer. */
export async function runLocally(io: Io, params: MethodParams<"agent">, { json, show }: Showing): Promise<void> {
  const { createApp, createProcessLifetime } = await import("../../../app/index.ts");
  using lifetime = createProcessLifetime(io.env, process.pid);
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
  const answer = await withGateway(io, { timeout: String(WAIT_MS) }, (client) => client.call("agent", params, { timeoutMs: WAIT_MS, expectFinal: true }));
  if (json) printJson(io, answer);
  else show(answer as MethodResult<"agent">);
}
