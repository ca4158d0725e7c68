/** Agents as commands see them: the configuration, its folders, and what changes them. */
import { AppError } from "../../../base/errors.ts";
import { systemClock } from "../../../base/clock.ts";
import { createIds } from "../../../base/ids.ts";
import { silentLogger } from "../../../base/log/logger.ts";
import { systemRandom } from "../../../base/random.ts";
import { nearest } from "../../../base/text.ts";
import { loadRoster, type BindingMatch, type Roster } from "../../../agent/index.ts";
import { agentPaths, CHANNEL_IDS, formatLocated, type OpenClawConfig, type PathContext } from "../../../config/index.ts";
import { openForEditing, type EditResult } from "../../config-edit.ts";
import { requireValid } from "../../config-source.ts";
import type { Io } from "../../io.ts";
import { channelId } from "../channels/source.ts";

export type Agent = NonNullable<NonNullable<OpenClawConfig["agents"]>["list"]>[number];

/** All agents; one called `main` when none is configured. */
export function agentsOf(config: OpenClawConfig): readonly Agent[] {
  const list = config.agents?.list ?? [];
  return list.length > 0 ? list : [{ id: "main" }];
}

export const agentKey = (id: string): string => id.trim().toLowerCase();

/** The agent that a user names. */
export function agentNamed(config: OpenClawConfig, written: string): Agent {
  const id = agentKey(written);
  const agents = agentsOf(config);
  const found = agents.find((agent) => agentKey(agent.id) === id);
  if (found) return found;
  const ids = agents.map((agent) => agent.id);
  const close = nearest(id, ids);
  throw new AppError(
    "NOT_FOUND",
    `there is no agent ${JSON.stringify(written.slice(0, 80))}; ${close === undefined ? `available: ${ids.join(", ")}` : `did you mean ${close}?`}`,
  );
}

/** One name from the arguments: as a word, or with a flag. */
export function oneAgent(positionals: readonly string[], flag: string | undefined, usage: string): string {
  const [first, ...extra] = positionals;
  if (extra.length > 0 || (first !== undefined && flag !== undefined)) throw new AppError("INVALID_INPUT", `expected one agent, such as: ${usage}`);
  const written = (first ?? flag)?.trim();
  if (!written) throw new AppError("INVALID_INPUT", `expected the id of an agent, such as: ${usage}; openclaw agents list shows them`);
  return written;
}

export interface AgentsView extends Disposable {
  /** The configuration, also after changes. */
  readonly config: OpenClawConfig;
  readonly stateDir: string;
  readonly home: string;
  readonly context: PathContext;
  readonly roster: Roster;
  /** Reads the file again. */
  reload(): void;
  /** What the changes came to, once a running gateway uses them. */
  applied(): Promise<EditResult>;
}

/** Opens a valid configuration for reading and changing. */
export async function openAgents(io: Io): Promise<AgentsView> {
  const editing = await openForEditing(io);
  const { config } = editing;
  requireValid(config.snapshot(), formatLocated);
  const { createRoster } = await loadRoster();
  const files = new Set<string>();
  const context = agentPaths(config, io.env);
  const roster = createRoster({
    config: {
      get current() {
        return config.current;
      },
      env: config.env,
      paths: config.paths,
      async edit(edit, options) {
        const done = await config.edit(edit, options);
        for (const file of done.files) files.add(file);
        return done;
      },
    },
    context,
    clock: systemClock,
    ids: createIds(systemRandom),
    log: silentLogger,
  });
  return {
    get config() {
      return config.current;
    },
    stateDir: config.paths.state,
    home: config.paths.home,
    context,
    roster,
    reload: () => void config.reload(),
    async applied() {
      const result = editing.result([...files]);
      if (result.gatewayRunning) await (await import("../../gateway-applied.ts")).untilApplied(io, result);
      return result;
    },
    [Symbol.dispose]: () => editing[Symbol.dispose](),
  };
}

/** Which channels there are: those of plugins that are installed, and those that are known without one. */
interface KnownChannels {
  readonly installed: ReadonlySet<string>;
  readonly known: ReadonlySet<string>;
}

async function knownChannels(io: Io): Promise<KnownChannels> {
  const { loadPlugins } = await import("../../plugin-source.ts");
  const { inventory } = await loadPlugins(io);
  const installed = new Set(inventory.entries.flatMap(({ manifest }) => manifest.channels ?? []));
  return { installed, known: new Set([...installed, ...CHANNEL_IDS]) };
}

/** Refuses matches on channels that nobody knows. Gives what will not work yet, for the user. */
export async function checkMatches(io: Io, config: OpenClawConfig, matches: readonly BindingMatch[]): Promise<readonly string[]> {
  if (matches.length === 0) return [];
  const { installed, known } = await knownChannels(io);
  return matches.flatMap(({ channel, accountId }) => {
    if (!known.has(channel)) {
      const close = nearest(channel, known);
      const hint = close === undefined ? `installed are ${[...installed].sort().join(", ")}` : `did you mean ${close}?`;
      throw new AppError("NOT_FOUND", `there is no channel ${JSON.stringify(channel.slice(0, 80))}; ${hint}`);
    }
    if (!installed.has(channel)) return [`no installed plugin has the channel ${channel} yet: openclaw plugins install <package>`];
    const section = config.channels?.[channel];
    if (section === undefined) return [`${channel} is not set up yet: openclaw channels add --channel ${channel}`];
    const accounts = accountsOf(section);
    const isKnown = accountId === undefined || accountId === "*" || accountId === "default" || accounts.includes(accountId.toLowerCase());
    return isKnown ? [] : [`${channel} has no account ${JSON.stringify(accountId)} yet; it has ${["default", ...accounts].join(", ")}`];
  });
}

function accountsOf(section: unknown): readonly string[] {
  const accounts = typeof section === "object" && section !== null && "accounts" in section ? section.accounts : undefined;
  return typeof accounts === "object" && accounts !== null ? Object.keys(accounts).map((id) => id.toLowerCase()) : [];
}

/** `telegram`, `telegram:office` or `telegram:*`. */
export function parseBind(written: string): BindingMatch {
  const [channel = "", ...rest] = written.trim().split(":");
  const accountId = rest.join(":").trim();
  if (channel.trim() === "" || (rest.length > 0 && accountId === "")) {
    throw new AppError(
      "INVALID_INPUT",
      `--bind: expected a channel and maybe an account, found ${JSON.stringify(written)}; such as telegram, telegram:office or telegram:*`,
    );
  }
  return { channel: channelId(channel), ...(accountId === "" ? {} : { accountId }) };
}
