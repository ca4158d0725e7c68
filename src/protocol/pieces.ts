/**
 * The vocabulary that frames, methods and events are declared in. Every schema made here survives `JSON.stringify` whole, is draft-07, and
 * uses only keywords that `check.ts` knows.
 */
import { Type, type Static, type TProperties, type TSchema, type TSchemaOptions } from "typebox";

export const text = (options: TSchemaOptions = {}) => Type.String(options);
/** A text that is not empty. */
export const filled = (options: TSchemaOptions = {}) => Type.String({ minLength: 1, ...options });
export const flag = (options: TSchemaOptions = {}) => Type.Boolean(options);
export const number = (options: TSchemaOptions = {}) => Type.Number(options);
/** A whole number, zero allowed. */
export const amount = (options: TSchemaOptions = {}) => Type.Integer({ minimum: 0, ...options });
/** A whole number above zero. */
export const count = (options: TSchemaOptions = {}) => Type.Integer({ minimum: 1, ...options });
/** Milliseconds since the epoch. */
export const moment = () => Type.Number({ minimum: 0 });
/** A day, `YYYY-MM-DD`. */
export const day = () => Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}$" });
/** Anything that JSON can hold. */
export const anything = () => Type.Unknown();
export const literal = <const Value extends string | number | boolean>(value: Value) => Type.Literal(value);

/** One of a few words. */
export function choice<const Words extends readonly string[]>(words: Words, options: TSchemaOptions = {}) {
  return Type.Unsafe<Words[number]>({ type: "string", enum: words, ...options });
}

export const list = <Item extends TSchema>(items: Item, options: TSchemaOptions = {}) => Type.Array(items, options);
export const texts = (options: TSchemaOptions = {}) => Type.Array(Type.String(), options);
/** An object whose keys are data. */
export const map = <Value extends TSchema>(values: Value) => Type.Unsafe<Record<string, Static<Value>>>({ type: "object", additionalProperties: values });
/** An object that only its reader understands. */
export const free = () => map(Type.Unknown());
export const orNull = <Value extends TSchema>(value: Value) => Type.Union([value, Type.Null()]);
export const either = <Kinds extends TSchema[]>(...kinds: [...Kinds]) => Type.Union(kinds);
/** The key may be missing. */
export const maybe = <Value extends TSchema>(value: Value) => Type.Optional(value);

/** A closed object. */
export const closed = <Properties extends TProperties>(properties: Properties) => Type.Object(properties, { additionalProperties: false });
/** An object with more in it than is written down. */
export const open = <Properties extends TProperties>(properties: Properties) =>
  Type.Unsafe<Static<ReturnType<typeof closed<Properties>>> & { [key: string]: unknown }>(Type.Object(properties, { additionalProperties: true }));

/** Names one request for good: a second one with the same key and content gets the first one's answer. */
export const idempotencyKey = () => filled({ maxLength: 512, description: "The same key and content get the same response." });

/** Parameters of a method with effects whose documented form has no `idempotencyKey`: it is taken when given. */
export const effect = <Properties extends TProperties>(properties: Properties) => closed({ ...properties, idempotencyKey: maybe(idempotencyKey()) });

/** No parameters. */
export const none = () => closed({});
/** Parameters are not looked at. */
export const ignored = () => open({});

/** `{ok: true}` and what comes with it. */
export const done = <Properties extends TProperties>(properties: Properties) => closed({ ok: literal(true), ...properties });
