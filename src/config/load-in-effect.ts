import type * as InEffect from "./in-effect.ts";

/** Defaults for showing, loaded when they are asked for: nothing that runs needs them. */
export const loadInEffect = (): Promise<typeof InEffect> => import("./in-effect.ts");
