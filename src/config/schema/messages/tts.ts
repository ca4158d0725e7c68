import { advanced, choice, flag, group, number, ratio, secret, text, whole } from "../pieces.ts";

const timeoutMs = whole("How long it may take.", { minimum: 1000, maximum: 120_000, ...advanced });

export const tts = group("Spoken replies.", {
  auto: choice("Which replies are spoken.", ["off", "always", "inbound", "tagged"]),
  enabled: flag("Older switch for auto.", advanced),
  mode: choice("Only the last reply of a turn or all.", ["final", "all"]),
  provider: choice("Who speaks; chosen by available keys when absent.", ["elevenlabs", "openai", "edge"]),
  summaryModel: text("Model that shortens long replies first."),
  modelOverrides: group(
    "What the agent may choose by itself.",
    {
      enabled: flag("Let it choose anything."),
      allowText: flag("The spoken text."),
      allowProvider: flag("The provider."),
      allowVoice: flag("The voice."),
      allowModelId: flag("The model."),
      allowVoiceSettings: flag("The voice's settings."),
      allowNormalization: flag("Text normalization."),
      allowSeed: flag("The seed."),
    },
    [],
    advanced,
  ),
  elevenlabs: group("ElevenLabs.", {
    apiKey: secret("Its key."),
    baseUrl: text("Its address.", advanced),
    voiceId: text("Voice."),
    modelId: text("Model."),
    seed: whole("Number that makes results repeatable.", { minimum: 0, maximum: 4_294_967_295, ...advanced }),
    applyTextNormalization: choice("Whether numbers and dates are spelt out.", ["auto", "on", "off"], advanced),
    languageCode: text("Two-letter language."),
    voiceSettings: group("Sound of the voice.", {
      stability: ratio("Evenness."),
      similarityBoost: ratio("Closeness to the original voice."),
      style: ratio("Exaggeration of style."),
      useSpeakerBoost: flag("Stress the speaker's character."),
      speed: number("Speed; 1 is normal.", { minimum: 0.5, maximum: 2 }),
    }),
  }),
  openai: group("OpenAI.", { apiKey: secret("Its key."), model: text("Model."), voice: text("Voice.") }),
  edge: group("The free voices of Microsoft Edge.", {
    enabled: flag("Use them when nothing else is there."),
    voice: text("Voice."),
    lang: text("Language."),
    outputFormat: text("Sound format.", advanced),
    pitch: text("Pitch, such as +10%."),
    rate: text("Speed, such as +10%."),
    volume: text("Volume, such as +10%."),
    saveSubtitles: flag("Write subtitles beside the sound.", advanced),
    proxy: text("Proxy to use.", advanced),
    timeoutMs,
  }),
  prefsPath: text("File that keeps what people chose in chats.", advanced),
  maxTextLength: whole("Longest text spoken.", { minimum: 1 }),
  timeoutMs,
});
