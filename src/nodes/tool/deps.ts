import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import type { Config } from "../../config/index.ts";
import type { Approvals, CallFiles, MarkUntrusted, NodeRunner, ToolCall, ToolContext } from "../../tools/index.ts";
import type { Nodes } from "../create-nodes.ts";

/** Requests to pair nodes, apart from devices. */
export interface NodePairingPort {
  list(): Promise<{ readonly pending: readonly unknown[] }>;
  approve(requestId: string): Promise<{ readonly node: { readonly nodeId: string } }>;
  reject(requestId: string): Promise<{ readonly nodeId: string }>;
}

/** Files of this side by the agent's rules, as its file tools reach them. */
export type AgentFiles = Pick<CallFiles, "open" | "write" | "permit" | "resolve">;

/** What the actions of the tool work with. */
export interface NodeActionDeps extends NodesToolDeps {
  readonly mark: MarkUntrusted;
}

export interface NodesToolDeps {
  readonly nodes: Pick<Nodes, "list" | "invoke">;
  readonly runner: NodeRunner;
  readonly pairing: NodePairingPort;
  readonly approvals: () => Promise<Pick<Approvals, "request">>;
  /** Why nobody can be asked about a call; undefined when someone can. */
  readonly unasked: (context: ToolContext) => Promise<string | undefined>;
  readonly config: Pick<Config, "current">;
  readonly files: (call: ToolCall) => Promise<AgentFiles>;
  readonly ids: Pick<Ids, "hex">;
  readonly clock: Pick<Clock, "now">;
}
