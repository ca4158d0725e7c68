/**
 * Pictures from texts.
 * Entry point of the module.
 */
import { lazy } from "../base/lazy.ts";
import type { ImagingDeps } from "./create-imaging.ts";
import type { Imaging } from "./types.ts";

export type { Imaging } from "./types.ts";

/** The code is loaded with the first picture. */
export function createLazyImaging(deps: ImagingDeps): () => Promise<Imaging> {
  return lazy(async () => (await import("./create-imaging.ts")).createImaging(deps));
}
