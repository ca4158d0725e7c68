import type { AssistantMessage, StopReason, TextContent, ThinkingContent, ToolCallContent, Usage, UsageCost } from "../../protocol/index.ts";
import { isRecord } from "../../base/records.ts";
import { clip } from "../../base/text.ts";
import type { ModelEntry } from "../entry.ts";
import { modelFailed } from "../failure.ts";
import type { ModelEvent } from "./format.ts";

/** Tokens as providers count them; `input` without cached tokens. */
export interface Tokens {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** The part of `cacheWrite` that is cached for an hour. */
  readonly longCacheWrite?: number;
}

const NO_TOKENS: Tokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
const MILLION = 1_000_000;

/** Price factor of caching for an hour, relative to the usual five minutes. */
const LONG_CACHE_RATE = 1.6;

/** Tokens with their cost at the model's prices. */
export function priced({ longCacheWrite = 0, ...tokens }: Tokens, cost: ModelEntry["cost"]): Usage {
  const money: UsageCost = {
    input: (tokens.input * cost.input) / MILLION,
    output: (tokens.output * cost.output) / MILLION,
    cacheRead: (tokens.cacheRead * cost.cacheRead) / MILLION,
    cacheWrite: ((tokens.cacheWrite + longCacheWrite * (LONG_CACHE_RATE - 1)) * cost.cacheWrite) / MILLION,
    total: 0,
  };
  return {
    ...tokens,
    totalTokens: tokens.input + tokens.output + tokens.cacheRead + tokens.cacheWrite,
    cost: { ...money, total: money.input + money.output + money.cacheRead + money.cacheWrite },
  };
}

interface TextPart {
  readonly kind: "text";
  text: string;
  signature?: string;
}
interface ThinkingPart {
  readonly kind: "thinking";
  text: string;
  signature?: string;
  redacted?: boolean;
}
interface ToolPart {
  readonly kind: "toolCall";
  id: string;
  name: string;
  json: string;
  /** Complete value from providers that do not stream arguments. */
  value?: unknown;
  signature?: string;
  announced: boolean;
}
type Part = TextPart | ThinkingPart | ToolPart;

/**
 * The message being received. Parts are addressed by the provider's own key (an index, an item id), since providers interleave them; text
 * without a key continues the last part of its kind. Changes are collected as events until they are taken.
 */
export class Draft {
  readonly #model: ModelEntry;
  readonly #now: number;
  readonly #parts: Part[] = [];
  readonly #byKey = new Map<string | number, number>();
  readonly #ids = new Set<string>();
  #events: ModelEvent[] = [];
  #tokens: Tokens | undefined;

  constructor(model: ModelEntry, now: number) {
    this.#model = model;
    this.#now = now;
  }

