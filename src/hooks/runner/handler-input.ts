import type { EventCopies, HookSpec } from "../spec.ts";
import { copyOf, isolateAs, isolationOf, type Isolation } from "../view/view.ts";
import { isRecord as isObject } from "../../base/records.ts";
import { isRecord } from "../view/plain.ts";
import type { Call } from "./call.ts";
import type { Entry } from "./entry.ts";

export type Fields = Record<string, unknown>;

/** An event or a context by its keys. */
export const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {});

/** A mutable value of an event or context, and how a handler gets its own copy. */
interface Changeable {
  readonly key: string;
  readonly value: object;
  readonly isolation: Isolation;
}

const NONE: readonly Changeable[] = [];
const NO_KEYS: readonly string[] = [];

/** Computed once for all handlers that see the same data. */
function changeablesOf(fields: Fields): readonly Changeable[] {
  let found: Changeable[] | undefined;
  for (const key in fields) {
    const value = fields[key];
    if (typeof value !== "object" || value === null) continue;
    const isolation = isolationOf(value);
    if (isolation === "none") continue;
    // Most have one, and an array literal with one element is allocated exactly.
    if (found) found.push({ key, value, isolation });
    else found = [{ key, value, isolation }];
  }
  return found ?? NONE;
}

function isolateIn(own: Fields, changeables: readonly Changeable[]): void {
  for (const { key, value, isolation } of changeables) own[key] = isolateAs(isolation, value);
}

/** The event of a dispatch, which every handler gets its own copy of. */
export class EventTemplate {
  readonly event: Fields;
  private readonly changeables: readonly Changeable[];
  private readonly context: Fields | undefined;
  /** The hook's own copy function with the one value that it copies, where it fits this event. */
  private readonly copied: (Changeable & { readonly copies: EventCopies }) | undefined;

  constructor(spec: HookSpec, event: Fields) {
    this.event = event;
    const changeables = changeablesOf(event);
    this.changeables = changeables;
    this.context = isRecord(event["context"]) ? event["context"] : undefined;
    const [first] = changeables;
    this.copied = first && changeables.length === 1 && first.key === spec.copies?.key ? { copies: spec.copies, ...first } : undefined;
  }

  /** A handler's own event, with its plugin's configuration. */
  for(entry: Entry): Fields {
    if (this.copied) {
      const { copies, value, isolation } = this.copied;
      return copies.copy(this.event, isolateAs(isolation, value), { pluginConfig: entry.config });
    }
    const own = copyOf(this.event);
    isolateIn(own, this.changeables);
    own["context"] = this.context ? { ...fieldsOf(own["context"]), pluginConfig: entry.config } : { pluginConfig: entry.config };
    return own;
  }
}

/** A handler's own context. Both signals are the call's, created on first read. */
class HandlerContext {
  readonly #call: Call;
  [key: string]: unknown;

  constructor(call: Call, ctx: Fields) {
    this.#call = call;
    for (const key in ctx) this[key] = ctx[key];
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }

  get abortSignal(): AbortSignal {
    return this.#call.signal;
  }
}

/** The context of a dispatch, which every handler gets its own copy of. */
export class ContextTemplate {
  readonly ctx: Fields;
  /** The run's signal. */
  readonly signal: AbortSignal | undefined;
  private readonly live: readonly string[];
  private shown: Fields | undefined = undefined;
  private changeables: readonly Changeable[] = NONE;

  constructor(spec: HookSpec, ctx: Fields, signal: AbortSignal | undefined) {
    this.ctx = ctx;
    this.live = spec.live ?? NO_KEYS;
    const own = ctx["abortSignal"] ?? ctx["signal"];
    this.signal = signal ?? (own instanceof AbortSignal ? own : undefined);
  }

  for(call: Call): unknown {
    const own = new HandlerContext(call, this.shown ?? this.show());
    isolateIn(own, this.changeables);
    return own;
  }

  private show(): Fields {
    const { ctx, live } = this;
    const shown = "abortSignal" in ctx || "signal" in ctx ? without(ctx, ["abortSignal", "signal"]) : ctx;
    this.changeables = changeablesOf(shown).filter(({ key }) => !live.includes(key));
    return (this.shown = shown);
  }
}

/** The same without a signal, for synchronous handlers. */
export class PlainContextTemplate {
  private readonly ctx: Fields;
  private changeables: readonly Changeable[] | undefined = undefined;

  constructor(ctx: Fields) {
    this.ctx = ctx;
  }

  copy(): Fields {
    const own = copyOf(this.ctx);
    isolateIn(own, (this.changeables ??= changeablesOf(this.ctx)));
    return own;
  }
}

/** The event without fields that the catalog hides from handlers. */
export function shownEvent(spec: HookSpec, event: Fields): Fields {
  const { hides } = spec;
  const value = hides && event[hides.in];
  return isRecord(value) && hides?.keys.some((key) => key in value) ? { ...event, [hides.in]: without(value, hides.keys) } : event;
}

export const without = (record: Fields, keys: readonly string[]): Fields => Object.fromEntries(Object.entries(record).filter(([key]) => !keys.includes(key)));
