/** Files and names on their way out. */
import type { ChannelDirectoryAdapter, ChannelDirectoryEntry, ChannelInboundMedia, ChannelOutboundContext } from "../../../protocol/index.ts";
import type { AccountReader, ChannelAccount } from "./accounts.ts";
import { asChannelError, ChannelError, messageOf, notSent } from "./failure.ts";
import { fieldsOf } from "./fields.ts";
import { type FilePart, safeFileName } from "./multipart.ts";

/** The file of a message that is sent, read from where it may be read. */
export async function loadOutgoingFile(ctx: Pick<ChannelOutboundContext, "mediaUrl" | "mediaLocalRoots">, maxBytes: number): Promise<FilePart> {
  const { loadWebMedia } = await import("../media/web-media.ts");
  try {
    const file = await loadWebMedia(ctx.mediaUrl ?? "", { maxBytes, ...(ctx.mediaLocalRoots ? { localRoots: ctx.mediaLocalRoots } : {}) });
    return { data: file.buffer, fileName: safeFileName(file.fileName), mimeType: file.contentType };
  } catch (error) {
    throw new ChannelError(`the file to send could not be read: ${messageOf(error)}`, {
      action: "sendMedia",
      delivery: { state: "failed" },
      code: "INVALID_INPUT",
    });
  }
}

/** A step that nobody sees, such as an upload before the message that shows it: whatever became of it, it may be done again. */
export async function unseen<T>(step: Promise<T>): Promise<T> {
  try {
    return await step;
  } catch (error) {
    const failure = asChannelError(error);
    throw failure?.delivery.state === "unknown" ? notSent(failure.action, failure.message) : error;
  }
}

export function mediaKindOf(mimeType: string | undefined): ChannelInboundMedia["kind"] {
  const [kind] = (mimeType ?? "").split("/");
  return kind === "image" || kind === "video" || kind === "audio" ? kind : "document";
}

/** Entries that contain the query, up to the limit. */
export function matching(
  entries: readonly ChannelDirectoryEntry[],
  { query, limit }: { readonly query?: string | null | undefined; readonly limit?: number | null | undefined },
): ChannelDirectoryEntry[] {
  const wanted = query?.trim().toLowerCase().replace(/^[@#]/, "") ?? "";
  const found = entries.filter(({ id, name = "", handle = "" }) => [id, name, handle].some((text) => text.toLowerCase().includes(wanted)));
  return limit && limit > 0 ? found.slice(0, limit) : found;
}

/** Whom the configuration names: the directory while the account is not connected. `user` and `group` turn an entry into an id for sending. */
export function configuredDirectory<A extends ChannelAccount>(
  accounts: AccountReader<A>,
  { user, group }: { user(entry: string): string | undefined; group(key: string): string | undefined },
): Required<Pick<ChannelDirectoryAdapter, "listPeers" | "listGroups">> {
  const entries = (kind: "user" | "group", names: readonly string[], spell: (name: string) => string | undefined): ChannelDirectoryEntry[] => {
    const ids = new Set(names.filter((name) => name !== "*").flatMap((name) => spell(name) ?? []));
    return [...ids].map((id) => ({ kind, id }));
  };
  return {
    async listPeers(params) {
      const { allowFrom, groupAllowFrom, config } = accounts.read(params.cfg, params.accountId);
      return matching(entries("user", [...allowFrom, ...groupAllowFrom, ...Object.keys(fieldsOf(config["dms"]) ?? {})], user), params);
    },
    async listGroups(params) {
      return matching(entries("group", Object.keys(accounts.read(params.cfg, params.accountId).groups), group), params);
    },
  };
}
