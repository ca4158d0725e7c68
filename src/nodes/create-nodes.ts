import { AppError } from "../base/errors.ts";
import { lazy } from "../base/lazy.ts";
import { printableName } from "../base/printable.ts";
import { isRecord } from "../base/records.ts";
import type { ConnectParams, MethodParams, MethodResult } from "../protocol/index.ts";
import type { NodeEventsDeps } from "./events.ts";
import type { Invoker, InvokeRequest, InvokeResult, InvokesDeps } from "./invokes.ts";
import { createNodeRegistry, type NodeEntry, type NodeLink, type PairedNodeDevice } from "./registry.ts";

/** Devices with the role node. */
export interface Nodes {
  connected(nodeId: string, params: ConnectParams, remoteIp: string | undefined, link: NodeLink): void;
  disconnected(connId: string): void;
  /** True once a node has connected. */
  wereSeen(): boolean;
  list(): Promise<readonly NodeEntry[]>;
  /** Throws `INVALID_INPUT` `unknown nodeId`. */
  describe(nodeId: string): Promise<NodeEntry>;
  /** Names a node that is paired as a device. */
  rename(nodeId: string, displayName: string): Promise<MethodResult<"node.rename">>;
  /** Runs a command on a node: once under its key. `internal` is for callers that have checked what operators have to be checked for. */
  invoke(request: InvokeRequest, invoker: Invoker, options?: { readonly internal?: boolean }): Promise<InvokeResult>;
  /** A node's answer to an invoke; false when nobody waits for it. */
  answer(answer: MethodParams<"node.invoke.result">, connId: string): Promise<boolean>;
  event(params: MethodParams<"node.event">, nodeId: string): Promise<void>;
}

export interface NodesDeps extends Omit<NodeEventsDeps, "store">, Omit<InvokesDeps, "registry"> {
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
    const [devices, named] = await Promise.all([deps.paired(), names()]);
    return devices.map((device) => {
      const own = named[device.nodeId];
      return typeof own === "string" ? { ...device, displayName: own } : device;
    });
  }
  const registry = createNodeRegistry({ ...deps, paired });
  const invokes = lazy(async () => (await import("./invokes.ts")).createInvokes({ ...deps, registry }));
  const events = lazy(async () => (await import("./events.ts")).createNodeEvents(deps));
  let seen = false;
  const unknown = (): AppError => new AppError("INVALID_INPUT", "unknown nodeId");

  return {
    connected(...args) {
      seen = true;
      registry.connected(...args);
    },
    wereSeen: () => seen,
    disconnected: registry.disconnected,
    list: registry.list,
    async describe(nodeId) {
      const found = (await registry.list()).find((entry) => entry.nodeId === nodeId);
      if (!found) throw unknown();
      return found;
    },
    async rename(nodeId, written) {
      const displayName = printableName(written);
      if (displayName.length > MOST_NAME) throw new AppError("INVALID_INPUT", `the name has ${displayName.length} characters; at most ${MOST_NAME} are taken`);
      if (displayName === "") throw new AppError("INVALID_INPUT", "the name has no character that can be printed");
      if (!(await deps.paired()).some((device) => device.nodeId === nodeId)) throw unknown();
      const namesake = (await registry.list()).find((entry) => entry.nodeId !== nodeId && entry.displayName === displayName);
      if (namesake) throw new AppError("INVALID_INPUT", `another node (${namesake.nodeId.slice(0, 12)}) has this name; choose another`);
      const others = Object.entries(await names()).filter(([id]) => id !== nodeId);
      await store.write("meta.set", { key: NAMES, value: Object.fromEntries([...others.slice(-MOST_NAMES + 1), [nodeId, displayName]]) });
      return { nodeId, displayName };
    },
    invoke: async (...args) => (await invokes()).invoke(...args),
    async answer(answer, connId) {
      const opened = invokes.started();
      return opened === undefined ? false : (await opened).answer(answer, connId);
    },
    async event(params, nodeId) {
      const node = registry.get(nodeId);
      if (!node) throw new AppError("UNAVAILABLE", "this node was replaced by a newer connection");
      await (await events()).handle(params, node);
    },
  };
}
