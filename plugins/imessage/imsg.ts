/** `imsg rpc`: the program, its methods, and what its errors mean. */
import {
  asChannelError,
  type ChannelError,
  type Fields,
  fieldsOf,
  hopeless,
  openRpcProcess,
  recordsOf,
  type RpcProcess,
  type RpcProcessEnd,
  textOf,
  unsure,
  wholeOf,
} from "openclaw/plugin-sdk/channel-kit";
import type { IMessageAccount } from "./account.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface ImsgOptions {
  readonly env?: Environment | undefined;
  readonly signal: AbortSignal;
  /** Default 30 s: Messages takes its time, and a message that nobody knows the end of is worse than a late one. */
  readonly sendTimeoutMs?: number | undefined;
  readonly timeoutMs?: number | undefined;
  onMessage?(row: Fields): void;
  /** The watch ended. */
  onError?(error: Error): void;
  readonly onAlive?: (() => void) | undefined;
  readonly onNoise?: ((text: string) => void) | undefined;
}

const SEND_MS = 30_000;
const ASK_MS = 10_000;
/** The first answer: ssh may have to sign in before. */
const READY_MS = 30_000;
/** Chats whose last message is looked at to find the newest one. */
const NEWEST_CHATS = 5;

export const INVALID_PARAMS = "-32602";
const INTERNAL = "-32603";
const NO_METHOD = "-32601";

