import { escapeLine } from "../../../base/printable.ts";
import { AppError, messageOf } from "../../../base/errors.ts";
import type { ChannelPlugin, ChannelResolveKind, ChannelResolveResult } from "../../../protocol/index.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { printJson, type Io } from "../../io.ts";
import { createStyle, type Style } from "../../output/style.ts";
import { formatTable } from "../../output/table.ts";
import { runtimeOf } from "../../prompter.ts";
import { busy } from "./busy.ts";
import { ACCOUNT_OPTION, accountOf, CHANNEL_OPTION, openChannels, type ChannelsView } from "./source.ts";

const GROUP = /^(?:#|<#|channel:|group:|room:|space:|spaces\/|team:)/i;

/** What a word most likely names. */
export function guessKind(entry: string): ChannelResolveKind {
  return GROUP.test(entry.trim()) ? "group" : "user";
}

function kindsOf(entries: readonly string[], kind: string): ReadonlyMap<ChannelResolveKind, readonly string[]> {
  if (kind === "user" || kind === "group") return new Map([[kind, entries]]);
  if (kind !== "auto") throw new AppError("INVALID_INPUT", `--kind takes auto, user or group, not "${kind}"`);
  return Map.groupBy(entries, guessKind);
}

/** The channel that is meant when none is named: the only one that can look names up. */
function onlyResolver({ plugins }: ChannelsView): ChannelPlugin {
  const able = plugins.filter(({ resolver }) => resolver !== undefined);
  const [only, ...others] = able;
  if (only && others.length === 0) return only;
  const known = able.map(({ id }) => id).join(", ");
  throw new AppError("INVALID_INPUT", known === "" ? "no configured channel can look up names" : `expected --channel with one of ${known}`);
}

function row({ input, resolved, id, name, note }: ChannelResolveResult, style: Style): string[] {
  return [escapeLine(input), resolved ? escapeLine(id ?? "") : style.yellow("not found"), escapeLine([name, note].filter(Boolean).join(", "))];
}

async function lookUp(
  io: Io,
  plugin: ChannelPlugin,
  view: ChannelsView,
  asked: { entries: readonly string[]; kind: string; account?: string | undefined; json: boolean },
) {
  const { resolver } = plugin;
  if (!resolver) throw new AppError("UNAVAILABLE", `${plugin.id} cannot look up names; use the ids that the platform shows`);
  const cfg = view.cfg();
  const accountId = accountOf(plugin, cfg, asked.account);
  const runtime = runtimeOf(io, "the look-up", { json: asked.json });
  using _ = busy(io, `Asking ${plugin.id}`);
  try {
    const parts = [...kindsOf(asked.entries, asked.kind)].map(([kind, inputs]) =>
      resolver.resolveTargets({ cfg, accountId, inputs: [...inputs], kind, runtime }),
    );
    const found = new Map((await Promise.all(parts)).flat().map((result) => [result.input, result]));
    return asked.entries.map((input): ChannelResolveResult => found.get(input) ?? { input, resolved: false });
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError("PLUGIN_FAILED", `${plugin.id} could not look up the names: ${messageOf(error)}`, { cause: error });
  }
}

export const resolve = defineCommand({
  positionals: "<entries…>",
  options: {
    channel: CHANNEL_OPTION,
    account: ACCOUNT_OPTION,
    kind: { type: "string", value: "kind", help: "Kind of the names: auto, user or group (default auto)" },
    json: JSON_OPTION,
  },
  examples: [],
  async run({ io, values, positionals }) {
    const entries = [...new Set(positionals.map((entry) => entry.trim()).filter(Boolean))];
    if (entries.length === 0) throw new AppError("INVALID_INPUT", "expected at least one name of a person or a group");
    await using view = await openChannels(io, { channel: values.channel });
    const plugin = values.channel === undefined ? onlyResolver(view) : view.find(values.channel);
    const results = await lookUp(io, plugin, view, { entries, kind: values.kind ?? "auto", account: values.account, json: values.json ?? false });
    if (values.json) return printJson(io, results);
    const style = createStyle(io.color);
    io.out(
      formatTable(
        ["Name", "Id", ""],
        results.map((result) => row(result, style)),
        { style, columns: io.columns },
      ),
    );
    return results.every(({ resolved }) => resolved) ? 0 : 1;
  },
});
