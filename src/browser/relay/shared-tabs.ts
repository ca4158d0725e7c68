/** The tabs to which the driver is attached: what they say reaches the driver's sessions, and their requests reach the guard. */
import { isRecord } from "../../base/records.ts";
import type { ExtensionLink, TabEvent } from "./extension-link.ts";
import type { RelayServer } from "./relay-server.ts";
import type { RequestGuard, Send } from "./request-guard.ts";

/** A shared tab to which the driver is attached. */
export interface SharedTab {
  readonly link: ExtensionLink;
  readonly tab: number;
  readonly sessionId: string;
  readonly targetId: string;
  /** Sessions of its frames and workers. */
  readonly children: Set<string>;
  /** Further sessions of the driver to the same page. */
  readonly mirrors: Set<string>;
}

export interface SharedTabs {
  count(): number;
  /** By a session, or by the target's id. */
  find(id: string): SharedTab | undefined;
  /** Attaches to the tabs that are shared now, and from now on to those that will be. */
  attachAll(): Promise<void>;
  /** Another session to the page of a tab. */
  mirror(tab: SharedTab): string;
  unmirror(sessionId: string): void;
  /** Lets go of all of them; they stay shared. */
  release(): void;
}

export interface SharedTabsDeps {
  readonly server: RelayServer;
  readonly guard: RequestGuard;
  readonly deliver: (message: object) => void;
  /** The last browser with the extension is gone. */
  readonly ended: () => void;
}

export const CONTEXT = "chrome";
const MAX_TABS = 40;
/** The page is left as the user has it, but for this: a tab in the background draws and takes input as well. */
const FOCUS = { method: "Emulation.setFocusEmulationEnabled", params: { enabled: true } } as const;

export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

const sender =
  ({ link, tab }: SharedTab, session?: string): Send =>
  (method, params) =>
    link.command({ tab, session, method, params }, () => undefined);

/** Sessions and targets by their names. */
interface Names {
  readonly tabs: Map<string, SharedTab>;
  /** Of targets, frames, workers and mirrors. */
  readonly owners: Map<string, SharedTab>;
}

/** What a tab says, to the session that it is for. */
function passOn(one: SharedTab, { session, method, params }: TabEvent, { owners }: Names, { guard, deliver }: SharedTabsDeps): void {
  if (session !== undefined && !one.children.has(session)) return;
  if (method.startsWith("Fetch.")) {
    if (method === "Fetch.requestPaused") guard.check(params, sender(one, session));
    return;
  }
  const child = textOf(params["sessionId"]);
  if (method === "Target.attachedToTarget" && child !== "") {
    one.children.add(child);
    owners.set(child, one);
    // It waits until the driver lets it run: its requests are held from the first one on.
    guard.begin(sender(one, child));
  }
  deliver({ sessionId: session ?? one.sessionId, method, params });
  if (session === undefined && !method.startsWith("Target.")) for (const mirror of one.mirrors) deliver({ sessionId: mirror, method, params });
  if (method === "Target.detachedFromTarget" && one.children.delete(child)) owners.delete(child);
  // A page whose process ended has to be loaded and shared again by its user.
  if (session === undefined && method === "Inspector.targetCrashed") one.link.unshare(one.tab);
}

/** Undefined when another profile uses the tabs of this server. */
export function createSharedTabs(deps: SharedTabsDeps): SharedTabs | undefined {
  const { server, guard, deliver } = deps;
  const names: Names = { tabs: new Map(), owners: new Map() };
  const { tabs, owners } = names;
  let [last, isAttaching, isReleased] = [0, false, false];
  const find = (link: ExtensionLink, tab: number): SharedTab | undefined => [...tabs.values()].find((one) => one.link === link && one.tab === tab);

  function add(link: ExtensionLink, tab: number, info: unknown): void {
    const { targetId, title, url } = isRecord(info) ? info : {};
    const id = textOf(targetId);
    if (isReleased || id === "" || tabs.size >= MAX_TABS || !link.tabs.has(tab) || owners.has(id)) return link.release(tab);
    last += 1;
    const made: SharedTab = { link, tab, sessionId: `tab-${last}`, targetId: id, children: new Set(), mirrors: new Set() };
    tabs.set(made.sessionId, made);
    owners.set(id, made);
    guard.begin(sender(made));
    sender(made)(FOCUS.method, FOCUS.params);
    const shown = { targetId: id, type: "page", title: textOf(title), url: textOf(url), attached: true, canAccessOpener: false, browserContextId: CONTEXT };
    deliver({ method: "Target.attachedToTarget", params: { sessionId: made.sessionId, targetInfo: shown, waitingForDebugger: false } });
  }

  function remove(one: SharedTab | undefined): void {
    if (!one || !tabs.delete(one.sessionId)) return;
    for (const name of [one.targetId, ...one.children, ...one.mirrors]) owners.delete(name);
    deliver({ method: "Target.detachedFromTarget", params: { sessionId: one.sessionId, targetId: one.targetId } });
  }

  function attach(link: ExtensionLink, tab: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    link.attach(tab, ({ result }) => {
      if (result !== undefined) add(link, tab, result);
      resolve();
    });
    return promise;
  }

  const registration = server.listen({
    opened(link) {
      for (const tab of isAttaching ? link.tabs : []) void attach(link, tab);
    },
    closed(link) {
      for (const one of tabs.values()) if (one.link === link) remove(one);
      if (server.links.size === 0) deps.ended();
    },
    shared(link, tab) {
      if (isAttaching) void attach(link, tab);
    },
    unshared: (link, tab) => remove(find(link, tab)),
    event(link, event) {
      const one = find(link, event.tab);
      if (one) passOn(one, event, names, deps);
    },
  });
  return (
    registration && {
      count: () => tabs.size,
      find: (id) => tabs.get(id) ?? owners.get(id),
      async attachAll() {
        isAttaching = true;
        await Promise.all([...server.links].flatMap((link) => [...link.tabs].map((tab) => attach(link, tab))));
      },
      mirror(one) {
        last += 1;
        const mirror = `mirror-${last}`;
        one.mirrors.add(mirror);
        owners.set(mirror, one);
        return mirror;
      },
      unmirror(sessionId) {
        if (owners.get(sessionId)?.mirrors.delete(sessionId) === true) owners.delete(sessionId);
      },
      release() {
        isReleased = true;
        registration[Symbol.dispose]();
        for (const { link, tab } of tabs.values()) link.release(tab);
        tabs.clear();
        owners.clear();
      },
    }
  );
}
