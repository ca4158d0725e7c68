/** The channel, put together. */
import {
  type ChannelOutboundContext,
  type ChannelPlugin,
  collectWhatsAppStatusIssues,
  getChatChannelMeta,
  looksLikeWhatsAppTargetId,
  PAIRING_APPROVED_MESSAGE,
  type PluginRuntime,
  resolveWhatsAppOutboundTarget,
} from "openclaw/plugin-sdk";
import {
  type ChannelFinding,
  type ChannelProbe,
  createChannelParts,
  type KitLog,
  realWaiting,
  runProbe,
  silentLog,
  unfit,
  type Waiting,
  voiceNotePrograms,
} from "openclaw/plugin-sdk/channel-kit";
import { loadRichText, WHATSAPP_MARKERS } from "openclaw/plugin-sdk/rich-text";
import { createAccounts, type HostConfig, type WhatsAppAccount, type WhatsAppAccounts } from "./account.ts";
import { createActions } from "./actions.ts";
import { allowEntry, isName, jidOf, normalAddress, numberOf } from "./address.ts";
import { isLinked, readSelf } from "./credentials/files.ts";
import { createCredentialLocks } from "./credentials/lock.ts";
import { createDirectory, createResolver } from "./directory.ts";
import type { MediaRef } from "./inbound/content.ts";
import { createLiveAccounts, type LiveAccounts } from "./live.ts";
import { createLogins, type LoginDeps, logout, type Logins } from "./login.ts";
import { sendMedia } from "./media.ts";
import { createOnboardingFor, signIn } from "./onboarding.ts";
import { MAX_POLL_OPTIONS, pollContent, sendReaction, textContent, transmit } from "./send.ts";
import { type Library, loadLibrary } from "./session/library.ts";
import { notLinked, runAccount } from "./session/run.ts";
import { BUNDLED_VERSION, createVersions } from "./session/version.ts";

export interface WhatsAppPluginOptions {
  /** Folder of all credentials. */
  readonly credentialsDir: string;
  /** Another server, for tests only. */
  readonly url?: string | undefined;
  readonly waiting?: Waiting | undefined;
  readonly runtime?: Pick<PluginRuntime, "config" | "state"> | undefined;
  readonly log?: KitLog | undefined;
}

export interface WhatsAppProbe extends ChannelProbe {
  readonly linked?: boolean;
  readonly self?: string | null;
}

export interface WhatsAppChannel extends ChannelPlugin<WhatsAppAccount, WhatsAppProbe, object> {
  readonly accounts: WhatsAppAccounts;
  readonly logins: Logins;
}

const TYPING_REFRESH_MS = 8000;
/** Clients that have a message with an id drop another one with the same. */
const REPEAT_MS = 24 * 3_600_000;
const PING_MS = 10_000;

interface Parts {
  readonly accounts: WhatsAppAccounts;
  readonly live: LiveAccounts;
  load(): Promise<Library>;
  readonly login: LoginDeps;
  readonly logins: Logins;
  readonly options: WhatsAppPluginOptions;
}

type Outbound = NonNullable<WhatsAppChannel["outbound"]>;

/** Asks the server for a sign of life. */
async function ping(
  { accounts, live }: Pick<Parts, "accounts" | "live">,
  cfg: HostConfig,
  accountId: string | null | undefined,
  timeoutMs = PING_MS,
): Promise<void> {
  const { socket } = live.need(accounts.read(cfg, accountId).accountId);
  const answer: unknown = await socket.query(
    { tag: "iq", attrs: { to: "s.whatsapp.net", type: "get", xmlns: "w:p" }, content: [{ tag: "ping", attrs: {} }] },
    timeoutMs,
  );
  if (!answer) throw unfit("ping", `WhatsApp did not answer within ${timeoutMs} ms`, "UNAVAILABLE");
}

