/** The daemon of signal-cli over HTTP: JSON-RPC, and a stream of events. */
import type { ServerResponse } from "node:http";
import type { Answer, Asked } from "../../../src/plugin-testing/index.ts";
import { fileIn, listParam, numberParam, type Params, paramsOf, Refused, textParam } from "./objects.ts";
import { type Outcomes, refusalOf } from "./outcomes.ts";
import type { Draft, Envelope, World } from "./world.ts";

export interface NativeDeps {
  readonly world: World;
  readonly outcomes: Outcomes;
  /** Numbers that are registered on this machine. */
  readonly accounts: Set<string>;
  /** Newest daemons number events and keep the last of them. */
  readonly hasIds: boolean;
  /** Started with `-a`: there is no other account, and none has to be named. */
  readonly isSingle: boolean;
  readonly typing: { readonly chat: string; readonly stop: boolean }[];
  readonly receipts: { readonly to: string; readonly timestamps: readonly number[]; readonly type: string }[];
}

const KEPT = 1000;
const COMMENT_MS = 15_000;

interface Stream {
  readonly response: ServerResponse;
  readonly account: string | undefined;
  isFrozen: boolean;
}

/** What listeners of events get. */
export function createEvents({ world, accounts, hasIds, isSingle }: NativeDeps) {
  let streams: Stream[] = [];
  const kept: { readonly id: number; readonly text: string }[] = [];
  let next = 1;
  let conflicts = 0;

  const frame = (id: number, text: string): string => `${hasIds ? `id:${id}\n` : ""}event:receive\ndata:${text}\n\n`;
  function write(stream: Stream, text: string): void {
    if (!stream.isFrozen) stream.response.write(text);
  }
  function broadcast(text: string): void {
    const id = next++;
    kept.push({ id, text });
    if (kept.length > KEPT) kept.shift();
    for (const stream of streams) write(stream, frame(id, text));
  }

  /** The events that a listener with this last one has missed. */
  function missed(lastId: string | undefined): readonly { readonly id: number; readonly text: string }[] {
    if (!hasIds || lastId === undefined) return [];
    const at = kept.findIndex(({ id }) => String(id) === lastId);
    return kept.slice(at + 1);
  }

  return {
    emit: (envelope: Envelope): void => broadcast(JSON.stringify({ envelope, account: world.me.number })),
    raw: broadcast,
    /** Writes bytes as they are to everybody who listens. */
    bytes(text: string): void {
      for (const stream of streams) write(stream, text);
    },
    open(asked: Asked): Answer {
      const account = asked.query.get("account") ?? undefined;
      if (!isSingle && account !== undefined && !accounts.has(account)) return { status: 400, body: "" };
      if (isSingle && accounts.size === 0) return { status: 400, body: "" };
      const header = asked.headers["last-event-id"];
      return {
        headers: { "content-type": "text/event-stream", "cache-control": "no-cache" },
        stream(response) {
          const stream: Stream = { response, account, isFrozen: false };
          const ticking = setInterval(() => write(stream, ":\n"), COMMENT_MS);
          ticking.unref();
          response.once("close", () => {
            clearInterval(ticking);
            streams = streams.filter((other) => other !== stream);
          });
          if (streams.some((other) => !other.isFrozen && other.account === account)) conflicts += 1;
          streams.push(stream);
          write(stream, ":\n");
          for (const { id, text } of missed(Array.isArray(header) ? header[0] : header)) write(stream, frame(id, text));
        },
      };
    },
    freeze: (): void => streams.forEach((stream) => (stream.isFrozen = true)),
    /** After a restart of the daemon nothing is known of earlier events. */
    forget(): void {
      kept.length = 0;
      next += 100_000;
    },
    count: (): number => streams.filter(({ isFrozen }) => !isFrozen).length,
    conflicts: (): number => conflicts,
  };
}

/** Where a message goes: the uuid of a person, or the id of a group. */
export function chatOf(world: World, params: Params): string {
  const groupId = textParam(params, "group-id");
  if (groupId !== undefined) {
    const group = world.groups().find(({ id }) => id === groupId);
    if (!group) throw new Refused(-1, `Group not found: ${groupId}`);
    return group.id;
  }
  const [recipient] = [...listParam(params, "recipient"), ...listParam(params, "username")];
  if (recipient === undefined) throw new Refused(-1, "No recipients given");
  if (!/^\+\d{5,15}$|^[0-9a-f-]{36}$|^[\w]+\.\d+$/i.test(recipient)) throw new Refused(-1, `Invalid recipient: ${recipient}`);
  return world.people.find(recipient)?.uuid ?? `unregistered:${recipient}`;
}

/** Sends or edits, and says how that ended. */
export function deliver({ world, outcomes }: Pick<NativeDeps, "world" | "outcomes">, chat: string, draft: Draft, editOf: number | undefined): number {
  if (draft.text === "" && draft.files.length === 0) throw new Refused(-1, "No message given");
  const result = chat.startsWith("unregistered:") ? { type: "UNREGISTERED_FAILURE" } : outcomes.take();
  if (result.type !== "SUCCESS") throw refusalOf(result, world.now(), chat);
  if (editOf === undefined) return world.send(chat, draft);
  if (!world.rewrite(chat, editOf, draft)) throw new Refused(-1, "Failed to edit: no such message");
  return world.now();
}

