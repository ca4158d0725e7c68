import { AppError, messageOf } from "../../../base/errors.ts";
import { clip } from "../../../base/text.ts";
import type { ImageFitter } from "../../../media/index.ts";
import type { ImageContent, TextContent } from "../../../protocol/index.ts";
import { defineTool } from "../../declaration.ts";
import { failedOutcome, textOutcome, type ToolContext, type ToolOutcome } from "../../tool.ts";
import { derivedPaths, textParam } from "../files/paths.ts";
import { loadImage, parseReference, type ImageSourceDeps } from "./load.ts";

export interface ImageQuestion {
  readonly images: readonly ImageContent[];
  readonly prompt: string;
  /** A model that was asked for by name. */
  readonly model?: string;
  readonly maxTokens: number;
  readonly signal: AbortSignal;
  readonly context: ToolContext;
}

export interface ImageAnswer {
  readonly text: string;
  readonly provider: string;
  readonly model: string;
  /** Models that were tried before and failed. */
  readonly attempts?: readonly unknown[];
}

export interface ImageToolDeps extends ImageSourceDeps {
  /** Asks a model that sees images; rejects when none can answer. */
  readonly describe: (question: ImageQuestion) => Promise<ImageAnswer>;
  /** Makes images small enough for models. */
  readonly fitImages?: ImageFitter | undefined;
  /** `agents.defaults.mediaMaxMb`. */
  readonly mediaMaxMb?: () => number | undefined;
}

const MAX_IMAGES = 20;
const MAX_TOKENS = 4096;
const MB = 1024 * 1024;
const MAX_IMAGE_MB = 5;
/** Whatever a call asks for. */
const MOST_IMAGE_MB = 20;
const MAX_TOTAL_MB = 50;
const PROMPT = "Describe the image.";
const SHOWN_CHARS = 120;

/** Asks a model that sees images about some. */
export const imageTool = defineTool<ImageToolDeps>({
  name: "image",
  groups: ["openclaw"],
  reach: { reads: "private" },
  promptLine: "describe an image",
  icon: "🖼️",
  profiles: ["coding"],
  inSandbox: "allowed",
  label: "image",
  description: `Ask a model with vision about one image (image) or several (images, at most ${MAX_IMAGES}): paths, data: or http(s) URLs.`,
  parameters: {
    type: "object",
    properties: {
      prompt: { type: "string", description: "What to find out; a description by default" },
      image: { type: "string", description: "Path or URL of an image" },
      images: { type: "array", items: { type: "string" }, description: `Paths or URLs of several images, at most ${MAX_IMAGES}` },
      model: { type: "string", description: "Model to ask, as provider/model" },
      maxBytesMb: { type: "number", description: "Largest image, in MB" },
      maxImages: { type: "number", description: `Maximum number of images (${MAX_IMAGES})` },
    },
    required: [],
  },
  idempotent: true,
  executionMode: "parallel",
  paths: (deps) => (params, context) =>
    derivedPaths(
      namesOf(params).flatMap((name) => {
        const reference = parseReference(name);
        return reference?.kind === "path" ? [reference.path] : [];
      }),
      context,
      deps,
    ),
  run:
    (deps) =>
    async ({ id, params, signal, context }) => {
      const names = namesOf(params);
      if (names.length === 0) return failedOutcome("image required");
      const most = Math.min(MAX_IMAGES, Math.floor(positive(params["maxImages"]) ?? MAX_IMAGES) || 1);
      if (names.length > most) {
        const text = `Too many images: ${names.length} provided, maximum is ${most}. Please reduce the number of images.`;
        return failedOutcome(text, { error: "too_many_images", count: names.length, max: most });
      }
      const megabytes = Math.min(MOST_IMAGE_MB, positive(params["maxBytesMb"]) ?? positive(deps.mediaMaxMb?.()) ?? MAX_IMAGE_MB);
      const loaded = await loadAll(names, { maxBytes: Math.floor(megabytes * MB), id, signal, context }, deps);
      if (!loaded.ok) return loaded.outcome;
      return await ask(deps, names, {
        images: loaded.images,
        prompt: textParam(params, "prompt")?.trim() || PROMPT,
        ...modelOf(params),
        maxTokens: MAX_TOKENS,
        signal,
        context,
      });
    },
});

type Params = Readonly<Record<string, unknown>>;

function positive(value: unknown): number | undefined {
  return typeof value === "number" && value > 0 ? value : undefined;
}

function modelOf(params: Params): { readonly model?: string } {
  const model = textParam(params, "model")?.trim();
  return model ? { model } : {};
}

/** Each one once, in order. */
function namesOf({ image, images }: Params): readonly string[] {
  const all = [image, ...(Array.isArray(images) ? images : [images])].flatMap((name) => (typeof name === "string" && name.trim() !== "" ? [name.trim()] : []));
  return [...new Set(all)];
}

/** What stands for an image in texts and details: a data URL is not repeated. */
function shown(name: string): string {
  return clip(name, SHOWN_CHARS);
}

type Loaded = { readonly ok: true; readonly images: readonly ImageContent[] } | { readonly ok: false; readonly outcome: ToolOutcome };

async function loadAll(names: readonly string[], options: Parameters<typeof loadImage>[1], deps: ImageToolDeps): Promise<Loaded> {
  const images: ImageContent[] = [];
  let left = MAX_TOTAL_MB * MB;
  for (const name of names) {
    options.signal.throwIfAborted();
    const reference = parseReference(name);
    if (!reference) {
      const text = `Unsupported image reference: ${shown(name)}. Use a file path, a file:// URL, a data: URL, or an http(s) URL.`;
      return { ok: false, outcome: failedOutcome(text, { error: "unsupported_image_reference", image: shown(name) }) };
    }
    try {
      const [image] = await fitted(await loadImage(reference, { ...options, maxBytes: Math.min(options.maxBytes, left) }, deps), deps);
      if (image.type === "text") return { ok: false, outcome: failedOutcome(`${shown(name)}: ${image.text}`, { error: "INVALID_INPUT", image: shown(name) }) };
      images.push(image);
      left -= Math.floor((image.data.length * 3) / 4);
    } catch (error) {
      options.signal.throwIfAborted();
      return { ok: false, outcome: failedOutcome(`Could not load ${shown(name)}: ${messageOf(error)}`, { error: codeOf(error), image: shown(name) }) };
    }
  }
  return { ok: true, images };
}

async function fitted(image: ImageContent, { fitImages }: ImageToolDeps): Promise<readonly [ImageContent | TextContent]> {
  const [found = image] = (await fitImages?.([image])) ?? [];
  return [found];
}

function codeOf(error: unknown): string {
  return error instanceof AppError ? error.code : "INTERNAL";
}

async function ask(deps: ImageToolDeps, names: readonly string[], question: ImageQuestion): Promise<ToolOutcome> {
  let answer: ImageAnswer;
  try {
    answer = await deps.describe(question);
  } catch (error) {
    question.signal.throwIfAborted();
    return failedOutcome(`The image model failed: ${messageOf(error)}`, { error: codeOf(error) });
  }
  const { text, provider, model, attempts = [] } = answer;
  const [first, ...others] = names;
  const about = first !== undefined && others.length === 0 ? { image: shown(first) } : { images: names.map((name) => ({ image: shown(name) })) };
  return textOutcome(text, { model: `${provider}/${model}`, ...about, attempts });
}
