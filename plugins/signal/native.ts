/** The daemon of signal-cli: JSON-RPC over HTTP, and a stream of events. */
import { randomUUID } from "node:crypto";
import {
  asChannelError,
  createHttpClient,
  type Fields,
  fieldsOf,
  hopeless,
  type HttpAnswer,
  type HttpClient,
  jsonOf,
  messageOf,
  recordsOf,
  type Refusal,
  textOf,
  unfit,
  unsure,
  wholeOf,
} from "openclaw/plugin-sdk/channel-kit";
import { toStyleRanges } from "openclaw/plugin-sdk/rich-text";
import type { SignalAccount } from "./account.ts";
import { ACCOUNT_FIX, CODES, dataUri, type Listener, type ListenOptions, type Outgoing, refusalIn, refused, RPC_MS, SEND_MS, type SignalApi } from "./api.ts";
import { createEventReader } from "./sse.ts";
import { bareId, type Target } from "./target.ts";

/** The daemon writes a comment every 15 s. */
const SILENCE_MS = 45_000;

/** What an answer says against a request. Errors come with 200. */
function refusalOf({ status, json }: HttpAnswer): Refusal | undefined {
  const error = fieldsOf(fieldsOf(json)?.["error"]);
  if (!error) return status === 421 ? { fix: "signal-cli only responds on the host that it is bound to: correct channels.signal.httpUrl" } : undefined;
  const [code, description] = [wholeOf(error["code"]) ?? 0, textOf(error["message"])];
  const results = fieldsOf(fieldsOf(error["data"])?.["response"])?.["results"];
  const ended = refusalIn(results);
  if (ended) return { ...ended, description: ended.description ?? description };
  const isAccount = code === -32_602 && /\baccount\b/i.test(description ?? "");
  if (isAccount) return { status: 401, description, permanent: true, fix: ACCOUNT_FIX };
  return { reason: String(code), description, ...(CODES[code] ?? { status: 400, delivery: "failed" }) };
}

const place = ({ kind, id }: Target): Fields => (kind === "group" ? { groupId: id } : { [kind === "person" ? "recipient" : "username"]: [bareId(id)] });

function sendParams({ target, rich, mentions, files = [], quote, editOf }: Outgoing): Fields {
  const { text, ranges } = toStyleRanges(rich);
  return {
    ...place(target),
    message: text,
    ...(ranges.length > 0 ? { "text-style": ranges } : {}),
    ...(mentions.length > 0 ? { mention: mentions.map(({ start, length, author }) => `${start}:${length}:${bareId(author)}`) } : {}),
    ...(files.length === 0 ? {} : { attachments: files.map(dataUri) }),
    ...(quote === undefined ? {} : { quoteTimestamp: quote.timestamp, quoteAuthor: bareId(quote.author), quoteMessage: quote.message }),
    ...(editOf === undefined ? {} : { editTimestamp: editOf }),
  };
}

/** Ends by itself after a silence, also of a daemon that never begins to answer. */
function listen(http: HttpClient, number: string | undefined, { signal, lastId, opened, alive, event, garbage }: ListenOptions): Listener {
  const silent = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let gate: PromiseWithResolvers<void> | undefined;
  const release = (): void => gate?.resolve();
  const watch = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => silent.abort(), SILENCE_MS);
    timer.unref();
  };

  async function read(): Promise<unknown> {
    watch();
    const answer = await http.stream({
      path: "/api/v1/events",
      query: { account: number },
      headers: { accept: "text/event-stream", ...(lastId === undefined ? {} : { "last-event-id": lastId }) },
      signal: AbortSignal.any([signal, silent.signal]),
    });
    opened();
    const take = createEventReader(
      ({ id, data }) => {
        const message = jsonOf(data);
        if (message === undefined) garbage("an event that is not JSON");
        else event(message, id);
      },
      () => garbage("an event that is too long"),
    );
    for await (const chunk of answer.stream()) {
      watch();
      alive();
      take(chunk);
      if (!gate) continue;
      // Nothing is heard because nobody listens.
      clearTimeout(timer);
      await gate.promise;
      watch();
    }
    return unsure("receive", "signal-cli closed the event stream");
  }

  const ended = read()
    .catch((error: unknown) => {
      if (silent.signal.aborted) return unsure("receive", `nothing received from signal-cli for ${SILENCE_MS / 1000} s`);
      const failure = asChannelError(error);
      if (!failure) return unsure("receive", `the connection to signal-cli was lost: ${messageOf(error)}`);
      // It does not know the account.
      return failure.status === 400 ? hopeless(`signal-cli does not have this account: ${ACCOUNT_FIX}`) : failure;
    })
    .finally(() => {
      clearTimeout(timer);
      signal.removeEventListener("abort", release);
    });
  signal.addEventListener("abort", release);
  return {
    ended,
    flow(isOpen) {
      if (isOpen) gate?.resolve();
      gate = isOpen ? undefined : Promise.withResolvers<void>();
    },
  };
}

