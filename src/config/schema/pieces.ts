/**
 * The vocabulary that the sections are written in. Each piece takes its help text first: it is what a person sees in a form.
 * Every schema made here survives `JSON.stringify` whole and is draft-07.
 */
import { Type, type Static, type TOptional, type TProperties, type TSchema, type TSchemaOptions } from "typebox";

/** Extra schema keywords: a secret, a key that forms hide until asked, and an object whose unknown keys are accepted. */
export const sensitive = { "x-sensitive": true } as const;
export const advanced = { "x-advanced": true } as const;
/** Notes of programs about themselves: those of other versions are unknown, and nothing depends on them. */
export const notes = { "x-advanced": true, "x-notes": true } as const;

export const text = (description: string, options: TSchemaOptions = {}) => Type.String({ description, ...options });
export const flag = (description: string, options: TSchemaOptions = {}) => Type.Boolean({ description, ...options });
export const number = (description: string, options: TSchemaOptions = {}) => Type.Number({ description, ...options });
/** A whole number. */
export const whole = (description: string, options: TSchemaOptions = {}) => Type.Integer({ description, ...options });
/** A whole number above zero. */
export const count = (description: string, options: TSchemaOptions = {}) => whole(description, { exclusiveMinimum: 0, ...options });
/** A whole number, zero allowed. */
export const amount = (description: string, options: TSchemaOptions = {}) => whole(description, { minimum: 0, ...options });
/** A number from 0 to 1. */
export const ratio = (description: string, options: TSchemaOptions = {}) => number(description, { minimum: 0, maximum: 1, ...options });

/** One of a few words. */
export function choice<const Words extends readonly string[]>(description: string, words: Words, options: TSchemaOptions = {}) {
  return Type.Unsafe<Words[number]>({ type: "string", enum: words, description, ...options });
}

/** A text or a number, as people write ids, sizes and durations. */
export const textOrNumber = (description: string, options: TSchemaOptions = {}) =>
  Type.Unsafe<string | number>({ type: ["string", "number"], description, ...options });

export const list = <Item extends TSchema>(description: string, items: Item, options: TSchemaOptions = {}) => Type.Array(items, { description, ...options });
export const texts = (description: string, options: TSchemaOptions = {}) => list(description, Type.String(), options);
/** Ids of people or chats: platforms number them, people write them as text. */
export const ids = (description: string) => list(description, Type.Unsafe<string | number>({ type: ["string", "number"] }));

/** An object whose keys the user chooses. */
export const map = <Value extends TSchema>(description: string, values: Value, options: TSchemaOptions = {}) =>
  Type.Unsafe<Record<string, Static<Value>>>({ type: "object", additionalProperties: values, description, ...options });
export const textMap = (description: string, options: TSchemaOptions = {}) => map(description, Type.String(), options);
/** A map whose values may be secrets: environment variables and request headers. */
export const secretMap = (description: string, options: TSchemaOptions = {}) => map(description, Type.String(sensitive), options);
/** An object that only its reader understands. */
export const free = (description: string, options: TSchemaOptions = {}) => map(description, Type.Unknown(), options);

type Group<Properties extends TProperties, Required extends keyof Properties> = {
  [Key in keyof Properties]: Key extends Required ? Properties[Key] : TOptional<Properties[Key]>;
};

/** A closed object: its keys are optional, except those named in `required`. */
export function group<Properties extends TProperties, Required extends keyof Properties & string = never>(
  description: string,
  properties: Properties,
  required: readonly Required[] = [],
  options: TSchemaOptions = {},
) {
  const needed = new Set<string>(required);
  const entries = Object.entries(properties).map(([key, schema]) => [key, needed.has(key) ? schema : Type.Optional(schema)]);
  return Type.Object(Object.fromEntries(entries) as Group<Properties, Required>, { additionalProperties: false, description, ...options });
}

/** A group that takes other keys as well, with values of one kind. */
export function openGroup<Properties extends TProperties, Value extends TSchema>(
  description: string,
  properties: Properties,
  values: Value,
  options: TSchemaOptions = {},
) {
  type Known = { [Key in keyof Properties]?: Static<Properties[Key]> };
  const schema = group(description, properties, [], { additionalProperties: values, ...options });
  // Not an intersection: a known key would have to have the type of the others as well.
  return Type.Unsafe<Known & { [key: string]: Static<Value> | Known[keyof Known] }>(schema);
}

/** A secret: the text itself, or where to get it, so that the file need not hold it. */
export const secret = (description: string) =>
  Type.Union(
    [
      Type.String(sensitive),
      group("Taken from an environment variable.", { source: Type.Literal("env"), id: text("Name of the variable.", { minLength: 1 }) }, ["source", "id"]),
      group(
        "Taken from a file.",
        {
          source: Type.Literal("file"),
          path: text("File to read.", { minLength: 1 }),
          key: text("Key to pick when the file holds a JSON object; the whole file otherwise."),
        },
        ["source", "path"],
      ),
      group(
        "Printed by a command.",
        {
          source: Type.Literal("exec"),
          command: text("Program to run, without a shell.", { minLength: 1 }),
          args: texts("Its arguments."),
          timeoutMs: count("How long it may take."),
        },
        ["source", "command"],
      ),
    ],
    { description, ...sensitive },
  );
