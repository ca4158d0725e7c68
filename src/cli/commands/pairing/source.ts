import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { systemClock } from "../../../base/clock.ts";
import { AppError } from "../../../base/errors.ts";
import { createIds } from "../../../base/ids.ts";
import { systemRandom } from "../../../base/random.ts";
import type { Allowed, NamedOwners, PairedSender, PairingRequest } from "../../../channels/index.ts";
import { oauthFolder } from "../../../config/index.ts";
import type { GatewayClient } from "../../../protocol/index.ts";
import { loadFor } from "../../config-source.ts";
import { connectTo, GATEWAY_OPTIONS, timeoutOf, type GatewayFlags } from "../../gateway-call.ts";
import { findTarget } from "../../gateway-target.ts";
import type { Io } from "../../io.ts";

export const PAIRING_OPTIONS = {
  channel: { type: "string", value: "id", help: "Channel, instead of the first argument" },
  account: { type: "string", value: "id", help: "Only this account" },
  ...GATEWAY_OPTIONS,
} as const;

interface Filter {
  readonly channel?: string | undefined;
  readonly accountId?: string | undefined;
}

interface Decision {
  readonly channel: string;
  readonly code: string;
  readonly accountId?: string | undefined;
}

export interface Approved extends PairedSender {
  readonly notified: boolean;
  /** The sender is an owner now. */
  readonly owner: boolean;
  /** The configuration names an owner. */
  readonly hasOwner: boolean;
}

/** Who waits, and what becomes of it: over the gateway, or on the state folder itself while no gateway runs. */
interface PairingSource {
  list(filter: Filter): Promise<readonly PairingRequest[]>;
  approve(decision: Decision, wanted: { readonly notify: boolean; readonly owner: boolean }): Promise<Approved>;
  /** Names a sender as owner, or no longer. Gives who is one then. */
  own(sender: { readonly channel: string; readonly senderId: string }, wanted: boolean): Promise<readonly NamedOwners[]>;
  reject(decision: Decision): Promise<PairedSender>;
  allowed: Allowed["list"];
  revoke: Allowed["revoke"];
}

function overGateway(client: GatewayClient): PairingSource {
  const accountPart = ({ accountId }: Filter) => (accountId === undefined ? {} : { accountId });
  return {
    async list(filter) {
      const params = { ...accountPart(filter), ...(filter.channel === undefined ? {} : { channel: filter.channel }) };
      const { requests } = await client.request("channels.pairing.list", params);
      return requests.map(({ createdAtMs, lastSeenAtMs, expiresAtMs, ...rest }) => ({
        ...rest,
        createdAt: createdAtMs,
        lastSeenAt: lastSeenAtMs,
        expiresAt: expiresAtMs,
      }));
    },
    approve: ({ channel, code, accountId }, { notify, owner }) =>
      client.request("channels.pairing.approve", { channel, code, ...accountPart({ accountId }), ...(notify ? { notify } : {}), ...(owner ? { owner } : {}) }),
    own: async ({ channel, senderId }, wanted) =>
      (await client.request("channels.pairing.owner", { channel, senderId, ...(wanted ? {} : { remove: true }) })).owners,
    reject: ({ channel, code, accountId }) => client.request("channels.pairing.reject", { channel, code, ...accountPart({ accountId }) }),
    async allowed(filter = {}) {
      const params = { ...accountPart(filter), ...(filter.channel === undefined ? {} : { channel: filter.channel }) };
      const { senders } = await client.request("channels.pairing.allowed", params);
      return senders.map(({ addedAtMs, ...rest }) => ({ ...rest, ...(addedAtMs === undefined ? {} : { addedAt: addedAtMs }) }));
    },
    revoke: ({ channel, accountId, senderId }) => client.request("channels.pairing.revoke", { channel, senderId, ...accountPart({ accountId }) }),
  };
}

/** Writes `commands.ownerAllowFrom` of the configuration file. */
async function ownOnDisk(
  io: Io,
  { channel, senderId }: { readonly channel: string; readonly senderId: string },
  wanted: boolean,
): Promise<readonly NamedOwners[]> {
  const [{ namedOwners, withOwner }, { editConfig }] = await Promise.all([import("../../../channels/index.ts"), import("../../config-edit.ts")]);
  await editConfig(io, { kind: "change", change: (written) => withOwner(written, channel, senderId, wanted) }, "cli pairing owner");
  return namedOwners(loadFor(io).snapshot.config);
}

