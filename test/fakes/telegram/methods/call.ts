import type { FloodGate } from "../faults.ts";
import type { Params } from "../params.ts";
import type { Updates } from "../updates.ts";
import type { Webhook } from "../webhook.ts";
import type { World } from "../world.ts";

/** One call of a method. */
export interface Call {
  readonly world: World;
  readonly updates: Updates;
  readonly webhook: Webhook;
  readonly flood: FloodGate;
  readonly params: Params;
  /** Fires when the caller is gone. */
  readonly gone: AbortSignal;
}

/** A result with a note to it, as `setWebhook` gives one. */
export class Noted {
  readonly result: unknown;
  readonly description: string;
  constructor(result: unknown, description: string) {
    this.result = result;
    this.description = description;
  }
}

export type Method = (call: Call) => unknown;
export type Methods = Readonly<Record<string, Method>>;
