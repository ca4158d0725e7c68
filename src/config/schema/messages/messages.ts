import { advanced, amount, choice, count, flag, group, map, number, ratio, secret, text, texts, whole } from "../pieces.ts";
import { groupChat } from "../parts.ts";

const timeoutMs = whole("How long it may take.", { minimum: 1000, maximum: 120_000, ...advanced });

const tts = group("Spoken replies.", {
  auto: choice("Which replies are spoken.", ["off", "always", "inbound", "tagged"]),
  enabled: flag("Older switch for auto.", advanced),
  mode: choice("Only the last reply of a turn or all.", ["final", "all"]),
  provider: choice("Speech provider; chosen by available keys when absent.", ["elevenlabs", "openai", "edge", "local"]),
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
  openai: group("OpenAI, and servers compatible with it.", {
    apiKey: secret("Its key."),
    baseUrl: text("Its address; that of models.providers.openai when absent.", advanced),
    model: text("Model."),
    voice: text("Voice."),
  }),
  edge: group("The free voices of Microsoft Edge.", {
    enabled: flag("Use them when no other provider is available."),
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
  local: group("A program on this machine.", {
    command: text("Program to run, without a shell; espeak-ng when absent.", { minLength: 1 }),
    args: texts("Its arguments: {file} is the WAV file to write, {voice} the voice, {text} the text, which otherwise comes on standard input."),
    voice: text("Voice."),
  }),
  prefsPath: text("File that stores what people chose in chats.", advanced),
  maxTextLength: whole("Longest text spoken.", { minimum: 1 }),
  timeoutMs,
});

const queueMode = (description: string) => choice(description, ["steer", "followup", "collect", "steer-backlog", "steer+backlog", "queue", "interrupt"]);

const queue = group("What happens to messages that come while the agent works.", {
  mode: queueMode("collect answers them together afterwards, steer passes them to the running turn."),
  byChannel: group("Mode by channel.", {
    whatsapp: queueMode("On WhatsApp."),
    telegram: queueMode("On Telegram."),
    discord: queueMode("On Discord."),
    irc: queueMode("On IRC."),
    slack: queueMode("On Slack."),
    mattermost: queueMode("On Mattermost."),
    signal: queueMode("On Signal."),
    imessage: queueMode("On iMessage."),
    msteams: queueMode("On Microsoft Teams."),
    webchat: queueMode("On WebChat."),
  }),
  debounceMs: amount("Wait for this many milliseconds of silence before answering."),
  debounceMsByChannel: map("The same by channel.", amount("Milliseconds.")),
  cap: count("Maximum number of queued messages."),
  drop: choice("What is dropped when there are more.", ["old", "new", "summarize"]),
});

const inbound = group("Joins messages that one sender writes in quick succession.", {
  debounceMs: amount("Wait for this many milliseconds of silence; 0 is off."),
  byChannel: map("The same by channel.", amount("Milliseconds.")),
});

export const messages = group("How messages are received and answered.", {
  messagePrefix: text("Text put before what people write."),
  responsePrefix: text("Text put before replies; auto is the agent's name, {model} and others are filled in."),
  groupChat: groupChat("Behaviour in groups."),
  queue,
  inbound,
  ackReaction: text("Emoji set on a message that is being answered."),
  ackReactionScope: choice("On which messages it is set.", ["group-mentions", "group-all", "direct", "all"]),
  removeAckAfterReply: flag("Remove it after the reply."),
  suppressToolErrors: flag("Do not show warnings about failed tools."),
  tts,
});