/** On the state folder. What an earlier system left in files is taken over first, as the gateway would. */
async function onDisk<T>(io: Io, stateDir: string, use: (source: PairingSource) => Promise<T>): Promise<T> {
  if (!existsSync(stateDir)) throw new AppError("NOT_FOUND", `no pending requests: ${stateDir} has no state yet; start the gateway first`);
  const [{ openStore }, { createAllowed, createAllowLists, createPairing, namedOwners }] = await Promise.all([
    import("../../../store/index.ts"),
    import("../../../channels/index.ts"),
  ]);
  const ids = createIds(systemRandom);
  await using store = await openStore({ stateDir, clock: systemClock });
  const folder = oauthFolder({ env: io.env, exists: existsSync, osHome: homedir(), cwd: io.cwd });
  const cfg = loadFor(io).snapshot.config;
  const lists = createAllowLists({ store, files: { folder, cfg, clock: systemClock, ids, problem: (text) => io.err(`${text}\n`) } });
  await lists.load();
  const pairing = createPairing({ store, clock: systemClock, random: systemRandom, ids, lists });
  const allowed = createAllowed({ pairing, config: () => cfg });
  return await use({
    allowed: allowed.list,
    revoke: allowed.revoke,
    list: (filter) => pairing.list(filter),
    async approve({ channel, code, accountId }, { owner }) {
      const sender = await pairing.approve(channel, code, accountId);
      const owners = owner ? await ownOnDisk(io, sender, true) : namedOwners(cfg);
      return { ...sender, notified: false, owner, hasOwner: owners.length > 0 };
    },
    own: (sender, wanted) => ownOnDisk(io, sender, wanted),
    reject: ({ channel, code, accountId }) => pairing.reject(channel, code, accountId),
  });
}

export async function withPairing<T>(io: Io, flags: GatewayFlags, use: (source: PairingSource) => Promise<T>): Promise<T> {
  const target = await findTarget(io, flags);
  const hasCredentials = flags.token !== undefined || flags.password !== undefined;
  if (target.kind === "local" && !target.holder && !hasCredentials) return onDisk(io, target.stateDir, use);
  await using client = await connectTo(io, target, timeoutOf(flags));
  return await use(overGateway(client));
}

/** Names a sender as owner, or no longer: over the gateway, or in the configuration file while no gateway runs. */
export async function ownSender(
  io: Io,
  flags: GatewayFlags,
  sender: { readonly channel: string; readonly senderId: string },
  wanted: boolean,
): Promise<readonly NamedOwners[]> {
  const target = await findTarget(io, flags);
  if (target.kind === "local" && !target.holder && flags.token === undefined && flags.password === undefined) return ownOnDisk(io, sender, wanted);
  return withPairing(io, flags, (source) => source.own(sender, wanted));
}

/** The request that is meant by `<channel> <code>`, or by a code alone: then the channel is found out. */
export async function chosen(
  source: PairingSource,
  positionals: readonly string[],
  flags: { readonly channel?: string | undefined; readonly account?: string | undefined },
): Promise<Decision> {
  const [first, second, extra] = positionals;
  const code = second ?? first;
  const channel = flags.channel ?? (second === undefined ? undefined : first);
  if (code === undefined || extra !== undefined || (second !== undefined && flags.channel !== undefined))
    throw new AppError("INVALID_INPUT", "expected a channel and a code, such as: openclaw pairing approve telegram ABCD2345");
  const account = flags.account === undefined ? {} : { accountId: flags.account };
  if (channel !== undefined) return { channel: channel.trim().toLowerCase(), code, ...account };
  const found = (await source.list(account)).filter((waiting) => waiting.code === code.trim().toUpperCase());
  const [request, ...others] = found;
  if (!request || others.length > 0) throw new AppError("NOT_FOUND", `no pending request has the code ${JSON.stringify(code)}; see: openclaw pairing list`);
  return { channel: request.channel, code, ...account };
}
