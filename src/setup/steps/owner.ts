/** Who owns the gateway: may loosen how commands run, decide about approvals and change the configuration from a chat. */
import { AppError } from "../../base/errors.ts";
import { ownerEntry, withOwner } from "../../channels/index.ts";
import type { ChannelPlugin, HostConfig } from "../../protocol/index.ts";
import type { Setup } from "../context.ts";

const MOST_OFFERED = 20;

/** Offers the people who were just named; usually it is the first. What is set already stays. */
export async function chooseOwner({ ask, draft }: Setup, plugin: ChannelPlugin, cfg: HostConfig, people: readonly (string | number)[]): Promise<HostConfig> {
  const offered = people
    .map((id) => String(id).trim())
    .filter((id) => id !== "" && id !== "*")
    .slice(0, MOST_OFFERED);
  if (!ask || offered.length === 0 || (draft.config.commands?.ownerAllowFrom ?? []).length > 0) return cfg;
  const chosen = await ask.select<string>({
    message: "Who owns this gateway? An owner may give every command in a chat; others only chat, unless commands.allowFrom names them",
    options: [
      ...offered.map((id) => ({ value: id, label: ownerEntry(plugin.id, id) })),
      { value: "", label: "Nobody in particular", hint: "everybody named here counts as an owner" },
    ],
    initialValue: offered[0]!,
  });
  return chosen === "" ? cfg : (withOwner(cfg, plugin.id, chosen) as HostConfig);
}

/** What `--owner` says: `telegram:123456789`. */
export function giveOwner({ given, draft }: Setup): void {
  if (given.owner === undefined) return;
  const [, channel, senderId] = /^([a-z][\w-]*):(\S+)$/i.exec(given.owner.trim()) ?? [];
  if (channel === undefined || senderId === undefined || senderId === "*") {
    throw new AppError("INVALID_INPUT", `expected --owner as channel:id, such as telegram:123456789; got ${JSON.stringify(given.owner)}`);
  }
  draft.become(withOwner(draft.config, channel.toLowerCase(), senderId) as object);
}
