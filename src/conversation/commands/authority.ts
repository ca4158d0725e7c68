/** Asks the table of authority about commands, and words its refusals. */
import { shellWord } from "../../base/text.ts";
import { namedOwners } from "../../channels/index.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import { asksItself, isForAnyone, missingForCommand, type Asker, type Grantor, type Missing } from "../../tools/index.ts";
import { isChannelApprover } from "../approvals/channel-approvers.ts";
import type { CommandCall } from "./commands.ts";
import type { Handling } from "./handling.ts";

type Called = Pick<Handling, "ports" | "call">;

/** The sender of a command, as the table knows them. */
export function askerOf(name: string, { ports, call }: Called): Asker {
  const { owner, scopes } = call;
  if (scopes !== undefined) return { owner, scopes };
  if (name === "bash" || name === "elevated") {
    const gate = ports.elevation(call);
    return { owner, named: gate.permitted && gate.named };
  }
  return { owner, named: name === "approve" && isNamedApprover(ports.config.current(), call) };
}

/** Whom a grant of this sender names. */
export function grantorOf({ scopes, channel, accountId, senderId, otherSenderIds = [] }: CommandCall): Grantor {
  if (scopes !== undefined) return { by: "client" };
  return { by: "sender", channel, accountId, senders: [...(senderId === undefined ? [] : [senderId]), ...otherSenderIds] };
}

/** An approver of the channel's `execApprovals`, or a target of `approvals.exec` that is this very person: their direct chat, by their id. A group as a target names nobody. */
function isNamedApprover(config: OpenClawConfig, { channel, accountId, senderId, isGroup }: CommandCall): boolean {
  const { approvals } = config;
  if (senderId !== undefined && isChannelApprover(config, { channel, accountId, senderId })) return true;
  const { enabled, mode = "session", targets = [] } = approvals?.exec ?? {};
  if (enabled !== true || mode === "session" || senderId === undefined || isGroup) return false;
  return targets.some(
    (target) =>
      target.channel.toLowerCase() === channel &&
      (target.accountId === undefined || target.accountId.toLowerCase() === accountId.toLowerCase()) &&
      personIn(target.to, channel) === senderId.toLowerCase(),
  );
}

/** The id in an address such as `telegram:123` or `user:U123`. */
function personIn(to: string, channel: string): string {
  const written = to.trim().toLowerCase();
  const [prefix = "", ...rest] = written.split(":");
  return rest.length > 0 && [channel, "user", "dm"].includes(prefix) ? rest.join(":") : written;
}

/** Whether the sender may give this command as far as chats go. Anyone may stop, and whom the configuration names for a command may give it, even where commands are for others. */
export const mayGive = (handling: Handling): boolean =>
  handling.call.authorized || isForAnyone(handling.name) || askerOf(handling.name, handling).named === true;

/** Why the sender may not give the command; undefined when they may. */
export function refusalOf(handling: Handling): string | undefined {
  const { name } = handling;
  if (asksItself(name)) return undefined;
  return refusalTo(`use /${name}`, handling);
}

/** Why the sender may not do what needs the command's authority; undefined when they may. `what` completes "Only an owner may …". */
export function refusalTo(what: string, handling: Handling): string | undefined {
  const missing = missingForCommand(handling.name, askerOf(handling.name, handling));
  return missing === undefined ? undefined : refusalText(what, missing, handling);
}

/** `what` completes "Only an owner may …". */
export function refusalText(what: string, missing: Missing, { ports, call }: Called): string {
  if (missing !== "owner") return `To ${what}, a client needs the scope ${missing}.`;
  if (namedOwners(ports.config.current(), call.channel).length > 0) return `Only an owner may ${what}. Owners are listed in commands.ownerAllowFrom.`;
  const command = ownerCommand(call);
  const how = command === undefined ? "Set one in commands.ownerAllowFrom" : `To make yourself the owner, run this where the gateway runs:\n${command}`;
  return `Only an owner may ${what}, and this gateway has no owner yet. ${how}`;
}

/** What makes the sender the owner, to be pasted into a shell. */
function ownerCommand({ channel, senderId = "" }: CommandCall): string | undefined {
  const word = senderId.length > 200 ? undefined : shellWord(senderId);
  return word === undefined ? undefined : `openclaw pairing owner ${channel} ${word}`;
}
