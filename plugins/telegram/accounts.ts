/** What is kept for each account while the plugin is loaded: its connection, its name there, and which messages are ours. */
import { readAccount, type TelegramAccount } from "./account.ts";
import { createClient, type TelegramClient } from "./api/client.ts";
import { unfit } from "./api/failure.ts";
import type { Transport } from "./api/transport.ts";
import type { Self } from "./inbound/text.ts";
import { createRender } from "./rich.ts";
import type { Sender } from "./send/sender.ts";

type Config = Parameters<typeof readAccount>[0];

export interface AccountsOptions {
  readonly apiRoot?: string | undefined;
  readonly transport?: Transport | undefined;
  readonly now?: (() => number) | undefined;
  /** Moves what is configured for a group to its new id. */
  moveGroup(account: TelegramAccount, from: string, to: string): Promise<void>;
}

export interface Accounts extends Disposable {
  client(account: TelegramAccount): TelegramClient;
  sender(cfg: Config, accountId?: string | null): Sender;
  known(accountId: string, self: Self): void;
  self(accountId: string): Self | undefined;
  /** The commands of the account's menu. */
  menu(accountId: string, commands: readonly string[]): void;
  offers(accountId: string, command: string): boolean;
  isOurs(accountId: string, chatId: string, messageId: number): boolean;
  migrated(account: TelegramAccount, from: string, to: string): Promise<void>;
}

interface Connection {
  /** What it was made from: another token needs another one. */
  readonly made: string;
  readonly client: TelegramClient;
}

/** Messages whose text is remembered while an answer is written. */
const MAX_PREVIEWS = 1000;
/** Messages of ours that are remembered, for reactions to them. */
const MAX_REMEMBERED = 5000;

export function createAccounts(options: AccountsOptions): Accounts {
  const connections = new Map<string, Connection>();
  const selves = new Map<string, Self>();
  const menus = new Map<string, ReadonlySet<string>>();
  const ours = new Set<string>();
  const moved = new Map<string, string>();
  const previews = new Map<string, string>();
  const render = createRender();

  function client(account: TelegramAccount): TelegramClient {
    const { token, proxy, autoSelectFamily, timeoutMs, apiRoot = options.apiRoot } = account;
    const made = JSON.stringify([token, proxy, autoSelectFamily, timeoutMs, apiRoot]);
    const before = connections.get(account.accountId);
    if (before?.made === made) return before.client;
    before?.client.close();
    const next = createClient({
      token,
      apiRoot,
      timeoutMs,
      transport: options.transport,
      now: options.now,
      ...(proxy === undefined ? {} : { proxy }),
      ...(autoSelectFamily === undefined ? {} : { autoSelectFamily }),
    });
    connections.set(account.accountId, { made, client: next });
    return next;
  }

  function remember(accountId: string, chatId: string, messageId: number): void {
    ours.add(`${accountId}/${chatId}/${messageId}`);
    if (ours.size > MAX_REMEMBERED) ours.delete(ours.values().next().value!);
  }

  async function migrated(account: TelegramAccount, from: string, to: string): Promise<void> {
    moved.set(from, to);
    await options.moveGroup(account, from, to);
  }

  return {
    client,
    sender(cfg, accountId) {
      const account = readAccount(cfg, accountId);
      if (account.token === "") {
        throw unfit("send", `Telegram account "${account.accountId}" has no bot token; set channels.telegram.botToken, tokenFile or TELEGRAM_BOT_TOKEN`);
      }
      return {
        account,
        client: client(account),
        render,
        preview: {
          shown(chatId, id, text) {
            previews.set(`${account.accountId}/${chatId}/${id}`, text);
            if (previews.size > MAX_PREVIEWS) previews.delete(previews.keys().next().value!);
          },
          take(chatId, id) {
            const key = `${account.accountId}/${chatId}/${id}`;
            const text = previews.get(key);
            previews.delete(key);
            return text;
          },
        },
        sent: (chatId, messageId) => remember(account.accountId, chatId, messageId),
        currentId(chatId) {
          const to = moved.get(String(chatId));
          return to === undefined ? chatId : Number(to);
        },
        migrated: (from, to) => migrated(account, from, to),
      };
    },
    known: (accountId, self) => void selves.set(accountId, self),
    self: (accountId) => selves.get(accountId),
    menu: (accountId, commands) => void menus.set(accountId, new Set(commands)),
    offers: (accountId, command) => menus.get(accountId)?.has(command) ?? false,
    isOurs: (accountId, chatId, messageId) => ours.has(`${accountId}/${chatId}/${messageId}`),
    migrated,
    [Symbol.dispose]() {
      for (const connection of connections.values()) connection.client.close();
      connections.clear();
    },
  };
}
