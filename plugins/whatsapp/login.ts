/** Linking a number: by a picture that its phone scans, or by a code that is typed there. */
import type { AuthenticationCreds } from "baileys";
import { ChannelError, type KitLog, messageOf, unfit, type Waiting } from "openclaw/plugin-sdk/channel-kit";
import type { WhatsAppAccount } from "./account.ts";
import { numberOf } from "./address.ts";
import { clearCredentials, isLinked, openCredentials, readSelf, replaceCredentials } from "./credentials/files.ts";
import type { CredentialLocks } from "./credentials/lock.ts";
import { qrDataUrl } from "./qr.ts";
import { CODES, failureOf } from "./session/endings.ts";
import type { Library } from "./session/library.ts";
import { BROWSER } from "./session/run.ts";
import { type Connection, openSocket } from "./session/socket.ts";
import { createLane } from "./session/storing.ts";
import type { Versions } from "./session/version.ts";

export interface LoginDeps {
  readonly waiting: Waiting;
  readonly locks: CredentialLocks;
  readonly versions: Versions;
  readonly url?: string | undefined;
  readonly log: KitLog;
  load(): Promise<Library>;
}

export interface LoginOptions {
  /** Also where the account is linked already. */
  readonly force?: boolean | undefined;
  /** Links by a code that is typed on this number's phone. */
  readonly phoneNumber?: string | undefined;
  /** Every new picture, as the text in it. */
  onQr?(text: string): void;
}

export interface LoginResult {
  readonly connected: boolean;
  readonly message: string;
}

/** A login that is under way. */
export interface Login {
  /** The text of the picture, or the code to type. */
  readonly first: Promise<string>;
  /** The latest picture. */
  readonly qr: string | undefined;
  readonly done: Promise<LoginResult>;
  readonly startedAt: number;
  cancel(): Promise<void>;
}

/** After this WhatsApp takes none of the pictures any more. */
const LOGIN_MS = 3 * 60_000;
const VERIFY_MS = 60_000;
const PHONE = /^\d{7,15}$/;
const notANumber = (text: string): string => `a phone number has 7 to 15 digits, with the country code, such as +15551234567: "${text}" is not one`;
const LOGOUT_MS = 10_000;

export const SCAN_HINT = "On the phone: WhatsApp > Settings > Linked devices > Link a device, then scan this code.";
export const CODE_HINT = "On the phone: WhatsApp > Settings > Linked devices > Link a device > Link with phone number instead, then type this code";

/** Logs into nothing but memory: what is in the folder stays until the new login works. */
function openLogin(account: WhatsAppAccount, library: Library, version: [number, number, number] | undefined, deps: LoginDeps, options: LoginOptions) {
  const creds: AuthenticationCreds = library.initAuthCreds();
  const first = Promise.withResolvers<string>();
  first.promise.catch(() => {});
  const state = { qr: undefined as string | undefined, isLinked: false };
  const connection: Connection = openSocket({
    library,
    auth: { creds, keys: { get: async () => ({}), set: async () => {} } },
    saveCreds: async () => {},
    lane: createLane(),
    url: deps.url,
    version,
    browser: options.phoneNumber === undefined ? BROWSER : library.Browsers.ubuntu("Chrome"),
    store: async () => {},
    arrived: () => {},
    getMessage: async () => undefined,
    failed: () => {},
    qr(text) {
      state.qr = text;
      if (options.phoneNumber === undefined) {
        first.resolve(text);
        options.onQr?.(text);
      } else if (!creds.pairingCode) connection.socket.requestPairingCode(options.phoneNumber).then(first.resolve, first.reject);
    },
    linked() {
      state.isLinked = true;
    },
  });
  const saved = connection.ended.then(async (ending): Promise<LoginResult> => {
    first.reject(new Error(ending.text));
    if (!state.isLinked || ending.code !== CODES.restart) {
      const isLate = ending.code === 408 || ending.code === 428;
      if (isLate && state.qr === undefined)
        return {
          connected: false,
          message: `WhatsApp could not be reached: ${ending.text}. Check the network and the proxy of this machine, then start again.`,
        };
      return { connected: false, message: isLate ? "The code was not used in time. Start again for a new one." : failureOf(ending).message };
    }
    await replaceCredentials(account.authDir, creds, library);
    return { connected: true, message: `Linked as ${numberOf(creds.me?.id) ?? "an unknown number"}.` };
  });
  return { first: first.promise, state, saved, connection };
}

export async function startLogin(account: WhatsAppAccount, deps: LoginDeps, options: LoginOptions = {}): Promise<Login> {
  const { phoneNumber } = options;
  if (phoneNumber !== undefined && !PHONE.test(phoneNumber)) throw unfit("login", notANumber(phoneNumber));
  const lock = await deps.locks.take(account.authDir);
  let opened: ReturnType<typeof openLogin>;
  try {
    const library = await deps.load();
    const version = await deps.versions.current(library, AbortSignal.timeout(LOGIN_MS));
    opened = openLogin(account, library, version, deps, options);
  } catch (error) {
    await lock.release();
    throw error;
  }
  const { first, state, saved, connection } = opened;
  const timer = setTimeout(() => void connection.close(), LOGIN_MS);
  async function end(): Promise<LoginResult> {
    try {
      return await saved;
    } finally {
      clearTimeout(timer);
      await lock.release();
    }
  }
  const done = end();
  done.catch(() => {});
  return {
    first,
    done,
    startedAt: deps.waiting.now(),
    get qr() {
      return state.qr;
    },
    cancel: () => connection.close(),
  };
}

