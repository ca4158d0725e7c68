/** `/tts`: who speaks, and a text as audio. What is chosen is kept in the settings file of speech. */
import { takesVoiceNotes } from "../../../config/index.ts";
import { SPEAKERS, type Voice } from "../../../voice/index.ts";
import { notThere, wordsOf, type Answer, type Handler, type Handling } from "../handling.ts";

const USAGE = [
  "/tts status: who speaks, and how the last text fared",
  `/tts provider [${SPEAKERS.join("|")}]: who speaks`,
  "/tts audio <text>: speak a text",
].join("\n");

async function status(voice: Voice, now: number): Promise<string> {
  const { order, speakers, last } = await voice.status();
  const [first, ...others] = order;
  const missing = speakers.filter((speaker) => speaker.missing !== undefined).map(({ id, missing: what }) => `- ${id}: ${what}`);
  return [
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
    case "off":
    case "limit":
    case "summary":
      return notThere(`tts ${action}`, "answers are not spoken by themselves; /tts audio <text> speaks a text");
    default:
      return USAGE;
  }
};