function outboundOf(parts: Parts): Outbound {
  const { accounts, live } = parts;
  let tools: ReturnType<typeof loadRichText> | undefined;
  async function rendered(ctx: Pick<ChannelOutboundContext, "text" | "rich">): Promise<string> {
    const { parseMarkdown, toMarkers } = await (tools ??= loadRichText());
    return toMarkers(ctx.rich ?? parseMarkdown(ctx.text, {}), WHATSAPP_MARKERS);
  }
  const connected = (ctx: { cfg: HostConfig; accountId?: string | null | undefined }) => live.need(accounts.read(ctx.cfg, ctx.accountId).accountId);
  return {
    deliveryMode: "direct",
    chunkerMode: "rich",
    textChunkLimit: 4000,
    captionLimit: 1024,
    pollMaxOptions: MAX_POLL_OPTIONS,
    nonceWindowMs: REPEAT_MS,
    retry: { attempts: 3, minDelayMs: 500, maxDelayMs: 30_000, jitter: 0.1 },
    resolveTarget({ to, allowFrom, mode }) {
      const address = normalAddress(to ?? "");
      // A hidden id has no number that a list could be compared with.
      if (address?.endsWith("@lid") && (mode ?? "explicit") === "explicit") return { ok: true, to: address };
      return resolveWhatsAppOutboundTarget({ to: address ?? to, allowFrom, mode });
    },
    sendText: async (ctx) => transmit(connected(ctx), ctx.to, textContent(await rendered(ctx)), ctx),
    albums: { most: 10 },
    sendMedia: async (ctx) => sendMedia(connected(ctx), ctx, rendered),
    async sendPoll(ctx) {
      const { messageId, toJid } = await transmit(connected(ctx), ctx.to, pollContent(ctx.poll));
      return { messageId, toJid };
    },
    checkSend: async ({ cfg, accountId }) => ping(parts, cfg, accountId),
  };
}

function gatewayOf(parts: Parts): NonNullable<WhatsAppChannel["gateway"]> {
  const { accounts, live, load, login, logins, options } = parts;
  const config = (fallback: HostConfig): HostConfig => options.runtime?.config.current?.() ?? fallback;
  const current = (): HostConfig => config(options.runtime?.config.loadConfig() ?? {});
  return {
    startAccount: (ctx) =>
      runAccount(ctx, {
        ...login,
        state: options.runtime?.state,
        load,
        config: () => config(ctx.cfg),
        account: () => accounts.read(config(ctx.cfg), ctx.accountId),
        live: (next) => live.set(ctx.accountId, next),
      }),
    async loginWithQrStart({ accountId, force, timeoutMs, phoneNumber }) {
      const digits = phoneNumber?.replaceAll(/[\s()+./-]/g, "");
      return logins.start(accounts.read(current(), accountId), { force, timeoutMs, ...(digits ? { phoneNumber: digits } : {}) });
    },
    loginWithQrWait: async ({ accountId, timeoutMs }) => logins.wait(accounts.read(current(), accountId), timeoutMs),
    logoutAccount: async ({ account }) => logout(account, login),
  };
}

const TYPES = new Set<string>(["image", "video", "audio", "document", "sticker"] satisfies MediaRef["type"][]);

function isMediaRef(ref: unknown): ref is MediaRef {
  const { type, mediaKey } = (ref ?? {}) as Partial<MediaRef>;
  return typeof type === "string" && TYPES.has(type) && typeof mediaKey === "string";
}

/** Downloads and decrypts a file of a message. WhatsApp keeps files for about two weeks. */
async function fetchFile(library: Library, ref: unknown, maxBytes: number, signal: AbortSignal) {
  if (!isMediaRef(ref)) throw unfit("download", "a WhatsApp file needs a key, this one has none");
  const { url, directPath, mediaKey, type, mimeType, fileName } = ref;
  const source = { mediaKey: Buffer.from(mediaKey, "base64"), url: url ?? null, directPath: directPath ?? null };
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of await library.downloadContentFromMessage(source, type, { options: { signal } })) {
    bytes += (chunk as Buffer).length;
    if (bytes > maxBytes) throw unfit("download", `the file has more than ${maxBytes} bytes; raise channels.whatsapp.mediaMaxMb`);
    chunks.push(chunk as Buffer);
  }
  return { data: Buffer.concat(chunks), ...(mimeType === undefined ? {} : { mimeType }), ...(fileName === undefined ? {} : { fileName }) };
}

