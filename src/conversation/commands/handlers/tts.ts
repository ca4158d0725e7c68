/** `/tts`: which answers are spoken, who speaks, and a text as audio. What is chosen is kept in the settings file of speech. */
import { takesVoiceNotes } from "../../../config/index.ts";
import { SPEAKERS, type Voice } from "../../../voice/index.ts";
import { notThere, wordsOf, type Answer, type Handler, type Handling } from "../handling.ts";

const [LEAST, MOST] = [100, 4096];

const USAGE = [
  "/tts on, /tts off: speak answers or not",
  "/tts status: which answers are spoken, who speaks, and how the last text fared",
  `/tts provider [${SPEAKERS.join("|")}]: who speaks`,
  `/tts limit [${LEAST}-${MOST}]: characters above which an answer is summed up first`,
  "/tts summary [on|off]: sum up long answers, or do not speak them",
  "/tts audio <text>: speak a text",
].join("\n");

const WHICH = {
  off: "Answers are not spoken.",
  always: "All answers are spoken.",
  inbound: "Answers to voice notes are spoken.",
  tagged: "Answers that the agent marks are spoken.",
} as const;

const lengthOf = (maxLength: number, summarize: boolean): string =>
  `Answers of more than ${maxLength} characters are ${summarize ? "summed up before they are spoken" : "not spoken"}.`;

async function status(voice: Voice, now: number): Promise<string> {
  const { auto, maxLength, summarize, order, speakers, last } = await voice.status();
  const [first, ...others] = order;
  const missing = speakers.filter((speaker) => speaker.missing !== undefined).map(({ id, missing: what }) => `- ${id}: ${what}`);
  return [
    WHICH[auto],
    ...(auto === "off" ? [] : [lengthOf(maxLength, summarize)]),
    first === undefined ? "Nobody can speak." : `${first} speaks${others.length === 0 ? "" : `; if it cannot, ${others.join(", then ")}`}.`,
    ...(missing.length === 0 ? [] : ["Not set up:", ...missing]),
    ...(last === undefined
      ? []
      : [
          `Last: ${last.characters} characters ${Math.max(0, Math.round((now - last.at) / 1000))} s ago, ${last.error === undefined ? `${last.provider} took ${last.ms} ms` : `failed: ${last.error}`}.`,
        ]),
  ].join("\n");
}

async function provider(voice: Voice, wanted: string | undefined): Promise<string> {
  if (wanted === undefined) return `${(await voice.status()).order[0] ?? "Nobody"} speaks. Known are ${SPEAKERS.join(", ")}.`;
  const chosen = SPEAKERS.find((id) => id === wanted.toLowerCase());
  if (chosen === undefined) return `"${wanted}" is no provider. Known are ${SPEAKERS.join(", ")}.`;
  voice.change({ provider: chosen });
  const missing = (await voice.status()).speakers.find(({ id }) => id === chosen)?.missing;
  return missing === undefined ? `${chosen} speaks from now on.` : `${chosen} is chosen, but cannot speak yet: ${missing}.`;
}

async function limit(voice: Voice, wanted: string | undefined): Promise<string> {
  const { maxLength, summarize } = await voice.status();
  if (wanted === undefined) return lengthOf(maxLength, summarize);
  const chosen = Number(wanted);
  if (!Number.isInteger(chosen) || chosen < LEAST || chosen > MOST) return `"${wanted}" is no limit. Give a number from ${LEAST} to ${MOST}.`;
  voice.change({ maxLength: chosen });
  return lengthOf(chosen, summarize);
}

async function summary(voice: Voice, wanted: string | undefined): Promise<string> {
  const { maxLength, summarize } = await voice.status();
  const chosen = wanted === undefined ? summarize : { on: true, off: false }[wanted.toLowerCase()];
  if (chosen === undefined) return `"${wanted}" is neither on nor off.`;
  if (wanted !== undefined) voice.change({ summarize: chosen });
  return lengthOf(maxLength, chosen);
}

function turn(voice: Voice, auto: "always" | "off"): string {
  voice.change({ auto });
  return WHICH[auto];
}

async function audio(voice: Voice, { call }: Handling, text: string): Promise<Answer> {
  if (text === "") return "Usage: /tts audio <text>";
  const { audioPath, voiceCompatible } = await voice.convert({ text, asVoiceNote: takesVoiceNotes(call.channel) });
  return { mediaUrl: audioPath, ...(voiceCompatible ? { audioAsVoice: true } : {}) };
}

export const tts: Handler = async (handling) => {
  const { ports, args, name } = handling;
  const voice = await ports.voice?.();
  if (!voice) return notThere(name, "nothing speaks here");
  const [action = "status", value] = wordsOf(args);
  switch (action.toLowerCase()) {
    case "status":
      return status(voice, ports.clock.now());
    case "provider":
      return provider(voice, value);
    case "audio":
      return audio(voice, handling, args.trim().slice(action.length).trim());
    case "on":
      return turn(voice, "always");
    case "off":
      return turn(voice, "off");
    case "limit":
      return limit(voice, value);
    case "summary":
      return summary(voice, value);
    default:
      return USAGE;
  }
};
