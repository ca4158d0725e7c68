/** `runtime.state`. */
import { resolve } from "node:path";
import type { RuntimeState } from "../../sdk/types/index.ts";
import type { PendingMember } from "../pending.ts";
import type { RuntimeOwner, RuntimePorts } from "../ports.ts";
import { openKeyedStore, openSyncKeyedStore } from "./keyed-store.ts";

export function createState({ config, databases, clock }: RuntimePorts, owner: RuntimeOwner, pending: PendingMember): RuntimeState {
  return {
    // Where an environment names another folder, that is meant; whoever passes the gateway's own gets the gateway's.
    resolveStateDir: (env) => (env?.["OPENCLAW_STATE_DIR"]?.trim() ? resolve(env["OPENCLAW_STATE_DIR"].trim()) : config.paths.state),
    openKeyedStore: (options) => openKeyedStore(() => openSyncKeyedStore(databases.of(owner.id), options, clock)),
    openSyncKeyedStore: (options) => openSyncKeyedStore(databases.of(owner.id), options, clock),
    openChannelIngressQueue: pending("state.openChannelIngressQueue"),
    openChannelIngressDrain: pending("state.openChannelIngressDrain"),
  };
}
