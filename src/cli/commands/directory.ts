import { escapeLine } from "../../base/printable.ts";
import { AppError, messageOf } from "../../base/errors.ts";
import type { ChannelDirectoryEntry, ChannelPlugin } from "../../protocol/index.ts";
import { defineCommand, JSON_OPTION, type OptionSpecs, type Values } from "../command.ts";
import { printJson, type Io } from "../io.ts";
import { runtimeOf } from "../prompter.ts";
import { busy } from "./channels/busy.ts";
import { ACCOUNT_OPTION, accountOf, CHANNEL_OPTION, openChannels, type ChannelsView } from "./channels/source.ts";

/** Ids of people and groups, as the plugins of channels know them. */

type Adapter = NonNullable<ChannelPlugin["directory"]>;
type Listing = Parameters<NonNullable<Adapter["listPeers"]>>[0];

const PLACE = { channel: CHANNEL_OPTION, account: ACCOUNT_OPTION } as const;
const OPTIONS = {
  ...PLACE,
  query: { type: "string", value: "text", help: "Only entries whose id or name contains this text" },
  limit: { type: "string", value: "n", help: "Maximum number of entries" },
  json: JSON_OPTION,
} as const satisfies OptionSpecs;
const MEMBER_OPTIONS = { ...OPTIONS, "group-id": { type: "string", value: "id", help: "Group id" } } as const satisfies OptionSpecs;

function limitOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new AppError("INVALID_INPUT", `--limit takes a whole number above 0, not "${text}"`);
  return Number(text);
}

/** The channel that a flag names, else the only one that is configured. */
function chosen(view: ChannelsView, channel: string | undefined): ChannelPlugin {
  if (channel !== undefined) return view.find(channel);
  const [only, ...others] = view.plugins;
  if (only && others.length === 0) return only;
  const known = view.plugins.map(({ id }) => id).join(", ");
  throw new AppError("INVALID_INPUT", known === "" ? "no channels configured; add one with: openclaw channels add" : `expected --channel with one of ${known}`);
}

type Listed = () => Promise<ChannelDirectoryEntry[]> | undefined;

/** Asks the platform where the plugin can; else, or where it does not answer, what the configuration names. */
async function listed(live: Listed, stored: Listed): Promise<ChannelDirectoryEntry[]> {
  const found = new Map<string, ChannelDirectoryEntry>();
  let failure: unknown;
  for (const ask of [stored, live]) {
    try {
      for (const entry of (await ask()) ?? []) found.set(entry.id, { ...found.get(entry.id), ...entry });
    } catch (error) {
      failure = error;
    }
  }
  if (found.size === 0 && failure !== undefined) throw failure;
  return [...found.values()];
}

interface Asked {
  readonly plugin: ChannelPlugin;
  readonly adapter: Adapter;
  readonly params: Listing;
}

async function asking<T>(io: Io, values: Values<typeof OPTIONS>, ask: (asked: Asked) => Promise<T>): Promise<T> {
  await using view = await openChannels(io, { channel: values.channel });
  const plugin = chosen(view, values.channel);
  const { directory: adapter } = plugin;
  if (!adapter) throw new AppError("UNAVAILABLE", `${plugin.id} has no directory; use the ids that the platform shows`);
  const cfg = view.cfg();
  const accountId = accountOf(plugin, cfg, values.account);
  const runtime = runtimeOf(io, "the look-up", { json: values.json ?? false });
  using _ = busy(io, `Asking ${plugin.id}`);
  try {
    return await ask({ plugin, adapter, params: { cfg, accountId, query: values.query, limit: limitOf(values.limit), runtime } });
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError("PLUGIN_FAILED", `${plugin.id} could not look it up: ${messageOf(error)}`, { cause: error });
  }
}

function show(io: Io, values: Values<typeof OPTIONS>, entries: readonly ChannelDirectoryEntry[]): void {
  const shown = entries.slice(0, limitOf(values.limit));
  if (values.json) return printJson(io, shown);
  for (const { id, name, handle } of shown) io.out(`${escapeLine(id)}\t${escapeLine(name ?? handle ?? "")}\n`);
  if (shown.length === 0) io.err("No entries\n");
}

export const self = defineCommand({
  options: { ...PLACE, json: JSON_OPTION },
  examples: [],
  async run({ io, values }) {
    const entry = await asking(io, values, async ({ plugin, adapter, params }) => {
      if (!adapter.self) throw new AppError("UNAVAILABLE", `${plugin.id} cannot report its own account`);
      return adapter.self(params);
    });
    if (values.json) return printJson(io, entry ?? null);
    show(io, values, entry ? [entry] : []);
  },
});

export const peersList = defineCommand({
  options: OPTIONS,
  examples: [],
  async run({ io, values }) {
    const entries = await asking(io, values, ({ adapter, params }) =>
      listed(
        () => adapter.listPeersLive?.(params),
        () => adapter.listPeers?.(params),
      ),
    );
    show(io, values, entries);
  },
});

export const groupsList = defineCommand({
  options: OPTIONS,
  examples: [],
  async run({ io, values }) {
    const entries = await asking(io, values, ({ adapter, params }) =>
      listed(
        () => adapter.listGroupsLive?.(params),
        () => adapter.listGroups?.(params),
      ),
    );
    show(io, values, entries);
  },
});

export const groupMembers = defineCommand({
  options: MEMBER_OPTIONS,
  examples: [],
  async run({ io, values }) {
    const groupId = values["group-id"]?.trim();
    if (!groupId) throw new AppError("INVALID_INPUT", "expected --group-id; list the groups with: openclaw directory groups list");
    const entries = await asking(io, values, async ({ plugin, adapter, params }) => {
      if (!adapter.listGroupMembers) throw new AppError("UNAVAILABLE", `${plugin.id} cannot list the members of a group`);
      return adapter.listGroupMembers({ ...params, groupId });
    });
    show(io, values, entries);
  },
});