  /** The events since the last call. */
  take(): readonly ModelEvent[] {
    if (this.#events.length === 0) return [];
    const taken = this.#events;
    this.#events = [];
    return taken;
  }

  text(delta: string, key?: string | number): void {
    if (delta === "") return;
    const { part, index } = this.#open("text", key, () => ({ kind: "text", text: "" }));
    part.text += delta;
    this.#events.push({ type: "text", index, delta });
  }

  thinking(delta: string, key?: string | number): void {
    const { part, index } = this.#open("thinking", key, () => ({ kind: "thinking", text: "" }));
    part.text += delta;
    if (delta !== "") this.#events.push({ type: "thinking", index, delta });
  }

  /** The signature that the provider wants back with a part. Text without a key: the last part of that kind. */
  sign(kind: "text" | "thinking", signature: string, key?: string | number, options: { readonly append?: boolean; readonly redacted?: boolean } = {}): void {
    const { part } = this.#open(kind, key, () => ({ kind, text: "" }));
    part.signature = options.append ? (part.signature ?? "") + signature : signature;
    if (options.redacted && part.kind === "thinking") part.redacted = true;
  }

  /** Announced when its name is known; an id is generated when the provider has none. */
  toolCall(
    key: string | number,
    facts: { readonly id?: string | undefined; readonly name?: string | undefined; readonly signature?: string | undefined },
  ): void {
    const { part, index } = this.#open("toolCall", key, () => ({ kind: "toolCall", id: "", name: "", json: "", announced: false }));
    if (part.announced) return;
    if (facts.name) part.name += facts.name;
    if (facts.id && part.id === "") part.id = this.#uniqueId(facts.id);
    if (facts.signature !== undefined) part.signature = facts.signature;
    if (part.name === "") return;
    if (part.id === "") part.id = this.#uniqueId(`call_${index}`);
    part.announced = true;
    this.#events.push({ type: "toolCall", index, id: part.id, name: part.name });
  }

  arguments(key: string | number, delta: string): void {
    if (delta === "") return;
    const { part, index } = this.#open("toolCall", key, () => ({ kind: "toolCall", id: "", name: "", json: "", announced: false }));
    part.json += delta;
    this.#events.push({ type: "toolCallArguments", index, delta });
  }

  /** Complete arguments; they replace what was streamed before. */
  wholeArguments(key: string | number, value: unknown): void {
    const { part, index } = this.#open("toolCall", key, () => ({ kind: "toolCall", id: "", name: "", json: "", announced: false }));
    if (part.json === "") this.#events.push({ type: "toolCallArguments", index, delta: JSON.stringify(value) ?? "" });
    part.value = value;
  }

  usage(tokens: Partial<Tokens>): void {
    this.#tokens = { ...(this.#tokens ?? NO_TOKENS), ...tokens };
  }

  get hasContent(): boolean {
    return this.#parts.length > 0;
  }

  get hasToolCalls(): boolean {
    return this.#parts.some((part) => part.kind === "toolCall");
  }

  /** The finished message as the last event. Throws when a tool call cannot be executed. */
  finish(stop: StopReason): readonly ModelEvent[] {
    const content = this.#parts.flatMap((part, index) => this.#content(part, stop === "length" && index === this.#parts.length - 1));
    const stopReason = stop === "stop" && content.some((part) => part.type === "toolCall") ? "toolUse" : stop;
    const { provider, id, api, cost } = this.#model;
    const message: AssistantMessage = {
      role: "assistant",
      content,
      api,
      provider,
      model: id,
      usage: priced(this.#tokens ?? NO_TOKENS, cost),
      stopReason,
      timestamp: this.#now,
    };
    return [...this.take(), { type: "end", message }];
  }

  #open<K extends Part["kind"]>(
    kind: K,
    key: string | number | undefined,
    make: () => Part,
  ): { readonly part: Extract<Part, { kind: K }>; readonly index: number } {
    let index = key === undefined ? this.#parts.length - 1 : (this.#byKey.get(`${kind}:${key}`) ?? -1);
    if (this.#parts[index]?.kind !== kind) {
      index = this.#parts.push(make()) - 1;
      if (key !== undefined) this.#byKey.set(`${kind}:${key}`, index);
    }
    return { part: this.#parts[index] as Extract<Part, { kind: K }>, index };
  }

  #uniqueId(wanted: string): string {
    let id = wanted;
    for (let n = 2; this.#ids.has(id); n += 1) id = `${wanted}_${n}`;
    this.#ids.add(id);
    return id;
  }

  #content(part: Part, cut: boolean): (TextContent | ThinkingContent | ToolCallContent)[] {
    const { signature } = part;
    if (part.kind === "text")
      return part.text === "" ? [] : [{ type: "text", text: part.text, ...(signature === undefined ? {} : { textSignature: signature }) }];
    if (part.kind === "thinking") {
      if (part.text === "" && signature === undefined) return [];
      const signed = signature === undefined ? {} : { thinkingSignature: signature };
      return [{ type: "thinking", thinking: part.text, ...signed, ...(part.redacted ? { redacted: true } : {}) }];
    }
    return [
      { type: "toolCall", id: part.id, name: part.name, ...readArguments(part, cut), ...(signature === undefined ? {} : { thoughtSignature: signature }) },
    ];
  }
}

/** Most characters of unreadable arguments that the model is shown again. */
const SHOWN_CHARS = 500;

/**
 * Unreadable arguments are for the model to fix: it gets an error, as for any failed call. So does a call that was cut off by the length limit:
 * a partial call must never be executed.
 */
function readArguments(part: ToolPart, cut: boolean): Pick<ToolCallContent, "arguments" | "argumentsError"> {
  if (part.name === "") throw modelFailed({ phase: "answer", malformed: true, text: "the model called a tool without naming it" });
  const value = unwrapped(part.value === undefined ? parseJson(part.json) : part.value);
  if (cut && (!isRecord(value) || (part.value === undefined && part.json.trim() === ""))) {
    return {
      arguments: {},
      argumentsError: "the answer reached its length limit inside this call. Make it again with shorter arguments, for instance a long file in several steps.",
    };
  }
  if (isRecord(value)) return { arguments: value };
  return { arguments: {}, argumentsError: `the arguments are not a JSON object: ${clip(part.json === "" ? JSON.stringify(value) : part.json, SHOWN_CHARS)}` };
}

/** How often arguments may be nested as JSON text. */
const MAX_PACKED = 3;

/** Some models and proxies send the JSON of the arguments as a JSON string. */
function unwrapped(value: unknown): unknown {
  let found = value;
  for (let depth = 0; depth < MAX_PACKED && typeof found === "string"; depth += 1) found = parseJson(found);
  return found === undefined || typeof found !== "object" ? value : found;
}

/** An empty text is an empty object; undefined when it is not JSON. */
function parseJson(json: string): unknown {
  if (json.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(json);
    return value;
  } catch {
    return undefined;
  }
}
