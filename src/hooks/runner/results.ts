import type { FieldSpec, FieldType, FieldValue, HookSpec } from "../spec.ts";
import { detach } from "../view/view.ts";
import { fieldsOf, without, type Fields } from "./handler-input.ts";
import { isRecord } from "../../base/records.ts";

/** The valid part of a result, as the host's own data. */
export interface ReadResult {
  readonly fields: Fields;
  readonly terminal: boolean;
}

/** Receives everything in a result that is invalid. */
export interface Complaints {
  /** `field` is missing when the result as a whole is wrong. */
  wrong(field: string | undefined, expected: string): void;
  /** A part of a prompt that the operator does not allow. */
  dropped(field: string): void;
}

/** Thrown only by {@link readResult}: the result must block. */
export class UnfitResult extends Error {}

function fits(type: FieldType, value: unknown): boolean {
  if (typeof type === "object") return typeof value === "string" && type.includes(value);
  if (type === "text") return typeof value === "string";
  if (type === "flag") return typeof value === "boolean";
  if (type === "list") return Array.isArray(value);
  if (type === "texts") return Array.isArray(value) && value.every((item) => typeof item === "string");
  if (type === "approval") return isRecord(value) && typeof value["title"] === "string" && typeof value["description"] === "string";
  return isRecord(value);
}

/** A type in words. */
export function typeText(type: FieldType): string {
  if (typeof type === "object") return type.map((word) => JSON.stringify(word)).join(" or ");
  return {
    text: "a text",
    flag: "true or false",
    record: "an object",
    list: "a list",
    texts: "a list of strings",
    approval: "an object with title and description",
  }[type];
}

const says = (fields: Fields, wanted: FieldValue): boolean => fields[wanted.field] === wanted.value;

function tooLong(field: FieldSpec, value: unknown): boolean {
  return field.maxChars !== undefined && JSON.stringify(value).length > field.maxChars;
}

/**
 * Validates a handler's result: fields of the wrong type are left out, results that decide nothing give nothing. Throws {@link UnfitResult} where an
 * invalid shape has to block.
 */
export function readResult(spec: HookSpec, raw: unknown, injects: boolean, complain: Complaints): ReadResult | undefined {
  if (raw === undefined || raw === null) return undefined;
  if (!isRecord(raw)) {
    complain.wrong(undefined, "an object");
    if (spec.strict) throw new UnfitResult("its result is not an object");
    return undefined;
  }
  const fields: Fields = {};
  let any = false;
  for (const name in spec.fields) {
    const field = spec.fields[name];
    const value = raw[name];
    if (!field || value === undefined || value === null) continue;
    if (field.prompt && !injects) {
      complain.dropped(name);
      continue;
    }
    const own = fits(field.type, value) ? detach(value) : undefined;
    if (own === undefined || tooLong(field, own)) {
      complain.wrong(name, own === undefined ? typeText(field.type) : `at most ${field.maxChars} characters`);
      if (spec.strict || field.wrong === "block") throw new UnfitResult(`its ${name} is not ${typeText(field.type)}`);
      continue;
    }
    fields[name] = spec.hides && spec.hides.in === field.rewrites ? without(fieldsOf(own), spec.hides.keys) : own;
    any = true;
  }
  const terminal = spec.terminal?.some((end) => says(fields, end)) ?? false;
  if (spec.whole && !terminal) {
    const { provisional } = spec.whole;
    if (provisional && says(fields, provisional)) return { fields, terminal };
    if (spec.strict) throw new UnfitResult("its result is not a known decision");
    return undefined;
  }
  return any ? { fields, terminal } : undefined;
}
