/** `[[tts:voice=nova speed=1.2]]`: what an agent chooses for one answer, as far as `messages.tts.modelOverrides` lets it. */
import type { OpenClawConfig } from "../config/index.ts";
import { SPEAKERS, type SpeakerId } from "./types.ts";

type Tts = NonNullable<NonNullable<OpenClawConfig["messages"]>["tts"]>;
type Allowed = NonNullable<Tts["modelOverrides"]>;

/** Over the configuration, for one text. */
export interface Overrides {
  readonly provider?: SpeakerId;
  readonly openai?: { readonly voice?: string; readonly model?: string };
  readonly elevenlabs?: Partial<NonNullable<Tts["elevenlabs"]>>;
}

type Right = Exclude<keyof Allowed, "enabled" | "allowText">;

interface Key {
  readonly right: Right;
  /** Undefined: the value is none that this takes. */
  read(value: string): Overrides | undefined;
}

const settings = (voiceSettings: NonNullable<NonNullable<Tts["elevenlabs"]>["voiceSettings"]>): Overrides => ({ elevenlabs: { voiceSettings } });

function numbered(name: "stability" | "similarityBoost" | "style" | "speed", least: number, most: number): Key {
  return {
    right: "allowVoiceSettings",
    read(value) {
      const number = Number(value);
      return value !== "" && number >= least && number <= most ? settings({ [name]: number }) : undefined;
    },
  };
}

const NAME = /^[\w.-]{1,80}$/;
const named = (right: Right, make: (name: string) => Overrides): Key => ({ right, read: (value) => (NAME.test(value) ? make(value) : undefined) });

const voice = named("allowVoice", (name) => ({ openai: { voice: name } }));
const voiceId = named("allowVoice", (name) => ({ elevenlabs: { voiceId: name } }));
const model = named("allowModelId", (name) => (/^(?:tts-|gpt-)/.test(name) ? { openai: { model: name } } : { elevenlabs: { modelId: name } }));

/** By its name in lower case, without `_` and `-`. */
const KEYS: Readonly<Record<string, Key>> = {
  provider: {
    right: "allowProvider",
    read(value) {
      const provider = SPEAKERS.find((id) => id === value.toLowerCase());
      return provider && { provider };
    },
  },
  voice,
  openaivoice: voice,
  voiceid: voiceId,
  elevenlabsvoice: voiceId,
  model,
  modelid: model,
  stability: numbered("stability", 0, 1),
  similarityboost: numbered("similarityBoost", 0, 1),
  style: numbered("style", 0, 1),
  speed: numbered("speed", 0.5, 2),
  usespeakerboost: {
    right: "allowVoiceSettings",
    read: (value) => (/^(?:true|false)$/i.test(value) ? settings({ useSpeakerBoost: value.toLowerCase() === "true" }) : undefined),
  },
  applytextnormalization: {
    right: "allowNormalization",
    read: (value) => (value === "auto" || value === "on" || value === "off" ? { elevenlabs: { applyTextNormalization: value } } : undefined),
  },
  languagecode: {
    right: "allowNormalization",
    read: (value) => (/^[a-z]{2}$/i.test(value) ? { elevenlabs: { languageCode: value.toLowerCase() } } : undefined),
  },
  seed: {
    right: "allowSeed",
    read: (value) => (/^\d{1,10}$/.test(value) && Number(value) <= 4_294_967_295 ? { elevenlabs: { seed: Number(value) } } : undefined),
  },
};

function merged(one: Overrides, other: Overrides): Overrides {
  const voiceSettings = { ...one.elevenlabs?.voiceSettings, ...other.elevenlabs?.voiceSettings };
  return {
    ...one,
    ...other,
    openai: { ...one.openai, ...other.openai },
    elevenlabs: { ...one.elevenlabs, ...other.elevenlabs, ...(Object.keys(voiceSettings).length === 0 ? {} : { voiceSettings }) },
  };
}

/** What the tags of an answer choose. What is unknown, wrong or not allowed has no effect. */
export function readOverrides(tags: readonly string[], allowed: Allowed = {}): Overrides {
  if (allowed.enabled === false) return {};
  let all: Overrides = {};
  for (const word of tags.join(" ").split(/\s+/)) {
    const at = word.indexOf("=");
    if (at < 1) continue;
    const key = KEYS[word.slice(0, at).toLowerCase().replaceAll(/[_-]/g, "")];
    const chosen = key && allowed[key.right] !== false ? key.read(word.slice(at + 1)) : undefined;
    if (chosen) all = merged(all, chosen);
  }
  return all;
}
