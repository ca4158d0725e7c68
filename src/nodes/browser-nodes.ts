import { AppError } from "../base/errors.ts";
import type { Ids } from "../base/ids.ts";
import type { Config } from "../config/index.ts";
import type { Nodes } from "./create-nodes.ts";
import { findNode, nodeName } from "./find-node.ts";
import type { NodeEntry } from "./registry.ts";

const PROXY = "browser.proxy";
const DEFAULT_MS = 30_000;
/** Nothing that is done in a tab may take longer. */
const MOST_MS = 300_000;
/** Time for a node to answer after its page has. */
const SPARE_MS = 15_000;

export interface BrowserNodeDeps {
  readonly nodes: Pick<Nodes, "list" | "invoke" | "wereSeen">;
  readonly config: Pick<Config, "current">;
  readonly ids: Pick<Ids, "uuid">;
}

export interface BrowserNode {
  readonly nodeId: string;
  /** Sends a request to its browser. */
  send(request: Readonly<Record<string, unknown>> & { readonly timeoutMs?: number | undefined }, signal: AbortSignal): Promise<unknown>;
}

export interface BrowserWanted {
  /** Nodes are the owner's: others use the browser of this machine. */
  readonly owner: boolean;
  readonly target?: "host" | "node" | undefined;
  readonly node?: string | undefined;
}

const shares = ({ connected, commands }: NodeEntry): boolean => connected && commands.includes(PROXY);

/** A node that the configuration prefers and that is away, or gone, does not keep agents from the browser of this machine. No other takes its place. */
function preferred(name: string, all: readonly NodeEntry[]): NodeEntry | undefined {
  try {
    const found = findNode(name, all);
    return shares(found) ? found : undefined;
  } catch (error) {
    if (error instanceof AppError && error.code === "NOT_FOUND") return undefined;
    throw error;
  }
}

function chosenFrom(all: readonly NodeEntry[], named: string | undefined, isWanted: boolean): NodeEntry | undefined {
  const sharing = all.filter(shares);
  if (named !== undefined) {
    if (!isWanted) return preferred(named, all);
    const found = findNode(named, all);
    if (shares(found)) return found;
    throw new AppError("UNAVAILABLE", `the node ${nodeName(found)} ${found.connected ? "does not share a browser (browser.proxy)" : "is not connected"}`);
  }
  if (sharing.length === 1 || !isWanted) return sharing.length === 1 ? sharing[0] : undefined;
  throw sharing.length === 0
    ? new AppError("UNAVAILABLE", "no connected node shares a browser; leave target out to use the browser of this machine")
    : new AppError(
        "INVALID_INPUT",
        `several nodes share a browser: ${sharing.map(nodeName).join(", ")}; name one with node, or set gateway.nodes.browser.node`,
      );
}

/** The node whose browser is to be used; undefined: the browser of this machine. */
export async function browserNode(wanted: BrowserWanted, { nodes, config, ids }: BrowserNodeDeps): Promise<BrowserNode | undefined> {
  const isWanted = wanted.target === "node" || wanted.node !== undefined;
  const { mode = "auto", node: configured } = config.current.gateway?.nodes?.browser ?? {};
  if (wanted.target === "host" || (!isWanted && !wanted.owner)) return undefined;
  if (!wanted.owner)
    throw new AppError("PERMISSION_DENIED", "only the owner uses the browser of a node; leave target and node out to use the one of this machine");
  if (mode === "off" && isWanted) throw new AppError("UNAVAILABLE", "browsers of nodes are turned off: gateway.nodes.browser.mode is off");
  if (!isWanted && (mode !== "auto" || !nodes.wereSeen)) return undefined;
  const named = wanted.node ?? (configured?.trim() === "" ? undefined : configured?.trim());
  const found = chosenFrom(await nodes.list(), named, isWanted);
  if (!found) return undefined;
  const { nodeId } = found;
  return {
    nodeId,
    async send(request, signal) {
      const timeoutMs = Math.min(Math.max(request.timeoutMs ?? DEFAULT_MS, 1), MOST_MS) + SPARE_MS;
      const asked = { nodeId, command: PROXY, params: request, timeoutMs, idempotencyKey: ids.uuid() };
      return (await nodes.invoke(asked, { signal }, { internal: true })).payload;
    },
  };
}
