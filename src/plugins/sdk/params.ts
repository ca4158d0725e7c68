/** Reading what a model passed to a tool, and answering it. */
import { AppError } from "../../base/errors.ts";
import type { AgentToolResult, ChannelToolSend } from "../../protocol/index.ts";

function required(label: string, params: Record<string, unknown>): AppError {
  return new AppError("INVALID_INPUT", `${label} required`, { details: { given: Object.keys(params) } });
}

export interface StringParamOptions {
  required?: boolean | undefined;
  /** Default true. */
  trim?: boolean | undefined;
  label?: string | undefined;
  allowEmpty?: boolean | undefined;
}

/** A text of the call's parameters; a missing or empty one throws where it is required. */
export function readStringParam(params: Record<string, unknown>, key: string, options: StringParamOptions & { required: true }): string;
export function readStringParam(params: Record<string, unknown>, key: string, options?: StringParamOptions): string | undefined;
export function readStringParam(params: Record<string, unknown>, key: string, options: StringParamOptions = {}): string | undefined {
  const raw = params[key];
  const value = typeof raw === "string" ? (options.trim === false ? raw : raw.trim()) : undefined;
  if (value || (value === "" && options.allowEmpty)) return value;
  if (options.required) throw required(options.label ?? key, params);
  return undefined;
}

/** Texts from a list or from one text. */
export function readStringArrayParam(params: Record<string, unknown>, key: string, options: StringParamOptions = {}): string[] | undefined {
  const raw = params[key];
  const texts = (Array.isArray(raw) ? raw : [raw]).filter((entry) => typeof entry === "string");
  const list = texts.map((entry) => (options.trim === false ? entry : entry.trim())).filter(Boolean);
  if (list.length > 0 || (options.allowEmpty && Array.isArray(raw))) return list;
  if (options.required) throw required(options.label ?? key, params);
  return undefined;
}

export interface NumberParamOptions {
  required?: boolean | undefined;
  label?: string | undefined;
  /** Cuts off what follows the point. */
  integer?: boolean | undefined;
}

/** A number, also one written as text. */
export function readNumberParam(params: Record<string, unknown>, key: string, options: NumberParamOptions = {}): number | undefined {
  const raw = params[key];
  const value = typeof raw === "number" ? raw : typeof raw === "string" && raw.trim() ? Number.parseFloat(raw) : Number.NaN;
  if (Number.isFinite(value)) return options.integer ? Math.trunc(value) : value;
  if (options.required) throw required(options.label ?? key, params);
  return undefined;
}

/** A reaction to set or take away. To take one away it has to be named. */
export function readReactionParams(
  params: Record<string, unknown>,
  options: { emojiKey?: string | undefined; removeKey?: string | undefined; removeErrorMessage: string },
): { emoji: string; remove: boolean; isEmpty: boolean } {
  const remove = params[options.removeKey ?? "remove"] === true;
  const emoji = readStringParam(params, options.emojiKey ?? "emoji", { required: true, allowEmpty: true });
  if (remove && !emoji) throw new AppError("INVALID_INPUT", options.removeErrorMessage);
  return { emoji, remove, isEmpty: !emoji };
}

/** A value as a tool's answer: JSON for the model, the value itself in `details`. */
export function jsonResult<T>(payload: T): AgentToolResult<T> & { details: T } {
  return { content: [{ type: "text", text: JSON.stringify(payload, undefined, 2) ?? "null" }], details: payload };
}

/** Asks a section of switches; what it does not mention has the given default. */
export function createActionGate<T extends object>(actions: T | undefined): (key: keyof T & string, defaultValue?: boolean) => boolean {
  return (key, defaultValue = true) => {
    const value = actions?.[key];
    return value === undefined ? defaultValue : value !== false;
  };
}

/** Whom a tool call would write to, if it is the action that writes. */
export function extractToolSend(args: Record<string, unknown>, expectedAction = "sendMessage"): ChannelToolSend | null {
  const { action, to, accountId } = args;
  if (typeof action !== "string" || action.trim() !== expectedAction || typeof to !== "string" || !to) return null;
  return { to, ...(typeof accountId === "string" ? { accountId: accountId.trim() } : {}) };
}
