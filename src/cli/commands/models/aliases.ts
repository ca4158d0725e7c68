import { AppError } from "../../../base/errors.ts";
import { hasPath, isObject, valueAt } from "../../../config/index.ts";
import { defineCommand, JSON_OPTION, type Group } from "../../command.ts";
import { loadFor } from "../../config-source.ts";
import { describeEdit, editConfig } from "../../config-edit.ts";
import { printJson } from "../../io.ts";
import { createStyle } from "../../output/style.ts";
import { formatFacts } from "../../output/table.ts";
import { namedModel, openModels, warnAboutUnlisted, type ModelsView } from "./source.ts";

const MODELS = ["agents", "defaults", "models"] as const;
const NAME = /^[A-Za-z0-9][A-Za-z0-9_.:-]*$/;

/** Names as they are written, and what they stand for. */
function written({ config, choice }: ModelsView): readonly (readonly [string, string])[] {
  return Object.entries(config.agents?.defaults?.models ?? {}).flatMap(([key, settings]) => {
    const ref = choice.parseRef(key);
    const alias = settings?.alias?.trim();
    return alias && ref ? [[alias, choice.formatRef(ref)] as const] : [];
  });
}

const list = defineCommand({
  options: { json: JSON_OPTION, plain: { type: "boolean", help: "Print name and model per line" } },
  examples: [{ line: "openclaw models aliases list", does: "List aliases" }],
  async run({ io, values }) {
    const names = written(await openModels(io));
    if (values.json) return printJson(io, { aliases: Object.fromEntries(names) });
    if (values.plain) for (const [alias, ref] of names) io.out(`${alias} ${ref}\n`);
    else if (names.length === 0) io.out(io.runnable("No aliases. Add one with: openclaw models aliases add <name> <provider/model>\n"));
    else io.out(formatFacts(names, createStyle(io.color)));
  },
});

const add = defineCommand({
  positionals: "<name> <model>",
  options: { json: JSON_OPTION },
  examples: [{ line: "openclaw models aliases add fast anthropic/claude-haiku-4-5", does: "/model fast" }],
  async run({ io, values, positionals }) {
    const [alias = "", text, extra] = positionals;
    if (text === undefined || extra !== undefined) throw new AppError("INVALID_INPUT", `expected a name and a model, got ${positionals.length} words`);
    if (!NAME.test(alias)) throw new AppError("INVALID_INPUT", `${JSON.stringify(alias)} is not a valid alias: use letters, digits, "_", ".", ":" and "-"`);
    const view = await openModels(io);
    const ref = namedModel(view, text);
    warnAboutUnlisted(io, view, ref);
    const model = view.choice.formatRef(ref);
    const taken = written(view).find(([name, other]) => name.toLowerCase() === alias.toLowerCase() && other.toLowerCase() !== model.toLowerCase());
    if (taken) throw new AppError("CONFLICT", `${alias} is already an alias of ${taken[1]}; remove it first: openclaw models aliases remove ${taken[0]}`);
    const settings = view.config.agents?.defaults?.models ?? {};
    const key = Object.keys(settings).find((other) => {
      const known = view.choice.parseRef(other);
      return known !== undefined && view.choice.sameRef(known, ref);
    });
    const result = await editConfig(io, { kind: "set", path: [...MODELS, key ?? model, "alias"], value: alias }, "cli models aliases add");
    if (values.json) return printJson(io, { ok: true, alias, model, ...result });
    io.out(io.runnable(describeEdit(`${alias} is now an alias of ${model}`, result)));
    if (Object.keys(settings).length === 0) io.err("agents.defaults.models is no longer empty, so only its models and the default can be selected now\n");
  },
});

const remove = defineCommand({
  positionals: "<name>",
  options: { json: JSON_OPTION },
  examples: [],
  async run({ io, values, positionals }) {
    const [alias, extra] = positionals;
    if (alias === undefined || extra !== undefined) throw new AppError("INVALID_INPUT", `expected one name, got ${positionals.length} words`);
    const { resolved } = loadFor(io).snapshot;
    const models = valueAt(resolved, [...MODELS]);
    const key = Object.keys(isObject(models) ? models : {}).find((name) => {
      const stored = valueAt(resolved, [...MODELS, name, "alias"]);
      return typeof stored === "string" && stored.trim().toLowerCase() === alias.trim().toLowerCase();
    });
    if (key === undefined || !hasPath(resolved, [...MODELS, key, "alias"])) {
      throw new AppError("NOT_FOUND", `alias ${JSON.stringify(alias)} not found in the file; list them with: openclaw models aliases list`);
    }
    const result = await editConfig(io, { kind: "unset", path: [...MODELS, key, "alias"] }, "cli models aliases remove");
    if (values.json) printJson(io, { ok: true, alias, model: key, ...result });
    else io.out(io.runnable(describeEdit(`Removed the alias ${alias} of ${key}`, result)));
  },
});

export const aliases: Group = {
  entries: [
    { name: "list", summary: "List aliases", load: async () => list },
    { name: "add", summary: "Add an alias", load: async () => add },
    { name: "remove", summary: "Remove an alias", load: async () => remove },
  ],
  fallback: "list",
  examples: [],
};
