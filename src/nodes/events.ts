import type { Clock } from "../base/clock.ts";
import { AppError } from "../base/errors.ts";
import type { Ids } from "../base/ids.ts";
import { isRecord } from "../base/records.ts";
import { clip } from "../base/text.ts";
import { THINKING_LEVELS } from "../base/thinking.ts";
import { defaultAgentId, type Config } from "../config/index.ts";
import type { ReplyAddress, Responder, RunRequest } from "../conversation/index.ts";
import { agentOfKey, resolveSessionKey, type ImageContent, type MethodParams } from "../protocol/index.ts";
import type { Store } from "../store/index.ts";
import { createMarkUntrusted, oneLine } from "../tools/index.ts";
import { createBudgets } from "./budget.ts";
import type { NodeSession } from "./registry.ts";

export interface NodeEventsDeps {
  readonly config: Pick<Config, "current">;
  readonly store: Pick<Store, "read" | "write">;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly runs: Pick<Responder, "accept">;
  /** Queues a line for a session, on disk, and has the session act on it. */
  readonly notify: (event: { readonly text: string; readonly sessionKey?: string | undefined; readonly idempotencyKey?: string }) => Promise<unknown>;
  /** The chat that a channel and a recipient mean; throws when there is none. */
  readonly chatOf: (wanted: { readonly agentId: string; readonly channel: string; readonly to?: string }) => Promise<ReplyAddress | undefined>;
}

/** The images among attachments as clients send them; throws for what cannot be read or is too large. */
export type ImagesOf = (attachments: readonly unknown[]) => readonly ImageContent[];

export interface NodeEvents {
  /** Resolves when what happened is on disk. */
  handle(params: MethodParams<"node.event">, node: NodeSession, images: ImagesOf): Promise<void>;
}

type Fields = Readonly<Record<string, unknown>>;
type Handle = (fields: Fields, node: NodeSession, key: string | undefined, images: ImagesOf) => Promise<void> | void;

const MOST_TEXT = 20_000;
const MOST_OUTPUT = 400;
const MOST_COMMAND = 400;
const MOST_FOLLOWED = 100;
const MOST_TIMEOUT_S = 2_000_000;
const MOST_ATTACHMENTS = 10;
const APNS = "nodes.apns";
const MOST_REGISTERED = 500;

/** Ids of runs as gateways and nodes make them; any other is left out of the line. */
const RUN_ID = /^[\w:.-]{1,80}$/;

const bad = (message: string): AppError => new AppError("INVALID_INPUT", message);

function textIn(fields: Fields, field: string, most = 1000): string | undefined {
  const value = fields[field];
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value !== "string") throw bad(`${field} must be a string`);
  if (value.length > most) throw bad(`${field} has ${value.length} characters; the limit is ${most}`);
  return value.toWellFormed().trim() || undefined;
}

function required(fields: Fields, field: string, most: number): string {
  const text = textIn(fields, field, most);
  if (text === undefined) throw bad(`${field} required`);
  return text;
}

function fieldsOf({ payload, payloadJSON }: MethodParams<"node.event">): Fields {
  let value: unknown = payload ?? {};
  if (payloadJSON !== undefined) {
    try {
      value = JSON.parse(payloadJSON);
    } catch {
      throw bad("payloadJSON is not JSON");
    }
  }
  if (!isRecord(value)) throw bad("the payload of a node event is an object");
  return value;
}

/** How a run of a node is limited; texts and times are checked here. */
function settingsOf(fields: Fields): Pick<RunRequest, "thinking" | "timeoutMs"> {
  const thinking = textIn(fields, "thinking")?.toLowerCase();
  const level = THINKING_LEVELS.find((known) => known === thinking);
  if (thinking !== undefined && level === undefined) throw bad(`thinking must be one of ${THINKING_LEVELS.join(", ")}`);
  const seconds = fields["timeoutSeconds"] ?? 0;
  if (typeof seconds !== "number" || !Number.isFinite(seconds) || seconds < 0) throw bad("timeoutSeconds must be a number of seconds");
  return { ...(level === undefined ? {} : { thinking: level }), ...(seconds === 0 ? {} : { timeoutMs: Math.min(seconds, MOST_TIMEOUT_S) * 1000 }) };
}

/** What a node begins a turn with; `fallback` is the session of one that names none. */
interface Beginning {
  readonly message: string;
  readonly fallback: string;
  readonly images?: readonly ImageContent[];
}

function imagesIn(fields: Fields, imagesOf: ImagesOf): readonly ImageContent[] {
  const attachments: unknown = fields["attachments"] ?? [];
  if (!Array.isArray(attachments) || attachments.length > MOST_ATTACHMENTS) throw bad(`attachments must be a list of at most ${MOST_ATTACHMENTS} images`);
  const images = imagesOf(attachments);
  if (images.length < attachments.length) throw bad("attachments of a node are images; one of them is not an image");
  return images;
}

/** Stores where notifications for a phone are sent. */
async function registerPush({ store, clock }: NodeEventsDeps, fields: Fields, nodeId: string): Promise<void> {
  const environment = textIn(fields, "environment") ?? "production";
  if (environment !== "sandbox" && environment !== "production") throw bad("environment must be sandbox or production");
  const registration = { token: required(fields, "token", 512), topic: required(fields, "topic", 255), environment, updatedAtMs: clock.now() };
  const stored = await store.read("meta.get", { key: APNS });
  const others = Object.entries(isRecord(stored) ? stored : {}).filter(([id]) => id !== nodeId);
  await store.write("meta.set", { key: APNS, value: Object.fromEntries([...others.slice(-MOST_REGISTERED + 1), [nodeId, registration]]) });
}