/** What happens around messages: files, typing, reactions. */
function aroundMessages({ accounts, live, load }: Parts): Pick<WhatsAppChannel, "media" | "typing" | "reactions"> {
  const presence = async (cfg: HostConfig, accountId: string, to: string, what: "composing" | "paused"): Promise<void> => {
    await live.get(accounts.read(cfg, accountId).accountId)?.socket.sendPresenceUpdate(what, jidOf(to));
  };
  return {
    media: { fetch: async ({ ref, maxBytes, signal }) => fetchFile(await load(), ref, maxBytes, signal) },
    typing: {
      refreshMs: TYPING_REFRESH_MS,
      start: ({ cfg, accountId, to }) => presence(cfg, accountId, to, "composing"),
      stop: ({ cfg, accountId, to }) => presence(cfg, accountId, to, "paused"),
    },
    reactions: {
      set: async ({ cfg, accountId, to, messageId, emoji }) => sendReaction(live.need(accounts.read(cfg, accountId).accountId), { to, messageId, emoji }),
    },
  };
}

/** Names, targets and hints. */
function conventions({
  accounts,
  live,
}: Parts): Pick<WhatsAppChannel, "mentions" | "messaging" | "agentPrompt" | "commands" | "threading" | "heartbeat" | "groups"> {
  return {
    mentions: {
      stripPatterns({ ctx }) {
        const self = live.get(ctx.AccountId ?? "default")?.self;
        return [self?.number, self?.hidden].flatMap((address) => /\d+/.exec(address ?? "")?.map((digits) => String.raw`@\+?${digits}\b`) ?? []);
      },
    },
    // The number is a person's own: what its owner alone may do is not for everyone who is let in.
    commands: { enforceOwnerForCommands: true },
    threading: {
      resolveReplyToMode: () => "off",
      allowExplicitReplyTagsWhenOff: true,
      buildToolContext: ({ context, hasRepliedRef }) => ({ currentChannelId: context.To, hasRepliedRef }),
    },
    messaging: {
      normalizeTarget: normalAddress,
      targetResolver: { looksLikeId: (raw) => looksLikeWhatsAppTargetId(raw), hint: "<number with country code> or <group id>@g.us" },
    },
    agentPrompt: {
      messageToolHints: () => ["On WhatsApp a reaction in a group needs messageId; set participant (the author's number) for messages that are not recent."],
    },
    heartbeat: {
      async checkReady({ cfg, accountId }) {
        const account = accounts.read(cfg, accountId);
        if (!isLinked(account.authDir)) return { ok: false, reason: "whatsapp-not-linked" };
        return live.get(account.accountId) ? { ok: true, reason: "ok" } : { ok: false, reason: "whatsapp-not-running" };
      },
    },
  };
}