const DENIED = /full disk access|authorization denied|operation not permitted|permissionDenied/i;
const NO_LOGIN = /permission denied \(|host key verification failed|too many authentication failures/i;
const NO_RPC = /unknown (?:sub)?command|unexpected argument '?rpc/i;
/** Of what a program wrote, this much may say why it ended. */
const LAST_LINES = 3;

/** What cannot mend by itself ends the account. */
export function permanentProblem(text: string, { cliPath }: Pick<IMessageAccount, "cliPath">): ChannelError | undefined {
  if (DENIED.test(text))
    return hopeless(
      `imsg is not allowed to read the messages on this Mac. Give Full Disk Access to the program that starts it (System Settings > Privacy & Security), then restart the gateway`,
      "FORBIDDEN",
    );
  if (NO_LOGIN.test(text))
    return hopeless(
      `ssh in ${cliPath} cannot sign in: ${lastLine(text)}. Set up a key and accept the host's key once by hand, then restart the gateway`,
      "FORBIDDEN",
    );
  if (NO_RPC.test(text)) return hopeless(`${cliPath} does not support rpc: ${lastLine(text)}. Update imsg: brew upgrade imsg`, "UNSUPPORTED");
  return undefined;
}

const lastLine = (text: string): string => text.trim().split("\n").at(-1)?.slice(0, 300) ?? "";

/** Why the program ended. */
export function endOf({ code, signal, error, noise }: RpcProcessEnd, account: IMessageAccount): Error {
  const how = signal === null ? `with code ${code ?? "?"}` : `by ${signal}`;
  const said = noise === "" ? "" : `: ${lastLine(noise)}`;
  const last = noise.split("\n").slice(-LAST_LINES).join("\n");
  return permanentProblem(last, account) ?? error ?? unsure("receive", `imsg ended ${how}${said}`);
}

/** An error of `send`, with what became of the message. AppleScript fails before it hands over, unless it waited in vain. */
function sendFailure(error: unknown, hasTwoParts: boolean): unknown {
  const failure = asChannelError(error);
  if (failure?.reason !== INTERNAL) return error;
  if (failure.mentions("-1743", "not authorized", "not allowed to send Apple events"))
    return failure.withDelivery(
      { state: "failed" },
      `${failure.message}. Allow the program that starts imsg to control Messages (System Settings > Privacy & Security > Automation)`,
    );
  if (failure.mentions("-1728", "can't get", "can’t get", "invalid buddy", "file not found", "no such file")) return failure;
  const mayHaveArrived = hasTwoParts || failure.mentions("-1712", "timed out", "timeout");
  return failure.withDelivery({ state: mayHaveArrived ? "unknown" : "retry" });
}

export interface Imsg {
  readonly ended: Promise<RpcProcessEnd>;
  close(why?: Error): Promise<void>;
  flow(isOpen: boolean): void;
  chats(limit: number): Promise<Fields[]>;
  history(chatId: number, limit: number): Promise<Fields[]>;
  /** The highest row of the chats that were written in last; 0 where there is none. */
  newestRow(): Promise<number>;
  /** Rows behind this one. 0: all. */
  watch(since: number): Promise<void>;
  send(params: Fields, signal?: AbortSignal): Promise<Fields>;
  /** False: this version cannot show it. */
  typing(params: Fields, isTyping: boolean): Promise<boolean>;
}

const isRefused = (error: unknown, ...reasons: string[]): boolean => reasons.includes(asChannelError(error)?.reason ?? "");

/** Starts the program. */
export async function openImsg(account: IMessageAccount, options: ImsgOptions): Promise<Imsg> {
  const { env, signal, timeoutMs = ASK_MS, sendTimeoutMs = SEND_MS, onMessage, onError, onAlive, onNoise } = options;
  const process: RpcProcess = await openRpcProcess({
    platform: "imsg",
    command: account.cliPath,
    args: ["rpc", ...(account.dbPath === undefined ? [] : ["--db", account.dbPath])],
    env,
    signal,
    onAlive,
    onNoise,
    onNotification(method, params) {
      const fields = fieldsOf(params) ?? {};
      const row = fieldsOf(fields["message"]);
      if (method === "message" && row) onMessage?.(row);
      else if (method === "error")
        onError?.(unsure("receive", `imsg stopped watching: ${textOf(fieldsOf(fields["error"])?.["message"]) ?? "no reason given"}`));
    },
  });

  async function ask(method: string, params: Fields, ms = timeoutMs): Promise<Fields> {
    try {
      return fieldsOf(await process.request(method, params, { timeoutMs: ms })) ?? {};
    } catch (error) {
      throw (isRefused(error, INVALID_PARAMS) ? undefined : permanentProblem(asChannelError(error)?.description ?? "", account)) ?? error;
    }
  }
  const history = async (chatId: number, limit: number): Promise<Fields[]> =>
    recordsOf((await ask("messages.history", { chat_id: chatId, limit, attachments: false }))["messages"]);
  const chats = async (limit: number, ms?: number): Promise<Fields[]> => recordsOf((await ask("chats.list", { limit }, ms))["chats"]);

  return {
    ended: process.ended,
    close: process.close,
    flow: process.flow,
    chats: (limit) => chats(limit),
    history,
    async newestRow() {
      const ids = (await chats(NEWEST_CHATS, Math.max(timeoutMs, READY_MS))).flatMap(({ id }) => wholeOf(id) ?? []);
      const rows = await Promise.all(ids.map((id) => history(id, 1)));
      return Math.max(0, ...rows.flat().flatMap(({ id }) => wholeOf(id) ?? []));
    },
    async watch(since) {
      const params = { attachments: account.includeAttachments, include_reactions: true };
      try {
        // 0 would mean: from now on.
        await ask("watch.subscribe", { ...params, since_rowid: since === 0 ? -1 : since });
      } catch (error) {
        if (since !== 0 || !isRefused(error, INVALID_PARAMS)) throw error;
        await ask("watch.subscribe", params);
      }
    },
    async send(params, cancel) {
      try {
        const result = fieldsOf(await process.request("send", params, { timeoutMs: sendTimeoutMs, signal: cancel }));
        if (result?.["ok"] !== true) throw unsure("send", "imsg returned an unexpected response to send");
        return result;
      } catch (error) {
        throw sendFailure(error, params["text"] !== undefined && params["file"] !== undefined);
      }
    },
    async typing(params, isTyping) {
      try {
        await process.request("typing", { ...params, typing: isTyping }, { timeoutMs });
        return true;
      } catch (error) {
        if (isRefused(error, NO_METHOD, INTERNAL, INVALID_PARAMS)) return false;
        throw error;
      }
    },
  };
}
