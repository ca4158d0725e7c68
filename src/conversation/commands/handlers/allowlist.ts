import { notThere, switchedOff, wordsOf, type Handler, type Handling } from "../handling.ts";
import type { AllowlistPort } from "../ports.ts";
import { writesForbidden } from "./config.ts";

const USAGE = "Usage: /allowlist [list|add|remove] [dm|group|all] [entry] [channel=id] [account=id] [config|store]";

interface Asked {
  readonly action: "list" | "add" | "remove";
  readonly scope: "dm" | "group" | "all";
  readonly entry?: string;
  readonly channel: string;
  readonly account: string;
  readonly where: readonly ("config" | "store")[];
}

function askedIn(args: string, { call }: Handling): Asked | undefined {
  const asked: { -readonly [K in keyof Asked]: Asked[K] } = {
    action: "list",
    scope: "all",
    channel: call.channel,
    account: call.accountId,
    where: ["config", "store"],
  };
  for (const [index, raw] of wordsOf(args).entries()) {
    const word = raw.replace(/^--/, "");
    const [, key, value = ""] = /^(channel|account)[=:](\S+)$/i.exec(word) ?? [];
    if (key?.toLowerCase() === "channel") asked.channel = value.toLowerCase();
    else if (key !== undefined) asked.account = value;
    else if (index === 0 && (word === "list" || word === "add" || word === "remove")) asked.action = word;
    else if (word === "dm" || word === "group" || word === "all") asked.scope = word;
    else if (word === "config" || word === "store") asked.where = [word];
    else if (word !== "resolve") {
      if (asked.entry !== undefined) return undefined;
      asked.entry = word;
    }
  }
  return (asked.action === "list") === (asked.entry === undefined) ? asked : undefined;
}

export const allowlist: Handler = async (handling) => {
  const { ports, args } = handling;
  const asked = askedIn(args, handling);
  if (!asked) return USAGE;
  const { allowlist: port } = ports;
  if (!port) return notThere("allowlist", "this gateway has no allowlists");
  const known = port.channels();
  if (!known.includes(asked.channel))
    return `Unknown channel "${asked.channel.slice(0, 60)}". Choose one with channel=<id>: ${known.join(", ") || "there is none"}.`;
  if (asked.action === "list") return listed(port, asked);
  const config = ports.config.current();
  if (config.commands?.config !== true) return switchedOff("allowlist", "config");
  const forbidden = asked.where.includes("config") ? writesForbidden(config, asked.channel, asked.account) : undefined;
  if (forbidden !== undefined) return `The configuration cannot be changed from here: ${forbidden} is false.`;
  return changed(port, { ...asked, action: asked.action });
};

async function changed(
  port: AllowlistPort,
  { action, scope, entry = "", channel, account, where }: Asked & { readonly action: "add" | "remove" },
): Promise<string> {
  const list = scope === "group" ? "group" : "dm";
  // Who is let into groups is never in the pairing store.
  const places = list === "group" ? where.filter((place) => place === "config") : where;
  if (places.length === 0) return "The pairing store holds no groups. Use config.";
  const done = await port.change({ channel, accountId: account }, { action, scope: list, entry, where: places });
  const verb = action === "add" ? "Added to" : "Removed from";
  if (done.changed.length > 0) return `${verb} the ${list} list of ${channel} (${done.changed.join(", ")}): ${entry}.`;
  return action === "add" ? `${entry} is already on the ${list} list of ${channel}.` : `${entry} is not on the ${list} list of ${channel}.`;
}

async function listed(port: AllowlistPort, { channel, account, scope }: Asked): Promise<string> {
  const { dmPolicy, groupPolicy, dm, group, store, groups = {} } = await port.list({ channel, accountId: account });
  const entries = (list: readonly string[]): string => (list.length === 0 ? "(none)" : list.join(", "));
  return [
    `**Allowlist** of ${channel} (${account})`,
    ...(scope === "group" ? [] : [`DM policy: ${dmPolicy ?? "pairing"}`, `DM, configuration: ${entries(dm)}`, `DM, paired: ${entries(store)}`]),
    ...(scope === "dm" ? [] : [`Group policy: ${groupPolicy ?? "allowlist"}`, `Groups, configuration: ${entries(group)}`]),
    ...(scope === "dm" ? [] : Object.entries(groups).map(([id, list]) => `- ${id}: ${entries(list)}`)),
  ].join("\n");
}
