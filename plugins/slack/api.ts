/** The Web API: plain requests, one token each, and what its errors mean for what was asked. */
import {
  createHttpClient,
  type Fields,
  fieldsOf,
  type HttpAnswer,
  type HttpClient,
  listOf,
  type Refusal,
  refusedHost,
  textOf,
  type Transport,
  unfit,
} from "openclaw/plugin-sdk/channel-kit";
import type { SlackAccount } from "./account.ts";

export const API_ROOT = "https://slack.com/api";

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  /** Requests of one conversation wait together after a 429. */
  readonly lane?: string | undefined;
  /** Whose token; default `write`. */
  readonly as?: "write" | "read" | "app" | undefined;
}

export type Params = Readonly<Record<string, string | number | boolean | object | undefined>>;

export interface SlackApi {
  call(method: string, params?: Params, options?: CallOptions): Promise<Fields>;
  /** The same with what stands beside the answer. */
  ask(method: string, params?: Params, options?: CallOptions): Promise<HttpAnswer>;
  /** All pages of a list, up to `most` entries. */
  list(method: string, key: string, params: Params, most: number, options?: CallOptions): Promise<readonly Fields[]>;
  /** A request to an address that Slack gave us for it. */
  post(url: string, content: { readonly json?: unknown; readonly body?: Uint8Array }, action: string, signal?: AbortSignal): Promise<void>;
  download(url: string, maxBytes: number, signal: AbortSignal): Promise<{ data: Buffer; mimeType: string | undefined }>;
  close(): void;
}

/** The token, the app or the workspace is not there any more: only a person can change that. */
const AUTH_ERRORS: ReadonlySet<string> = new Set([
  "not_authed",
  "invalid_auth",
  "account_inactive",
  "user_removed_from_team",
  "team_disabled",
  "token_revoked",
  "token_expired",
  "org_login_required",
]);
/** Slack's own trouble: it may have happened all the same. */
const UNSURE: ReadonlySet<string> = new Set(["fatal_error", "internal_error", "request_timeout"]);
const LATER: ReadonlySet<string> = new Set(["service_unavailable", "team_added_to_org", "rollup_error"]);

const FIXES: Readonly<Record<string, string>> = {
  not_in_channel: "invite the bot there: /invite @<its name>",
  channel_not_found: "check the id, and that the bot was invited",
  link_disabled: "turn on Socket Mode in the app's settings",
};

function fixOf(error: string, body: Fields): string | undefined {
  if (error === "missing_scope") return `add the scope ${textOf(body["needed"]) ?? "that is missing"} under OAuth & Permissions and install the app again`;
  return AUTH_ERRORS.has(error) ? "install the app again and set its tokens in channels.slack" : FIXES[error];
}

/** `ok: false` comes with status 200. */
export function readRefusal({ status, json }: HttpAnswer): Refusal | undefined {
  const body = fieldsOf(json);
  if (status < 400 && body?.["ok"] === true) return undefined;
  const error = textOf(body?.["error"]);
  if (body === undefined || error === undefined)
    return { status: status < 400 ? 502 : status, description: "the response is not from Slack", ...(status < 400 ? { delivery: "unknown" } : {}) };
  if (status === 429 || error === "ratelimited" || error === "rate_limited") return { status: 429, reason: error };
  const fix = fixOf(error, body);
  return {
    status: AUTH_ERRORS.has(error) ? 401 : status < 400 ? 400 : status,
    reason: error,
    delivery: UNSURE.has(error) ? "unknown" : LATER.has(error) ? "retry" : "failed",
    permanent: AUTH_ERRORS.has(error) || error === "link_disabled" || error === "not_allowed_token_type",
    ...(fix === undefined ? {} : { fix }),
  };
}

/** Where files may come from. */
const isFileHost = (host: string): boolean => /(?:^|\.)(?:slack\.com|slack-edge\.com|slack-files\.com)$/.test(host);

/** Everything as a form: methods that read see no JSON. */
function formOf(params: Params): Record<string, string> {
  const entries = Object.entries(params).flatMap(([key, value]): [string, string][] => {
    if (value === undefined) return [];
    return [[key, typeof value === "object" ? JSON.stringify(value) : String(value)]];
  });
  return Object.fromEntries(entries);
}

export interface ApiOptions {
  readonly apiRoot?: string | undefined;
  readonly transport?: Transport | undefined;
  readonly now?: (() => number) | undefined;
}

export function createApi(account: SlackAccount, options: ApiOptions = {}): SlackApi {
  const { botToken, appToken, userToken, signingSecret, isUserReadOnly } = account;
  const root = options.apiRoot ?? API_ROOT;
  const isTest = options.apiRoot !== undefined && options.transport === undefined;
  const secrets = [botToken, appToken, userToken, signingSecret];
  const base = { platform: "Slack", secrets, now: options.now, transport: options.transport };
  const client = createHttpClient({ ...base, baseUrl: root, readRefusal });
  /** No headers of ours, and answers that are no JSON. */
  const plain = createHttpClient({ ...base, baseUrl: root });
  const downloads = new Map<string, HttpClient>();
  const writing = botToken || (isUserReadOnly ? "" : userToken);
  const tokens = { write: writing, read: userToken || writing, app: appToken };

  async function ask(method: string, params: Params = {}, { signal, timeoutMs, lane, as = "write" }: CallOptions = {}): Promise<HttpAnswer> {
    const token = tokens[as];
    if (token === "") throw unfit(method, as === "app" ? "no app token: set channels.slack.appToken" : "no token for this action: set channels.slack.botToken");
    return client.request({ path: `/${method}`, form: formOf(params), headers: { authorization: `Bearer ${token}` }, signal, timeoutMs, lane, action: method });
  }
  const call = async (method: string, params?: Params, callOptions?: CallOptions): Promise<Fields> =>
    fieldsOf((await ask(method, params, callOptions)).json) ?? {};

  /** A client for the host of a file: the token goes to that one, and to none that it leads to. */
  function downloader(url: string): HttpClient {
    const { origin, hostname, protocol } = new URL(url);
    const isAllowed = (protocol === "https:" && isFileHost(hostname)) || (isTest && hostname === new URL(root).hostname);
    if (!isAllowed) throw refusedHost("Slack", url);
    const known = downloads.get(origin);
    if (known) return known;
    const made = createHttpClient({ ...base, baseUrl: origin, headers: { authorization: `Bearer ${tokens.write}` } });
    downloads.set(origin, made);
    return made;
  }

  return {
    call,
    ask,
    async list(method, key, params, most, callOptions) {
      const found: Fields[] = [];
      for (let cursor = ""; found.length < most;) {
        const answer = await call(method, { ...params, limit: Math.min(200, most), ...(cursor === "" ? {} : { cursor }) }, callOptions);
        const entries = answer[key];
        found.push(...listOf(entries).flatMap((entry): Fields[] => (typeof entry === "string" ? [{ id: entry }] : [fieldsOf(entry) ?? {}])));
        cursor = textOf(fieldsOf(answer["response_metadata"])?.["next_cursor"]) ?? "";
        if (cursor === "") break;
      }
      return found.slice(0, most);
    },
    async post(url, content, action, signal) {
      await plain.request({ method: "POST", path: url, action, signal, ...content });
    },
    download: async (url, maxBytes, signal) => downloader(url).download({ path: url, maxBytes, signal, allowHost: isFileHost }),
    close() {
      for (const one of [client, plain, ...downloads.values()]) one.close();
    },
  };
}

/** The token is gone: nothing works until a person changes the configuration. */
export const isAuthLost = (reason: string | undefined): boolean => reason !== undefined && AUTH_ERRORS.has(reason);
