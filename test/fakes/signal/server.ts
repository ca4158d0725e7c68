/** signal-cli over real sockets, as its daemon or in its container, written from their public documentation. */
import { setTimeout as delay } from "node:timers/promises";
import { type Answer, type Asked, createFaults, type FakeServer, type Faults, startFakeServer } from "../../../src/plugin-testing/index.ts";
import { createContainer } from "./container.ts";
import { createEvents, createNative, type NativeDeps } from "./native.ts";
import { createOutcomes, type Outcomes } from "./outcomes.ts";
import { createWorld, type Envelope, type World } from "./world.ts";

export interface SignalOptions {
  /** Default the daemon. */
  readonly form?: "native" | "container";
  /** The daemon numbers events and keeps some. Default true. */
  readonly hasIds?: boolean;
  /** The daemon was started for one account. Default false. */
  readonly isSingle?: boolean;
}

export interface FakeSignal extends AsyncDisposable {
  readonly url: string;
  readonly server: FakeServer;
  /** Like those of the server, with the method of a call behind the path: `POST /api/v1/rpc send`. */
  readonly faults: Faults;
  readonly world: World;
  readonly outcomes: Outcomes;
  readonly typing: NativeDeps["typing"];
  readonly receipts: NativeDeps["receipts"];
  /** Everything that listens to events. */
  listeners(): number;
  conflicts(): number;
  /** Brings an envelope again. */
  redeliver(envelope: Envelope): void;
  /** Brings this as the content of an event. */
  raw(text: string): void;
  /** Writes bytes into the stream of events. */
  bytes(text: string): void;
  /** Listeners stay connected and hear nothing any more. */
  freeze(): void;
  /** The daemon forgets earlier events, as after a restart. */
  forget(): void;
  /** The account is not on this machine any more. */
  unlink(): void;
  link(): void;
}

type Handle = (asked: Asked) => Answer | undefined;

/** The effect of a request comes first, where it has one. */
function withFaults(handle: Handle, faults: Faults): (asked: Asked) => Promise<Answer | undefined> {
  return async (asked) => {
    const { method } = asked.fields;
    const fault = faults.take(`${asked.method} ${asked.path}${typeof method === "string" ? ` ${method}` : ""}`);
    if (!fault) return handle(asked);
    if (fault.delayMs !== undefined) await delay(fault.delayMs);
    const isBroken = fault.status !== undefined || fault.reset === true || fault.silent === true || fault.garbage === true;
    const answer = !isBroken || fault.applied === true ? handle(asked) : undefined;
    if (fault.reset === true) return { cut: "reset" };
    if (fault.silent === true) return { cut: "silent" };
    if (fault.garbage === true) return { body: "<html>It works!</html>" };
    return fault.status === undefined ? answer : { status: fault.status, body: fault.body ?? "", ...(fault.headers ? { headers: fault.headers } : {}) };
  };
}

export async function startSignal({ form = "native", hasIds = true, isSingle = false }: SignalOptions = {}): Promise<FakeSignal> {
  const isNative = form === "native";
  const world = createWorld((envelope) => (isNative ? events.emit(envelope) : container.emit(envelope)));
  const number = world.me.number!;
  const deps: NativeDeps = { world, outcomes: createOutcomes(), accounts: new Set([number]), hasIds, isSingle, typing: [], receipts: [] };
  const events = createEvents(deps);
  const native = createNative(deps, events);
  const container = createContainer(deps);
  const faults = createFaults();
  const handle = withFaults(isNative ? native : (asked) => container.handle(asked), faults);
  const server = await startFakeServer(isNative ? { handle } : { handle, socket: (socket) => container.socket(socket), upgrade: container.upgrade });
  return {
    get url() {
      return server.url;
    },
    server,
    faults,
    world,
    outcomes: deps.outcomes,
    typing: deps.typing,
    receipts: deps.receipts,
    listeners: () => (isNative ? events.count() : container.count()),
    conflicts: () => events.conflicts(),
    redeliver: (envelope) => world.emit(envelope),
    raw: (text) => (isNative ? events.raw(text) : container.raw(text)),
    bytes: (text) => events.bytes(text),
    freeze() {
      events.freeze();
      for (const socket of server.sockets) socket.freeze();
    },
    forget: () => events.forget(),
    unlink: () => void deps.accounts.delete(number),
    link: () => void deps.accounts.add(number),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
