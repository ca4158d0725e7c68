import { AppError, messageOf } from "../../base/errors.ts";
import type { Allowed, NamedOwners, PairedSender, Pairing } from "../../channels/index.ts";
import { AUTHORITY, missingFor } from "../../tools/index.ts";
import { unavailable, type CallContext, type HandlersOf } from "./handler.ts";

/** Who owns the gateway, as the configuration says. */
export interface OwnersPort {
  list(): readonly NamedOwners[];
  /** Names a sender as owner, or no longer. `by` is for the record of changes. */
  change(sender: { readonly channel: string; readonly senderId: string }, wanted: boolean, by: string): Promise<void>;
}

/** Unknown senders of channels, and how one is notified that it was approved. */
export interface ChannelPairingPort {
  readonly pairing: Pick<Pairing, "list" | "approve" | "reject">;
  /** Without it nobody is made an owner here. */
  readonly owners?: OwnersPort | undefined;
  /** Without it `channels.pairing.allowed` and `.revoke` are not answered. */
  readonly allowed?: Allowed | undefined;
  /** False: the channel cannot tell, or failed to. Never rejects. */
  notify?(sender: PairedSender): Promise<boolean>;
}

function allowedHandlers(allowed: Allowed): HandlersOf<"channels.pairing.allowed" | "channels.pairing.revoke"> {
  return {
    async "channels.pairing.allowed"(filter) {
      const senders = await allowed.list(filter);
      return { senders: senders.map(({ addedAt, ...rest }) => ({ ...rest, ...(addedAt === undefined ? {} : { addedAtMs: addedAt }) })) };
    },
    "channels.pairing.revoke": ({ channel, accountId, senderId }) => allowed.revoke({ channel, accountId, senderId }),
  };
}

function ownersOf(owners: OwnersPort | undefined): OwnersPort {
  if (!owners) throw new AppError("UNAVAILABLE", "owners cannot be set here; set commands.ownerAllowFrom in the configuration");
  return owners;
}

/** The right to approve a sender does not include making it the owner. */
function checkMayOwn({ caller }: CallContext): void {
  const missing = missingFor(AUTHORITY.method["channels.pairing.approve"], { owner: false, scopes: [...caller.scopes] });
  if (missing !== undefined) throw new AppError("INVALID_INPUT", `missing scope: ${missing} (to make a sender the owner)`);
}

/** Makes a sender who was just let in the owner. */
async function own(sender: PairedSender, port: OwnersPort, by: string): Promise<void> {
  try {
    await port.change(sender, true, by);
  } catch (error) {
    throw new AppError("UNAVAILABLE", `${sender.channel}:${sender.senderId} was approved, but could not be made the owner: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/** Handlers of `channels.pairing.*`. */
export function channelPairingHandlers({ pairing, allowed, notify, owners }: ChannelPairingPort): HandlersOf<"channels.pairing"> {
  const hasOwner = (): boolean => (owners?.list().length ?? 0) > 0;
  return {
    async "channels.pairing.list"({ channel, accountId }) {
      const waiting = await pairing.list({ channel, accountId });
      const requests = waiting.map(({ createdAt, lastSeenAt, expiresAt, ...rest }) => ({
        ...rest,
        createdAtMs: createdAt,
        lastSeenAtMs: lastSeenAt,
        expiresAtMs: expiresAt,
      }));
      return { requests, hasOwner: hasOwner() };
    },
    async "channels.pairing.approve"({ channel, code, accountId, notify: wanted, owner = false }, context) {
      if (owner) checkMayOwn(context);
      const port = owner ? ownersOf(owners) : undefined;
      const sender = await pairing.approve(channel, code, accountId);
      if (port) await own(sender, port, `channels.pairing.approve (${context.caller.client.id})`);
      return { ...sender, notified: wanted === true && notify !== undefined && (await notify(sender)), owner, hasOwner: hasOwner() };
    },
    async "channels.pairing.owner"({ channel, senderId, remove = false }, { caller }) {
      const port = ownersOf(owners);
      await port.change({ channel: channel.trim().toLowerCase(), senderId: senderId.trim() }, !remove, `channels.pairing.owner (${caller.client.id})`);
      return { owners: port.list().map(({ path, entries }) => ({ path, entries: [...entries] })) };
    },
    "channels.pairing.reject": ({ channel, code, accountId }) => pairing.reject(channel, code, accountId),
    ...(allowed ? allowedHandlers(allowed) : unavailable("channels.pairing.allowed", "channels.pairing.revoke")),
  };
}
