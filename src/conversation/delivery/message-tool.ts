/** The `message` tool: an agent writes to someone, or does something to a message. */
import { AppError, messageOf } from "../../base/errors.ts";
import { sectionOf } from "../../channels/index.ts";
import type { HostConfig } from "../../protocol/index.ts";
import { defineTool, failedOutcome, jsonOutcome, MESSAGE, type Tool, type ToolCall, type ToolContext, type ToolOutcome } from "../../tools/index.ts";
import { withoutSeals } from "../button-seal.ts";
import { shapeText } from "../reply/payload.ts";
import { messageParameters } from "./message-tool-schema.ts";
import type { Messages, SentMessage } from "./messages.ts";
import { realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { isInside } from "../../base/files.ts";

/** Longer texts name no file on any system. */
const MAX_PATH = 4096;

/** The paths that a text can mean: as an address of a file, in the home folder, absolute, or from a folder that files are sent from. */
function pathsIn(written: string, roots: readonly string[]): readonly string[] {
  const text = written.trim();
  if (/^file:/i.test(text)) {
    try {
      return [fileURLToPath(text)];
    } catch {
      return [];
    }
  }
  if (text.startsWith("~/")) return [resolve(homedir(), text.slice(2))];
  if (isAbsolute(text)) return [resolve(text)];
  if (text === "" || text.length > MAX_PATH || /^[a-z][a-z0-9+.-]*:/i.test(text)) return [];
  // A bare word from the program's own folder is a word.
  return [...roots.map((root) => resolve(root, text)), ...(/[/\\]/.test(text) ? [resolve(text)] : [])];
}

function* textsIn(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  else if (typeof value === "object" && value !== null) for (const inner of Object.values(value)) yield* textsIn(inner);
}

/**
 * The first text anywhere in `params` that names a file of this machine outside of the folders that files may be sent from. Channels take files under names
 * of their own, so no list of names is asked; what is only shown to people is left out by the caller.
 */
export async function fileOutside(params: unknown, roots: readonly string[]): Promise<string | undefined> {
  const real = async (path: string): Promise<string | undefined> => realpath(path).catch(() => undefined);
  const allowed = (await Promise.all(roots.map(real))).filter((root) => root !== undefined);
  for (const text of textsIn(params)) {
    for (const path of text.includes("\0") ? [] : pathsIn(text, roots)) {
      const found = await real(path);
      if (found !== undefined && !allowed.some((root) => isInside(root, found))) return text;
    }
  }
  return undefined;
}

/** The conversation that a turn answers. */
export interface CurrentChat {
  readonly channel: string;
  readonly accountId: string;
  readonly to: string;
  readonly threadId?: string | number;
  /** The message that is answered. */
  readonly messageId?: string;
}

export interface MessageToolDeps {
  readonly messages: Messages;
  readonly config: () => HostConfig;
  /** Nothing for turns that answer nobody. */
  readonly current: (context: ToolContext) => CurrentChat | undefined;
  /** Folders that files may be sent from. */
  readonly mediaRoots?: (agentId: string) => readonly string[];
  /** Rejects when a path may not be handed to a channel. Addresses are let through. */
  readonly readable?: (context: ToolContext, path: string) => Promise<void>;
  /** Stores a file that a call carries as text; gives its path. */
  readonly saveFile?: (file: AttachedFile) => Promise<string>;
  /** The channel whose actions are offered; all of them when there is none. */
  readonly channel?: string;
}

interface AttachedFile {
  readonly data: Buffer;
  readonly fileName: string | undefined;
  readonly mimeType: string | undefined;
}

type Params = Readonly<Record<string, unknown>>;

/** Only these carry text to someone who may not be part of this conversation. */
const GUARDED: ReadonlySet<string> = new Set([
  "send",
  "broadcast",
  "poll",
  "reply",
  "sendWithEffect",
  "sendAttachment",
  "thread-create",
  "thread-reply",
  "sticker",
]);
/** These name no chat. */
const WITHOUT_TARGET: ReadonlySet<string> = new Set([
  "set-presence",
  "emoji-list",
  "sticker-search",
  "event-list",
  "role-info",
  "channel-list",
  "voice-status",
]);

const invalid = (words: string): AppError => new AppError("INVALID_INPUT", words);

const textOf = (params: Params, ...names: readonly string[]): string | undefined => {
  for (const name of names) {
    const value = params[name];
    if (typeof value === "string" && value.trim() !== "") return value;
    if (typeof value === "number") return String(value);
  }
  return undefined;
};

/** Parameters that name a file, however it is written. Of others only what begins like a path is taken for one. */
const FILE_PARAM = /^(?:media|path|filePath|file|image|icon|attachment|attachments|mediaUrl|mediaUrls|thumbnail)$/i;
const LIKE_A_PATH = /^\s*(?:MEDIA:\s*)?(?:\/|~|\.{1,2}[/\\]|file:)/i;
const NOT_FILES: ReadonlySet<string> = new Set(["message", "caption", "buffer", "quoteText"]);

/** Every text in a call's parameters that a channel could open as a file. */
function filesIn(value: unknown, name: string, found: string[] = []): readonly string[] {
  if (typeof value === "string") {
    if (value.trim() !== "" && !NOT_FILES.has(name) && (FILE_PARAM.test(name) || LIKE_A_PATH.test(value))) found.push(value);
  } else if (Array.isArray(value)) for (const item of value) filesIn(item, name, found);
  else if (typeof value === "object" && value !== null) for (const [key, item] of Object.entries(value)) filesIn(item, key, found);
  return found;
}

interface Target {
  readonly channel?: string;
  readonly accountId?: string;
  readonly to?: string;
  readonly threadId?: string | number;
}

/** What was named, else the conversation that the turn answers; never another one's account or thread. */
function targetOf(params: Params, current: CurrentChat | undefined, context: ToolContext): Target {
  const channel = textOf(params, "channel")?.trim().toLowerCase();
  const named = textOf(params, "target", "to", "channelId");
  const here = current && (channel === undefined || channel === current.channel) ? current : undefined;
  if (named === undefined && here && context.jobId !== undefined)
    throw invalid("a scheduled run names whom it writes to: set target (its final answer is delivered without this tool)");
  const to = named ?? here?.to;
  const same = here !== undefined && to === here.to;
  const accountId = textOf(params, "accountId") ?? here?.accountId;
  const threadId = textOf(params, "threadId") ?? (same ? here.threadId : undefined);
  const found = channel ?? here?.channel;
  return {
    ...(found === undefined ? {} : { channel: found }),
    ...(accountId === undefined ? {} : { accountId }),
    ...(to === undefined ? {} : { to }),
    ...(threadId === undefined ? {} : { threadId }),
  };
}

/** Refuses to carry words elsewhere, where the configuration says so. */
function guard(action: string, target: Target, current: CurrentChat | undefined, cfg: HostConfig): void {
  if (!current || !GUARDED.has(action)) return;
  const settings = sectionOf(sectionOf(cfg.tools)?.["message"]);
  if (settings?.["allowCrossContextSend"] === true) return;
  const cross = sectionOf(settings?.["crossContext"]);
  const other = target.channel !== undefined && target.channel !== current.channel;
  if (other && cross?.["allowAcrossProviders"] !== true) {
    throw invalid(`this conversation is on ${current.channel}: sending to ${target.channel} is not allowed (tools.message.crossContext.allowAcrossProviders)`);
  }
  if (!other && target.to !== current.to && cross?.["allowWithinProvider"] === false) {
    throw invalid("sending to other chats is not allowed (tools.message.crossContext.allowWithinProvider)");
  }
}

function outcomeOf(sent: SentMessage): ToolOutcome {
  const { state, why, channel, to, messageIds, dryRun } = sent;
  const facts = { channel, to, messageIds, ...(messageIds[0] === undefined ? {} : { messageId: messageIds[0] }), ...(why === undefined ? {} : { why }) };
  if (dryRun) return jsonOutcome({ ok: true, dryRun: true, ...facts });
  if (state === "sent") return jsonOutcome({ ok: true, state, ...facts });
  if (state === "pending") return jsonOutcome({ ok: true, state, note: "It is queued and will be sent; do not send it again.", ...facts });
  const note = state === "unknown" ? "It may have arrived; do not send it again." : undefined;
  return failedOutcome(JSON.stringify({ ok: false, state, ...(note ? { note } : {}), ...facts }, null, 2), { ok: false, state, ...facts });
}

/** Platform data by channel id, as replies carry it. */
function channelDataOf(params: Params, channel: string | undefined): { readonly channelData?: Record<string, unknown> } {
  const own = Object.fromEntries(["buttons", "card", "components"].flatMap((name) => (params[name] === undefined ? [] : [[name, params[name]]])));
  return Object.keys(own).length === 0 || channel === undefined ? {} : { channelData: { [channel]: own } };
}

/** A path without a folder before it is one of the workspace, as it is for the file tools. */
function fromWorkspace(media: string | undefined, roots: readonly string[] | undefined): string | undefined {
  const [workspace] = roots ?? [];
  const text = media?.trim();
  if (text === undefined || workspace === undefined || isAbsolute(text) || /^(?:~|[a-z][a-z0-9+.-]*:)/i.test(text)) return media;
  return resolve(workspace, text);
}

/** The file that a call carries itself, stored. */
async function attachedPath({ saveFile }: MessageToolDeps, params: Params): Promise<string | undefined> {
  const written = textOf(params, "buffer")?.replace(/^data:[^,]{0,200};base64,/i, "");
  if (written === undefined) return undefined;
  const data = Buffer.from(written, "base64");
  if (!saveFile || data.length === 0 || /[^\w+/=\s-]/.test(written)) throw invalid("buffer must be the base64 text of a file, with filename");
  return saveFile({ data, fileName: textOf(params, "filename"), mimeType: textOf(params, "contentType", "mimeType") });
}

/** A message, with the directives in its text. */
async function send(
  deps: MessageToolDeps,
  params: Params,
  target: Target & { readonly to: string },
  context: ToolContext,
  current: CurrentChat | undefined,
): Promise<SentMessage> {
  const words = (textOf(params, "message", "caption") ?? "").replaceAll("\\n", "\n");
  const currentId = target.to === current?.to ? current.messageId : undefined;
  const localRoots = deps.mediaRoots?.(context.agentId);
  const shaped = shapeText(words, { currentId, localRoots });
  const media = fromWorkspace(textOf(params, "media", "path", "filePath"), localRoots);
  if (media?.trim().toLowerCase().startsWith("data:")) throw invalid("data: URLs cannot be sent; write the file to the workspace and use its path");
  const replyToId = textOf(params, "replyTo") ?? shaped?.replyToId;
  const attached = params["dryRun"] === true ? undefined : await attachedPath(deps, params);
  return deps.messages.send({
    ...target,
    text: shaped?.text ?? "",
    mediaUrls: [...[media, attached].filter((url) => url !== undefined), ...(shaped?.mediaUrls ?? [])],
    ...(replyToId === undefined ? {} : { replyToId }),
    ...(params["asVoice"] === true || shaped?.audioAsVoice ? { asVoice: true } : {}),
    ...(params["silent"] === true ? { silent: true } : {}),
    ...(params["gifPlayback"] === true ? { gifPlayback: true } : {}),
    ...(params["dryRun"] === true ? { dryRun: true } : {}),
    ...channelDataOf(params, target.channel),
    agentId: context.agentId,
    runId: context.runId,
  });
}

/** What a channel does with a path is up to its own code: one that leads out of the folders is not handed to it, whatever its name. */
async function refuseFilesOutside({ message: _m, caption: _c, ...params }: Params, roots: readonly string[] | undefined): Promise<void> {
  const outside = roots && (await fileOutside(params, roots));
  if (outside !== undefined)
    throw invalid(`${JSON.stringify(outside.slice(0, 200))} is not in a folder that files may be sent from: copy it to the workspace first`);
}

function poll(messages: Messages, params: Params, target: Target & { readonly to: string }, context: ToolContext): Promise<SentMessage> {
  const question = textOf(params, "pollQuestion");
  if (question === undefined) throw invalid("a poll needs pollQuestion");
  const options = (Array.isArray(params["pollOption"]) ? params["pollOption"] : []).map(String).filter((option) => option.trim() !== "");
  const hours = params["pollDurationHours"];
  const wanted = {
    question,
    options,
    maxSelections: params["pollMulti"] === true ? options.length : 1,
    ...(typeof hours === "number" ? { durationHours: hours } : {}),
  };
  return messages.poll({ ...target, poll: wanted, ...(params["dryRun"] === true ? { dryRun: true } : {}), agentId: context.agentId, runId: context.runId });
}

export function messageTool(deps: MessageToolDeps): Tool {
  const { messages, config } = deps;

  async function broadcast(params: Params, target: Target, context: ToolContext, current: CurrentChat | undefined): Promise<ToolOutcome> {
    if (sectionOf(sectionOf(sectionOf(config().tools)?.["message"])?.["broadcast"])?.["enabled"] === false)
      throw invalid("broadcasts are disabled (tools.message.broadcast.enabled)");
    const targets = (Array.isArray(params["targets"]) ? params["targets"] : []).map(String).filter((one) => one.trim() !== "");
    if (targets.length === 0) throw invalid("a broadcast needs targets");
    const { threadId: _, ...shared } = target;
    const results = [];
    for (const to of targets) {
      try {
        guard("broadcast", { ...shared, to }, current, config());
        const { state, why, messageIds } = await send(deps, params, { ...shared, to }, context, current);
        results.push({
          to,
          ok: state === "sent" || state === "pending",
          state,
          ...(messageIds[0] === undefined ? {} : { messageId: messageIds[0] }),
          ...(why === undefined ? {} : { why }),
        });
      } catch (error) {
        results.push({ to, ok: false, why: messageOf(error) });
      }
    }
    const outcome = { ok: results.every(({ ok }) => ok), results };
    return results.some(({ ok }) => ok) ? jsonOutcome(outcome) : failedOutcome(JSON.stringify(outcome, null, 2), outcome);
  }

  async function run({ params: written, context }: ToolCall): Promise<ToolOutcome> {
    const params = withoutSeals(written);
    const action = textOf(params, "action") ?? "send";
    for (const path of filesIn(params, "")) await deps.readable?.(context, path);
    const current = deps.current(context);
    const target = targetOf(params, current, context);
    if (action === "broadcast") return broadcast(params, target, context, current);
    const { to } = target;
    if (to === undefined && !WITHOUT_TARGET.has(action)) throw invalid(`Action ${action} requires a target.`);
    guard(action, target, current, config());
    if (action === "send" && to !== undefined) return outcomeOf(await send(deps, params, { ...target, to }, context, current));
    if (action === "poll" && to !== undefined) return outcomeOf(await poll(messages, params, { ...target, to }, context));
    const { action: _a, channel: _c, target: _t, accountId: _i, dryRun, ...rest } = params;
    const mediaLocalRoots = deps.mediaRoots?.(context.agentId);
    await refuseFilesOutside(rest, mediaLocalRoots);
    const messageId = textOf(params, "messageId") ?? (to === current?.to ? current?.messageId : undefined);
    const done = await messages.action({
      action,
      ...(target.channel === undefined ? {} : { channel: target.channel }),
      ...(target.accountId === undefined ? {} : { accountId: target.accountId }),
      params: {
        ...rest,
        ...(to === undefined ? {} : { to }),
        ...(messageId === undefined ? {} : { messageId }),
        ...(target.threadId === undefined ? {} : { threadId: target.threadId }),
      },
      ...(context.senderId === undefined ? {} : { requesterSenderId: context.senderId }),
      ...(mediaLocalRoots === undefined ? {} : { mediaLocalRoots }),
      ...(current === undefined ? {} : { current }),
      ...(dryRun === true ? { dryRun: true } : {}),
    });
    return jsonOutcome(done);
  }

  return defineTool<MessageToolDeps>({
    ...MESSAGE,
    label: "Message",
    description: "Send a message to a chat or person, or act on messages there: reactions, edits, polls and other actions of the channel.",
    parameters: messageParameters(messages.actions(deps.channel), { cards: messages.cards(deps.channel) }),
    run: () => async (call) => {
      try {
        return await run(call);
      } catch (error) {
        if (error instanceof AppError && (error.code === "INVALID_INPUT" || error.code === "PERMISSION_DENIED")) return failedOutcome(error.message);
        throw error;
      }
    },
  }).create(deps);
}
