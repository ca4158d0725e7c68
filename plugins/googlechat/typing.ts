/** The sign that an answer is being written: a message that becomes the answer, or a reaction. */
import { randomUUID } from "node:crypto";
import type { ChannelPlugin } from "openclaw/plugin-sdk";
import { asChannelError, textsOf, type Waiting } from "openclaw/plugin-sdk/channel-kit";
import { parseTarget } from "./api.ts";
import { createAnswerPreview, PREVIEW, type Sign, TYPING_TEXT } from "./preview.ts";
import { addReaction } from "./reactions.ts";
import { removeQuietly, type Sender, threadFor } from "./send.ts";

type TypingAdapter = NonNullable<ChannelPlugin["typing"]>;
type PreviewAdapter = NonNullable<ChannelPlugin["preview"]>;

interface Store {
  lookup(key: string): Promise<unknown>;
  register(key: string, value: unknown): Promise<unknown>;
}

export interface TypingDeps {
  sender(cfg: Parameters<TypingAdapter["start"]>[0]["cfg"], accountId?: string | null): Sender;
  readonly waiting: Waiting;
  openStore?(): Store | undefined;
}

export interface TypingSigns {
  readonly typing: TypingAdapter;
  readonly preview: PreviewAdapter;
  /** The last message of a chat: the one that a reaction goes to. */
  heard(accountId: string, to: string, messageId: string): void;
  /** Takes away what a process before this one left. */
  clean(sender: Sender): Promise<void>;
}

const TYPING_EMOJI = "👀";
const MOST_CHATS = 500;

/** The names of open signs, on disk: a process that dies leaves them. */
function createOpenSigns(openStore: TypingDeps["openStore"]) {
  const open = new Map<string, Set<string>>();
  const save = async (accountId: string): Promise<void> => void (await openStore?.()?.register(accountId, [...(open.get(accountId) ?? [])]));
  return {
    async add(accountId: string, name: string): Promise<void> {
      open.set(accountId, (open.get(accountId) ?? new Set()).add(name));
      await save(accountId);
    },
    async delete(accountId: string, name: string): Promise<void> {
      if (open.get(accountId)?.delete(name)) await save(accountId);
    },
    async left(accountId: string): Promise<readonly string[]> {
      const stored = textsOf(await openStore?.()?.lookup(accountId));
      return stored.filter((name) => !open.get(accountId)?.has(name));
    },
    save,
  };
}

function keep<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= MOST_CHATS) break;
    map.delete(oldest);
  }
}

/** Where a chat is shown a sign: targets of messages that came are spaces. */
function spaceIn(to: string): string | undefined {
  const { kind, name } = parseTarget(to);
  return kind === "space" ? name : undefined;
}

/** Messages that say that an answer is being written. */
function createSignMessages(open: ReturnType<typeof createOpenSigns>) {
  return {
    post(sender: Sender, space: string, at: Parameters<typeof threadFor>[2]): Sign {
      const { api, account } = sender;
      const messageId = `client-${randomUUID()}`;
      const name = `${space}/messages/${messageId}`;
      const posted = (async () => {
        await open.add(account.accountId, name);
        try {
          await api.create(space, { text: TYPING_TEXT, thread: await threadFor(sender, space, at) }, { messageId });
        } catch (error) {
          // Where it may be there all the same, it is taken away later.
          if (asChannelError(error)?.delivery.state !== "unknown") await open.delete(account.accountId, name);
          throw error;
        }
      })();
      posted.catch(() => undefined);
      return { name, posted };
    },
    async remove(sender: Sender, { name, posted }: Sign): Promise<void> {
      await posted.catch(() => undefined);
      await removeQuietly(sender, name);
      await open.delete(sender.account.accountId, name);
    },
  };
}

export function createTypingSigns(deps: TypingDeps): TypingSigns {
  const { waiting } = deps;
  /** Chats that a turn runs in, with the message that says so until the answer takes it over. */
  const busy = new Map<string, Sign | undefined>();
  const lastMessages = new Map<string, string>();
  /** Reactions that are there, by chat. */
  const reacted = new Map<string, { readonly messageId: string; readonly name: string }>();
  /** Accounts whose reactions the platform refuses: a message is shown instead. */
  const refused = new Set<string>();
  const open = createOpenSigns(deps.openStore);
  const { post, remove } = createSignMessages(open);
  const keyOf = (accountId: string, to: string): string => `${accountId} ${to}`;
  const modeOf = ({ account }: Sender) => (account.typingIndicator === "reaction" && refused.has(account.accountId) ? "message" : account.typingIndicator);

  async function react(sender: Sender, key: string): Promise<void> {
    const messageId = lastMessages.get(key);
    if (messageId === undefined || reacted.get(key)?.messageId === messageId) return;
    try {
      const { name } = await addReaction(sender, messageId, TYPING_EMOJI);
      keep(reacted, key, { messageId, name });
    } catch (error) {
      if (asChannelError(error)?.code !== "NOT_PERMITTED") throw error;
      refused.add(sender.account.accountId);
    }
  }

  /** The message that says so becomes the one that shows the answer. */
  function openPreview(params: Parameters<PreviewAdapter["open"]>[0]): ReturnType<PreviewAdapter["open"]> {
    const { cfg, accountId, to, previewId } = params;
    const sender = deps.sender(cfg, accountId);
    if (modeOf(sender) !== "message") return undefined;
    const key = keyOf(accountId, to);
    const sign = previewId === undefined ? busy.get(key) : undefined;
    if (sign) busy.set(key, undefined);
    const taken = async (): Promise<void> => {
      if (sign) await open.delete(accountId, sign.name);
    };
    return createAnswerPreview({
      sender,
      params,
      sign,
      taken,
      remove: (name) => (sign ? remove(sender, sign) : removeQuietly(sender, name)),
      now: waiting.now,
    });
  }

  return {
    heard: (accountId, to, messageId) => keep(lastMessages, keyOf(accountId, to), messageId),
    async clean(sender) {
      const { accountId } = sender.account;
      for (const name of await open.left(accountId)) await removeQuietly(sender, name);
      await open.save(accountId);
    },
    typing: {
      // One message is enough, whatever the turn takes.
      refreshMs: 60_000,
      async start({ cfg, accountId, to, threadId }) {
        const sender = deps.sender(cfg, accountId);
        const [key, space] = [keyOf(accountId, to), spaceIn(to)];
        if (modeOf(sender) === "reaction") await react(sender, key);
        if (modeOf(sender) !== "message" || busy.has(key) || space === undefined) return;
        // Where answers name the message that they answer, they stand in its thread.
        const replyToId = (sender.account.config["replyToMode"] ?? "off") === "off" ? undefined : lastMessages.get(key);
        const sign = post(sender, space, { to, threadId, replyToId });
        keep(busy, key, sign);
        await sign.posted;
      },
      async stop({ cfg, accountId, to }) {
        const sender = deps.sender(cfg, accountId);
        const key = keyOf(accountId, to);
        const [sign, reaction] = [busy.get(key), reacted.get(key)];
        busy.delete(key);
        reacted.delete(key);
        if (sign) await remove(sender, sign);
        if (reaction) await removeQuietly(sender, reaction.name);
      },
    },
    preview: { ...PREVIEW, open: openPreview },
  };
}
