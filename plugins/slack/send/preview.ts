/** A message that shows an answer while it is written: a stream in a thread, edits elsewhere. Whatever goes wrong with it, the answer is not touched. */
import { asChannelError, textOf } from "openclaw/plugin-sdk/channel-kit";
import type { Preview } from "../types.ts";
import type { Workspace } from "../workspace.ts";
import { channelOf, messageTs, parseTarget } from "./target.ts";
import { editText, threadOf } from "./text.ts";

export const PREVIEW = { intervalMs: 1000, minChars: 30, maxChars: 3900 } as const;
const SLOW_DOWN_MS = 5000;
/** `status_final` shows this until the answer is there. */
const STATUS = "_Writing…_";

export interface PreviewOptions {
  readonly to: string;
  readonly threadId?: string | number | undefined;
  readonly replyToId?: string | undefined;
  /** The message that shows it already. */
  readonly previewId?: string | undefined;
}

/** How a message is shown and changed. */
interface Surface {
  /** Shows the text; `before` is what is shown now. Gives the id of the message. */
  show(text: string, before: string): Promise<string>;
  /** Nothing more follows. */
  end(): Promise<void>;
}

function createEdits(workspace: Workspace, channel: string, thread: string | undefined, known: string | undefined, signal: AbortSignal): Surface {
  let ts = known;
  return {
    async show(text) {
      if (ts === undefined) {
        const posted = await workspace.api.call("chat.postMessage", { channel, text, thread_ts: thread }, { signal, lane: channel });
        ts = textOf(posted["ts"]) ?? "";
      } else await editText(workspace, { channel, ts, text, signal });
      return ts;
    },
    end: async () => {},
  };
}

/** Slack's own stream only grows: a text that changes goes on as edits. */
function createStream(workspace: Workspace, channel: string, thread: string, signal: AbortSignal): Surface {
  const { api, known, lastSender } = workspace;
  const options = { signal, lane: channel };
  let ts: string | undefined;
  let edits: Surface | undefined;
  async function stop(): Promise<void> {
    if (ts === undefined || edits) return;
    edits = createEdits(workspace, channel, thread, ts, signal);
    await api.call("chat.stopStream", { channel, ts }, { lane: channel }).catch(() => {});
  }
  async function start(text: string): Promise<string> {
    const user = lastSender.get(`${channel}/${thread}`) ?? lastSender.get(`${channel}/`);
    const recipient = channel.startsWith("D") ? {} : { recipient_user_id: user, recipient_team_id: known?.teamId };
    try {
      const started = await api.call("chat.startStream", { channel, thread_ts: thread, markdown_text: text, ...recipient }, options);
      return (ts = textOf(started["ts"]) ?? "");
    } catch (error) {
      // An app without this feature shows edits.
      if (asChannelError(error)?.delivery.state !== "failed") throw error;
      edits = createEdits(workspace, channel, thread, undefined, signal);
      return edits.show(await workspace.render(text, undefined), "");
    }
  }
  return {
    async show(text, before) {
      if (!edits && ts === undefined) return start(text);
      if (!edits && !text.startsWith(before)) await stop();
      if (edits) return edits.show(await workspace.render(text, undefined), "");
      await api.call("chat.appendStream", { channel, ts, markdown_text: text.slice(before.length) }, options);
      return ts!;
    },
    end: stop,
  };
}

/** Undefined: nothing is shown here. */
export function openPreview(workspace: Workspace, options: PreviewOptions, signal: AbortSignal): Preview | undefined {
  const { account, waiting } = workspace;
  const mode = account.streamMode;
  if (mode === "off" || parseTarget(options.to).kind === "slash") return undefined;
  const thread = threadOf(options);
  const isStream = account.hasNativeStream && thread !== undefined && mode !== "status_final" && options.previewId === undefined;
  let surface: Surface | undefined;
  let channel: string | undefined;
  let id = messageTs(options.previewId);
  let shown = "";
  let isOver = false;
  let isLost = false;
  let quietUntil = 0;
  let working: Promise<void> | undefined;

  function nextText(text: string): string {
    if (mode === "status_final") return STATUS;
    const appended = mode === "append" && shown !== "" && !text.startsWith(shown) ? `${shown}\n\n${text}` : text;
    return appended.slice(0, PREVIEW.maxChars).toWellFormed();
  }

  async function show(text: string): Promise<void> {
    const wanted = nextText(text);
    if (wanted === shown || waiting.now() < quietUntil) return;
    try {
      channel ??= await channelOf(workspace, options.to, signal);
      surface ??= isStream ? createStream(workspace, channel, thread, signal) : createEdits(workspace, channel, thread, id, signal);
      const isRaw = isStream || mode === "status_final";
      id = await surface.show(isRaw ? wanted : await workspace.render(wanted, undefined), shown);
      shown = wanted;
    } catch (error) {
      const failure = asChannelError(error);
      if (failure?.delivery.state === "retry") quietUntil = waiting.now() + Math.max(failure.delivery.retryAfterMs ?? SLOW_DOWN_MS, PREVIEW.intervalMs);
      else {
        // It may have been posted; nobody will find it.
        if (id === undefined && failure?.delivery.state !== "failed") isLost = true;
        isOver = true;
      }
    }
  }

  async function end(): Promise<void> {
    isOver = true;
    await working;
    await surface?.end();
  }

  return {
    async update(text) {
      if (isOver || signal.aborted) return;
      working = (working ?? Promise.resolve()).then(() => (isOver ? undefined : show(text)));
      await working;
    },
    id: () => id ?? (isLost ? null : undefined),
    async seal() {
      await end();
      return id;
    },
    async discard() {
      await end();
      if (id !== undefined && channel !== undefined) await workspace.api.call("chat.delete", { channel, ts: id }).catch(() => {});
      id = undefined;
    },
  };
}
