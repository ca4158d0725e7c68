import { keysOf } from "../base/records.ts";
import type { HookFilter, HookOptions } from "./registration.ts";

type Facts = Readonly<Record<string, unknown>>;

/** One list of a filter, and where its value is found in a call. */
const SOURCES: Readonly<Record<keyof HookFilter, (event: Facts, ctx: Facts) => readonly unknown[]>> = {
  tools: (event, ctx) => [event["toolName"] ?? ctx["toolName"]],
  channels: (event, ctx) => [ctx["channel"], ctx["messageProvider"], ctx["channelId"], event["channel"]],
  agents: (event, ctx) => [ctx["agentId"] ?? event["agentId"]],
  triggers: (event, ctx) => [ctx["trigger"] ?? event["trigger"] ?? (ctx["jobId"] === undefined ? undefined : "cron")],
  dispatchKinds: (event, ctx) => [event["dispatchKind"] ?? ctx["dispatchKind"]],
};

/** Whether a call is for this handler. */
export type FilterCheck = (event: Facts, ctx: Facts) => boolean;

/** The author's lists, under any of their names. Invalid lists are ignored. */
export function compileFilter(options: HookOptions): FilterCheck | undefined {
  const lists: Readonly<Record<keyof HookFilter, unknown>> = {
    tools: options.filter?.tools ?? options.matcher,
    channels: options.filter?.channels,
    agents: options.filter?.agents,
    triggers: options.filter?.triggers ?? options.eligibleTriggers,
    dispatchKinds: options.filter?.dispatchKinds ?? options.eligibleDispatchKinds,
  };
  const checks: FilterCheck[] = [];
  for (const name of keysOf(lists)) {
    const list = lists[name];
    if (!Array.isArray(list)) continue;
    const wanted = new Set<unknown>(list);
    if (wanted.has("*")) continue;
    const found = SOURCES[name];
    checks.push((event, ctx) => found(event, ctx).some((value) => value !== undefined && wanted.has(value)));
  }
  if (checks.length === 0) return undefined;
  return (event, ctx) => checks.every((check) => check(event, ctx));
}
