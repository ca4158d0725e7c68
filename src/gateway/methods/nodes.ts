import type { Clock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import type { Nodes } from "../../nodes/index.ts";
import type { MethodParams } from "../../protocol/index.ts";
import type { Auth } from "../auth/index.ts";
import { imagesOf } from "./chat/attachments.ts";
import type { SendTo } from "./deps.ts";
import { unavailable, type CallContext, type Caller, type HandlersOf } from "./handler.ts";

export interface NodesHandlersDeps {
  readonly nodes?: Nodes | undefined;
  readonly auth?: Pick<Auth, "nodes"> | undefined;
  readonly clock: Pick<Clock, "now">;
  readonly send: SendTo;
}

type Own = Omit<HandlersOf<"node">, keyof HandlersOf<"node.pair">> & HandlersOf<"exec.approvals.node">;

const RULES_MS = 10_000;

/** A node speaks for itself alone. */
function nodeIdOf({ deviceId }: Pick<Caller, "deviceId">): string {
  if (deviceId === undefined) throw new AppError("INVALID_INPUT", "a node needs a device identity");
  return deviceId;
}

const mismatch = (): AppError => new AppError("INVALID_INPUT", "nodeId mismatch");
const taken = (isAwaited: boolean): { ok: true; ignored?: true } => (isAwaited ? { ok: true } : { ok: true, ignored: true });

function invokerOf(
  { caller: { deviceId, connId }, signal }: CallContext,
  { nodeId, idempotencyKey }: Pick<MethodParams<"node.invoke">, "nodeId" | "idempotencyKey">,
  wantsProgress: boolean,
  { send }: NodesHandlersDeps,
): Parameters<Nodes["invoke"]>[1] {
  const onProgress = (seq: number, chunk: string): void => void send(connId, "node.invoke.progress", { idempotencyKey, nodeId, seq, chunk });
  return { deviceId, signal, ...(wantsProgress ? { onProgress } : {}) };
}

/** What is paired apart from devices keeps its name there; a node that is paired as a device is named here. */
async function rename(nodeId: string, displayName: string, { nodes, auth }: NodesHandlersDeps): Promise<{ nodeId: string; displayName: string }> {
  const isPaired = (await auth?.nodes.list())?.paired.some((node) => node.nodeId === nodeId) ?? false;
  if (auth && (isPaired || !nodes)) return auth.nodes.rename(nodeId, displayName);
  if (!nodes) throw new AppError("INVALID_INPUT", "unknown nodeId");
  return nodes.rename(nodeId, displayName);
}

/** A node's own rules for commands. Administrators read and replace them; no other way leads there. */
async function onNode(nodes: Nodes, nodeId: string, what: "get" | "set", params: unknown, signal: AbortSignal): Promise<unknown> {
  const request = { nodeId, command: `system.execApprovals.${what}`, params, timeoutMs: RULES_MS, idempotencyKey: `rules:${crypto.randomUUID()}` };
  return (await nodes.invoke(request, { signal }, { internal: true })).payload;
}

/** Nodes that are there, and what they do. */
export function nodesHandlers(deps: NodesHandlersDeps): Own {
  const { nodes, auth, clock } = deps;
  const named = { "node.rename": auth || nodes ? ({ nodeId, displayName }) => rename(nodeId, displayName, deps) : undefined } satisfies Partial<Own>;
  if (!nodes) return { ...unavailable("node.list", "node.describe", "node.invokes", "node.invoke", "node.event", "exec.approvals.node"), ...named };
  return {
    ...named,
    "node.list": async () => ({ ts: clock.now(), nodes: [...(await nodes.list())] }),
    "node.describe": async ({ nodeId }) => ({ ts: clock.now(), ...(await nodes.describe(nodeId)) }),
    "node.invokes": async ({ nodeId }) => {
      await nodes.describe(nodeId);
      return { invokes: nodes.recent(nodeId) };
    },
    "node.invoke": ({ progress, ...request }, context) => nodes.invoke(request, invokerOf(context, request, progress === true, deps)),
    "node.invoke.cancel": async ({ nodeId, idempotencyKey }) => ({ ok: true, cancelled: await nodes.cancel(idempotencyKey, nodeId) }),
    async "node.invoke.result"(params, { caller: { connId, ...caller } }) {
      if (nodeIdOf(caller) === params.nodeId) return taken(await nodes.answer(params, connId));
      await nodes.unreadable(params, connId, "nodeId does not match the node");
      throw mismatch();
    },
    async "node.invoke.progress"(params, { caller }) {
      if (nodeIdOf(caller) !== params.nodeId) throw mismatch();
      return taken(await nodes.progress(params, caller.connId));
    },
    "exec.approvals.node.get": ({ nodeId }, { signal }) => onNode(nodes, nodeId, "get", {}, signal),
    "exec.approvals.node.set": ({ nodeId, file, baseHash }, { signal }) => onNode(nodes, nodeId, "set", { file, baseHash }, signal),
    async "node.event"(params, { caller }) {
      await nodes.event(params, nodeIdOf(caller), imagesOf);
      return { ok: true };
    },
  };
}
