/** State of the accounts while the plugin is loaded: connections, our own id, names of people and conversations, answers to commands. */

import { asChannelError, createRecent, type Fields, fieldsOf, type Recent, textOf, type Waiting } from "openclaw/plugin-sdk/channel-kit";
import type * as RichTextLibrary from "openclaw/plugin-sdk/rich-text";
import { accounts, type SlackAccount } from "./account.ts";
import type { HostConfig, RichText } from "./types.ts";
import { type ApiOptions, createApi, isAuthLost, type SlackApi } from "./api.ts";

/** Who we are there. */
export interface Self {
  readonly userId: string;
  readonly botId: string | undefined;
  readonly teamId: string;
  readonly team: string | undefined;
  readonly name: string | undefined;
}

export interface Conversation {
  readonly kind: "direct" | "group" | "channel";
  readonly name: string | undefined;
  readonly topic: string | undefined;
  /** The other person of a direct chat. */
  readonly user: string | undefined;
}

/** Where a command may be answered, for half an hour and five times. */
export interface ResponseRef {
  readonly url: string;
  readonly until: number;
  readonly left: number;
}

interface KeyedStore {
  lookup(key: string): Promise<unknown>;
  register(key: string, value: unknown, options?: { ttlMs?: number }): Promise<void>;
}

export interface WorkspaceOptions extends ApiOptions {
  readonly waiting: Waiting;
  openStore?(namespace: string): KeyedStore | undefined;
}

/** One account that can send. */
export interface Workspace {
  readonly account: SlackAccount;
  readonly api: SlackApi;
  readonly waiting: Waiting;
  /** From `auth.test`, asked once. */
  self(signal?: AbortSignal): Promise<Self>;
  /** As far as it is known. */
  readonly known: Self | undefined;
  userName(id: string): Promise<string | undefined>;
  conversation(id: string, hint?: string): Promise<Conversation>;
  forgetConversation(id: string): void;
  /** The direct chat with a person. */
  directWith(user: string, signal?: AbortSignal): Promise<string>;
  learnDirect(user: string, channel: string): void;
  render(text: string, rich: RichText | undefined): Promise<string>;
  /** Who wrote last in a conversation or thread: streams name whom they are for. */
  readonly lastSender: Recent<string>;
  /** Threads whose history an agent was shown, and up to which message. */
  readonly shownThreads: Recent<string>;
  /** Reactions of ours, by message. */
  readonly ownReactions: Recent<string>;
  readonly responses: { keep(key: string, url: string): Promise<void>; take(key: string): Promise<string | undefined> };
  /** Commands that the host offers, when they are registered in the app one by one. */
  commands: ReadonlySet<string>;
  /** Called with the first error that says the token is gone. */
  lost: ((error: Error) => void) | undefined;
}

const MOST_NAMES = 5000;
const NAMES_MS = 3_600_000;
/** Names are worth a short wait: an event has to be acknowledged within three seconds. */
const LOOK_UP_MS = 1500;
const RESPONSE_MS = 29 * 60_000;
const MAX_RESPONSES = 5;

/** Remembers what a question gave; one that failed is asked again. */
function remembered<T>(now: () => number, ask: (key: string) => Promise<T>) {
  const known = createRecent<{ readonly value: Promise<T>; readonly until: number }>(MOST_NAMES);
  return {
    get(key: string): Promise<T> {
      const before = known.get(key);
      if (before && before.until > now()) return before.value;
      const value = ask(key);
      known.set(key, { value, until: now() + NAMES_MS });
      value.catch(() => known.delete(key));
      return value;
    },
    put: (key: string, value: T): void => known.set(key, { value: Promise.resolve(value), until: now() + NAMES_MS }),
    drop: (key: string): void => known.delete(key),
  };
}

function conversationFrom(info: Fields): Conversation {
  const kind = info["is_im"] === true ? "direct" : info["is_mpim"] === true ? "group" : "channel";
  return { kind, name: textOf(info["name"]), topic: textOf(fieldsOf(info["topic"])?.["value"]), user: textOf(info["user"]) };
}

/** The code for rich text is loaded with the first text. */
function createRender(): (text: string, rich: RichText | undefined, tables: SlackAccount["tables"]) => Promise<string> {
  let library: typeof RichTextLibrary | undefined;
  return async (text, rich, tables) => {
    const { loadRichText, SLACK_MARKERS, toMarkers } = (library ??= await import("openclaw/plugin-sdk/rich-text"));
    return toMarkers(rich ?? (await loadRichText()).parseMarkdown(text, { tables }), SLACK_MARKERS);
  };
}

