/** The methods of `imsg rpc`, with its checks and errors. */
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { chatOf, messageOf, OWN_HANDLE, type Chat, type Row, type World } from "./world.ts";

type Params = Readonly<Record<string, unknown>>;

export class RpcError extends Error {
  readonly code: number;
  readonly data: string;
  constructor(code: number, message: string, data: string) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

export const invalid = (data: string): RpcError => new RpcError(-32_602, "Invalid params", data);
export const internal = (data: string): RpcError => new RpcError(-32_603, "Internal error", data);

const whole = (value: unknown): number | undefined => (Number.isSafeInteger(value) ? (value as number) : undefined);
const text = (value: unknown): string => (typeof value === "string" ? value : "");

export interface Watch {
  readonly subscription: number;
  readonly attachments: boolean;
  readonly reactions: boolean;
  /** The last row that was written. */
  cursor: number;
}

export interface MethodDeps {
  readonly world: World;
  /** Stands before paths of the Mac on this machine. */
  readonly root: string;
  /** Answers can be threaded, and what was sent has an id. */
  readonly features: { bridge: boolean; ids: boolean };
  readonly watches: Watch[];
}

function targetOf(params: Params, { world }: MethodDeps): Chat {
  const id = whole(params["chat_id"]);
  const [identifier, guid, to] = [text(params["chat_identifier"]), text(params["chat_guid"]), text(params["to"])];
  const hasChat = id !== undefined || identifier !== "" || guid !== "";
  if (hasChat && to !== "") throw invalid("use to or chat_*; not both");
  if (!hasChat && to === "") throw invalid("to is required for direct sends");
  if (!hasChat) return world.direct(to);
  const found = world.chats.find((chat) => chat.id === id || chat.guid === guid || chat.identifier === identifier);
  if (!found) throw id === undefined ? internal("AppleScript error -1728: can't get chat") : invalid(`unknown chat_id ${id}`);
  return found;
}

function send(params: Params, deps: MethodDeps): unknown {
  const { world, root, features } = deps;
  const [words, path, replyTo] = [text(params["text"]), text(params["file"]), text(params["reply_to"])];
  if (!["imessage", "sms", "auto"].includes(text(params["service"]) || "auto")) throw invalid("invalid service");
  const chat = targetOf(params, deps);
  if (words === "" && path === "") throw invalid("text or file is required");
  if (replyTo !== "" && !features.bridge) throw invalid("reply_to requires bridge transport; AppleScript fallback cannot send threaded replies");
  const sent: Row[] = [];
  const own = { chat, isFromMe: true, sender: OWN_HANDLE, ...(replyTo === "" ? {} : { replyTo }) };
  // Messages shows a text and a file as two.
  if (words !== "") sent.push(world.add({ ...own, text: words }));
  if (path !== "") sent.push(world.add({ ...own, text: "\uFFFC", file: { name: basename(path), data: readFileSync(join(root, path)) } }));
  return features.ids ? { ok: true, id: sent[0]!.id, guid: sent[0]!.guid, message_id: sent[0]!.guid } : { ok: true };
}

function subscribe(params: Params, { world, watches }: MethodDeps): unknown {
  const since = whole(params["since_rowid"]) ?? 0;
  const watch = {
    subscription: watches.length + 1,
    attachments: params["attachments"] === true,
    reactions: params["include_reactions"] === true,
    cursor: since === 0 ? world.rows.length : since,
  };
  watches.push(watch);
  return { subscription: watch.subscription };
}

export function call(method: string, params: Params, deps: MethodDeps): unknown {
  const { world, watches } = deps;
  switch (method) {
    case "chats.list": {
      const newest = (chat: Chat): number => world.rows.findLast((row) => row.chat === chat)?.id ?? 0;
      const chats = world.chats.toSorted((a, b) => newest(b) - newest(a)).slice(0, whole(params["limit"]) ?? 20);
      return { chats: chats.map((chat) => chatOf(chat, world.rows)) };
    }
    case "messages.history": {
      const id = whole(params["chat_id"]);
      if (id === undefined) throw invalid("chat_id is required");
      const rows = world.rows.filter(({ chat, reaction }) => chat.id === id && !reaction).toReversed();
      const shown = { attachments: params["attachments"] === true, reactions: false };
      return { messages: rows.slice(0, whole(params["limit"]) ?? 50).map((row) => messageOf(row, shown)) };
    }
    case "watch.subscribe":
      return subscribe(params, deps);
    case "watch.unsubscribe":
      watches.splice(0);
      return { ok: true };
    case "send":
      return send(params, deps);
    case "typing":
      if (!deps.features.bridge) throw internal("typing needs the bridge");
      targetOf(params, deps);
      return { ok: true };
    default:
      throw new RpcError(-32_601, "Method not found", method);
  }
}