/** How accounts look, for everything that the kit makes of them. */
function specOf(parts: Parts) {
  const { accounts, live } = parts;
  return {
    channel: "whatsapp",
    label: "WhatsApp",
    credentials: [],
    accounts,
    idLabel: "whatsappSenderId",
    normalizeEntry: allowEntry,
    isName,
    nameAdvice: "Use phone numbers with their country code, such as +491701234567",
    setupKeys: ({ authDir }: { authDir?: string | undefined }) => ({ enabled: true, ...(authDir?.trim() ? { authDir: authDir.trim() } : {}) }),
    probe: (account: WhatsAppAccount, timeoutMs: number): Promise<WhatsAppProbe> =>
      runProbe(async () => {
        if (!isLinked(account.authDir)) throw notLinked(account.accountId);
        await ping(parts, {}, account.accountId, timeoutMs);
        return { linked: true, self: live.get(account.accountId)?.self.number ?? null };
      }),
    login: async ({ authDir }: WhatsAppAccount) => numberOf((await readSelf(authDir))?.id) ?? authDir,
    programs: voiceNotePrograms,
    rules: ({ accountId, authDir }: WhatsAppAccount): ChannelFinding[] =>
      isLinked(authDir)
        ? []
        : [
            {
              id: "link",
              level: "error",
              message: "no phone is linked",
              fix: `openclaw channels login --channel whatsapp${accountId === "default" ? "" : ` --account ${accountId}`}`,
            },
          ],
    describe: (account: WhatsAppAccount) => ({ linked: isLinked(account.authDir), configured: isLinked(account.authDir) }),
    notifyApproval: async ({ cfg, id }: { cfg: HostConfig; id: string }) => {
      await transmit(live.need(accounts.read(cfg).accountId), id, textContent(PAIRING_APPROVED_MESSAGE));
    },
  };
}

/** WhatsApp as a channel. */
export function createWhatsAppPlugin(options: WhatsAppPluginOptions): WhatsAppChannel {
  const accounts = createAccounts(options);
  const live = createLiveAccounts();
  const waiting = options.waiting ?? realWaiting;
  let library: Promise<Library> | undefined;
  const load = (): Promise<Library> => (library ??= loadLibrary());
  const login: LoginDeps = {
    waiting,
    locks: createCredentialLocks(),
    versions: options.url === undefined ? createVersions(() => waiting.now()) : BUNDLED_VERSION,
    url: options.url,
    log: options.log ?? silentLog,
    load,
  };
  const logins = createLogins(login);
  const parts: Parts = { accounts, live, load, login, logins, options };
  const spec = specOf(parts);
  const shared = createChannelParts<WhatsAppAccount, WhatsAppProbe>(spec);
  const onboarding = createOnboardingFor(spec, shared, login);
  return {
    id: "whatsapp",
    meta: { ...getChatChannelMeta("whatsapp"), quickstartAllowFrom: true, forceAccountBinding: true, preferSessionLookupForAnnounceTarget: true },
    capabilities: { chatTypes: ["direct", "group"], polls: true, reactions: true, reply: true, media: true },
    gatewayMethods: ["web.login.start", "web.login.wait"],
    // The rest is read with each message.
    reload: {
      configPrefixes: ["web", "channels.whatsapp.enabled", "channels.whatsapp.accounts", "channels.whatsapp.authDir"],
      noopPrefixes: ["channels.whatsapp"],
    },
    ...shared,
    config: {
      ...shared.config,
      isEnabled: ({ enabled }) => enabled,
      disabledReason: () => "disabled in channels.whatsapp or web.enabled",
      isConfigured: ({ authDir }) => isLinked(authDir),
      unconfiguredReason: ({ accountId }) => notLinked(accountId).message,
      describeAccount: (account) => ({
        accountId: account.accountId,
        name: account.name,
        enabled: account.enabled,
        configured: isLinked(account.authDir),
        linked: isLinked(account.authDir),
        dmPolicy: account.dmPolicy,
        allowFrom: [...account.allowFrom],
      }),
    },
    status: {
      ...shared.status,
      collectStatusIssues: (snapshots) => [...shared.status.collectStatusIssues!(snapshots), ...collectWhatsAppStatusIssues(snapshots)],
    },
    onboarding,
    outbound: outboundOf(parts),
    gateway: gatewayOf(parts),
    auth: { login: (params) => signIn(accounts.read(params.cfg, params.accountId), login, params) },
    actions: createActions(accounts, live),
    directory: createDirectory(accounts, live),
    resolver: createResolver(accounts, live),
    ...aroundMessages(parts),
    ...conventions(parts),
    groups: shared.groups,
    accounts,
    logins,
  };
}
