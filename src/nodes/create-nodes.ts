import { AppError } from "../base/errors.ts";
import { lazy } from "../base/lazy.ts";
import { printableName } from "../base/printable.ts";
import { isRecord } from "../base/records.ts";
import type { ConnectParams, MethodParams, MethodResult } from "../protocol/index.ts";
import type { ImagesOf, NodeEventsDeps } from "./events.ts";
import type { Invoker, InvokeRequest, InvokeResult, InvokesDeps } from "./invokes.ts";
import type { AbsencesDeps } from "./absences.ts";
import { refusedCommands } from "./commands.ts";
import { createRecentInvokes, type RecentInvokes } from "./recent-invokes.ts";
import type { RemotePrograms } from "./remote-programs.ts";
import { createNodeRegistry, type NodeEntry, type NodeLink, type PairedNodeDevice } from "./registry.ts";

/** Devices with the role node. */
export interface Nodes {
  connected(nodeId: string, params: ConnectParams, remoteIp: string | undefined, link: NodeLink): void;
  disconnected(connId: string): void;
  /** True once a node has connected. */
  readonly wereSeen: boolean;
  list(): Promise<readonly NodeEntry[]>;
  /** Throws `INVALID_INPUT` `unknown nodeId`. With what a connected node offers and the configuration refuses. */
  describe(nodeId: string): Promise<Omit<MethodResult<"node.describe">, "ts">>;
  /** Commands that the node was last asked for, newest first. */
  recent: RecentInvokes["list"];
  /** Names a node that is paired as a device. */
  rename(nodeId: string, displayName: string): Promise<MethodResult<"node.rename">>;
  /** Runs a command on a node: once under its key. `internal` is for callers that have checked what operators have to be checked for. */
  invoke(request: InvokeRequest, invoker: Invoker, options?: { readonly internal?: boolean }): Promise<InvokeResult>;
  /** A node's answer to an invoke; false when nobody waits for it. */
  answer(answer: MethodParams<"node.invoke.result">, connId: string): Promise<boolean>;
  /** An answer that does not fit the protocol: the command it was for ends at once. */
  unreadable(answer: unknown, connId: string, problem: string): Promise<void>;
  /** Text of a command that runs; false when nobody waits for it. */
  progress(progress: MethodParams<"node.invoke.progress">, connId: string): Promise<boolean>;
  /** Ends the command that runs under a key; false when none does. */
  cancel(key: string, nodeId: string): Promise<boolean>;
  /** Which of these programs connected nodes have. Undefined without a node that runs commands. */
  programs(names: readonly string[]): Promise<RemotePrograms | undefined>;
  /** Called when a node that runs commands came or went. */
  onChange(listener: () => void): void;
  event(params: MethodParams<"node.event">, nodeId: string, images: ImagesOf): Promise<void>;
}

export interface NodesDeps extends Omit<NodeEventsDeps, "store">, Omit<InvokesDeps, "registry">, Pick<AbsencesDeps, "queueLine"> {
  /** Devices that were approved as nodes, and paired nodes. */
  readonly paired: () => Promise<readonly PairedNodeDevice[]>;
}

/** Names that were given to nodes here. */
const NAMES = "nodes.names";
const MOST_NAMES = 1000;
const MOST_NAME = 100;

