import { clip, formatDuration } from "../../../../base/text.ts";
import { heartbeatText, subagentTree, waitsFor, type EventPayload, type MethodResult, type SubagentBranch } from "../../../../protocol/index.ts";
import { shortKey } from "../state/session.ts";
import type { PickerItem } from "../state/picker.ts";
import type { Approval, CommandInfo, Facts } from "../state/state.ts";

/** What the gateway answers, in the words of the state. */

export function approvalOf({ id, request, expiresAtMs }: Pick<EventPayload<"exec.approval.requested">, "id" | "request" | "expiresAtMs">): Approval {
  const { command, cwd, host, nodeId, resolvedPath, agentId, sessionKey, always, environment } = request;
  return {
    id,
    command,
    cwd: cwd ?? undefined,
    host: nodeId ? `node ${nodeId.slice(0, 12)}` : (host ?? undefined),
    resolvedPath: resolvedPath ?? undefined,
    environment: environment ?? undefined,
    always: always ?? undefined,
    agentId: agentId ?? undefined,
    sessionKey: sessionKey ?? undefined,
    expiresAt: expiresAtMs,
  };
}

export function factsOf({ sessions, defaults }: MethodResult<"sessions.list">, sessionKey: string): Facts {
  const row = sessions.find(({ key }) => key === sessionKey);
  return {
    model: row?.model ?? defaults.model ?? undefined,
    provider: row?.modelProvider ?? defaults.modelProvider ?? undefined,
    thinking: row?.thinkingLevel,
    verbose: row?.verboseLevel,
    reasoning: row?.reasoningLevel,
    usage: row?.responseUsage,
    totalTokens: row?.totalTokens,
    contextTokens: row?.contextTokens ?? defaults.contextTokens ?? undefined,
  };
}

export function sessionItems({ sessions, ts }: MethodResult<"sessions.list">): readonly PickerItem[] {
  return sessions.map(({ key, name, label, displayName, derivedTitle, lastMessagePreview, updatedAt }) => {
    const title = name ?? label ?? displayName ?? derivedTitle ?? lastMessagePreview ?? "";
    const age = updatedAt === null ? "" : `${formatDuration(Math.max(0, ts - updatedAt))} ago`;
    return { value: key, label: shortKey(key), detail: [age, title].filter(Boolean).join(" · ") };
  });
}

/** Models that can answer stand first; the others say what they lack. */
export function modelItems({ models }: MethodResult<"models.list">): readonly PickerItem[] {
  const ready = models.filter(({ hasKey }) => hasKey !== false);
  return [...ready, ...models.filter(({ hasKey }) => hasKey === false)].map(({ id, name, provider, contextWindow, reasoning, hasKey }) => {
    const size = contextWindow === undefined ? "" : `${Math.round(contextWindow / 1000)}k`;
    const words = [hasKey === false ? "no key" : "", name, size, reasoning ? "reasoning" : ""];
    return { value: `${provider}/${id}`, label: `${provider}/${id}`, detail: words.filter(Boolean).join(" · ") };
  });
}

export function agentItems({ agents, defaultId }: MethodResult<"agents.list">): readonly PickerItem[] {
  return agents.map(({ id, name, identity }) => {
    const shown = identity?.name ?? name ?? "";
    return { value: id, label: id, detail: [identity?.emoji ?? "", shown, id === defaultId ? "default" : ""].filter(Boolean).join(" ") };
  });
}

export function commandInfos({ commands }: MethodResult<"commands.list">): readonly CommandInfo[] {
  const bare = (name: string): string => name.replace(/^\//, "");
  return commands.map(({ name, aliases, description, args }) => ({
    name: bare(name),
    aliases: aliases.map(bare),
    description,
    choices: args[0]?.choices ?? [],
  }));
}

const NAME_CHARS = 60;

type Subagent = MethodResult<"subagents.list">["subagents"][number];

const isActive = ({ status }: Subagent): boolean => status === "queued" || status === "running";
const hasActive = ({ subagent, children }: SubagentBranch<Subagent>): boolean => isActive(subagent) || children.some(hasActive);

/** `running for 12s · acme/large · 5200 tokens · $0.02`. */
function subagentText(branch: SubagentBranch<Subagent>, ts: number): string {
  const { error, model, tokens, costUsd, createdAt, startedAt = createdAt } = branch.subagent;
  const own = waitsFor(branch);
  const status = own > 0 ? `waiting for ${own} ${own === 1 ? "sub-agent" : "sub-agents"}` : branch.subagent.status;
  const endedAt = own > 0 ? undefined : branch.subagent.endedAt;
  const time = formatDuration(Math.max(0, (endedAt ?? ts) - startedAt));
  const state =
    endedAt === undefined ? `${status}${own > 0 ? "," : ""} for ${time}` : `${status} after ${time}, ${formatDuration(Math.max(0, ts - endedAt))} ago`;
  const parts = [
    error === undefined ? state : `${state}: ${error}`,
    model ?? "",
    tokens.total === 0 ? "" : `${tokens.total} tokens`,
    `$${costUsd.toFixed(costUsd < 0.01 ? 4 : 2)}`,
  ];
  return parts.filter(Boolean).join(" · ");
}

/** Sub-agents below who started them; the first of each branch says which session that was. */
export function subagentItems({ subagents, ts }: MethodResult<"subagents.list">): readonly PickerItem[] {
  const items = (branch: SubagentBranch<Subagent>, level: number): readonly PickerItem[] => {
    const { subagent, children } = branch;
    const { sessionKey, requesterSessionKey, label, task, hasSession } = subagent;
    const actions = [
      ...(hasSession ? (["open"] as const) : []),
      ...(isActive(subagent) ? (["steer"] as const) : []),
      ...(hasActive(branch) ? (["stop"] as const) : []),
    ];
    const name = label ?? clip(task.replaceAll(/\s+/g, " "), NAME_CHARS);
    const item = {
      value: sessionKey,
      label: name,
      level,
      detail: `${subagentText(branch, ts)}${level === 0 ? ` · of ${shortKey(requesterSessionKey)}` : ""}`,
      actions,
    };
    return [item, ...children.flatMap((child) => items(child, level + 1))];
  };
  return subagentTree(subagents).flatMap(({ children }) => children.flatMap((child) => items(child, 0)));
}

export function lastBeatText(beat: MethodResult<"last-heartbeat">, now: number): string {
  return beat ? `Last heartbeat, ${formatDuration(Math.max(0, now - beat.ts))} ago: ${heartbeatText(beat)}` : "No heartbeat yet";
}
