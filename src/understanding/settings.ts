/** `tools.media` and `tools.links`, with the defaults. */
import type { OpenClawConfig } from "../config/index.ts";
import type { Capability } from "./types.ts";

type Media = NonNullable<NonNullable<OpenClawConfig["tools"]>["media"]>;
type Section = NonNullable<Media["image"]>;
export type MediaModel = NonNullable<Media["models"]>[number];

const MB = 1024 * 1024;
const DEFAULTS = {
  image: { maxBytes: 10 * MB, timeoutSeconds: 60, prompt: "Describe the image." },
  video: { maxBytes: 50 * MB, timeoutSeconds: 120, prompt: "Describe the video." },
} as const;
const MAX_CHARS = 500;
const MOST_OF_ALL = 8;
const CONCURRENCY = 2;

export type MediaCapability = keyof typeof DEFAULTS;

/** A model or program to try, with where it stands in the configuration. */
export interface Candidate {
  readonly model: MediaModel;
  readonly path: string;
}

export interface CapabilitySettings {
  readonly capability: MediaCapability;
  /** Undefined: decided by available models. */
  readonly enabled: boolean | undefined;
  readonly scope: Section["scope"];
  /** In the order in which they are tried. */
  readonly candidates: readonly Candidate[];
  readonly maxAttachments: number;
  readonly takesLast: boolean;
}

/** Limits and wishes for one attempt. */
export interface RequestSettings {
  readonly maxBytes: number;
  readonly maxChars: number;
  readonly timeoutMs: number;
  readonly prompt: string;
}

const isCandidate = ({ type, command, provider, model }: MediaModel): boolean =>
  type === "cli" || (type === undefined && provider === undefined && model === undefined && command !== undefined) ? command?.trim() !== "" : true;

/** Shared models are tried for what they declare; a provider's model that declares nothing is tried for pictures and film. */
const isShared = (model: MediaModel, capability: MediaCapability): boolean => model.capabilities?.includes(capability) ?? !isProgram(model);

export const isProgram = ({ type, command }: MediaModel): boolean => type === "cli" || (type === undefined && command !== undefined);

export function capabilitySettings(config: OpenClawConfig, capability: MediaCapability): CapabilitySettings {
  const { models: shared = [], ...media } = config.tools?.media ?? {};
  const section = media[capability];
  const own = (section?.models ?? []).map((model, at) => ({ model, path: `tools.media.${capability}.models.${at}` }));
  const others = shared.map((model, at) => ({ model, path: `tools.media.models.${at}` }));
  const { mode = "first", maxAttachments, prefer } = section?.attachments ?? {};
  return {
    capability,
    enabled: section?.enabled,
    scope: section?.scope,
    candidates: [
      ...own.filter(({ model }) => model.capabilities?.includes(capability) ?? true),
      ...others.filter(({ model }) => isShared(model, capability)),
    ].filter(({ model }) => isCandidate(model)),
    maxAttachments: mode === "all" ? (maxAttachments ?? MOST_OF_ALL) : 1,
    takesLast: prefer === "last",
  };
}

/** What the model's own entry says, then its capability, then the default. */
export function requestSettings(config: OpenClawConfig, capability: MediaCapability, model?: MediaModel): RequestSettings {
  const section = config.tools?.media?.[capability];
  const usual = DEFAULTS[capability];
  const maxChars = model?.maxChars ?? section?.maxChars ?? MAX_CHARS;
  const prompt = (model?.prompt ?? section?.prompt)?.trim() || usual.prompt;
  const language = (model?.language ?? section?.language)?.trim();
  return {
    maxBytes: model?.maxBytes ?? section?.maxBytes ?? usual.maxBytes,
    maxChars,
    timeoutMs: (model?.timeoutSeconds ?? section?.timeoutSeconds ?? usual.timeoutSeconds) * 1000,
    prompt: `${prompt} Answer in at most ${maxChars} characters.${language ? ` Answer in this language: ${language}.` : ""}`,
  };
}

export const concurrencyOf = (config: OpenClawConfig): number => config.tools?.media?.concurrency ?? CONCURRENCY;

export function capabilityOf(mimeType: string): Exclude<Capability, "link"> | undefined {
  if (mimeType.startsWith("image/")) return "image";
  if (mimeType.startsWith("video/")) return "video";
  return mimeType.startsWith("audio/") ? undefined : "document";
}
