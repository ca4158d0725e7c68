/** State of the accounts while the plugin is loaded: settings, connections, names there, and which messages are ours. */
import { escapeRegExp } from "openclaw/plugin-sdk";
import type * as RichTextLibrary from "openclaw/plugin-sdk/rich-text";
import { type AccountReader, perAccount, type Transport, unfit } from "openclaw/plugin-sdk/channel-kit";
import type { TelegramAccount } from "./account.ts";
import { createClient, type TelegramClient } from "./api/client.ts";
import type { Self } from "./inbound/text.ts";
import type { Sender } from "./send/sender.ts";
import type { RichText } from "./types.ts";

type Config = Parameters<AccountReader<TelegramAccount>["read"]>[0];

/** Text as Telegram shows it. */
export interface Rendered {
  readonly html: string;
  /** The same without any marks. */
  readonly plain: string;
}

type Tables = "off" | "bullets" | "code";
export type Render = (text: string, rich: RichText | undefined, tables: Tables) => Promise<Rendered>;

/** The code for rich text is loaded with the first text, the reader of Markdown with the first one that has not been read yet. */
function createRender(): Render {
  let library: typeof RichTextLibrary | undefined;
  let tools: { parseMarkdown(markdown: string, options: { tables: Tables }): RichText } | undefined;
  return async (text, rich, tables) => {
    const { loadRichText, toTelegramHtml } = (library ??= await import("openclaw/plugin-sdk/rich-text"));
    const parsed = rich ?? (tools ??= await loadRichText()).parseMarkdown(text, { tables });
    return { html: toTelegramHtml(parsed), plain: parsed.text };
  };
}

export interface AccountsOptions {
  readonly settings: AccountReader<TelegramAccount>;
  readonly apiRoot?: string | undefined;
  readonly transport?: Transport | undefined;
  readonly now?: (() => number) | undefined;
  /** Moves what is configured for a group to its new id. */
  moveGroup(account: TelegramAccount, from: string, to: string): Promise<void>;
}

export interface Accounts extends Disposable {
  account(cfg: Config, accountId?: string | null): TelegramAccount;
  client(account: TelegramAccount): TelegramClient;
  sender(cfg: Config, accountId?: string | null): Sender;
  known(accountId: string, self: Self): void;
  /** Patterns that mention the bot. */
  mentionPatterns(accountId: string): string[];
  /** The commands of the account's menu. */
  menu(accountId: string, commands: readonly string[]): void;
  offers(accountId: string, command: string): boolean;
  isOurs(accountId: string, chatId: string, messageId: number): boolean;
  migrated(account: TelegramAccount, from: string, to: string): Promise<void>;
}

/** Messages whose text is known while an answer is written. */
const MAX_PREVIEWS = 1000;
/** Our own messages that are known as such, for reactions to them. */
const MAX_OURS = 5000;

export function createAccounts(options: AccountsOptions): Accounts {
  const clients = perAccount<TelegramAccount, TelegramClient>({
    from: ({ token, proxy, autoSelectFamily, timeoutMs, apiRoot }) => [token, proxy, autoSelectFamily, timeoutMs, apiRoot],
    make: ({ token, proxy, autoSelectFamily, timeoutMs, apiRoot = options.apiRoot }) =>
      createClient({ token, apiRoot, timeoutMs, proxy, autoSelectFamily, transport: options.transport, now: options.now }),
    close: (client) => client.close(),
  });
  const mentions = new Map<string, string[]>();
  const menus = new Map<string, ReadonlySet<string>>();
  const ours = new Set<string>();
  const moved = new Map<string, string>();
  const previews = new Map<string, string>();
  const render = createRender();
  const accountOf = options.settings.read;

  async function migrated(account: TelegramAccount, from: string, to: string): Promise<void> {
    moved.set(from, to);
    await options.moveGroup(account, from, to);
  }

  return {
    account: accountOf,
    client: clients.of,
    sender(cfg, accountId) {
      const account = accountOf(cfg, accountId);
      if (account.problems.length > 0) throw unfit("send", `Telegram account "${account.accountId}": ${account.problems.join("; ")}`);
      return {
        account,
        client: clients.of(account),
        render,
        preview: {
          shown(chatId, id, text) {
            previews.set(`${account.accountId}/${chatId}/${id}`, text);
            const [oldest] = previews.keys();
            if (previews.size > MAX_PREVIEWS && oldest !== undefined) previews.delete(oldest);
          },
          take(chatId, id) {
            const key = `${account.accountId}/${chatId}/${id}`;
            const text = previews.get(key);
            previews.delete(key);
            return text;
          },
        },
        sent(chatId, messageId) {
          ours.add(`${account.accountId}/${chatId}/${messageId}`);
          const [oldest] = ours;
          if (ours.size > MAX_OURS && oldest !== undefined) ours.delete(oldest);
        },
        currentId(chatId) {
          const to = moved.get(String(chatId));
          return to === undefined ? chatId : Number(to);
        },
        migrated: (from, to) => migrated(account, from, to),
      };
    },
    known: (accountId, { username }) => void mentions.set(accountId, username === undefined ? [] : [`@${escapeRegExp(username)}\\b`]),
    mentionPatterns: (accountId) => mentions.get(accountId) ?? [],
    menu: (accountId, commands) => void menus.set(accountId, new Set(commands)),
    offers: (accountId, command) => menus.get(accountId)?.has(command) ?? false,
    isOurs: (accountId, chatId, messageId) => ours.has(`${accountId}/${chatId}/${messageId}`),
    migrated,
    [Symbol.dispose]: clients.close,
  };
}
