/** A message that shows an answer while it is written, and becomes it. */
import type { ChannelPlugin } from "openclaw/plugin-sdk";
import { createEditedPreview, textOf } from "openclaw/plugin-sdk/channel-kit";
import { parseTarget } from "./api.ts";
import { messageText, type Sender, threadFor } from "./send.ts";

type PreviewAdapter = NonNullable<ChannelPlugin["preview"]>;
type Preview = NonNullable<ReturnType<PreviewAdapter["open"]>>;

/** A message that says that an answer is being written. */
export interface Sign {
  /** Our own choice, so it is known whatever becomes of the request. */
  readonly name: string;
  readonly posted: Promise<unknown>;
}

export const TYPING_TEXT = "_is typing…_";
const MAX_SHOWN = 3900;
/** Writes of a space are limited to 60 a minute, for all apps in it together. */
export const PREVIEW = { intervalMs: 2000, minChars: 1, maxChars: MAX_SHOWN } as const;
/** No limit is documented for how long a request id counts. */
export const NONCE_MS = 3_600_000;

export interface AnswerPreviewDeps {
  readonly sender: Sender;
  readonly params: Parameters<PreviewAdapter["open"]>[0];
  /** The message to go on in; without one a new message is posted. */
  readonly sign: Sign | undefined;
  /** It shows the answer now. */
  taken(): Promise<void>;
  remove(name: string): Promise<void>;
  readonly now: () => number;
}

export function createAnswerPreview({ sender, params, sign, taken, remove, now }: AnswerPreviewDeps): Preview {
  const { api, account } = sender;
  const { to, threadId, replyToId = null, previewId, signal } = params;
  let shown = "";
  function shape(text: string): Promise<string> {
    if (account.streamMode === "status_final") return Promise.resolve(TYPING_TEXT);
    shown = account.streamMode === "append" && shown !== "" && !text.startsWith(shown) ? `${shown}\n\n${text}` : text;
    return messageText({ text: shown.slice(0, MAX_SHOWN).toWellFormed() });
  }
  const preview = createEditedPreview({
    ...PREVIEW,
    nonceWindowMs: NONCE_MS,
    now,
    signal,
    previewId: previewId ?? sign?.name,
    async post(text, nonce) {
      const space = await api.spaceFor(parseTarget(to));
      const thread = await threadFor(sender, space, { to, threadId, replyToId });
      const made = await api.create(space, { text: await shape(text), thread }, { requestId: nonce, signal });
      return textOf(made["name"]) ?? "";
    },
    async edit(id, text) {
      await sign?.posted;
      await api.edit(id, { text: await shape(text) }, signal);
      await taken();
    },
    remove,
  });
  return {
    ...preview,
    async seal() {
      await sign?.posted.catch(() => undefined);
      await taken();
      return preview.seal();
    },
  };
}