function createResponses(store: () => KeyedStore | undefined, now: () => number): Workspace["responses"] {
  const recent = createRecent<ResponseRef>(1000);
  const read = (value: unknown): ResponseRef | undefined => {
    const fields = fieldsOf(value);
    const url = textOf(fields?.["url"]);
    return fields && url !== undefined ? { url, until: Number(fields["until"]), left: Number(fields["left"]) } : undefined;
  };
  async function save(key: string, ref: ResponseRef): Promise<void> {
    recent.set(key, ref);
    await store()?.register(key, ref, { ttlMs: Math.max(1, ref.until - now()) });
  }
  return {
    keep: (key, url) => save(key, { url, until: now() + RESPONSE_MS, left: MAX_RESPONSES }),
    async take(key) {
      const ref = recent.get(key) ?? read(await store()?.lookup(key));
      if (!ref || ref.left <= 0 || ref.until <= now()) return undefined;
      await save(key, { ...ref, left: ref.left - 1 });
      return ref.url;
    },
  };
}

/** Tells the account when the token is gone, whatever was asked. */
function watched(api: SlackApi, lost: (error: Error) => void): SlackApi {
  const watch = async <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      const failure = asChannelError(error);
      if (failure && isAuthLost(failure.reason)) lost(failure);
      throw error;
    });
  return {
    ...api,
    call: (...args) => watch(api.call(...args)),
    ask: (...args) => watch(api.ask(...args)),
    list: (...args) => watch(api.list(...args)),
  };
}

function createWorkspace(account: SlackAccount, options: WorkspaceOptions): Workspace {
  const { waiting } = options;
  const { now } = waiting;
  const api = watched(createApi(account, { ...options, now }), (error) => workspace.lost?.(error));
  const render = createRender();
  const quick = { timeoutMs: LOOK_UP_MS } as const;
  let known: Self | undefined;
  const names = remembered(now, async (user) => {
    const info = fieldsOf((await api.call("users.info", { user }, quick))["user"]);
    const profile = fieldsOf(info?.["profile"]);
    return textOf(profile?.["display_name"]) ?? textOf(info?.["real_name"]) ?? textOf(info?.["name"]);
  });
  const conversations = remembered(now, async (channel) =>
    conversationFrom(fieldsOf((await api.call("conversations.info", { channel }, quick))["channel"]) ?? {}),
  );
  const directs = createRecent<string>(MOST_NAMES);
  const workspace: Workspace = {
    account,
    api,
    waiting,
    get known() {
      return known;
    },
    async self(signal) {
      if (known) return known;
      const found = await api.call("auth.test", {}, { signal });
      const userId = textOf(found["user_id"]) ?? "";
      known = { userId, botId: textOf(found["bot_id"]), teamId: textOf(found["team_id"]) ?? "", team: textOf(found["team"]), name: textOf(found["user"]) };
      return known;
    },
    userName: (id) => names.get(id).catch(() => undefined),
    conversation: (id) => conversations.get(id),
    forgetConversation: (id) => conversations.drop(id),
    async directWith(user, signal) {
      const before = directs.get(user);
      if (before !== undefined) return before;
      const channel = textOf(fieldsOf((await api.call("conversations.open", { users: user }, { signal }))["channel"])?.["id"]) ?? "";
      directs.set(user, channel);
      return channel;
    },
    learnDirect: (user, channel) => directs.set(user, channel),
    render: (text, rich) => render(text, rich, account.tables),
    lastSender: createRecent(MOST_NAMES),
    shownThreads: createRecent(MOST_NAMES),
    ownReactions: createRecent(MOST_NAMES),
    responses: createResponses(() => options.openStore?.("responses"), now),
    commands: new Set(),
    lost: undefined,
  };
  return workspace;
}

export interface Workspaces extends Disposable {
  of(cfg: HostConfig, accountId?: string | null): Workspace;
  for(account: SlackAccount): Workspace;
}

/** One for each account, made again when its tokens or settings change. */
export function createWorkspaces(options: WorkspaceOptions): Workspaces {
  const open = new Map<string, Workspace>();
  function of(account: SlackAccount): Workspace {
    const before = open.get(account.accountId);
    if (before?.account === account) return before;
    const tokensOf = ({ botToken, appToken, userToken, config }: SlackAccount): string => JSON.stringify([botToken, appToken, userToken, config]);
    if (before && tokensOf(before.account) === tokensOf(account)) return before;
    before?.api.close();
    const made = createWorkspace(account, options);
    open.set(account.accountId, made);
    return made;
  }
  return {
    of: (cfg, accountId) => of(accounts.read(cfg, accountId)),
    for: of,
    [Symbol.dispose]() {
      for (const { api } of open.values()) api.close();
      open.clear();
    },
  };
}
