import type { Clock } from "../base/clock.ts";
import type { AddressLookup } from "../base/guarded-fetch.ts";
import type { HostPolicy } from "../base/host-rules.ts";
import type { Logger } from "../base/log/logger.ts";
import type { Config } from "../config/index.ts";
import type { Documents, ImageFitter, Mark, MediaSpending } from "../media/index.ts";
import type { Models } from "../models/index.ts";

/** A provider of a plugin that describes files by itself. */
export interface Describer {
  readonly id: string;
  readonly describeImage?: (request: Readonly<Record<string, unknown>>) => unknown;
  readonly describeVideo?: (request: Readonly<Record<string, unknown>>) => unknown;
}

export interface UnderstandingDeps {
  readonly config: Pick<Config, "current" | "env" | "resolveSecret" | "paths">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly models: () => Promise<Pick<Models, "select" | "choices" | "imageModels" | "call" | "auth">>;
  readonly documents: Documents;
  readonly fitImages: ImageFitter;
  readonly mark: Mark;
  readonly spending?: MediaSpending;
  /** Those that plugins brought. */
  readonly describers?: () => readonly Describer[];
  /** What links may lead to beyond public hosts, and how names are looked up. */
  readonly network?: { readonly policy?: HostPolicy; readonly lookup?: AddressLookup };
}