export function createNodes(deps: NodesDeps): Nodes {
  const { store } = deps;
  async function names(): Promise<Readonly<Record<string, unknown>>> {
    const stored = await store.read("meta.get", { key: NAMES });
    return isRecord(stored) ? stored : {};
  }
  async function paired(): Promise<readonly PairedNodeDevice[]> {
    const [devices, named, away] = await Promise.all([deps.paired(), names(), absences().then(({ times }) => times())]);
    return devices.map((device) => {
      const own = named[device.nodeId];
      // When it disconnected; a gateway that was killed knows when it connected.
      const lastSeenAtMs = Math.max(device.lastSeenAtMs ?? 0, away[device.nodeId] ?? 0) || undefined;
      return { ...device, lastSeenAtMs, ...(typeof own === "string" ? { displayName: own } : {}) };
    });
  }
  const registry = createNodeRegistry({ ...deps, paired });
  const invokes = lazy(async () => (await import("./invokes.ts")).createInvokes({ ...deps, registry }));
  const events = lazy(async () => (await import("./events.ts")).createNodeEvents(deps));
  const changes = new Set<() => void>();
  const changed = (declared: ReadonlySet<string> | readonly string[]): void => {
    if (new Set(declared).has("system.run")) for (const listener of changes) listener();
  };
  const absences = lazy(async () => (await import("./absences.ts")).createAbsences({ ...deps, isConnected: (nodeId) => registry.get(nodeId) !== undefined }));
  registry.onGone(({ nodeId, declared }) => {
    changed(declared);
    // Another connection took its place otherwise.
    if (registry.get(nodeId) === undefined) void absences().then(({ gone }) => gone(nodeId));
  });
  const recent = createRecentInvokes(deps);
  const invoke: Nodes["invoke"] = (request, invoker, options) =>
    recent.follow(request, async () => {
      if (invoker.sessionKey !== undefined) (await absences()).used(request.nodeId, invoker.sessionKey);
      return (await invokes()).invoke(request, invoker, options);
    });
  const remote = lazy(async () => {
    const ask = (request: InvokeRequest): Promise<InvokeResult> => invoke(request, { signal: new AbortController().signal }, { internal: true });
    return (await import("./remote-programs.ts")).createRemotePrograms({ ...deps, list: registry.list, invoke: ask });
  });
  const unknown = (): AppError => new AppError("INVALID_INPUT", "unknown nodeId");

  const nodes: Nodes & { wereSeen: boolean } = {
    wereSeen: false,
    connected(...args) {
      nodes.wereSeen = true;
      registry.connected(...args);
      changed(args[1].commands ?? []);
    },
    disconnected: registry.disconnected,
    list: registry.list,
    async describe(nodeId) {
      const found = (await registry.list()).find((entry) => entry.nodeId === nodeId);
      if (!found) throw unknown();
      const session = registry.get(nodeId);
      return session ? { ...found, refused: refusedCommands(session, deps.config.current) } : found;
    },
    recent: recent.list,
    async rename(nodeId, written) {
      const displayName = printableName(written);
      if (displayName.length > MOST_NAME) throw new AppError("INVALID_INPUT", `the name has ${displayName.length} characters; the limit is ${MOST_NAME}`);
      if (displayName === "") throw new AppError("INVALID_INPUT", "the name has no printable characters");
      if (!(await deps.paired()).some((device) => device.nodeId === nodeId)) throw unknown();
      const namesake = (await registry.list()).find((entry) => entry.nodeId !== nodeId && entry.displayName === displayName);
      if (namesake) throw new AppError("INVALID_INPUT", `another node (${namesake.nodeId.slice(0, 12)}) has this name; choose another`);
      const others = Object.entries(await names()).filter(([id]) => id !== nodeId);
      await store.write("meta.set", { key: NAMES, value: Object.fromEntries([...others.slice(-MOST_NAMES + 1), [nodeId, displayName]]) });
      return { nodeId, displayName };
    },
    invoke,
    programs: async (names) => (nodes.wereSeen ? (await remote())(names) : undefined),
    onChange: (listener) => void changes.add(listener),
    answer: async (...args) => (await invokes.started())?.answer(...args) ?? false,
    unreadable: async (...args) => (await invokes.started())?.unreadable(...args),
    progress: async (...args) => (await invokes.started())?.progress(...args) ?? false,
    cancel: async (...args) => (await invokes.started())?.cancel(...args) ?? false,
    async event(params, nodeId, images) {
      const node = registry.get(nodeId);
      if (!node) throw new AppError("UNAVAILABLE", "this node was replaced by a newer connection");
      await (await events()).handle(params, node, images);
    },
  };
  return nodes;
}