/** Connects once with new credentials, as WhatsApp expects it right after linking, and lets go again. */
export async function finishLogin(account: WhatsAppAccount, deps: LoginDeps): Promise<void> {
  const lock = await deps.locks.take(account.authDir);
  try {
    await briefly(account, deps, VERIFY_MS, async ({ opened }) => opened);
  } finally {
    await lock.release();
  }
}

/** Opens a connection, does something, and closes it. Rejects where there are no credentials. */
async function briefly(account: WhatsAppAccount, deps: LoginDeps, timeoutMs: number, work: (connection: Connection) => Promise<unknown>): Promise<void> {
  const library = await deps.load();
  const files = await openCredentials(account.authDir, library, deps.log);
  if (!files) throw new ChannelError("no credentials", { action: "login", delivery: { state: "failed" }, code: "NOT_LINKED" });
  const connection = openSocket({
    library,
    auth: files.state,
    saveCreds: files.saveCreds,
    lane: createLane(),
    url: deps.url,
    version: await deps.versions.current(library, AbortSignal.timeout(Math.ceil(timeoutMs))),
    browser: BROWSER,
    // Nothing may be lost: what comes in now stays unacknowledged.
    store: () => Promise.reject(new Error("messages are not accepted during a login")),
    arrived: () => {},
    getMessage: async () => undefined,
    failed: (what, error) => deps.log.warn(`${what}: ${messageOf(error)}`),
  });
  const timer = setTimeout(() => void connection.close(), timeoutMs);
  try {
    await work(connection);
  } finally {
    clearTimeout(timer);
    await connection.close();
    await connection.ended;
    await files.close();
  }
}

/** Takes the device off the phone's list where it can be reached, and forgets the credentials. */
export async function logout(account: WhatsAppAccount, deps: LoginDeps): Promise<{ cleared: boolean; loggedOut: boolean }> {
  if (!isLinked(account.authDir)) return { cleared: false, loggedOut: false };
  const lock = await deps.locks.take(account.authDir);
  let loggedOut = true;
  try {
    await briefly(account, deps, LOGOUT_MS, async ({ opened, socket, ended }) => {
      await opened;
      await socket.logout();
      await ended;
    });
  } catch (error) {
    loggedOut = false;
    deps.log.warn(`the phone could not be notified that this device was removed (${messageOf(error)}); remove it there: Linked devices`);
  }
  try {
    return { cleared: await clearCredentials(account.authDir), loggedOut };
  } finally {
    await lock.release();
  }
}

export interface Logins {
  start(
    account: WhatsAppAccount,
    options: LoginOptions & { readonly timeoutMs?: number | undefined },
  ): Promise<{ message: string; qrDataUrl?: string; code?: string }>;
  wait(account: WhatsAppAccount, timeoutMs?: number): Promise<LoginResult>;
  cancelAll(): Promise<void>;
}

const MIN_START_MS = 5000;
const START_MS = 30_000;
const WAIT_MS = 120_000;

async function within<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(resolve, ms, undefined);
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** Logins of a gateway: one for each account. */
export function createLogins(deps: LoginDeps): Logins {
  const active = new Map<string, Login>();
  return {
    async start(account, { timeoutMs = START_MS, ...options }) {
      const { accountId, authDir } = account;
      if (options.phoneNumber !== undefined && !PHONE.test(options.phoneNumber)) return { message: `Not linked: ${notANumber(options.phoneNumber)}.` };
      if (options.force !== true && isLinked(authDir)) {
        const number = numberOf((await readSelf(authDir))?.id);
        return { message: `This account is already linked${number === undefined ? "" : ` as ${number}`}. Use force to link it again.` };
      }
      const before = active.get(accountId);
      if (before && (options.force === true || options.phoneNumber !== undefined)) {
        await before.cancel();
        await before.done;
      }
      const login = active.get(accountId) ?? (await startLogin(account, deps, options));
      active.set(accountId, login);
      void login.done.finally(() => active.get(accountId) === login && active.delete(accountId)).catch(() => {});
      // A login that ended before there was a code reports why.
      const shown = await within(
        login.first.catch(() => null),
        Math.max(timeoutMs, MIN_START_MS),
      );
      if (shown === null) return { message: (await login.done).message };
      if (shown === undefined) {
        await login.cancel();
        return { message: "WhatsApp sent no code in time. Check the network and try again." };
      }
      if (options.phoneNumber !== undefined) return { message: `${CODE_HINT}: ${shown}`, code: shown };
      return { message: SCAN_HINT, qrDataUrl: await qrDataUrl(login.qr ?? shown) };
    },
    async wait({ accountId }, timeoutMs = WAIT_MS) {
      const login = active.get(accountId);
      if (!login) return { connected: false, message: "No login in progress. Start one first." };
      return (await within(login.done, timeoutMs)) ?? { connected: false, message: "The code has not been scanned yet. Wait again, or start over." };
    },
    async cancelAll() {
      for (const login of active.values()) await login.cancel();
    },
  };
}
