/** Turning single tools of an agent on and off, in the configuration. */
import { editConfig } from "../../link/edit-config.ts";
import type { Link } from "../../link/link.ts";
import type { Verdict } from "./agent-facts.ts";
import { t } from "../../words/words.ts";

interface Configured {
  readonly id?: string;
  readonly tools?: { readonly deny?: readonly string[] };
}

interface Held {
  readonly agents?: { readonly list?: readonly Configured[] };
  readonly tools?: { readonly deny?: readonly string[] };
}

/** Where an agent's list of denied tools is. An agent without an entry of its own has the general one when it is alone. */
export function denyPath(config: unknown, agentId: string): string | undefined {
  const list = (config as Held | undefined)?.agents?.list ?? [];
  const at = list.findIndex(({ id }) => id?.toLowerCase() === agentId);
  if (at >= 0) return `agents.list[${at}].tools.deny`;
  return list.length === 0 ? "tools.deny" : undefined;
}

function deniedAt(config: unknown, path: string): readonly string[] {
  const held = config as Held | undefined;
  const at = /^agents\.list\[(\d+)\]/.exec(path)?.[1];
  return (at === undefined ? held?.tools?.deny : held?.agents?.list?.[Number(at)]?.tools?.deny) ?? [];
}

/** Whether a switch can change it: what is on can be denied; what is off can be allowed where the agent's own list named it. */
export function canTurn(config: unknown, agentId: string, { name, allowed }: Pick<Verdict, "name" | "allowed">): boolean {
  const path = denyPath(config, agentId);
  return path !== undefined && (allowed || deniedAt(config, path).includes(name));
}

/** Writes it, keeping comments and order of the file. */
export const turnTool = (link: Pick<Link, "request">, agentId: string, name: string, on: boolean): Promise<void> =>
  editConfig(link, (config) => {
    const path = denyPath(config, agentId);
    if (path === undefined) throw new Error(t`Add the agent “${agentId}” to agents.list first.`);
    const deny = deniedAt(config, path).filter((one) => one !== name);
    const next = on ? deny : [...deny, name];
    return next.length === 0 ? { unset: [path] } : { set: [{ path, value: next }] };
  });
