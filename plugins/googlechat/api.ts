/** The parts of the Google Chat API that the channel uses. */
import { randomUUID } from "node:crypto";
import {
  asChannelError,
  type ChannelError,
  createCache,
  createHttpClient,
  type Fields,
  fieldsOf,
  type FilePart,
  type HttpAnswer,
  type HttpRequest,
  recordsOf,
  type Refusal,
  safeFileName,
  textOf,
  unfit,
  unseen,
} from "openclaw/plugin-sdk/channel-kit";
import { type GoogleChatAccount, isUserId, PREFIX, readServiceAccount, userEntry } from "./account.ts";
import { createKeySource, type KeySource } from "./keys.ts";
import { createAccessTokens, SIGN_IN } from "./tokens.ts";

export interface ApiOptions {
  /** Instead of Google's addresses, for tests. */
  readonly apiRoot?: string | undefined;
  readonly now: () => number;
}

export interface MessageDraft {
  readonly text?: string | undefined;
  readonly cardsV2?: readonly unknown[] | undefined;
  readonly attachment?: readonly unknown[] | undefined;
  /** `spaces/…/threads/…`. */
  readonly thread?: string | undefined;
}

export interface CreateOptions {
  /** The same for all attempts: the platform gives the message that it made before. */
  readonly requestId?: string | undefined;
  /** `client-…`: a name that we choose. */
  readonly messageId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Target {
  readonly kind: "space" | "user";
  /** `spaces/…` or `users/…`. */
  readonly name: string;
  readonly thread?: string | undefined;
}

const AUTH_FIX = "check channels.googlechat.serviceAccount and that the Google Chat API is turned on, then run `openclaw channels status --probe`";
const FIRST_PAUSE_MS = 1000;
const LAST_PAUSE_MS = 64_000;
/** Where files may come from when the API sends us on. */
const FILE_HOST = /(?:^|\.)(?:googleapis|googleusercontent)\.com$/i;
const PATHS = { token: "/token", certificates: "/service_accounts/v1/metadata/x509/chat@system.gserviceaccount.com", webKeys: "/oauth2/v3/certs" } as const;
const HINT = "use spaces/<id>, users/<id> or an email address";

/** The chat that a target names. */
export function parseTarget(to: string): Target {
  const bare = to.trim().replace(PREFIX, "");
  const [, space, thread] = /^(?:spaces\/|space:)([\w-]+)(?:\/threads\/([\w.-]+))?$/i.exec(bare) ?? [];
  if (space !== undefined) {
    const name = `spaces/${space}`;
    return { kind: "space", name, ...(thread === undefined ? {} : { thread: `${name}/threads/${thread}` }) };
  }
  const user = userEntry(bare);
  if (isUserId(user) && /^(?:users\/|user:)/i.test(bare)) return { kind: "user", name: user };
  if (/^users\/[^\s@/]+@[^\s@/]+\.[^\s@/]+$/.test(user)) return { kind: "user", name: user };
  throw unfit("send", `"${to}" is not a Google Chat chat; ${HINT}`);
}

export const targetText = ({ name, thread }: Target): string => thread ?? name;

/** `spaces/…/messages/…`. */
export const isMessage = (name: string): boolean => /^spaces\/[\w-]+\/messages\/[\w.-]+$/.test(name);

/** What the answer says of something that is not there, or not for us; other failures are thrown. */
export const ifThere = <T>(asked: Promise<T>): Promise<T | undefined> =>
  asked.catch((error: unknown) => {
    if ([403, 404].includes(asChannelError(error)?.status ?? 0)) return undefined;
    throw error;
  });

function refusalOf({ status, json }: HttpAnswer): Refusal | undefined {
  if (status < 400) return undefined;
  const error = fieldsOf(fieldsOf(json)?.["error"]) ?? {};
  const isOut = status === 401;
  return { reason: textOf(error["status"]), description: textOf(error["message"]), permanent: isOut, ...(isOut ? { fix: AUTH_FIX } : {}) };
}

/** The token endpoint answers 400 and 401 to keys that are not accepted, and to assertions of a machine whose clock is wrong. */
function tokenRefusalOf({ status, json }: HttpAnswer): Refusal | undefined {
  if (status < 400) return undefined;
  const fields = fieldsOf(json) ?? {};
  const description = textOf(fields["error_description"]);
  const said = { reason: textOf(fields["error"]), description };
  if (description?.includes("reasonable timeframe")) return { ...said, delivery: "retry", fix: "check the clock of this machine" };
  const isOut = status === 400 || status === 401 || status === 403;
  return { ...said, permanent: isOut, ...(isOut ? { status: 401, delivery: "failed", fix: AUTH_FIX } : {}) };
}

/** JSON and a file, as Google's uploads take them. */
function related(name: string, { data, mimeType }: FilePart): Pick<HttpRequest, "body" | "headers"> {
  const boundary = `openclaw-${randomUUID()}`;
  const type = /^[\w.+-]+\/[\w.+-]+$/.test(mimeType ?? "") ? mimeType : "application/octet-stream";
  const head = `--${boundary}\r\ncontent-type: application/json; charset=utf-8\r\n\r\n${JSON.stringify({ filename: name })}\r\n--${boundary}\r\ncontent-type: ${type}\r\n\r\n`;
  const body = Buffer.concat([Buffer.from(head), data, Buffer.from(`\r\n--${boundary}--\r\n`)]);
  return { body, headers: { "content-type": `multipart/related; boundary=${boundary}` } };
}

/** The platform says nothing about how long to wait: each refusal in a row doubles it. */
function createPacing() {
  const refused = new Map<string, number>();
  return {
    taken: (space: string): void => void refused.delete(space),
    slower(space: string, failure: ChannelError): ChannelError {
      const count = refused.get(space) ?? 0;
      refused.set(space, count + 1);
      const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** count, LAST_PAUSE_MS);
      return failure.withDelivery({ state: "retry", retryAfterMs: Math.max(pauseMs, failure.delivery.retryAfterMs ?? 0) });
    },
  };
}

