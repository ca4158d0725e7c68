export interface ImageRequest {
  readonly agentId: string;
  readonly sessionKey: string;
  readonly runId?: string | undefined;
  readonly prompt: string;
  /** How many pictures, 1 to 4. */
  readonly count: number;
  /** Width and height, such as `1024x1024`; the provider's usual one when absent. */
  readonly size?: string | undefined;
  /** Instead of the configured model, as provider/model. */
  readonly model?: string | undefined;
  readonly signal: AbortSignal;
}

export interface MadeImages {
  /** Below the folder of media. */
  readonly paths: readonly string[];
  readonly provider: string;
  readonly model: string;
  /** What the provider made of the prompt, where it says so. */
  readonly revisedPrompt?: string | undefined;
  /** Models that were asked before and failed, with the reason of each. */
  readonly failures: readonly string[];
}

/** Makes pictures from texts. */
export interface Imaging {
  /** Throws with the reason of each model that failed. */
  generate(request: ImageRequest): Promise<MadeImages>;
}

/** A provider of a plugin. */
export interface Maker {
  readonly id: string;
  readonly generateImage: (request: Readonly<Record<string, unknown>>) => unknown;
}

/** One picture as a provider gave it. */
export interface RawImage {
  readonly data: Buffer;
  readonly revisedPrompt?: string | undefined;
}

export interface RawImages {
  readonly images: readonly RawImage[];
  readonly input: number;
  readonly output: number;
}
