import { hostname } from "node:os";
import { join } from "node:path";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log/logger.ts";
import { isRecord } from "../../base/records.ts";
import { clip } from "../../base/text.ts";
import { loadNodeClient, type EventPayload, type GatewayClient, type NodeConnectOptions } from "../../protocol/index.ts";
import { hostCommands, notHere, type HostCommandDeps } from "./commands.ts";
import { HostError } from "./host-error.ts";
import { openInvokeJournal, type InvokeJournal } from "./journal.ts";
import type { RunResult } from "./run-command.ts";

type InvokeRequest = EventPayload<"node.invoke.request">;

export interface NodeHostDeps extends HostCommandDeps {
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

interface Answer {
  readonly ok: boolean;
  readonly payloadJSON?: string;
  readonly error?: { readonly code: string; readonly message: string };
}

/** Answers that are stored for repeated requests. */
const MOST_STORED = 1000;
const MOST_STORED_CHARS = 20_000_000;
const FIRST_RETRY_MS = 1000;
const MOST_RETRY_MS = 30_000;
/** How long an answer waits for the connection to come back. */
const ANSWER_MS = 10 * 60_000;
const MOST_RUNNING = 64;
const OUTPUT_CHARS = 4000;

/** Answers by the ids of their requests: a repeated request gets the same. */
class Answers {
  readonly #answers = new Map<string, { readonly answer: Promise<Answer>; size: number }>();
  #size = 0;

  get(id: string): Promise<Answer> | undefined {
    return this.#answers.get(id)?.answer;
  }

  add(id: string, answer: Promise<Answer>): void {
    const one = { answer, size: 0 };
    this.#answers.set(id, one);
    void answer.then(({ payloadJSON = "" }) => {
      one.size = payloadJSON.length;
      this.#size += one.size;
      for (const [oldest, { size }] of this.#answers) {
        if (this.#answers.size <= MOST_STORED && this.#size <= MOST_STORED_CHARS) break;
        if (oldest === id) break;
        this.#answers.delete(oldest);
        this.#size -= size;
      }
    });
  }
}

function parseParams(text: string | null | undefined): unknown {
  if (text === null || text === undefined || text === "") return {};
  try {
    return JSON.parse(text);
  } catch {
    throw new HostError("INVALID_REQUEST", "paramsJSON is not JSON");
  }
}

/** Carries out invokes, each id once. */
function createWorker(deps: NodeHostDeps, journal: InvokeJournal) {
  const { log } = deps;
  const commands = hostCommands(deps);
  const answers = new Answers();
  const running = new Map<string, AbortController>();

  async function work({ id, command, paramsJSON }: InvokeRequest, stop: AbortController): Promise<Answer> {
    try {
      if (journal.wasBegun(id))
        throw new HostError("OUTCOME_UNKNOWN", "this node stopped while the command ran, so its outcome is not known; it is not run again");
      const carryOut = commands.get(command);
      if (!carryOut) throw notHere(command);
      if (running.size > MOST_RUNNING) throw new HostError("UNAVAILABLE", `more than ${MOST_RUNNING} commands run on this node; wait for one of them`);
      const result = await carryOut({ params: parseParams(paramsJSON), signal: stop.signal, begin: () => journal.begin(id) });
      return { ok: true, payloadJSON: JSON.stringify(result) };
    } catch (error) {
      if (!(error instanceof HostError)) log.warn(`${command} failed: ${messageOf(error)}`);
      return { ok: false, error: { code: error instanceof HostError ? error.code : "UNAVAILABLE", message: clip(messageOf(error), 2000) } };
    } finally {
      running.delete(id);
    }
  }

  return {
    declared: [...commands.keys()].sort(),
    answer(request: InvokeRequest): Promise<Answer> {
      const known = answers.get(request.id);
      if (known) return known;
      const stop = new AbortController();
      running.set(request.id, stop);
      const answer = work(request, stop);
      answers.add(request.id, answer);
      return answer;
    },
    cancel: (id: string): void => running.get(id)?.abort(),
    stopAll(): void {
      for (const one of running.values()) one.abort();
    },
  };
}

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
    if (ignored === true && command === "system.run") await reportEnd(client, request, answer);
  } catch (error) {
    log.warn(`the answer to ${command} could not be sent: ${messageOf(error)}`);
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
    return `this node waits for approval; on the gateway's machine run: openclaw devices approve ${inner["requestId"]}`;
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
  const worker = createWorker(deps, openInvokeJournal(join(deps.folder, "invokes")));
  const { connectNode } = await loadNodeClient();
  const taken = Promise.withResolvers<string>();
  /** The connection that answers go over. */
  let there = Promise.withResolvers<GatewayClient>();
  const displayName = deps.displayName ?? hostname();
  const options: NodeConnectOptions = {
    ...gateway,
    // A paired node has a token of its own, which outlives changes of the gateway's.
    prefer: "stored",
    stateDir: deps.folder,
    client: { id: "node-host", mode: "node", version, platform, displayName, instanceId },
    role: "node",
    scopes: [],
    caps: ["system"],
    commands: worker.declared,
    ...(env["PATH"] === undefined ? {} : { pathEnv: env["PATH"] }),
    onLost({ error, retryInMs }) {
      if (reasonOf(error).startsWith("replaced")) taken.resolve("another process connected as this node; only one may run for an identity");
      else report("waiting", `${explained(error)}${retryInMs === undefined ? "" : ` (next try in ${Math.ceil(retryInMs / 1000)} s)`}`);
    },
    listeners: {
      "node.invoke.request": (request) => void worker.answer(request).then(async (answer) => respond(await there.promise, request, answer, log)),
      "node.invoke.cancel": ({ id }) => worker.cancel(id),
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
      worker.stopAll();
      return end;
    }
    there = Promise.withResolvers();
    report("waiting", end.error ? explained(end.error) : "the connection was closed");
    await pause(FIRST_RETRY_MS, deps);
  }
  return undefined;
}
