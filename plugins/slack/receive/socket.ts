/** Socket Mode: connections that Slack asks to renew every few hours, each envelope acknowledged when it is stored. */
import {
  type AccountRun,
  asChannelError,
  type Fields,
  fieldsOf,
  hopeless,
  messageOf,
  notSent,
  openSocket,
  type Socket,
  type SocketEnd,
  textOf,
} from "openclaw/plugin-sdk/channel-kit";
import type { Workspace } from "../workspace.ts";
import type { DeliveryType, Receiver } from "./receiver.ts";

const HELLO_MS = 15_000;
/** Slack pings every few seconds. */
const SILENCE_MS = 15_000;
/** How long the old connection may still bring and be answered after the new one stands. */
const OVERLAP_MS = 10_000;
/** Envelopes that are being stored before reading pauses. */
const MOST_OPEN = 200;

const TYPES: ReadonlySet<string> = new Set(["events_api", "slash_commands", "interactive"] satisfies DeliveryType[]);
const isType = (type: unknown): type is DeliveryType => typeof type === "string" && TYPES.has(type);

interface Connection {
  readonly ended: Promise<SocketEnd>;
  /** Slack wants a new connection; it keeps this one for a little while. */
  readonly expiring: Promise<"renew" | "disabled">;
  readonly appId: string | undefined;
  /** Ends it when everything that it brought is answered. */
  retire(): Promise<void>;
}

export interface SocketDeps {
  readonly run: AccountRun;
  readonly workspace: Workspace;
  readonly receiver: Receiver;
  /** Of the greeting. */
  known(appId: string): void;
  /** Fires when the account has lost its token. */
  readonly ending: AbortSignal;
}

/** Counts envelopes that have no answer yet, and pauses reading where there are too many. */
function createOpen(socket: () => Socket | undefined) {
  const open = new Set<Promise<void>>();
  let isPaused = false;
  function flow(): void {
    if (!isPaused && open.size >= MOST_OPEN) socket()?.flow(!(isPaused = true));
    else if (isPaused && open.size <= MOST_OPEN / 2) socket()?.flow(!(isPaused = false));
  }
  return {
    add(work: Promise<void>): void {
      open.add(work);
      flow();
      void work.finally(() => {
        open.delete(work);
        flow();
      });
    },
    settled: async (): Promise<void> => void (await Promise.all(open)),
  };
}

/** Resolves when Slack has greeted us. */
async function open({ run, workspace, receiver, known, ending }: SocketDeps): Promise<Connection> {
  const { log, waiting } = run;
  const { url } = await workspace.api.call("apps.connections.open", {}, { as: "app", signal: ending });
  const address = textOf(url);
  if (address === undefined) throw notSent("apps.connections.open", "Slack returned no URL to connect to");
  const hello = Promise.withResolvers<void>();
  const expiring = Promise.withResolvers<"renew" | "disabled">();
  let appId: string | undefined;
  let socket: Socket | undefined;
  const work = createOpen(() => socket);

  async function answer(type: DeliveryType, envelope: Fields): Promise<void> {
    try {
      await receiver.take(type, fieldsOf(envelope["payload"]) ?? {});
      await socket?.send({ envelope_id: envelope["envelope_id"] });
    } catch (error) {
      log.warn(`an envelope of Slack was not acknowledged (${messageOf(error)}); Slack sends it again`);
    }
  }

  function take(message: unknown): void {
    const envelope = fieldsOf(message) ?? {};
    const { type } = envelope;
    if (type === "hello") {
      appId = textOf(fieldsOf(envelope["connection_info"])?.["app_id"]);
      if (appId !== undefined) known(appId);
      hello.resolve();
    } else if (type === "disconnect") {
      if (envelope["reason"] === "link_disabled") return expiring.resolve("disabled");
      if (envelope["reason"] === "too_many_websockets")
        return socket?.close(1000, notSent("connect", "Slack has too many connections of this app: stop the other programs that use its app token"));
      expiring.resolve("renew");
    } else if (textOf(envelope["envelope_id"]) !== undefined) {
      if (isType(type)) work.add(answer(type, envelope));
      // A kind that is not known here: left without an answer Slack would bring it again, and count the app as failing.
      else void socket?.send({ envelope_id: envelope["envelope_id"] }).catch(() => {});
    }
  }

  socket = openSocket({
    platform: "Slack",
    url: address,
    signal: ending,
    silenceMs: SILENCE_MS,
    onMessage: take,
    onAlive: () => run.alive(),
    onGarbage: () => log.warn("Slack sent a frame that is not JSON; it was dropped"),
  });
  const { ended } = socket;
  const late = setTimeout(() => socket.close(1000, notSent("connect", "Slack did not confirm the connection in time")), HELLO_MS);
  const first = await Promise.race([hello.promise.then(() => undefined), ended, expiring.promise.then((why) => why)]);
  clearTimeout(late);
  if (first === "disabled") expiring.resolve("disabled");
  else if (first !== undefined && first !== "renew")
    throw first.error ?? notSent("connect", `Slack closed the connection: ${first.code} ${first.reason}`.trim());
  return {
    ended,
    expiring: expiring.promise,
    appId,
    async retire() {
      const deadline = new AbortController();
      await Promise.race([work.settled(), waiting.sleep(OVERLAP_MS, AbortSignal.any([ending, deadline.signal]))]);
      deadline.abort();
      socket.close(1000);
      await ended;
    },
  };
}

const disabled = (): Error => hopeless("Socket Mode was turned off for this app: turn it on in the app's settings, or set channels.slack.mode to http");

/** Errors of the start that only a person can mend. */
function atStart(error: unknown): unknown {
  const failure = asChannelError(error);
  return failure && !failure.permanent && failure.delivery.state === "failed" ? hopeless(failure.message) : error;
}

/** Runs until the connection is lost: renewed ones follow each other without a gap. */
export async function runSocket(deps: SocketDeps, opened: () => void): Promise<unknown> {
  const { ending, run } = deps;
  let current = await open(deps).catch((error: unknown) => {
    throw atStart(error);
  });
  opened();
  const retiring: Promise<void>[] = [];
  try {
    for (;;) {
      const next = await Promise.race([current.ended, current.expiring]);
      if (next === "disabled") throw disabled();
      if (next !== "renew")
        return ending.aborted ? undefined : (next.error ?? notSent("receive", `Slack closed the connection: ${next.code} ${next.reason}`.trim()));
      const renewed = await open(deps).catch((error: unknown) => error);
      if (!(renewed instanceof Error) && typeof renewed === "object" && renewed !== null && "retire" in renewed) {
        retiring.push(current.retire());
        current = renewed as Connection;
        run.log.debug?.("the connection to Slack was renewed");
        continue;
      }
      if (asChannelError(renewed)?.permanent) throw renewed;
      // The old one lasts a little longer; what comes after it is a new start.
      await current.ended;
      return renewed;
    }
  } finally {
    await Promise.all([...retiring, current.retire()]);
  }
}