/** Requests with the account's token. */
function createCalls(account: GoogleChatAccount, { apiRoot, now }: ApiOptions) {
  const serviceAccount = readServiceAccount(account.serviceAccount);
  if (typeof serviceAccount === "string") throw unfit("start", `channels.googlechat.serviceAccount: ${serviceAccount}`, "CONFIG_INVALID");
  const oauthRoot = apiRoot ?? "https://oauth2.googleapis.com";
  const oauth = createHttpClient({ platform: "Google", baseUrl: oauthRoot, readRefusal: tokenRefusalOf, now });
  const tokens = createAccessTokens({ serviceAccount, http: oauth, path: PATHS.token, audience: `${oauthRoot}${PATHS.token}`, now });
  const http = createHttpClient({
    platform: "Google Chat",
    baseUrl: apiRoot ?? "https://chat.googleapis.com",
    headers: async () => ({ authorization: `Bearer ${await tokens.get()}` }),
    readRefusal: refusalOf,
    now,
  });
  const pacing = createPacing();

  /** A token that is refused is replaced once: the request had no effect. */
  async function call(method: string, path: string, more: Omit<HttpRequest, "path" | "method"> = {}): Promise<Fields> {
    const ask = async (): Promise<Fields> => fieldsOf((await http.request({ method, path, ...more })).json) ?? {};
    try {
      return await ask();
    } catch (error) {
      const failure = asChannelError(error);
      if (failure?.status !== 401 || failure.action === SIGN_IN) throw error;
      tokens.drop();
      return ask();
    }
  }

  /** Messages of a space wait together. */
  async function write(method: string, space: string, path: string, more: Omit<HttpRequest, "path" | "method">): Promise<Fields> {
    try {
      const answer = await call(method, path, { lane: space, ...more });
      pacing.taken(space);
      return answer;
    } catch (error) {
      const failure = asChannelError(error);
      // What was not asked because of the pause before it is no refusal of its own.
      const isRefusal = failure?.status === 429 && (failure.reason !== undefined || failure.body !== undefined);
      throw isRefusal ? pacing.slower(space, failure) : error;
    }
  }

  async function pages(path: string, key: string, most: number, query: HttpRequest["query"] = {}): Promise<Fields[]> {
    const found: Fields[] = [];
    for (let pageToken: string | undefined; ;) {
      const page = await call("GET", path, { query: { pageSize: Math.min(100, most), ...query, pageToken } });
      found.push(...recordsOf(page[key]));
      pageToken = textOf(page["nextPageToken"]);
      if (pageToken === undefined || found.length >= most) return found.slice(0, most);
    }
  }

  return {
    call,
    write,
    pages,
    http,
    close(): void {
      http.close();
      oauth.close();
    },
  };
}

