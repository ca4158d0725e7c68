/** `/tts`: which answers are spoken, who speaks, and a text as audio. What is chosen is kept in the settings file of speech and holds for everybody: it is the owner's. */
import { takesVoiceNotes } from "../../../config/index.ts";
import { SPEAKERS, type Voice } from "../../../voice/index.ts";
import { refusalTo } from "../authority.ts";
import { notThere, wordsOf, type Answer, type Handler, type Handling } from "../handling.ts";

const [LEAST, MOST] = [100, 4096];

const USAGE = [
  "/tts on, /tts off: turn spoken replies on or off",
  "/tts status: which replies are spoken, the provider in use, and the last result",
  `/tts provider [${SPEAKERS.join("|")}]: choose the speech provider`,
  `/tts limit [${LEAST}-${MOST}]: replies longer than this are summarized first`,
  "/tts summary [on|off]: summarize long replies, or do not speak them",
  "/tts audio <text>: turn text into audio",
].join("\n");

const WHICH = {
  off: "Replies are not spoken.",
  always: "All replies are spoken.",
  inbound: "Replies to voice notes are spoken.",
  tagged: "Replies that the agent marks are spoken.",
} as const;

const lengthOf = (maxLength: number, summarize: boolean): string =>
  `Replies of more than ${maxLength} characters are ${summarize ? "summarized before they are spoken" : "not spoken"}.`;

/** Who could not speak before one could. */
const afterwards = (failures: readonly string[]): string => (failures.length === 0 ? "" : ` after ${failures.join("; ")}`);

type VoiceStatus = Awaited<ReturnType<Voice["status"]>>;

const missingOf = ({ speakers }: VoiceStatus, id: string | undefined): string | undefined => speakers.find((speaker) => speaker.id === id)?.missing;

/** Who speaks, and who does when that one cannot. One that is chosen and not set up does not speak. */
function whoSpeaks(found: VoiceStatus): string {
  const [first, ...others] = found.order;
  const missing = missingOf(found, first);
  if (first === undefined) return "No speech provider is set up.";
  const [next, ...rest] = missing === undefined ? found.order : others;
  const chosen = missing === undefined ? "" : `${first} is selected but not set up: ${missing}. `;
  if (next === undefined) return `${chosen}Nothing is spoken until it is.`;
  return `${chosen}${missing === undefined ? `Provider: ${next}` : `${next} is used instead`}${rest.length === 0 ? "" : `; fallback: ${rest.join(", then ")}`}.`;
}

const canSpeak = (found: VoiceStatus): boolean => found.order.some((id) => missingOf(found, id) === undefined);

async function status(voice: Voice, now: number): Promise<string> {
  const found = await voice.status();
  const { auto, maxLength, summarize, order, speakers, last } = found;
  const missing = speakers.filter(({ id, missing: what }) => what !== undefined && id !== order[0]).map(({ id, missing: what }) => `- ${id}: ${what}`);
  return [
    WHICH[auto],
    ...(auto === "off" ? [] : [lengthOf(maxLength, summarize)]),
    whoSpeaks(found),
    ...(missing.length === 0 ? [] : ["Not set up:", ...missing]),
    ...(last === undefined
      ? []
      : [
          `Last: ${last.characters} characters ${Math.max(0, Math.round((now - last.at) / 1000))} s ago, ${last.error === undefined ? `${last.provider} took ${last.ms} ms${afterwards(last.failures)}` : `failed: ${last.error}`}.`,
        ]),
  ].join("\n");
}

async function provider(voice: Voice, wanted: string | undefined): Promise<string> {
  if (wanted === undefined) return `${whoSpeaks(await voice.status())} Available: ${SPEAKERS.join(", ")}.`;
  const chosen = SPEAKERS.find((id) => id === wanted.toLowerCase());
  if (chosen === undefined) return `Unknown provider "${wanted}". Available: ${SPEAKERS.join(", ")}.`;
  voice.change({ provider: chosen });
  const found = await voice.status();
  return missingOf(found, chosen) === undefined ? `Speech provider is now ${chosen}.` : whoSpeaks(found);
}

async function limit(voice: Voice, wanted: string | undefined): Promise<string> {
  const { maxLength, summarize } = await voice.status();
  if (wanted === undefined) return lengthOf(maxLength, summarize);
  const chosen = Number(wanted);
  if (!Number.isInteger(chosen) || chosen < LEAST || chosen > MOST) return `Invalid limit "${wanted}". Use a number from ${LEAST} to ${MOST}.`;
  voice.change({ maxLength: chosen });
  return lengthOf(chosen, summarize);
}

async function summary(voice: Voice, wanted: string | undefined): Promise<string> {
  const { maxLength, summarize } = await voice.status();
  const chosen = wanted === undefined ? summarize : { on: true, off: false }[wanted.toLowerCase()];
  if (chosen === undefined) return `Invalid value "${wanted}". Use on or off.`;
  if (wanted !== undefined) voice.change({ summarize: chosen });
  return lengthOf(maxLength, chosen);
}

async function turn(voice: Voice, auto: "always" | "off"): Promise<string> {
  voice.change({ auto });
  const found = auto === "off" ? undefined : await voice.status();
  return found === undefined || canSpeak(found) ? WHICH[auto] : `Turned on, but ${whoSpeaks(found).replace(/^N/, "n")} /tts shows what is missing.`;
}

async function audio(voice: Voice, { call }: Handling, text: string): Promise<Answer> {
  if (text === "") return "Usage: /tts audio <text>";
  const { audioPath, provider: speaker, voiceCompatible, failures } = await voice.convert({ text, asVoiceNote: takesVoiceNotes(call.channel) });
  const note = failures.length === 0 ? {} : { text: `Audio by ${speaker}${afterwards(failures)}.` };
  return { ...note, mediaUrl: audioPath, ...(voiceCompatible ? { audioAsVoice: true } : {}) };
}

/** Whether it would change something; without a value, these only show what holds. */
const isChange = (action: string, value: string | undefined): boolean =>
  action === "on" || action === "off" || (value !== undefined && (action === "provider" || action === "limit" || action === "summary"));

export const tts: Handler = async (handling) => {
  const { ports, args, name } = handling;
  const voice = await ports.voice?.();
  if (!voice) return notThere(name, "this gateway has no speech");
  const [written = "status", value] = wordsOf(args);
  const action = written.toLowerCase();
  const refusal = isChange(action, value) ? refusalTo("change speech settings", handling) : undefined;
  if (refusal !== undefined) return { text: refusal, isError: true };
  switch (action) {
    case "status":
      return status(voice, ports.clock.now());
    case "provider":
      return provider(voice, value);
    case "audio":
      return audio(voice, handling, args.trim().slice(written.length).trim());
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
