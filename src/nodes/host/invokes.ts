/** What the gateway invokes on this node: carried out, each id once. */
import { join } from "node:path";
import { messageOf } from "../../base/errors.ts";
import { failpoint } from "../../base/failpoints.ts";
import type { Logger } from "../../base/log/logger.ts";
import { clip } from "../../base/text.ts";
import type { EventPayload, GatewayClient } from "../../protocol/index.ts";
import { hostCommands, notHere, type HostCommandDeps } from "./commands.ts";
import { HostError } from "./host-error.ts";
import { openInvokeJournal } from "./journal.ts";

export interface InvokesDeps extends HostCommandDeps {
  /** Of this node: the journal is in it. */
  readonly folder: string;
  readonly log: Logger;
  /** The connection that answers go over, as soon as there is one. */
  readonly client: () => Promise<GatewayClient>;
}

export type InvokeRequest = EventPayload<"node.invoke.request">;

export interface Answer {
  readonly ok: boolean;
  readonly payloadJSON?: string;
  readonly error?: { readonly code: string; readonly message: string };
}

/** Answers that are stored for repeated requests. */
const MOST_STORED = 1000;
const MOST_STORED_CHARS = 20_000_000;
const MOST_RUNNING = 64;

/** Answers by the ids of their requests: a repeated request gets the same. Those of commands that still run stay. */
class Answers {
  readonly #answers = new Map<string, { readonly answer: Promise<Answer>; size: number | undefined }>();
  #size = 0;

  get(id: string): Promise<Answer> | undefined {
    return this.#answers.get(id)?.answer;
  }

  add(id: string, answer: Promise<Answer>): void {
    const one = { answer, size: undefined as number | undefined };
    this.#answers.set(id, one);
    void answer.then(({ payloadJSON = "" }) => {
      one.size = payloadJSON.length;
      this.#size += one.size;
      for (const [oldest, { size }] of this.#answers) {
        if (this.#answers.size <= MOST_STORED && this.#size <= MOST_STORED_CHARS) break;
        if (oldest === id || size === undefined) continue;
        this.#answers.delete(oldest);
        this.#size -= size;
      }
    });
  }
}

/** As much as one message takes. */
const MOST_CHUNK = 16_384;
/** Text that waits while a message is on its way; what is older is left out. */
const MOST_WAITING = 65_536;
const SEND_MS = 10_000;

/** Sends what a command writes while it runs. One message is on its way at a time; what comes meanwhile is sent together. */
interface Progress {
  add(text: string): void;
  /** Resolves when everything was sent, or the gateway does not want it. */
  flush(): Promise<void>;
}

function createProgress(client: () => Promise<Pick<GatewayClient, "request">>, { id, nodeId }: { readonly id: string; readonly nodeId: string }): Progress {
  let waiting = "";
  let sending: Promise<void> | undefined;
  let seq = 0;
  let isWanted = true;

  async function sendAll(): Promise<void> {
    while (waiting !== "" && isWanted) {
      const chunk = waiting.slice(0, MOST_CHUNK).toWellFormed();
      waiting = waiting.slice(MOST_CHUNK);
      try {
        const { ignored } = await (await client()).request("node.invoke.progress", { invokeId: id, nodeId, seq, chunk }, { timeoutMs: SEND_MS });
        isWanted = ignored !== true;
        seq += 1;
      } catch {
        // The answer has all of it.
        isWanted = false;
      }
    }
    sending = undefined;
  }

  return {
    add(text) {
      if (!isWanted || text === "") return;
      waiting = (waiting + text).slice(-MOST_WAITING);
      sending ??= sendAll();
    },
    flush: async () => sending,
  };
}

/** Why a command is not begun a second time. */
const NOT_AGAIN = {
  before: "this node stopped while the command ran, so its outcome is unknown; it will not be run again",
  now: "this node ran the command before and no longer has its answer; it will not be run again",
} as const;

export function parseParams(text: string | null | undefined): unknown {
  if (text === null || text === undefined || text === "") return {};
  try {
    return JSON.parse(text);
  } catch {
    throw new HostError("INVALID_REQUEST", "paramsJSON is not JSON");
  }
}

/** Carries out invokes, each id once. */
export function createInvokes(deps: InvokesDeps) {
  const { log, client } = deps;
  const journal = openInvokeJournal(join(deps.folder, "invokes"));
  const commands = hostCommands(deps);
  const answers = new Answers();
  const running = new Map<string, AbortController>();

  async function work({ id, nodeId, command, paramsJSON, progress: isWanted }: InvokeRequest, stop: AbortController): Promise<Answer> {
    const progress = isWanted === true ? createProgress(client, { id, nodeId }) : undefined;
    try {
      const former = journal.begunBy(id);
      if (former !== undefined) throw new HostError("OUTCOME_UNKNOWN", NOT_AGAIN[former]);
      const carryOut = commands.get(command);
      if (!carryOut) throw notHere(command);
      if (running.size > MOST_RUNNING) throw new HostError("UNAVAILABLE", `more than ${MOST_RUNNING} commands run on this node; wait for one of them`);
      const begin = (): void => {
        journal.begin(id);
        failpoint("node.host.begun");
      };
      const result = await carryOut({ params: parseParams(paramsJSON), signal: stop.signal, begin, progress: progress?.add });
      await progress?.flush();
      failpoint("node.host.ran");
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
