import type { OpenClawConfig } from "../../config/index.ts";
import { execSettings, type ExecSettings } from "../exec/settings.ts";
import { heldElevated, heldExec, type ChoiceUse } from "./session-exec.ts";
import { type Elevation } from "../exec/deps.ts";
import { type ToolContext } from "../tool.ts";
import type { IsOwner } from "../../channels/index.ts";

/** Whether the grantor of a value may still grant it: a client with the scope, an owner, or for `/elevated` whom `tools.elevated` names. */
export function mayStillGrant(config: OpenClawConfig, agentId: string, isOwner: IsOwner): ChoiceUse["stillMay"] {
  return (grant, field) =>
    grant.by === "client" ||
    isOwner(grant) ||
    (field === "elevatedLevel" && grant.senders.some((senderId) => namedForElevated(config, { agentId, channel: grant.channel, senderId })));
}

interface Facts {
  readonly config: OpenClawConfig;
  readonly sandboxed: boolean;
  readonly isOwner: IsOwner;
}

type Sender = Pick<ToolContext, "agentId" | "channel" | "senderId">;

/** The two levels of `tools.elevated`: everybody's and the agent's. */
function gatesOf(config: OpenClawConfig, agentId: string) {
  const agent = config.agents?.list?.find(({ id }) => id.toLowerCase() === agentId.toLowerCase());
  return [
    { at: "tools.elevated", rules: config.tools?.elevated },
    { at: `agents.list[${agentId}].tools.elevated`, rules: agent?.tools?.elevated },
  ] as const;
}

/** Which setting keeps a sender's commands in the sandbox; undefined when both levels of `tools.elevated` let them out. */
export function elevationRefusal(config: OpenClawConfig, { agentId, channel = "", senderId }: Sender): string | undefined {
  const gates = gatesOf(config, agentId);
  for (const { at, rules } of gates) if (rules?.enabled === false) return `${at}.enabled is false`;
  const [all, own] = gates.map(({ rules }) => rules?.allowFrom?.[channel]);
  if (!isNamed(all, senderId, true)) return `tools.elevated.allowFrom.${channel} does not name this sender`;
  if (own !== undefined && !isNamed(own, senderId, true)) return `${gates[1].at}.allowFrom.${channel} does not name this sender`;
  return undefined;
}

/** The configuration names this very sender for `tools.elevated`: `*` names nobody. */
export function namedForElevated(config: OpenClawConfig, sender: Sender): boolean {
  const { channel = "", senderId, agentId } = sender;
  return gatesOf(config, agentId).some(({ rules }) => isNamed(rules?.allowFrom?.[channel], senderId, false)) && elevationRefusal(config, sender) === undefined;
}

function isNamed(list: readonly (string | number)[] | undefined, senderId: string | undefined, everybody: boolean): boolean {
  return (list ?? []).some((entry) => (entry === "*" ? everybody : senderId !== undefined && String(entry).toLowerCase() === senderId.toLowerCase()));
}

/** What decides in a turn how much of the session's choice holds: the configuration, and who granted it, as they are now. */
function useOf(context: ToolContext, { config, sandboxed, isOwner }: Facts): ChoiceUse {
  const { agentId, owner } = context;
  return { config, agentId, sandboxed, owner, stillMay: mayStillGrant(config, agentId, isOwner) };
}

/** How a turn's commands run. */
export function execSettingsFor(context: ToolContext, facts: Facts): ExecSettings {
  return execSettings(facts.config, context.agentId, heldExec(context.choice, useOf(context, facts)));
}

/** Whether the sender may have commands leave the sandbox, and how. */
export function elevationFor(context: ToolContext, facts: Facts): Elevation {
  const reason = elevationRefusal(facts.config, context);
  if (reason !== undefined) return { permitted: false, reason };
  const use = useOf(context, facts);
  return { permitted: true, level: heldElevated(context.choice, { ...use, owner: use.owner || namedForElevated(facts.config, context) }) };
}
