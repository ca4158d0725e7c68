import { messageOf } from "../../../base/errors.ts";
import { takesVoiceNotes } from "../../../config/index.ts";
import type { Voice } from "../../../voice/index.ts";
import { defineTool } from "../../declaration.ts";
import { failedOutcome, textOutcome } from "../../tool.ts";

export interface TtsDeps {
  readonly voice: () => Promise<Pick<Voice, "convert">>;
}

const MAX_CHARS = 4096;

/** Speaks a text; the answer with the path in it sends the audio. */
export const ttsTool = defineTool<TtsDeps>({
  name: "tts",
  groups: [],
  reach: { outbound: true },
  icon: "🔊",
  label: "Speak",
  description:
    "Convert text to an audio file. To send it, include the lines of the result unchanged in your answer; the file is sent in their place. Text-to-speech providers receive the text.",
  parameters: {
    type: "object",
    properties: {
      text: { type: "string", maxLength: MAX_CHARS, description: "Text to speak, without formatting" },
      channel: { type: "string", description: "Channel that the audio is for; the current one when absent" },
    },
    required: ["text"],
  },
  idempotent: true,
  run:
    ({ voice }) =>
    async ({ params, context, signal }) => {
      const text = typeof params["text"] === "string" ? params["text"] : "";
      const channel = typeof params["channel"] === "string" ? params["channel"] : (context.channel ?? "");
      try {
        const speech = await (await voice()).convert({ text, asVoiceNote: takesVoiceNotes(channel), signal });
        const { audioPath, provider, voiceCompatible, failures } = speech;
        const lines = [...(voiceCompatible ? ["[[audio_as_voice]]"] : []), `MEDIA:${audioPath}`];
        return textOutcome(lines.join("\n"), { audioPath, provider, ...(failures.length === 0 ? {} : { failures }) });
      } catch (error) {
        return failedOutcome(messageOf(error));
      }
    },
});
