/**
 * The protocol as the driver speaks it, over tabs that extensions share. To the driver it is one browser whose pages are those tabs; everything that
 * concerns the browser as a whole is answered here or refused.
 */
import type { ConnectOverCDPTransport } from "playwright-core";
import type { Clock } from "../../base/clock.ts";
import type { RelayServer } from "./relay-server.ts";
import type { RequestGuard } from "./request-guard.ts";
import { CONTEXT, createSharedTabs, textOf, type SharedTab, type SharedTabs } from "./shared-tabs.ts";

type Params = Readonly<Record<string, unknown>>;

/** A command of the driver. */
interface Command {
  readonly id: number;
  readonly method: string;
  readonly params?: Params | undefined;
  readonly sessionId?: string | undefined;
}

export interface CdpTransport extends ConnectOverCDPTransport, Pick<SharedTabs, "attachAll" | "count"> {}

const NOT_AVAILABLE = "is not available for tabs of your own Chrome";
const FILES = "Chrome lets the extension put files into pages only while “Allow access to file URLs” is on for it (chrome://extensions, Details)";
const ROOT_INFO = { targetId: "browser", type: "browser", title: "", url: "", attached: true, canAccessOpener: false };
const BROWSER_SESSION = "browser-";

function versionOf({ links }: RelayServer): object {
  const [link] = links;
  const userAgent = link?.userAgent ?? "";
  const version = /Chrom(?:e|ium)\/(\d[\d.]*)/.exec(userAgent)?.[1] ?? "125.0.0.0";
  return { protocolVersion: "1.3", product: `Chrome/${version}`, revision: "", userAgent, jsVersion: "" };
}

/** Answers to what concerns the browser. A method that is not here is not there. */
function browserAnswers(server: RelayServer, tabs: SharedTabs): Readonly<Record<string, (params: Params) => object | undefined>> {
  let last = 0;
  const target = ({ targetId }: Params): SharedTab | undefined => tabs.find(textOf(targetId));
  return {
    "Browser.getVersion": () => versionOf(server),
    "Target.setAutoAttach": () => ({}),
    "Target.getTargetInfo": () => ({ targetInfo: ROOT_INFO }),
    "Target.attachToBrowserTarget"() {
      last += 1;
      return { sessionId: `${BROWSER_SESSION}${last}` };
    },
    "Target.attachToTarget"(params) {
      const tab = target(params);
      return tab && { sessionId: tabs.mirror(tab) };
    },
    "Target.detachFromTarget"({ sessionId }) {
      tabs.unmirror(textOf(sessionId));
      return {};
    },
    "Target.closeTarget"(params) {
      // The tab is its user's: it is given back and stays open.
      const tab = target(params);
      tab?.link.unshare(tab.tab);
      return { success: tab !== undefined };
    },
  };
}

const BARRIER = "Page.getFrameTree";
const BARRIER_MS = 1000;

/**
 * Holds commands back. Chrome hands answers and events to an extension on two ways, so that an event may overtake the answer to an earlier command. In one
 * case the driver does not expect that: it listens for frames and scripts only once it knows the frames, and would miss those that are there already.
 */
interface CommandGate<T> {
  /** True when the command has to wait for an earlier one of its session. It is passed to `send` then. */
  holds(sessionId: string, command: T): boolean;
  /** A command of the session goes out. */
  sent(sessionId: string, method: string): void;
  answered(sessionId: string, method: string): void;
}

interface Held<T> {
  readonly commands: T[];
  readonly limit: Disposable;
}

function createCommandGate<T>(clock: Pick<Clock, "after">, send: (command: T) => void): CommandGate<T> {
  const sessions = new Map<string, Held<T>>();
  function letGo(sessionId: string): void {
    const held = sessions.get(sessionId);
    held?.limit[Symbol.dispose]();
    // The driver takes the answer in a moment of its own, and listens only then. What it sends until then keeps its place.
    setImmediate(() => {
      if (held === undefined || sessions.get(sessionId) !== held) return;
      sessions.delete(sessionId);
      for (const command of held.commands) send(command);
    });
  }
  return {
    holds(sessionId, command) {
      const held = sessions.get(sessionId);
      held?.commands.push(command);
      return held !== undefined;
    },
    sent(sessionId, method) {
      if (method === BARRIER) sessions.set(sessionId, { commands: [], limit: clock.after(BARRIER_MS, () => letGo(sessionId)) });
    },
    answered(sessionId, method) {
      if (method === BARRIER) letGo(sessionId);
    },
  };
}

/** Undefined when another profile uses the tabs of this server. */
export function createCdpTransport(server: RelayServer, guard: RequestGuard, clock: Pick<Clock, "after">): CdpTransport | undefined {
  let isClosed = false;
  const deliver = (message: object): void => transport.onmessage?.(message);
  const made = createSharedTabs({ server, guard, deliver, ended: () => close() });
  if (!made) return undefined;
  const tabs = made;
  const answers = browserAnswers(server, tabs);
  const gate = createCommandGate<Command>(clock, (command) => take(command));

  function reply({ id, sessionId }: Command, answer: { readonly result: unknown } | string): void {
    const body = typeof answer === "string" ? { error: { code: -32_000, message: answer } } : answer;
    deliver({ id, ...(sessionId === undefined ? {} : { sessionId }), ...body });
  }
  /** The driver notes a command only after it was sent: no answer may come before. */
  const answerLater: typeof reply = (command, answer) => queueMicrotask(() => reply(command, answer));

  function toBrowser(command: Command): void {
    const { method, params = {} } = command;
    const result = Object.hasOwn(answers, method) ? answers[method]?.(params) : undefined;
    answerLater(command, result ? { result } : `${method} ${NOT_AVAILABLE}`);
  }

  function toTab(command: Command, { link, tab, targetId, children }: SharedTab, sessionId: string): void {
    const { method, params = {} } = command;
    if (method === "Target.getTargetInfo")
      return answerLater(command, { result: { targetInfo: { ...ROOT_INFO, targetId, type: "page", browserContextId: CONTEXT } } });
    // Requests are held by the guard: the driver does not take part in that.
    if (method.startsWith("Fetch.")) return answerLater(command, `${method} ${NOT_AVAILABLE}`);
    if (gate.holds(sessionId, command)) return undefined;
    gate.sent(sessionId, method);
    link.command({ tab, session: children.has(sessionId) ? sessionId : undefined, method, params }, ({ result, error }) => {
      if (error === undefined) reply(command, { result: result ?? {} });
      else reply(command, method === "DOM.setFileInputFiles" && /not allowed/i.test(error) ? FILES : error);
      gate.answered(sessionId, method);
    });
    return undefined;
  }

  function take(command: Command): void {
    const { sessionId } = command;
    if (isClosed) return answerLater(command, "the connection to Chrome ended");
    if (sessionId === undefined || sessionId.startsWith(BROWSER_SESSION)) return toBrowser(command);
    const tab = tabs.find(sessionId);
    return tab ? toTab(command, tab, sessionId) : answerLater(command, "the tab is no longer shared");
  }

  function close(): void {
    if (isClosed) return;
    isClosed = true;
    tabs.release();
    queueMicrotask(() => transport.onclose?.());
  }

  const transport: CdpTransport = { send: (message) => take(message as Command), close, attachAll: tabs.attachAll, count: tabs.count };
  return transport;
}
