/** Who owns the gateway: may loosen how commands run, decide about approvals and change the configuration from a chat. */
import { AppError } from "../../base/errors.ts";
import { nearest } from "../../base/text.ts";
import { ownerEntry, withOwner } from "../../channels/index.ts";
import { CHANNEL_IDS } from "../../config/index.ts";
import type { ChannelPlugin, HostConfig } from "../../protocol/index.ts";
import type { Setup } from "../context.ts";

const MOST_OFFERED = 20;

/** Offers the people who were just named; usually it is the first. What is set already stays. */
export async function chooseOwner({ ask, draft }: Setup, plugin: ChannelPlugin, cfg: HostConfig, people: readonly (string | number)[]): Promise<HostConfig> {
  const offered = people
    .map((id) => String(id).trim())
    .filter((id) => id !== "" && id !== "*")
    .slice(0, MOST_OFFERED);
  const [first] = offered;
  if (!ask || first === undefined || (draft.config.commands?.ownerAllowFrom ?? []).length > 0) return cfg;
  const chosen = await ask.select<string>({
    message: "Who is the owner? An owner can run every command in a chat; others can only chat, unless commands.allowFrom lists them",
    options: [
      ...offered.map((id) => ({ value: id, label: ownerEntry(plugin.id, id) })),
      { value: "", label: "No specific owner", hint: "every allowed sender counts as an owner" },
    ],
    initialValue: first,
  });
  return chosen === "" ? cfg : (withOwner(cfg, plugin.id, chosen) as HostConfig);
}

/** What `--owner` says: `telegram:123456789`. */
export async function giveOwner({ answers, draft, host }: Setup): Promise<void> {
  if (answers.owner === undefined) return;
  const [, channel, senderId] = /^([a-z][\w-]*):(\S+)$/i.exec(answers.owner.trim()) ?? [];
  if (channel === undefined || senderId === undefined || senderId === "*") {
    throw new AppError("INVALID_INPUT", `expected --owner as channel:id, such as telegram:123456789; got ${JSON.stringify(answers.owner)}`);
  }
  const id = channel.toLowerCase();
  const { entries } = await host.inventory();
  const known = new Set([...CHANNEL_IDS, ...entries.flatMap(({ manifest }) => manifest.channels ?? []), ...Object.keys(draft.config.channels ?? {})]);
  if (!known.has(id)) {
    const close = nearest(id, known);
    const meant = close === undefined ? "use a configured channel or one of a plugin" : `did you mean ${close}?`;
    throw new AppError("INVALID_INPUT", `--owner ${answers.owner.trim()}: there is no channel ${JSON.stringify(id)}; ${meant}`);
  }
  draft.become(withOwner(draft.config, id, senderId) as object);
}
