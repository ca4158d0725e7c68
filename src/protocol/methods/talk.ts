import { method } from "../method.ts";
import { choice, closed, effect, filled, flag, ignored, list, map, maybe, moment, orNull, text, texts } from "../pieces.ts";

const triggers = closed({ triggers: texts() });
const enabled = closed({ enabled: flag() });
const speaker = choice(["openai", "elevenlabs", "edge", "local"]);

/** Talking with the gateway, and the words that wake it. */
export const talkMethods = {
  "talk.config": method({
    access: "operator.read",
    params: closed({ includeSecrets: maybe(flag({ description: "Needs `operator.talk.secrets`." })) }),
    result: closed({
      config: closed({
        talk: maybe(
          closed({
            voiceId: maybe(text()),
            voiceAliases: maybe(map(text())),
            modelId: maybe(text()),
            outputFormat: maybe(text()),
            apiKey: maybe(text()),
            interruptOnSpeech: maybe(flag()),
          }),
        ),
        session: maybe(closed({ mainKey: maybe(text()) })),
        ui: maybe(closed({ seamColor: maybe(text()) })),
      }),
    }),
    effect: false,
    module: "config",
    summary: "Returns the talk mode settings. The key only with `includeSecrets`.",
  }),
  "talk.mode": method({
    access: "operator.write",
    params: effect({ enabled: flag(), phase: maybe(text()) }),
    result: closed({ enabled: flag(), phase: orNull(text()), ts: moment() }),
    effect: true,
    module: "nodes",
    summary: "Turns talk mode on or off and notifies every client.",
  }),
  "talk.ready": method({
    access: "operator.read",
    params: ignored(),
    result: closed({
      hears: texts({ description: "Speech recognition providers, in the order they are tried." }),
      speaks: texts({ description: "Speech providers, in the order they are tried." }),
      interruptOnSpeech: flag({ description: "Speech stops when the user speaks." }),
    }),
    effect: false,
    module: "media",
    summary: "Returns whether a client can use speech with the gateway.",
  }),
  "talk.transcribe": method({
    access: "operator.write",
    params: closed({ audioBase64: filled(), mimeType: filled({ description: "Such as `audio/wav`." }), sessionKey: maybe(text()) }),
    result: closed({ text: text({ description: "Empty: no words were recognised." }), provider: text() }),
    effect: false,
    module: "media",
    summary: "Transcribes a recording. Nothing is stored.",
  }),
  "talk.speak": method({
    access: "operator.write",
    params: closed({ text: filled({ description: "A sentence or more, in Markdown." }) }),
    result: closed({
      audioBase64: text({ description: "Empty: nothing in the text can be spoken." }),
      mimeType: text(),
      provider: text(),
      outputFormat: text(),
    }),
    effect: false,
    module: "media",
    summary: "Converts text to speech. Nothing is stored.",
  }),
  "voicewake.get": method({
    access: "operator.read",
    params: ignored(),
    result: triggers,
    effect: false,
    module: "nodes",
    summary: "Returns the wake words.",
  }),
  "voicewake.set": method({
    access: "operator.write",
    params: effect({ triggers: texts({ description: "The first 32, 64 characters each; empty restores the defaults." }) }),
    result: triggers,
    effect: true,
    module: "nodes",
    summary: "Sets the wake words.",
  }),
};

/** Speech from text. */
export const ttsMethods = {
  "tts.status": method({
    access: "operator.read",
    params: ignored(),
    result: closed({
      enabled: flag(),
      auto: text(),
      provider: text(),
      fallbackProvider: orNull(text()),
      fallbackProviders: texts(),
      prefsPath: text(),
      hasOpenAIKey: flag(),
      hasElevenLabsKey: flag(),
      edgeEnabled: flag(),
    }),
    effect: false,
    module: "media",
    summary: "Returns whether answers are spoken, and by which provider.",
  }),
  "tts.providers": method({
    access: "operator.read",
    params: ignored(),
    result: closed({
      providers: list(closed({ id: filled(), name: text(), configured: flag(), models: texts(), voices: maybe(texts()) })),
      active: text(),
    }),
    effect: false,
    module: "media",
    summary: "Lists speech providers.",
  }),
  "tts.enable": method({
    access: "operator.write",
    params: ignored(),
    result: enabled,
    effect: true,
    module: "media",
    summary: "Turns spoken answers on.",
  }),
  "tts.disable": method({
    access: "operator.write",
    params: ignored(),
    result: enabled,
    effect: true,
    module: "media",
    summary: "Turns spoken answers off.",
  }),
  "tts.setProvider": method({
    access: "operator.write",
    params: effect({ provider: speaker }),
    result: closed({ provider: speaker }),
    effect: true,
    module: "media",
    summary: "Selects the speech provider.",
  }),
  "tts.convert": method({
    access: "operator.write",
    params: effect({ text: filled(), channel: maybe(text()) }),
    result: closed({
      audioPath: text(),
      provider: text(),
      outputFormat: text(),
      voiceCompatible: flag(),
      failures: maybe(texts({ description: "Providers that were tried first and failed, each with the reason." })),
    }),
    effect: true,
    module: "media",
    summary: "Converts text to an audio file.",
  }),
};
