/** The container around signal-cli: REST for what goes out, a WebSocket for what comes in. */
import {
  createHttpClient,
  type Fields,
  fieldsOf,
  hopeless,
  type HttpRequest,
  openSocket,
  recordsOf,
  type Refusal,
  textOf,
  textsOf,
  unsure,
} from "openclaw/plugin-sdk/channel-kit";
import { type MarkerTable, type RichText, toMarkers } from "openclaw/plugin-sdk/rich-text";
import type { SignalAccount } from "./account.ts";
import { ACCOUNT_FIX, dataUri, type ListenOptions, type Listener, type Outgoing, RPC_MS, SEND_MS, type SignalApi } from "./api.ts";
import { bareId, personIn, type Target } from "./target.ts";

/** How `text_mode: styled` is written. Not every version lets a sign stand for itself: a text that has one goes out without styles, and whole. */
const MARKERS: MarkerTable = { styles: { bold: "**", heading: "**", italic: "*", strikethrough: "~", code: "`", spoiler: "||" } };
const SIGNS = /[\\*~`|]/;

function textFields(rich: RichText): Fields {
  if (rich.styles.length === 0 || SIGNS.test(rich.text)) return { message: rich.text, text_mode: "normal" };
  // A block is code, line by line.
  const styles = rich.styles.map((style) => (style.style === "code_block" ? { ...style, style: "code" as const } : style));
  return { message: toMarkers({ ...rich, styles }, MARKERS), text_mode: "styled" };
}

const recipientOf = ({ kind, id }: Target): string => (kind === "group" ? `group.${Buffer.from(id).toString("base64")}` : bareId(id));

function refusalOf(status: number, json: unknown): Refusal | undefined {
  const description = textOf(fieldsOf(json)?.["error"]);
  if (status < 400) return undefined;
  if (/account does not exist|not registered/i.test(description ?? "")) return { status: 401, description, permanent: true, fix: ACCOUNT_FIX };
  if (/rate ?limit/i.test(description ?? "")) return { status: 429, description, retryAfterMs: 60_000 };
  return { description };
}

function sendFields({ target, rich, mentions, files = [], quote, editOf }: Outgoing): Fields {
  return {
    recipients: [recipientOf(target)],
    ...textFields(rich),
    ...(mentions.length > 0 ? { mentions: mentions.map(({ start, length, author }) => ({ start, length, author: bareId(author) })) } : {}),
    ...(files.length === 0 ? {} : { base64_attachments: files.map(dataUri) }),
    ...(quote === undefined ? {} : { quote_timestamp: quote.timestamp, quote_author: bareId(quote.author), quote_message: quote.message }),
    ...(editOf === undefined ? {} : { edit_timestamp: editOf }),
  };
}

export function createContainer(account: SignalAccount): SignalApi {
  const { baseUrl } = account;
  const http = createHttpClient({ platform: "Signal", baseUrl, readRefusal: ({ status, json }) => refusalOf(status, json) });
  const ask = async (method: string, path: string, more: Omit<HttpRequest, "method" | "path"> = {}): Promise<unknown> =>
    (await http.request({ method, path, timeoutMs: RPC_MS, ...more })).json;
  let number = account.number;
  const own = async (): Promise<string> => encodeURIComponent(number || ((await api.self()).number ?? ""));
  const onOwn = async (method: string, what: string, fields: Fields, action: string, signal?: AbortSignal): Promise<unknown> =>
    ask(method, `/v1/${what}/${await own()}`, { json: fields, action, signal });

  function listen({ self, signal, opened, alive, event, garbage }: ListenOptions): Listener {
    const url = `${baseUrl.replace(/^http/i, "ws")}/v1/receive/${encodeURIComponent(self.number ?? "")}`;
    const onGarbage = (): void => garbage("an event that is not JSON");
    const socket = openSocket({ platform: "Signal", url, signal, onAlive: alive, onGarbage, onMessage: (message) => event(message, undefined) });
    const follow = async (): Promise<unknown> => {
      await socket.opened;
      opened();
      const { code, reason, error } = await socket.ended;
      return error ?? unsure("receive", `the container closed the connection: ${code} ${reason}`.trim());
    };
    return { ended: follow().catch((error: unknown) => error), flow: (isOpen) => socket.flow(isOpen) };
  }

  const api: SignalApi = {
    form: "container",
    async check(signal) {
      await ask("GET", "/v1/about", { signal });
    },
    async self(signal) {
      const all = textsOf(await ask("GET", "/v1/accounts", { signal }));
      const found = account.number === "" && all.length === 1 ? all[0] : all.find((one) => one === account.number);
      if (found === undefined) throw hopeless(`the container does not have ${account.number || "exactly one account"}: ${ACCOUNT_FIX}`);
      number = found;
      return { number: found, uuid: account.uuid };
    },
    listen,
    async send(message) {
      const action = message.editOf === undefined ? "send" : "edit";
      const json = { number: decodeURIComponent(await own()), ...sendFields(message) };
      const answer = fieldsOf(await ask("POST", "/v2/send", { json, signal: message.signal, timeoutMs: SEND_MS, lane: "send", action }));
      const timestamp = Number(answer?.["timestamp"]);
      if (!Number.isSafeInteger(timestamp) || timestamp <= 0) throw unsure(action, "the response is not from the container: the message may have been sent");
      return timestamp;
    },
    async typing(target, isOn, signal) {
      await onOwn(isOn ? "PUT" : "DELETE", "typing-indicator", { recipient: recipientOf(target) }, "typing", signal);
    },
    async markRead(person, timestamp) {
      await onOwn("POST", "receipts", { receipt_type: "read", recipient: bareId(person), timestamp }, "receipt");
    },
    async react({ target, author, timestamp, emoji, remove }) {
      const fields = { reaction: emoji, recipient: recipientOf(target), target_author: bareId(author), timestamp };
      await onOwn(remove ? "DELETE" : "POST", "reactions", fields, "react");
    },
    async remove(target, timestamp) {
      await onOwn("DELETE", "remote-delete", { recipient: recipientOf(target), timestamp }, "delete");
    },
    file: async ({ id }, maxBytes, signal) => (await http.download({ path: `/v1/attachments/${encodeURIComponent(id)}`, maxBytes, signal })).data,
    async groups() {
      return recordsOf(await ask("GET", `/v1/groups/${await own()}`)).map(({ internal_id: id, name, members }) => ({
        id: textOf(id) ?? "",
        name: textOf(name) ?? "",
        members: textsOf(members).flatMap((member) => personIn(member) ?? []),
      }));
    },
    close: () => http.close(),
  };
  return api;
}
