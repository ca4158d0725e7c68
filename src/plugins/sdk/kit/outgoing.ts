/** Files and names on their way out. */
import { type FitOptions, loadOutgoing, type MediaRules, type OutgoingFile, type SourceFile } from "../../../media/index.ts";
import type { ChannelDirectoryAdapter, ChannelDirectoryEntry, ChannelInboundMedia, ChannelOutboundContext, RichText } from "../../../protocol/index.ts";
import { mergedAccount, normalizeAccountId } from "../account-ids.ts";
import { sdkHost } from "../host-binding.ts";
import type { AccountReader, ChannelAccount } from "./accounts.ts";
import { asChannelError, ChannelError, messageOf, notSent } from "./failure.ts";
import { fieldsOf, numberOf } from "./fields.ts";
import { safeFileName } from "./multipart.ts";

/** Files of a message with everything that decides how they are sent. */
export type OutgoingContext = Pick<ChannelOutboundContext, "cfg" | "text"> &
  Partial<Pick<ChannelOutboundContext, "accountId" | "mediaUrl" | "mediaUrls" | "mediaLocalRoots" | "audioAsVoice" | "rich" | "signal">>;

export interface OutgoingFiles {
  readonly files: readonly [OutgoingFile, ...OutgoingFile[]];
  /** With a line for each file that is not sent. */
  readonly text: string;
  readonly rich?: RichText | undefined;
}

/** None of a message's files can be sent, and nothing of it has left: its text goes with these lines instead. */
export function filesNotSent(notes: readonly string[], action = "sendMedia"): ChannelError {
  return new ChannelError(notes.join("\n"), { action, delivery: { state: "failed", filesNotSent: notes }, code: "FILES_NOT_SENT" });
}

/** What people see of it: the last part of a path or an address. */
const shownName = (url: string): string => safeFileName(url.split(/[?#]/, 1)[0]?.split(/[/\\]/).at(-1));

const MB = 1024 * 1024;

/** The configured limit of an account. */
function capOf({ channel, defaultMb }: MediaRules, { cfg, accountId }: OutgoingContext): FitOptions["cap"] {
  const own = numberOf(mergedAccount(cfg, channel, normalizeAccountId(accountId))["mediaMaxMb"]);
  const general = numberOf(cfg.agents?.defaults?.["mediaMaxMb"]);
  const setting = own === undefined && general !== undefined ? "agents.defaults.mediaMaxMb" : `channels.${channel}.mediaMaxMb`;
  const mb = own ?? general ?? defaultMb;
  return mb === undefined || mb <= 0 ? undefined : { maxBytes: mb * MB, setting };
}

async function readSource(
  url: string,
  { mediaLocalRoots }: OutgoingContext,
  { platform, document }: MediaRules,
): Promise<{ file: SourceFile } | { note: string }> {
  const { LARGEST, loadWebMedia } = await import("../media/web-media.ts");
  try {
    const { buffer, fileName, contentType } = await loadWebMedia(url, {
      maxBytes: LARGEST,
      optimizeImages: false,
      ...(mediaLocalRoots ? { localRoots: mediaLocalRoots } : {}),
    });
    return { file: { data: buffer, fileName: safeFileName(fileName), claim: contentType } };
  } catch (error) {
    const bytes = numberOf(fieldsOf(fieldsOf(error)?.["details"])?.["bytes"]);
    const { tooLargeNote } = await loadOutgoing();
    const limit = document.maxBytes <= LARGEST ? { platform, maxBytes: document.maxBytes } : { platform: "this gateway", maxBytes: LARGEST };
    if (bytes !== undefined) return { note: tooLargeNote(shownName(url), bytes, limit) };
    // Where it was looked for is nothing that a chat needs to know.
    sdkHost()?.log?.({ level: "warn", subsystem: "media", message: `a file could not be sent: ${messageOf(error)}` });
    return { note: `${shownName(url)} could not be read` };
  }
}

const withNotes = (text: string, notes: readonly string[]): string => [text, ...notes.map((note) => `[not sent: ${note}]`)].filter(Boolean).join("\n\n");

/** The files of a message, made to fit what its platform takes. Throws `filesNotSent` where none can be sent. */
export async function loadOutgoingFiles(ctx: OutgoingContext, rules: MediaRules): Promise<OutgoingFiles> {
  const { hostConverters } = await import("../media/web-media.ts");
  const { fitOutgoing } = await loadOutgoing();
  const converters = await hostConverters(ctx.signal);
  const options = { asVoice: ctx.audioAsVoice, cap: capOf(rules, ctx) };
  const files: OutgoingFile[] = [];
  const notes: string[] = [];
  for (const url of ctx.mediaUrls ?? (ctx.mediaUrl === undefined ? [] : [ctx.mediaUrl])) {
    const source = await readSource(url, ctx, rules);
    const fitted = "note" in source ? source : await fitOutgoing(source.file, rules, converters, options);
    if (fitted.note === undefined) files.push(fitted.file);
    else notes.push(fitted.note);
  }
  const [first, ...more] = files;
  if (!first) throw filesNotSent(notes);
  const text = withNotes(ctx.text, notes);
  return { files: [first, ...more], text, ...(ctx.rich ? { rich: { ...ctx.rich, text: withNotes(ctx.rich.text, notes) } } : {}) };
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
