/** Answers that are spoken: a file behind the text. The text never waits for more than the time that speech may take, and goes out without sound when it fails. */
import type { TurnEnd } from "../../agent/index.ts";
import type { ReplyPayload, SessionEntry } from "../../protocol/index.ts";
import { hasRecording, type Turn } from "../items.ts";
import type { ConversationContext } from "../ports.ts";

interface Answering {
  readonly turn: Turn;
  readonly entry: SessionEntry | undefined;
  readonly context: ConversationContext;
}

/** Nobody listens to these. */
const isSilent = ({ isError, isReasoning, isStatusNotice, isCompactionNotice }: ReplyPayload): boolean =>
  isError === true || isReasoning === true || isStatusNotice === true || isCompactionNotice === true;

const hasFile = ({ mediaUrl, mediaUrls }: ReplyPayload): boolean => mediaUrl !== undefined || (mediaUrls?.length ?? 0) > 0;

async function speak(
  { turn, entry, context: { deps } }: Answering,
  answer: Pick<Parameters<NonNullable<typeof deps.speech>["speak"]>[0], "text" | "spokenText" | "tags" | "kind">,
) {
  const { main, items } = turn;
  const { channel } = main.request?.reply ?? main.last.address;
  const outbound = deps.channels.get(channel)?.outbound;
  if (outbound && !outbound.sendMedia && !outbound.sendPayload) return [];
  const speech = await deps.speech?.speak({
    ...answer,
    channel,
    agentId: main.agentId,
    sessionKey: main.sessionKey,
    auto: entry?.["ttsAuto"],
    isToSpeech: items.some(hasRecording),
    signal: main.abort.signal,
  });
  // Channels that have voice notes send it as one.
  return speech ? [{ mediaUrl: speech.audioPath, mediaUrls: [speech.audioPath], audioAsVoice: true } satisfies ReplyPayload] : [];
}

/** Payloads that go out while the turn runs, with their sound where every part of an answer is spoken. */
export async function withSpeech(answering: Answering, payloads: readonly ReplyPayload[], kind: "block" | "tool"): Promise<readonly ReplyPayload[]> {
  const { deps } = answering.context;
  if (!deps.speech?.isWanted(answering.entry) || deps.config.current.messages?.tts?.mode !== "all") return payloads;
  return [...payloads, ...(await partSpoken(answering, payloads, kind))];
}

async function partSpoken(answering: Answering, payloads: readonly ReplyPayload[], kind: "final" | "block" | "tool") {
  const spoken = payloads.filter((payload) => !isSilent(payload) && !hasFile(payload));
  const text = spoken.flatMap((payload) => payload.text ?? []).join("\n\n");
  const spokenText = spoken.flatMap((payload) => payload.spokenText ?? []).join("\n") || undefined;
  return text === "" && spokenText === undefined ? [] : speak(answering, { text, spokenText, kind });
}

/** The payloads of a turn's end with the sound of its answer. */
export async function withSpokenAnswer(
  answering: Answering,
  end: Pick<TurnEnd, "status" | "silent" | "text">,
  payloads: readonly ReplyPayload[],
): Promise<readonly ReplyPayload[]> {
  const { deps, loadReply } = answering.context;
  if (end.status !== "ok" || end.silent === true) return payloads;
  const isWanted = deps.speech?.isWanted(answering.entry) === true;
  // Words that were meant to be heard are read where nothing speaks.
  if (!isWanted && (payloads.length > 0 || !end.text.includes("[[tts:text"))) return payloads;
  if (isWanted && deps.config.current.messages?.tts?.mode === "all" && payloads.some(({ text }) => text !== undefined)) {
    return [...payloads, ...(await partSpoken(answering, payloads, "final"))];
  }
  const { readReply, wordsOf } = await loadReply();
  const { text, directives } = readReply(end.text, deps.mediaRoots?.(answering.turn.main.agentId) ?? []);
  // An answer with files of its own has its sound, if it wants one.
  if (directives.media.length > 0) return payloads;
  const { spokenText, tts: tags } = directives;
  const spoken = isWanted ? await speak(answering, { text: wordsOf(text), spokenText, tags, kind: "final" }) : [];
  if (payloads.length + spoken.length === 0 && spokenText !== undefined) return [{ text: spokenText }];
  return [...payloads, ...spoken];
}
