import { AppError } from "../../../base/errors.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { describeEdit, editConfig } from "../../config-edit.ts";
import { printJson } from "../../io.ts";
import { namedModel, openModels, warnAboutUnlisted, warnAboutWindow, type ModelsView } from "./source.ts";
import type { ModelRef } from "../../../models/index.ts";

/** A list of allowed models has to name what is chosen; without a list there is nothing to add to. */
export function allowing({ choice, config }: ModelsView, ref: ModelRef): Record<string, unknown> {
  const keys = Object.keys(config.agents?.defaults?.models ?? {});
  const isNamed = keys.some((key) => {
    const known = choice.parseRef(key);
    return known !== undefined && choice.sameRef(known, ref);
  });
  return keys.length === 0 || isNamed ? {} : { models: { [choice.formatRef(ref)]: {} } };
}

function setter(key: "model" | "imageModel", word: string, name: string) {
  return defineCommand({
    positionals: "<model>",
    options: { json: JSON_OPTION },
    examples: [{ line: `openclaw models ${name} anthropic/claude-sonnet-4-5`, does: `Set the ${word}; a model or an alias` }],
    async run({ io, values, positionals }) {
      if (positionals.length > 1) throw new AppError("INVALID_INPUT", `expected one model, got ${positionals.length} words`);
      const view = await openModels(io);
      const ref = namedModel(view, positionals[0]);
      warnAboutUnlisted(io, view, ref);
      warnAboutWindow(io, view, ref);
      const entry = view.catalogue.get(ref);
      if (key === "imageModel" && !entry.input.includes("image")) {
        io.err(`${view.choice.formatRef(ref)} may not support images; if it does, declare that in models.providers\n`);
      }
      const text = view.choice.formatRef(ref);
      const value = { agents: { defaults: { [key]: { primary: text }, ...allowing(view, ref) } } };
      const result = await editConfig(io, { kind: "patch", value }, `cli models ${name}`);
      const available = view.hasCredential(ref.provider) || view.choice.needsNoKey(ref.provider, view.config);
      if (values.json) return printJson(io, { ok: true, model: text, available, ...result });
      io.out(io.runnable(describeEdit(`The ${word} is now ${text}`, result)));
      if (!available) io.err(`No credential for ${ref.provider} yet. Add one with: openclaw models auth add\n`);
    },
  });
}

export const set = setter("model", "default model", "set");
export const setImage = setter("imageModel", "image model", "set-image");
