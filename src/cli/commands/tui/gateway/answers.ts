import { formatDuration } from "../../../../base/text.ts";
import type { EventPayload, MethodResult } from "../../../../protocol/index.ts";
import { shortKey } from "../state/session.ts";
import type { PickerItem } from "../state/picker.ts";
import type { Approval, CommandInfo, Facts } from "../state/state.ts";

/** What the gateway answers, in the words of the state. */

export function approvalOf({ id, request, expiresAtMs }: Pick<EventPayload<"exec.approval.requested">, "id" | "request" | "expiresAtMs">): Approval {
  const { command, cwd, host, resolvedPath, agentId, sessionKey, always, environment } = request;
  return {
    id,
    command,
    cwd: cwd ?? undefined,
    host: host ?? undefined,
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
  return commands.map(({ name, description, args }) => ({ name: name.replace(/^\//, ""), description, choices: args[0]?.choices ?? [] }));
}
