import { AppError } from "../../../base/errors.ts";
import type { OpenClawConfig, Snapshot } from "../../../config/index.ts";
import { defineCommand, JSON_OPTION, type Command, type Group } from "../../command.ts";
import { describeEdit, editConfig } from "../../config-edit.ts";
import { printJson, type Io } from "../../io.ts";
import { allowing } from "./set.ts";
import { namedModel, openModels, warnAboutUnlisted, type ModelsView } from "./source.ts";

type Kind = "model" | "imageModel";

const PLAIN_OPTION = { type: "boolean", help: "Print one per line" } as const;
const nameOf = (kind: Kind): string => (kind === "model" ? "fallbacks" : "image-fallbacks");

const current = ({ choice, config }: Pick<ModelsView, "choice" | "config">, kind: Kind): readonly string[] =>
  choice.choiceOf(config.agents?.defaults?.[kind]).fallbacks ?? [];

/** `next` makes the list from the one in the file, as it is when it is written. */
async function write(
  io: Io,
  kind: Kind,
  next: (config: OpenClawConfig) => readonly string[],
  done: { readonly what: string; readonly json: boolean | undefined; readonly more?: Record<string, unknown> },
) {
  let fallbacks: readonly string[] = [];
  const edit = ({ config }: Snapshot) => {
    fallbacks = next(config);
    return { kind: "patch" as const, value: { agents: { defaults: { [kind]: { fallbacks }, ...done.more } } } };
  };
  const result = await editConfig(io, { kind: "from", edit }, `cli models ${nameOf(kind)}`);
  if (done.json) printJson(io, { ok: true, fallbacks, ...result });
  else io.out(io.runnable(describeEdit(done.what, result)));
}

/** The position in the list that a text refers to, however it is spelt. */
function indexOfModel({ choice, config }: Pick<ModelsView, "choice" | "config">, list: readonly string[], text: string): number {
  const aliases = choice.aliasesOf(config);
  const wanted = choice.readRef(text, aliases, choice.DEFAULT_REF.provider)?.ref;
  return list.findIndex((other) => {
    const ref = choice.readRef(other, aliases, choice.DEFAULT_REF.provider)?.ref;
    return other === text.trim() || (ref !== undefined && wanted !== undefined && choice.sameRef(ref, wanted));
  });
}

const one = (positionals: readonly string[]): string => {
  const [model] = positionals;
  if (model === undefined || positionals.length > 1) throw new AppError("INVALID_INPUT", `expected one model, got ${positionals.length} words`);
  return model;
};

const list = (kind: Kind): Command =>
  defineCommand({
    options: { json: JSON_OPTION, plain: PLAIN_OPTION },
    examples: [{ line: `openclaw models ${nameOf(kind)} list`, does: "List them in order" }],
    async run({ io, values }) {
      const fallbacks = current(await openModels(io), kind);
      if (values.json) return printJson(io, { fallbacks });
      if (fallbacks.length === 0 && !values.plain) io.out(io.runnable(`None. Add one with: openclaw models ${nameOf(kind)} add <provider/model>\n`));
      for (const [at, ref] of fallbacks.entries()) io.out(values.plain ? `${ref}\n` : `${at + 1}. ${ref}\n`);
    },
  });

const add = (kind: Kind): Command =>
  defineCommand({
    positionals: "<model>",
    options: { json: JSON_OPTION },
    examples: [{ line: `openclaw models ${nameOf(kind)} add anthropic/claude-haiku-4-5`, does: "Add to the end of the list" }],
    async run({ io, values, positionals }) {
      const view = await openModels(io);
      const ref = namedModel(view, one(positionals));
      warnAboutUnlisted(io, view, ref);
      const text = view.choice.formatRef(ref);
      const more = kind === "model" ? allowing(view, ref) : {};
      const next = (config: OpenClawConfig): readonly string[] => {
        const now = { choice: view.choice, config };
        const before = current(now, kind);
        return indexOfModel(now, before, text) >= 0 ? before : [...before, text];
      };
      await write(io, kind, next, { what: `Added ${text} to the ${nameOf(kind)}`, json: values.json, more });
    },
  });

const remove = (kind: Kind): Command =>
  defineCommand({
    positionals: "<model>",
    options: { json: JSON_OPTION },
    examples: [],
    async run({ io, values, positionals }) {
      const view = await openModels(io);
      const text = one(positionals);
      const before = current(view, kind);
      const at = indexOfModel(view, before, text);
      if (at < 0) throw new AppError("NOT_FOUND", `${text} is not in the ${nameOf(kind)}; the list has: ${before.join(", ") || "none"}`);
      const next = (config: OpenClawConfig) => current({ choice: view.choice, config }, kind).filter((ref) => ref !== before[at]);
      await write(io, kind, next, { what: `Removed ${before[at]} from the ${nameOf(kind)}`, json: values.json });
    },
  });

const clear = (kind: Kind): Command =>
  defineCommand({
    options: { json: JSON_OPTION },
    examples: [{ line: `openclaw models ${nameOf(kind)} clear`, does: "Remove all of them" }],
    run: ({ io, values }) => write(io, kind, () => [], { what: `Removed all ${nameOf(kind)}`, json: values.json }),
  });

export function fallbackCommands(kind: Kind): Group {
  return {
    entries: [
      { name: "list", summary: "List them in order", load: async () => list(kind) },
      { name: "add", summary: "Add one at the end", load: async () => add(kind) },
      { name: "remove", summary: "Remove one", load: async () => remove(kind) },
      { name: "clear", summary: "Remove all", load: async () => clear(kind) },
    ],
    fallback: "list",
    examples: [],
  };
}