export type GoogleChatApi = ReturnType<typeof createApi>;

const spaceOf = (name: string): string => name.split("/").slice(0, 2).join("/");

export function createApi(account: GoogleChatAccount, options: ApiOptions) {
  const { call, write, pages, http, close } = createCalls(account, options);
  const directs = createCache(async (user) => {
    const found = await unseen(ifThere(call("GET", "/v1/spaces:findDirectMessage", { query: { name: user } })));
    const name = textOf(found?.["name"]);
    if (name === undefined) throw unfit("send", `Google Chat has no direct message between the app and ${user}; the person has to write to the app first`);
    return name;
  });
  /** The thread of a message; empty where the message is not there. */
  const threads = createCache(async (name) => textOf(fieldsOf((await unseen(ifThere(call("GET", `/v1/${name}`))))?.["thread"])?.["name"]) ?? "");

  return {
    call,
    pages,
    threads,
    close,
    /** Whether the platform takes the service account, and knows a Chat app for its project. */
    check: (signal?: AbortSignal) => call("GET", "/v1/spaces", { query: { pageSize: 1 }, signal, timeoutMs: 15_000, action: "check" }),
    async spaceFor(target: Target): Promise<string> {
      return target.kind === "space" ? target.name : directs.get(target.name);
    },
    message: (name: string) => ifThere(call("GET", `/v1/${name}`)),
    async create(space: string, { thread, ...draft }: MessageDraft, { requestId, messageId, signal }: CreateOptions = {}): Promise<Fields> {
      const query = { requestId, messageId, ...(thread === undefined ? {} : { messageReplyOption: "REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD" }) };
      const json = { ...draft, ...(thread === undefined ? {} : { thread: { name: thread } }) };
      const made = await write("POST", space, `/v1/${space}/messages`, { json, query, signal, action: "send" });
      const [name, its] = [textOf(made["name"]), textOf(fieldsOf(made["thread"])?.["name"])];
      const names = [name, messageId && `${space}/messages/${messageId}`].filter((one) => one !== undefined);
      if (its !== undefined) for (const one of names) threads.set(one, its);
      return made;
    },
    edit: (name: string, draft: Omit<MessageDraft, "thread" | "attachment">, signal?: AbortSignal): Promise<Fields> =>
      write("PATCH", spaceOf(name), `/v1/${name}`, { json: draft, query: { updateMask: Object.keys(draft).join(",") }, signal, action: "edit" }),
    remove: (name: string, signal?: AbortSignal): Promise<Fields> => write("DELETE", spaceOf(name), `/v1/${name}`, { signal, action: "delete" }),
    /** Gives the token that a message names the file by. */
    async upload(space: string, file: FilePart, signal?: AbortSignal): Promise<string> {
      const path = `/upload/v1/${space}/attachments:upload`;
      const more = { ...related(safeFileName(file.fileName), file), query: { uploadType: "multipart" }, signal, action: "upload" };
      const answer = await unseen(write("POST", space, path, more));
      const token = textOf(fieldsOf(answer["attachmentDataRef"])?.["attachmentUploadToken"]);
      if (token === undefined) throw unfit("upload", "Google Chat accepted the file but returned no token", "BAD_ANSWER");
      return token;
    },
    async download(resource: string, maxBytes: number, signal: AbortSignal) {
      const parts = resource.split("/");
      if (parts.some((part) => /^\.{0,2}$/.test(part))) throw unfit("download", "the file's name points elsewhere");
      const path = `/v1/media/${parts.map(encodeURIComponent).join("/")}?alt=media`;
      return http.download({ path, maxBytes, signal, allowHost: (host) => FILE_HOST.test(host) });
    },
  };
}

/** The keys that tokens of Google Chat are signed with: certificates, and web keys for ID tokens. */
export function createKeys({ apiRoot, now }: ApiOptions): Record<"app-url" | "project-number", KeySource> & Disposable {
  const http = createHttpClient({ platform: "Google", baseUrl: apiRoot ?? "https://www.googleapis.com", now });
  return {
    "app-url": createKeySource({ http, path: PATHS.webKeys, now }),
    "project-number": createKeySource({ http, path: PATHS.certificates, now }),
    [Symbol.dispose]: () => http.close(),
  };
}
