/** Who may write to an account, and why. */
import { AppError } from "../../base/errors.ts";
import type { HostConfig } from "../../protocol/index.ts";
import { accountKey, admits, DEFAULT_ACCOUNT, directList, layersOf, readEntries } from "../access/settings.ts";
import { sectionOf } from "../settings.ts";
import type { AllowEntry, Pairing } from "./pairing.ts";

/** A sender who may write. `source` is `config` for one that the configuration names, under `path`. */
export interface AllowedSender extends Omit<AllowEntry, "addedAt"> {
  readonly addedAt?: number;
  readonly path?: string;
}

interface Sender {
  readonly channel: string;
  readonly accountId?: string | undefined;
  readonly senderId: string;
}

export interface Allowed {
  /** Of all accounts, or of some: approved senders first. */
  list(filter?: { readonly channel?: string | undefined; readonly accountId?: string | undefined }): Promise<readonly AllowedSender[]>;
  /** Revokes an approval; `path` names a setting that still allows the sender. `NOT_FOUND` when there was none. */
  revoke(sender: Sender): Promise<{ readonly channel: string; readonly accountId: string; readonly senderId: string; readonly path?: string }>;
}

export interface AllowedDeps {
  readonly pairing: Pick<Pairing, "entries" | "remove">;
  readonly config: () => HostConfig;
}

/** `channels.defaults` holds settings of all channels. */
const SHARED = "defaults";

/** The accounts in the configuration. */
function accountsIn(cfg: HostConfig): readonly { readonly channel: string; readonly accountId: string }[] {
  return Object.entries(sectionOf(cfg.channels) ?? {}).flatMap(([channel, value]) => {
    const section = sectionOf(value);
    if (!section || channel === SHARED) return [];
    const ids = Object.keys(sectionOf(section["accounts"]) ?? {}).map(accountKey);
    return (ids.length > 0 ? ids : [DEFAULT_ACCOUNT]).map((accountId) => ({ channel, accountId }));
  });
}

/** Senders that the configuration names, as written. */
function namedIn(cfg: HostConfig): readonly AllowedSender[] {
  return accountsIn(cfg).flatMap(({ channel, accountId }) => {
    const found = directList({ layers: layersOf(cfg, channel, accountId) });
    if (!found) return [];
    const texts = found.value.map((entry) => String(entry).trim()).filter((entry) => entry !== "");
    return [...new Set(texts)].map((senderId) => ({ channel, accountId, senderId, source: "config", path: found.path }));
  });
}

/** The setting that allows a sender, if any. */
function pathOf(cfg: HostConfig, channel: string, accountId: string, senderId: string): string | undefined {
  const found = directList({ layers: layersOf(cfg, channel, accountId) });
  const list = readEntries(found?.value, { cfg, plugin: undefined, channel, accountId });
  return found && admits(list, [senderId, senderId.toLowerCase()]) ? found.path : undefined;
}

export function createAllowed({ pairing, config }: AllowedDeps): Allowed {
  return {
    async list({ channel, accountId } = {}) {
      const account = accountId === undefined ? undefined : accountKey(accountId);
      const named = namedIn(config()).filter(
        (one) => (channel === undefined || one.channel === channel) && (account === undefined || one.accountId === account),
      );
      return [...(await pairing.entries({ channel, accountId })), ...named];
    },
    async revoke({ channel, accountId: written, senderId: typed }) {
      const [accountId, senderId] = [accountKey(written), typed.trim()];
      const removed = await pairing.remove({ channel, accountId, senderId });
      const path = pathOf(config(), channel, accountId, senderId);
      if (removed) return { channel, accountId, senderId, ...(path === undefined ? {} : { path }) };
      const who = `${JSON.stringify(senderId)} was not approved by pairing on ${channel}, account ${accountId}`;
      if (path !== undefined) throw new AppError("NOT_FOUND", `${who}; ${path} in the configuration allows this sender: change it there`);
      throw new AppError("NOT_FOUND", `${who}; see: openclaw pairing allowed ${channel}`);
    },
  };
}