function draftOf(params: Params): Draft {
  const timestamp = numberParam(params, "quote-timestamp");
  const author = textParam(params, "quote-author");
  if (timestamp !== undefined && author === undefined) throw new Refused(-1, "Quote author parameter is missing");
  return {
    text: textParam(params, "message") ?? "",
    styles: listParam(params, "text-style"),
    mentions: listParam(params, "mention"),
    files: listParam(params, "attachment").map(fileIn),
    quote: timestamp === undefined ? undefined : { timestamp, author: author!, message: textParam(params, "quote-message") ?? "" },
  };
}

function need<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new Refused(-1, `Missing parameter ${name}`);
  return value;
}

type Method = (params: Params) => unknown;

export function createMethods(deps: NativeDeps): Readonly<Record<string, Method>> {
  const { world, accounts, isSingle, typing, receipts } = deps;
  const methods: Record<string, Method> = {
    version: () => ({ version: "0.14.6" }),
    send(params) {
      const chat = chatOf(world, params);
      const timestamp = deliver(deps, chat, draftOf(params), numberParam(params, "edit-timestamp"));
      return { timestamp, results: [{ recipientAddress: { uuid: chat }, type: "SUCCESS" }] };
    },
    sendTyping(params) {
      typing.push({ chat: chatOf(world, params), stop: params["stop"] === true });
      return { timestamp: world.now(), results: [] };
    },
    sendReceipt(params) {
      const targets = params["targetTimestamp"] ?? params["targetTimestamps"];
      const timestamps = (Array.isArray(targets) ? targets : [targets]).map(Number);
      receipts.push({ to: chatOf(world, params), timestamps, type: textParam(params, "type") ?? "read" });
      return { timestamp: world.now(), results: [] };
    },
    sendReaction(params) {
      const author = need(textParam(params, "target-author"), "targetAuthor");
      const reaction = {
        chat: chatOf(world, params),
        emoji: need(textParam(params, "emoji"), "emoji"),
        author: world.people.find(author)?.uuid ?? author,
        timestamp: need(numberParam(params, "target-timestamp"), "targetTimestamp"),
      };
      world.setReaction(reaction, params["remove"] !== true);
      return { timestamp: world.now(), results: [{ type: "SUCCESS" }] };
    },
    remoteDelete(params) {
      if (!world.remove(chatOf(world, params), need(numberParam(params, "target-timestamp"), "targetTimestamp"))) throw new Refused(-1, "Failed to delete");
      return { timestamp: world.now(), results: [{ type: "SUCCESS" }] };
    },
    getAttachment(params) {
      const file = world.files.get(need(textParam(params, "id"), "id"));
      if (!file) throw new Refused(-3, "Could not find attachment with ID");
      return { data: file.data.toString("base64") };
    },
    listGroups: () =>
      world.groups().map(({ id, name, members }) => ({ id, name, isMember: true, isBlocked: false, members: [...members].map((uuid) => ({ uuid })) })),
  };
  if (!isSingle) methods["listAccounts"] = () => [...accounts].map((number) => ({ number, aci: number === world.me.number ? world.me.uuid : null }));
  return methods;
}

const WITHOUT_ACCOUNT = new Set(["version", "listAccounts"]);

function call(methods: Readonly<Record<string, Method>>, { accounts, isSingle }: NativeDeps, request: unknown): object | undefined {
  const { method, id = null, params } = paramsOf(request);
  const answer = (content: object): object => ({ jsonrpc: "2.0", ...content, id });
  try {
    if (typeof method !== "string") throw new Refused(-32_600, "method field must be set");
    const run = methods[method];
    if (!run) throw new Refused(-32_601, "Method not implemented");
    const { account, ...rest } = paramsOf(params);
    if (!isSingle && !WITHOUT_ACCOUNT.has(method)) {
      if (typeof account !== "string" && accounts.size !== 1) throw new Refused(-32_602, "Method requires valid account parameter");
      if (typeof account === "string" && !accounts.has(account)) throw new Refused(-32_602, "Specified account does not exist");
    }
    const result = run(rest);
    return id === null ? undefined : answer({ result });
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return answer({ error: { code: error.code, message: error.message, data: error.data } });
  }
}

/** Answers everything below `/api/v1`. */
export function createNative(deps: NativeDeps, events: ReturnType<typeof createEvents>): (asked: Asked) => Answer | undefined {
  const methods = createMethods(deps);
  return (asked) => {
    const { method, path, headers, body } = asked;
    if (!path.startsWith("/api/v1/")) return undefined;
    if (!/^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/.test(headers.host ?? "")) return { status: 421, body: "" };
    if (path === "/api/v1/check") return method === "GET" ? { body: "" } : { status: 405, body: "" };
    if (path === "/api/v1/events") return method === "GET" ? events.open(asked) : { status: 405, body: "" };
    if (path !== "/api/v1/rpc") return undefined;
    if (method !== "POST") return { status: 405, body: "" };
    if (!/^application\/json\b/.test(headers["content-type"] ?? "")) return { status: 415, body: "" };
    let request: unknown;
    try {
      request = JSON.parse(body.toString("utf8"));
    } catch {
      return { body: { jsonrpc: "2.0", error: { code: -32_700, message: "unable to parse", data: null }, id: null } };
    }
    const answers = (Array.isArray(request) ? request : [request]).flatMap((one) => call(methods, deps, one) ?? []);
    if (answers.length === 0) return { status: 201, body: "" };
    return { body: Array.isArray(request) ? answers : answers[0] };
  };
}
