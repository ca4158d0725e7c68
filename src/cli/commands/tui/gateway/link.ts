import { messageOf } from "../../../../base/errors.ts";
import type { Clock } from "../../../../base/clock.ts";
import type { GatewayClient } from "../../../../protocol/index.ts";
import type { TuiEvent } from "../state/event.ts";
import { approvalOf } from "./answers.ts";

/** A connection that was made, and where to. */
export interface Made {
  readonly client: GatewayClient;
  readonly url: string;
}

export interface LinkDeps {
  /** Finds the gateway and connects. It is looked for each time: after a restart it may listen elsewhere and know other secrets. */
  readonly connect: (onGap: () => void) => Promise<Made>;
  readonly dispatch: (event: TuiEvent) => void;
  readonly clock: Pick<Clock, "now">;
  /** Waits; sooner when the link is closed. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  /** A float in [0, 1). */
  readonly random: () => number;
}

/** The gateway over as many connections as it takes. */
export interface Link extends Disposable {
  /** The connection now. */
  readonly client: GatewayClient | undefined;
  /** Resolves when it is closed. Rejects when the first connection cannot be made. */
  readonly ended: Promise<void>;
}

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 5000;

/** Dispatches events of the gateway. */
function listen(client: GatewayClient, dispatch: LinkDeps["dispatch"]): void {
  client.on("chat", (payload) => dispatch({ type: "chat", payload }));
  client.on("agent", (payload) => {
    dispatch({ type: "agent", payload });
    if (payload.stream === "lifecycle" && payload.sessionKey?.includes(":subagent:")) dispatch({ type: "subagents" });
  });
  client.on("subagent", () => dispatch({ type: "subagents" }));
  client.on("cron", () => dispatch({ type: "jobs" }));
  client.on("chat.changed", ({ sessionKey }) => dispatch({ type: "changed", sessionKey }));
  client.on("exec.approval.requested", (payload) => dispatch({ type: "asked", approval: approvalOf(payload) }));
  client.on("exec.approval.resolved", ({ id, decision, resolvedBy }) => dispatch({ type: "decided", id, decision, by: resolvedBy ?? undefined }));
}

export function openLink(deps: LinkDeps): Link {
  const { dispatch, clock, random } = deps;
  const closing = new AbortController();
  let client: GatewayClient | undefined;

  /** One connection from its beginning to its end; gives why it ended. */
  async function once(): Promise<string> {
    const made = await deps.connect(() => dispatch({ type: "gap" }));
    if (closing.signal.aborted) {
      made.client.close();
      return "";
    }
    client = made.client;
    listen(client, dispatch);
    dispatch({ type: "connected", hello: client.hello, url: made.url });
    const error = await client.closed;
    client = undefined;
    return error?.message ?? "closed";
  }

  async function keep(): Promise<void> {
    let why = await once();
    for (let failures = 0; !closing.signal.aborted;) {
      const ms = Math.round(Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** failures) * (1 - random() / 2));
      dispatch({ type: "lost", why, retryAt: clock.now() + ms });
      await deps.wait(ms, closing.signal);
      if (closing.signal.aborted) return;
      try {
        why = await once();
        failures = 0;
      } catch (error) {
        [why = ""] = messageOf(error).split("\n");
        failures = Math.min(failures + 1, 10);
      }
    }
  }

  return {
    get client() {
      return client;
    },
    ended: keep(),
    [Symbol.dispose]() {
      closing.abort();
      client?.close();
    },
  };
}
