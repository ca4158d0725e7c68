/** Answers that are spoken by themselves: which of them, which words, and how long they may be. */
import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Logger } from "../base/log/logger.ts";
import { takesVoiceNotes, type OpenClawConfig } from "../config/index.ts";
import type { Speech, SpeechRequest } from "./create-voice.ts";
import { limited } from "../base/limited.ts";
import { readOverrides } from "./overrides.ts";
import type { Preferences } from "./preferences.ts";
import { cutSpeech, speakable } from "./speakable.ts";
import { AUTO_MODES, type AutoMode } from "./types.ts";

type Tts = NonNullable<NonNullable<OpenClawConfig["messages"]>["tts"]>;

/** An answer, or a part of one, that may be spoken. */
export interface AnswerToSpeak {
  /** As people read it. */
  readonly text: string;
  /** What stood in `[[tts:text]]`, to be spoken instead. */
  readonly spokenText?: string | undefined;
  /** What stood in each `[[tts]]`; undefined: there was none. */
  readonly tags?: readonly string[] | undefined;
  readonly kind: "final" | "block" | "tool";
  readonly channel: string;
  readonly agentId: string;
  readonly sessionKey: string;
  /** The session's own mode. */
  readonly auto?: unknown;
  /** The person who is answered spoke. */
  readonly isToSpeech: boolean;
  readonly signal: AbortSignal;
}

/** Makes a text shorter for listeners. */
export type Summarise = (request: {
  readonly text: string;
  readonly maxChars: number;
  readonly agentId: string;
  readonly sessionKey: string;
  /** Of `messages.tts.summaryModel`. */
  readonly model: string | undefined;
  readonly signal: AbortSignal;
}) => Promise<string>;

export interface AnswersDeps {
  readonly tts: () => Tts;
  readonly preferences: () => Preferences;
  readonly clock: Clock;
  readonly log: Logger;
  convert(request: SpeechRequest): Promise<Speech>;
  readonly summarise: Summarise;
}

/** Longer answers are summed up, unless the settings file says otherwise. */
export const USUAL_LENGTH = 1500;
const LEAST_CHARS = 10;
const LIMIT_MS = 30_000;

export const autoMode = (tts: Tts, { auto }: Preferences, own?: unknown): AutoMode =>
  AUTO_MODES.find((mode) => mode === own) ?? auto ?? tts.auto ?? (tts.enabled === true ? "always" : "off");

/** What the agent has to know about spoken answers; undefined where none are. */
export function voiceHint(tts: Tts, preferences: Preferences, own?: unknown): string | undefined {
  const mode = autoMode(tts, preferences, own);
  if (mode === "off") return undefined;
  const which = { always: "Your answers are spoken.", inbound: "Answers to voice notes are spoken.", tagged: "An answer is spoken when it contains [[tts]]." }[
    mode
  ];
  const { maxLength = USUAL_LENGTH, summarize = true } = preferences;
  const long = summarize ? "longer ones are summed up first" : "longer ones are not spoken";
  const { enabled = true, allowText = true } = tts.modelOverrides ?? {};
  const text = enabled && allowText ? " Words between [[tts:text]] and [[/tts:text]] are spoken instead of the answer and not shown." : "";
  const choice = enabled ? " [[tts:voice=… speed=…]] chooses how." : "";
  return `${which} Keep them below ${maxLength} characters; ${long}.${text}${choice}`;
}

/** Speaks answers where the settings want it. Undefined: this one is not spoken. Never rejects: an answer goes out without sound rather than not at all. */
export function createAnswers(deps: AnswersDeps): (answer: AnswerToSpeak) => Promise<Speech | undefined> {
  const { clock, log } = deps;

  /** The words, of a length that can be spoken; undefined: there are none, or too many. */
  async function wordsOf(answer: AnswerToSpeak, tts: Tts, signal: AbortSignal): Promise<string | undefined> {
    const { enabled = true, allowText = true } = tts.modelOverrides ?? {};
    const own = enabled && allowText ? answer.spokenText : undefined;
    const text = speakable(own ?? answer.text);
    const { maxLength = USUAL_LENGTH, summarize = true } = deps.preferences();
    if (text.length < (own === undefined ? LEAST_CHARS : 1)) return undefined;
    if (text.length <= maxLength) return text;
    if (!summarize) return undefined;
    const { agentId, sessionKey } = answer;
    const short = await deps.summarise({ text, maxChars: maxLength, agentId, sessionKey, model: tts.summaryModel, signal });
    return cutSpeech(speakable(short), maxLength) || undefined;
  }

  return async (answer) => {
    const tts = deps.tts();
    const mode = autoMode(tts, deps.preferences(), answer.auto);
    const { enabled = true } = tts.modelOverrides ?? {};
    const isTagged = enabled && (answer.tags !== undefined || answer.spokenText !== undefined);
    if (mode === "off" || (mode === "tagged" && !isTagged) || (mode === "inbound" && !answer.isToSpeech)) return undefined;
    if (answer.kind !== "final" && tts.mode !== "all") return undefined;
    // All of it together: a text does not wait longer for its sound.
    using limit = limited(clock, tts.timeoutMs ?? LIMIT_MS, answer.signal);
    try {
      const text = await wordsOf(answer, tts, limit.signal);
      if (text === undefined) return undefined;
      const overrides = readOverrides(answer.tags ?? [], tts.modelOverrides);
      return await deps.convert({ text, asVoiceNote: takesVoiceNotes(answer.channel), overrides, signal: limit.signal });
    } catch (error) {
      const why = limit.isOver() ? "it took too long" : messageOf(error);
      if (!answer.signal.aborted) log.warn(`an answer is sent without audio: ${why}`, { sessionKey: answer.sessionKey });
      return undefined;
    }
  };
}
