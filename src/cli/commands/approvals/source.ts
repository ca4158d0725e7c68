import { join } from "node:path";
import { systemClock } from "../../../base/clock.ts";
import { AppError } from "../../../base/errors.ts";
import { createIds } from "../../../base/ids.ts";
import { systemRandom } from "../../../base/random.ts";
import type { GatewayClient, MethodParams, MethodResult } from "../../../protocol/index.ts";
import type { Values } from "../../command.ts";
import { loadFor } from "../../config-source.ts";
import { GATEWAY_OPTIONS, withGateway } from "../../gateway-call.ts";
import type { Io } from "../../io.ts";

export type RulesSnapshot = MethodResult<"exec.approvals.get">;
export type RulesFile = MethodParams<"exec.approvals.set">["file"];

export const RULES_OPTIONS = {
  gateway: { type: "boolean", help: "the rules of the running gateway, instead of this machine's file" },
  node: { type: "string", value: "id", help: "the rules of a paired node" },
  ...GATEWAY_OPTIONS,
} as const;

type RulesFlags = Values<typeof RULES_OPTIONS>;

/** Rules for commands, wherever they are. */
export interface RulesSource {
  get(): Promise<RulesSnapshot>;
  set(file: RulesFile, baseHash: string | undefined): Promise<RulesSnapshot>;
}

function overGateway(client: GatewayClient, nodeId: string | undefined): RulesSource {
  const based = (baseHash: string | undefined) => (baseHash === undefined ? {} : { baseHash });
  if (nodeId === undefined) {
    return {
      get: () => client.request("exec.approvals.get", {}),
      set: (file, baseHash) => client.request("exec.approvals.set", { file, ...based(baseHash) }),
    };
  }
  return {
    get: async () => (await client.request("exec.approvals.node.get", { nodeId })) as RulesSnapshot,
    set: async (file, baseHash) => (await client.request("exec.approvals.node.set", { nodeId, file, ...based(baseHash) })) as RulesSnapshot,
  };
}

/** The file of the state folder: a running gateway reads it again for each command. */
async function onDisk(io: Io): Promise<RulesSource> {
  const { createExecRules } = await import("../../../tools/index.ts");
  const path = join(loadFor(io).paths.state, "exec-approvals.json");
  const rules = createExecRules({ path, clock: systemClock, ids: createIds(systemRandom), random: systemRandom });
  return { get: () => Promise.resolve(rules.snapshot()), set: (file, baseHash) => rules.replace(file, baseHash) };
}

export async function withRules<T>(io: Io, flags: RulesFlags, use: (source: RulesSource) => Promise<T>): Promise<T> {
  const { gateway, node, url, token, password } = flags;
  if (gateway && node !== undefined) throw new AppError("INVALID_INPUT", "expected --gateway or --node, not both");
  const asked = [node, url, token, password].some((flag) => flag !== undefined);
  if (!gateway && !asked) return use(await onDisk(io));
  return withGateway(io, flags, (client) => use(overGateway(client, node?.trim())));
}

/** Reads the rules, changes them and writes them back, unless they were changed in between. */
export async function changeRules(source: RulesSource, change: (file: RulesFile) => RulesFile): Promise<RulesSnapshot> {
  const { file, exists, hash } = await source.get();
  return await source.set(change(file), exists ? hash : undefined);
}
