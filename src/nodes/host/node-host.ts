import { hostname } from "node:os";
import { messageOf } from "../../base/errors.ts";
import { failpoint } from "../../base/failpoints.ts";
import type { Logger } from "../../base/log/logger.ts";
import { isRecord } from "../../base/records.ts";
import { clip } from "../../base/text.ts";
import { loadNodeClient, type GatewayClient, type NodeConnectOptions } from "../../protocol/index.ts";
import { folderPermissions } from "../folders.ts";
import { hasShell, type HostCommandDeps } from "./commands.ts";
import { hostDevices, removeFormerRecordings } from "./devices/devices.ts";
import { fileFolders } from "./files.ts";
import { createInvokes, parseParams, type Answer, type InvokeRequest } from "./invokes.ts";
import type { RunResult } from "./run-command.ts";

export interface NodeHostDeps extends Omit<HostCommandDeps, "devices"> {
  /** Of this node: its identity, its tokens and its journal. */
  readonly folder: string;
  readonly version: string;
  readonly displayName?: string | undefined;
  readonly instanceId: string;
  readonly gateway: Pick<NodeConnectOptions, "url" | "token" | "password" | "tlsFingerprint" | "allowInsecure">;
  readonly log: Logger;
  readonly random: () => number;
  /** Ends the host. */
  readonly signal: AbortSignal;
  /** Called when the connection is there, or is not: a text for people. */
  readonly report: (state: "connected" | "waiting", text: string) => void;
}

const FIRST_RETRY_MS = 1000;
const MOST_RETRY_MS = 30_000;
/** How long an answer waits for the connection to come back. */
const ANSWER_MS = 10 * 60_000;
const OUTPUT_CHARS = 4000;

/** A session that nobody answers any more is notified about the end of its command. */
async function reportEnd(client: GatewayClient, { paramsJSON, id }: InvokeRequest, answer: Answer): Promise<void> {
  const params = parseParams(paramsJSON);
  const sessionKey = isRecord(params) && typeof params["sessionKey"] === "string" ? params["sessionKey"] : undefined;
  if (sessionKey === undefined || answer.payloadJSON === undefined) return;
  const { exitCode, timedOut, stdout, stderr, error, command } = JSON.parse(answer.payloadJSON) as RunResult & { readonly command: string };
  const output = [stdout, stderr, error].filter(Boolean).join("\n").slice(-OUTPUT_CHARS);
  const payload = { sessionKey, runId: id, command: clip(command, 1000), exitCode, timedOut, output };
  await client.request("node.event", { event: "exec.finished", payload, idempotencyKey: `finished:${id}` }, { timeoutMs: ANSWER_MS });
}

async function respond(client: GatewayClient, request: InvokeRequest, answer: Answer, log: Logger): Promise<void> {
  const { id, nodeId, command } = request;
  try {
    const { ignored } = await client.request("node.invoke.result", { id, nodeId, ...answer }, { timeoutMs: ANSWER_MS, resend: true });
    failpoint("node.host.answered");
    if (ignored === true && command === "system.run") await reportEnd(client, request, answer);
  } catch (error) {
    log.warn(`the response to ${command} could not be sent: ${messageOf(error)}`);
  }
}

const reasonOf = (error: Error): string => {
  const details = "details" in error && isRecord(error.details) ? error.details : {};
  return typeof details["reason"] === "string" ? details["reason"] : "";
};

/** What a person has to do about a refused connection. */
function explained(error: unknown): string {
  const details = error instanceof Error && "details" in error && isRecord(error.details) ? error.details : {};
  const inner = isRecord(details["details"]) ? details["details"] : {};
  if (details["protocolCode"] === "NOT_PAIRED" && typeof inner["requestId"] === "string")
    return `this node is waiting for approval; on the gateway's machine run: openclaw devices approve ${inner["requestId"]}`;
  return messageOf(error);
}

/** Waits, or returns early when the host ends. */
function pause(ms: number, { clock, signal }: NodeHostDeps): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = clock.after(ms, resolve);
  const keepAlive = setInterval(() => {}, 60_000);
  signal.addEventListener("abort", () => resolve(), { once: true });
  if (signal.aborted) resolve();
  return promise.finally(() => {
    timer[Symbol.dispose]();
    clearInterval(keepAlive);
  });
}

/** Runs until it is stopped, or another process takes this node's place. Resolves with the reason in the latter case. */
export async function runNodeHost(deps: NodeHostDeps): Promise<string | undefined> {
  const { log, signal, report, gateway, version, platform, env, instanceId, random } = deps;
  const { connectNode } = await loadNodeClient();
  const taken = Promise.withResolvers<string>();
  /** The connection that answers go over. */
  let there = Promise.withResolvers<GatewayClient>();
  removeFormerRecordings(deps.folder, log);
  const devices = hostDevices(deps);
  const invokes = createInvokes({ ...deps, devices, client: () => there.promise });
  const isThere = ({ commands }: (typeof devices)[number]): boolean => commands.length > 0;
  const displayName = deps.displayName ?? hostname();
  const options: NodeConnectOptions = {
    ...gateway,
    // A paired node has a token of its own, which outlives changes of the gateway's.
    prefer: "stored",
    stateDir: deps.folder,
    client: { id: "node-host", mode: "node", version, platform, displayName, instanceId },
    role: "node",
    scopes: [],
    caps: ["system", ...(deps.browser ? ["browser"] : []), ...devices.filter(isThere).map(({ name }) => name)],
    commands: invokes.declared,
    permissions: {
      ...Object.fromEntries(devices.map((device) => [device.name, isThere(device)])),
      ...(hasShell(platform) ? {} : { "system.run": false }),
      ...folderPermissions(fileFolders(deps)),
    },
    ...(env["PATH"] === undefined ? {} : { pathEnv: env["PATH"] }),
    onLost({ error, retryInMs }) {
      if (reasonOf(error).startsWith("replaced")) taken.resolve("another process connected with this node's identity; only one may run at a time");
      else report("waiting", `${explained(error)}${retryInMs === undefined ? "" : ` (next try in ${Math.ceil(retryInMs / 1000)} s)`}`);
    },
    listeners: {
      "node.invoke.request": (request) => void invokes.answer(request).then(async (answer) => respond(await there.promise, request, answer, log)),
      "node.invoke.cancel": ({ id }) => invokes.cancel(id),
    },
    onStale: (stale) => stale.kind === "reconnected" && report("connected", gateway.url),
  };
  for (let attempt = 0; !signal.aborted; attempt += 1) {
    let client: GatewayClient;
    try {
      client = await connectNode(options);
    } catch (error) {
      report("waiting", explained(error));
      await pause(Math.min(MOST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(attempt, 10)) * (1 - random() / 2), deps);
      continue;
    }
    attempt = 0;
    await using _ = client;
    there.resolve(client);
    report("connected", gateway.url);
    const stopped = Promise.withResolvers<undefined>();
    signal.addEventListener("abort", () => stopped.resolve(undefined), { once: true });
    if (signal.aborted) stopped.resolve(undefined);
    const end = await Promise.race([taken.promise, stopped.promise, client.closed.then((error) => ({ error }))]);
    if (typeof end !== "object") {
      invokes.stopAll();
      return end;
    }
    there = Promise.withResolvers();
    report("waiting", end.error ? explained(end.error) : "the connection was closed");
    await pause(FIRST_RETRY_MS, deps);
  }
  return undefined;
}
