import type { Measure } from "../row.ts";
import { retention } from "./retention.ts";
import { states } from "./states.ts";
import { streaming } from "./streaming.ts";
import { writes } from "./writes.ts";

/**
 * What must not grow faster than the work itself, one file per group of rows. `--only growth` runs all of them, `--only "growth: streaming"` one.
 * Each name starts with `growth: `.
 */
export const growth: readonly Measure[] = [streaming, states, writes, retention];