interface RpcOptions {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number;
  readonly lane?: string;
  readonly maxBytes?: number;
}

export function createNative(account: SignalAccount): SignalApi {
  const http = createHttpClient({ platform: "Signal", baseUrl: account.baseUrl, readRefusal: refusalOf });
  async function rpc(method: string, params: Fields, { timeoutMs = RPC_MS, ...more }: RpcOptions = {}): Promise<unknown> {
    const all = { ...(account.number === "" ? {} : { account: account.number }), ...params };
    const { json } = await http.request({
      path: "/api/v1/rpc",
      json: { jsonrpc: "2.0", id: randomUUID(), method, params: all },
      action: method,
      timeoutMs,
      ...more,
    });
    return fieldsOf(json)?.["result"];
  }

  return {
    form: "native",
    async check(signal) {
      await http.request({ path: "/api/v1/check", timeoutMs: RPC_MS, signal });
    },
    async self(signal) {
      const own = { number: account.number || undefined, uuid: account.uuid };
      const result = await rpc("listAccounts", { account: undefined }, { signal }).catch((error: unknown) => {
        // A daemon that was started for one account does not list it.
        if (asChannelError(error)?.reason === "-32601") return undefined;
        throw error;
      });
      if (result === undefined) return own;
      const all = recordsOf(result);
      const found = account.number === "" && all.length === 1 ? all[0] : all.find(({ number }) => number === account.number);
      if (!found) throw hopeless(`signal-cli does not have ${account.number || "exactly one account"}: ${ACCOUNT_FIX}`);
      return { number: own.number ?? textOf(found["number"]), uuid: own.uuid ?? textOf(found["aci"]) ?? textOf(found["uuid"]) };
    },
    listen: (options) => listen(http, options.self.number, options),
    async send(message) {
      const { signal, editOf } = message;
      const action = editOf === undefined ? "send" : "edit";
      const result = fieldsOf(await rpc("send", sendParams(message), { signal, timeoutMs: SEND_MS, lane: "send" }));
      const refusal = refusalIn(result?.["results"]);
      if (refusal) throw refused(action, refusal);
      const timestamp = wholeOf(result?.["timestamp"]);
      if (timestamp === undefined) throw unsure(action, "the response is not from signal-cli: the message may have been sent");
      return timestamp;
    },
    async typing(target, isOn, signal) {
      await rpc("sendTyping", { ...place(target), ...(isOn ? {} : { stop: true }) }, { signal });
    },
    async markRead(person, timestamp) {
      await rpc("sendReceipt", { recipient: bareId(person), targetTimestamp: [timestamp], type: "read" });
    },
    async react({ target, author, timestamp, emoji, remove }) {
      await rpc("sendReaction", {
        ...place(target),
        emoji,
        targetAuthor: bareId(author),
        targetTimestamp: timestamp,
        ...(remove ? { remove: true } : {}),
      });
    },
    async remove(target, timestamp) {
      await rpc("remoteDelete", { ...place(target), targetTimestamp: timestamp });
    },
    async file({ id, target }, maxBytes, signal) {
      const where = target.kind === "group" ? { groupId: target.id } : { recipient: bareId(target.id) };
      const result = await rpc("getAttachment", { id, ...where }, { signal, timeoutMs: SEND_MS, maxBytes: Math.ceil((maxBytes * 4) / 3) + 4096 });
      const encoded = textOf(fieldsOf(result)?.["data"]) ?? textOf(result);
      if (encoded === undefined) throw unfit("download", "signal-cli returned no file", "BAD_ANSWER");
      const data = Buffer.from(encoded, "base64");
      if (data.length > maxBytes) throw unfit("download", `the file has more than ${maxBytes} bytes; raise channels.signal.mediaMaxMb`);
      return data;
    },
    async groups() {
      return recordsOf(await rpc("listGroups", {})).map(({ id, name, members }) => ({
        id: textOf(id) ?? "",
        name: textOf(name) ?? "",
        members: recordsOf(members).flatMap(
          (member) => textOf(member["number"]) ?? (textOf(member["uuid"]) === undefined ? [] : `uuid:${String(member["uuid"])}`),
        ),
      }));
    },
    close: () => http.close(),
  };
}