export function createNodeEvents(deps: NodeEventsDeps): NodeEvents {
  const { config, clock, ids, runs, notify } = deps;
  const mark = createMarkUntrusted(ids);
  const budgets = createBudgets(clock);

  function sessionOf(written: string): string {
    const { current } = config;
    const naming = { defaultAgentId: defaultAgentId(current), mainKey: "main", scope: current.session?.scope ?? "per-sender" } as const;
    const agents = (current.agents?.list ?? []).map(({ id }) => id.toLowerCase());
    const resolved = resolveSessionKey(written, naming, [naming.defaultAgentId, ...agents]);
    if (!resolved.ok) throw bad(`sessionKey: ${resolved.message}`);
    return resolved.key;
  }

  async function replyFor(fields: Fields, sessionKey: string): Promise<ReplyAddress | undefined> {
    if (fields["deliver"] !== true) return undefined;
    const to = textIn(fields, "to");
    const agentId = agentOfKey(sessionKey, { defaultAgentId: defaultAgentId(config.current) });
    return deps.chatOf({ agentId, channel: textIn(fields, "channel") ?? "last", ...(to === undefined ? {} : { to }) });
  }

  /** A node is not the owner: what it says is answered with the tools that anyone has. */
  async function start(node: NodeSession, fields: Fields, { message, fallback, images = [] }: Beginning, key: string | undefined): Promise<void> {
    const sessionKey = sessionOf(textIn(fields, "sessionKey") ?? fallback);
    const named = key ?? textIn(fields, "eventId", 200);
    const reply = await replyFor(fields, sessionKey);
    const runId = named === undefined ? ids.uuid() : `node:${node.nodeId.slice(0, 16)}:${named}`;
    const request = { runId, sessionKey, message, channel: reply?.channel ?? "webchat", owner: false, ...settingsOf(fields) };
    await runs.accept({ ...request, ...(images.length === 0 ? {} : { images }), ...(reply ? { reply } : {}) });
  }

  /** A command belongs to a session that is there: a node begins none with a report. */
  async function reportedSession(fields: Fields): Promise<string | undefined> {
    const written = textIn(fields, "sessionKey");
    if (written === undefined) return undefined;
    const key = sessionOf(written);
    if (!(await deps.store.read("sessions.get", { key }))) throw bad(`sessionKey: there is no session ${oneLine(key, 100)} that a command could belong to`);
    return key;
  }

  /** Everything that the node wrote is marked as such: the agent takes a line of the gateway for true. */
  const line = async (node: NodeSession, fields: Fields, head: string, said: string, key: string | undefined): Promise<void> => {
    await notify({
      text: said === "" ? head : `${head}\n${mark(said, { source: "nodes" })}`,
      sessionKey: await reportedSession(fields),
      ...(key === undefined ? {} : { idempotencyKey: `node:${node.nodeId}:${key}` }),
    });
  };
  const about = ({ nodeId }: NodeSession, fields: Fields): string => {
    const id = textIn(fields, "runId", 200) ?? "";
    return `node=${nodeId.slice(0, 12)}${RUN_ID.test(id) ? ` id=${id}` : ""}`;
  };
  const commandIn = (fields: Fields): string => oneLine(textIn(fields, "command", 100_000) ?? "", MOST_COMMAND);

  const handlers: Readonly<Record<string, Handle>> = {
    "voice.transcript": (fields, node, key) => start(node, fields, { message: required(fields, "text", MOST_TEXT), fallback: "main" }, key),
    "agent.request"(fields, node, key, imagesOf) {
      const images = imagesIn(fields, imagesOf);
      return start(node, fields, { message: required(fields, "message", MOST_TEXT), fallback: `node-${node.nodeId}`, images }, key);
    },
    "chat.subscribe"(fields, { link }) {
      const followed = link.followed();
      const key = sessionOf(required(fields, "sessionKey", 1000));
      if (followed.size >= MOST_FOLLOWED && !followed.has(key)) throw bad(`a node may subscribe to at most ${MOST_FOLLOWED} sessions; unsubscribe from one`);
      followed.add(key);
    },
    "chat.unsubscribe": (fields, { link }) => void link.followed().delete(sessionOf(required(fields, "sessionKey", 1000))),
    "exec.started": (fields, node, key) => line(node, fields, `Exec started (${about(node, fields)})`, commandIn(fields), key),
    "exec.denied"(fields, node, key) {
      const reason = oneLine(textIn(fields, "reason", MOST_TEXT) ?? "no reason given", 200);
      return line(node, fields, `Exec denied (${about(node, fields)})`, `${reason}: ${commandIn(fields)}`, key);
    },
    async "exec.finished"(fields, node, key) {
      const output = clip(textIn(fields, "output", 1_000_000) ?? "", MOST_OUTPUT);
      const end = fields["timedOut"] === true ? "timeout" : `code ${typeof fields["exitCode"] === "number" ? fields["exitCode"] : "?"}`;
      if (output === "" && end === "code 0") return;
      await line(node, fields, `Exec finished (${about(node, fields)}, ${end})`, output, key);
    },
    "push.apns.register": (fields, { nodeId }) => registerPush(deps, fields, nodeId),
  };

  return {
    async handle(params, node, images) {
      const handle = Object.hasOwn(handlers, params.event) ? handlers[params.event] : undefined;
      if (!handle) throw bad(`unknown node event "${oneLine(params.event, 100)}"; known are ${Object.keys(handlers).join(", ")}`);
      budgets.take(node.nodeId, params.event);
      await handle(fieldsOf(params), node, params.idempotencyKey, images);
    },
  };
}
