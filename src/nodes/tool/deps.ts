import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import type { Config } from "../../config/index.ts";
import type { Approvals, MarkUntrusted, NodeRunner } from "../../tools/index.ts";
import type { Nodes } from "../create-nodes.ts";

/** Requests to pair nodes, apart from devices. */
export interface NodePairingPort {
  list(): Promise<{ readonly pending: readonly unknown[] }>;
  approve(requestId: string): Promise<{ readonly node: { readonly nodeId: string } }>;
  reject(requestId: string): Promise<{ readonly nodeId: string }>;
}

/** What the actions of the tool work with. */
export interface NodeActionDeps extends NodesToolDeps {
  readonly mark: MarkUntrusted;
}

export interface NodesToolDeps {
  readonly nodes: Pick<Nodes, "list" | "invoke">;
  readonly runner: NodeRunner;
  readonly pairing: NodePairingPort;
  readonly approvals: () => Promise<Pick<Approvals, "request">>;
  readonly config: Pick<Config, "current">;
  readonly ids: Pick<Ids, "hex">;
  readonly clock: Pick<Clock, "now">;
}
