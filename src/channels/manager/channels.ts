import { withAccountKeys } from "../../base/account-keys.ts";
import { AppError, messageOf } from "../../base/errors.ts";
import { createRedactor, type Redactor } from "../../base/redaction.ts";
import type { ChannelGatewayAdapter, ChannelPlugin, HostConfig } from "../../protocol/index.ts";
import { accountIds, defaultAccount, viewAccount } from "./account.ts";
import { createConnection, type Connection, type Ready } from "./connection.ts";
import { createChannelActivity } from "./health.ts";
import { readStatus, shown } from "./status.ts";
import type { AccountRun, ChannelLogout, ChannelTable, Channels, ChannelsDeps } from "./types.ts";
import type { Logger } from "../../base/log/logger.ts";
import { runtimeFor, sinkFor } from "./run.ts";

interface AccountConnection {
  readonly channel: string;
  readonly accountId: string;
  readonly connection: Connection;
}

/** Connections by channel and account. One is created on first use, and stays: it holds the state of its account. */
interface Connections {
  all(): readonly AccountConnection[];
  get(channel: string, accountId: string): Connection | undefined;
  need(channel: string, accountId: string): Connection;
}

/** Plugins get copies, which they may change. */
const copyOf = (config: HostConfig): HostConfig => structuredClone(config);

function createConnections(deps: ChannelsDeps): Connections {
  const { clock, random, table } = deps;
  const activity = deps.activity ?? createChannelActivity(clock);
  const connections = new Map<string, AccountConnection>();

  async function prepare(channel: string, accountId: string): Promise<Ready> {
    const plugin = table.get(channel);
    const cfg = copyOf(deps.config());
    if (!plugin || !accountIds(plugin, cfg).includes(accountId)) return undefined;
    return { plugin, cfg, view: await viewAccount(plugin, accountId, cfg, clock) };
  }

  function create(channel: string, accountId: string): AccountConnection {
    const connection = createConnection({
      channel,
      accountId,
      prepare: () => prepare(channel, accountId),
      inbound: () => deps.inbound(channel, accountId),
      clock,
      random,
      log: deps.log.subsystem(`channels/${channel}`),
      activity: activity.of({ channel, accountId }),
      onChange: (health) => deps.onChange?.({ channel, accountId, ...health }),
    });
    return { channel, accountId, connection };
  }

  return {
    all: () => [...connections.values()],
    get: (channel, accountId) => connections.get(`${channel}\0${accountId}`)?.connection,
    need(channel, accountId) {
      const key = `${channel}\0${accountId}`;
      const entry = connections.get(key) ?? create(channel, accountId);
      connections.set(key, entry);
      return entry.connection;
    },
  };
}

const covers = (prefix: string, path: string): boolean => path === prefix || path.startsWith(`${prefix}.`);
/** A section that was removed or added as a whole, above a prefix. */
const isAbove = (path: string, prefix: string): boolean => prefix.startsWith(`${path}.`);

/** Whether a changed path restarts a channel. The longest matching prefix decides; of two equal ones, the one that restarts. */
function restarts(path: string, configPrefixes: readonly string[], noopPrefixes: readonly string[]): boolean {
  const longest = (prefixes: readonly string[]): number => Math.max(-1, ...prefixes.filter((prefix) => covers(prefix, path)).map((prefix) => prefix.length));
  const found = longest(configPrefixes);
  return found >= 0 ? found >= longest(noopPrefixes) : configPrefixes.some((prefix) => isAbove(path, prefix));
}

/** Which accounts a change restarts: all, some, or none. Settings below one account concern only that one. */
export function affectedAccounts({ id, reload }: Pick<ChannelPlugin, "id" | "reload">, changed: readonly string[]): "all" | ReadonlySet<string> {
  const { configPrefixes, noopPrefixes = [] } = reload ?? { configPrefixes: [`channels.${id}`] };
  const paths = changed.filter((path) => restarts(path, configPrefixes, noopPrefixes));
  const section = `channels.${id}.accounts.`;
  const own = paths.flatMap((path) => (path.startsWith(section) ? [path.slice(section.length)] : []));
  if (own.length < paths.length) return "all";
  return new Set(own.map((path) => path.split(".", 1)[0]!));
}

/** Signing accounts in and out. */

type QrFunction = "loginWithQrStart" | "loginWithQrWait";
type QrPlugin<F extends QrFunction> = ChannelPlugin & { readonly gateway: Required<Pick<ChannelGatewayAdapter, F>> };

/** The channel for QR logins: the named one, else the first that implements the gateway's method. */
function qrPlugin<F extends QrFunction>(table: ChannelTable, channel: string | undefined, needs: F): QrPlugin<F> {
  const isAble = (plugin: ChannelPlugin): plugin is QrPlugin<F> => plugin.gateway?.[needs] !== undefined;
  const plugins = table
    .list()
    .filter(isAble)
    .filter(({ id }) => channel === undefined || id === channel);
  const found = plugins.find(({ gatewayMethods }) => gatewayMethods?.includes("web.login.start") ?? false) ?? plugins[0];
  if (found) return found;
  throw new AppError(
    "UNAVAILABLE",
    channel === undefined ? "no loaded channel logs in by QR code; configure one first" : `${channel} does not log in by QR code`,
  );
}

interface LogoutDeps {
  readonly plugin: ChannelPlugin;
  readonly accountId: string;
  readonly cfg: HostConfig;
  readonly log: Logger;
  readonly redactor: Pick<Redactor, "text">;
}

/** Makes the channel remove the account's login. Rejects with `INVALID_INPUT` where it has none. */
async function forgetLogin({ plugin, accountId, cfg, log, redactor }: LogoutDeps): Promise<ChannelLogout> {
  const logout = plugin.gateway?.logoutAccount;
  if (!logout) throw noLogout(plugin.id);
  try {
    const account = plugin.config.resolveAccount(cfg, accountId);
    const result = await logout({ cfg, accountId, account, runtime: runtimeFor(log), log: sinkFor(log) });
    const { cleared, loggedOut, ...rest } = result;
    return {
      ...shown(rest, redactor),
      channel: plugin.id,
      accountId,
      cleared,
      ...(loggedOut === undefined ? {} : { loggedOut }),
    };
  } catch (error) {
    throw new AppError("PLUGIN_FAILED", `${plugin.id}:${accountId} could not be logged out: ${messageOf(error)}`, { cause: error });
  }
}

function noLogout(channel: string): AppError {
  return new AppError("INVALID_INPUT", `${channel} does not support logout; remove its credentials from channels.${channel} instead`);
}

const LEAST_PROBE_MS = 1000;
const MOST_PROBE_MS = 120_000;
const PROBE_MS = 10_000;

/** State shared by the functions below. */
interface ManagerState extends ChannelsDeps {
  readonly connections: Connections;
  readonly redactor: Pick<Redactor, "text">;
  closed: boolean;
}

/** Ids of a channel's accounts; a plugin that fails has none, and the failure is logged. */
function idsOf({ config, log }: ManagerState, plugin: ChannelPlugin): readonly string[] {
  try {
    return accountIds(plugin, copyOf(config()));
  } catch (error) {
    log.error(`the accounts of ${plugin.id} could not be read: ${messageOf(error)}`);
    return [];
  }
}

/** The plugin and account that a caller names. */
function find(state: ManagerState, channel: string, accountId: string | undefined): { readonly plugin: ChannelPlugin; readonly accountId: string } {
  const { table, config } = state;
  const plugin = table.get(channel);
  if (!plugin) throw new AppError("NOT_FOUND", `there is no channel ${JSON.stringify(channel)}; openclaw channels status shows those that are loaded`);
  const cfg = copyOf(config());
  const wanted = accountId?.trim() || defaultAccount(plugin, cfg);
  const ids = accountIds(plugin, cfg);
  if (ids.includes(wanted)) return { plugin, accountId: wanted };
  throw new AppError("NOT_FOUND", `${channel} has no account ${JSON.stringify(wanted)}; it has ${ids.join(", ") || "none"}`);
}

/** Runs work on many accounts at once; rejections are logged, unless already reported. */
async function each<T>({ log }: ManagerState, work: readonly { readonly name: string; run(): Promise<T> }[]): Promise<void> {
  await Promise.all(
    work.map(async ({ name, run }) => {
      try {
        await run();
      } catch (error) {
        log.error(`${name}: ${messageOf(error)}`);
      }
    }),
  );
}

/** Starts accounts that were never started, and stops those that are removed or disabled in the configuration. */
async function startAndStop(state: ManagerState): Promise<void> {
  if (state.closed) return;
  const { table, connections, clock } = state;
  const plugins = table.list();
  const present = new Map(plugins.map((plugin) => [plugin.id, new Set(idsOf(state, plugin))]));
  const leaving = connections.all().filter(({ connection }) => connection.isWanted || connection.isHeld);
  const stops = leaving.map(({ channel, accountId, connection }) => ({
    name: `${channel}:${accountId}`,
    async run() {
      const plugin = table.get(channel);
      if (plugin && present.get(channel)?.has(accountId)) {
        const { enabled, configured } = await viewAccount(plugin, accountId, copyOf(state.config()), clock);
        if ((enabled && configured) || state.closed) return;
      }
      await connection.restart("no longer configured");
    },
  }));
  const starts = [...present].flatMap(([channel, ids]) =>
    [...ids].flatMap((accountId) => {
      const connection = connections.need(channel, accountId);
      // One that was stopped by hand, or gave up, stays as it is.
      return connection.isWanted || connection.health() ? [] : [{ name: `${channel}:${accountId}`, run: () => connection.start() }];
    }),
  );
  await each(state, [...stops, ...starts]);
}

async function reload(state: ManagerState, changed: readonly string[]): Promise<void> {
  if (state.closed) return;
  const restarts = state.table.list().flatMap((plugin) => {
    const affected = affectedAccounts(plugin, changed);
    return idsOf(state, plugin)
      .filter((accountId) => (affected === "all" || affected.has(accountId)) && state.connections.get(plugin.id, accountId)?.isHeld !== true)
      .map((accountId) => ({ name: `${plugin.id}:${accountId}`, run: () => state.connections.need(plugin.id, accountId).restart("its settings changed") }));
  });
  await each(state, restarts);
  await startAndStop(state);
}

/** Restarts accounts whose plugin was replaced, and stops those without a plugin. */
async function pluginsChanged(state: ManagerState): Promise<void> {
  if (state.closed) return;
  const { table, connections } = state;
  const stale = connections.all().filter(({ channel, connection }) => connection.plugin !== undefined && table.get(channel) !== connection.plugin);
  await each(
    state,
    stale.map(({ channel, accountId, connection }) => ({
      name: `${channel}:${accountId}`,
      run: () => (connection.isWanted ? connection.restart("its plugin changed") : Promise.resolve()),
    })),
  );
  await startAndStop(state);
}

async function logout(state: ManagerState, channel: string, wanted: string | undefined): ReturnType<Channels["logout"]> {
  const { plugin, accountId } = find(state, channel, wanted);
  if (!plugin.gateway?.logoutAccount) throw noLogout(channel);
  const connection = state.connections.need(channel, accountId);
  await connection.stop("logged out");
  const result = await forgetLogin({
    plugin,
    accountId,
    cfg: copyOf(state.config()),
    log: state.log.subsystem(`channels/${channel}`),
    redactor: state.redactor,
  });
  connection.note({ running: false, connected: false, ...(result.loggedOut === false ? {} : { linked: false }), lastError: "logged out" });
  return result;
}

const runOf = (channel: string, accountId: string, connection: Connection): AccountRun => ({
  channel,
  accountId,
  running: connection.isWanted,
  ...(connection.isHeld ? { stoppedByHand: true } : {}),
});

function logins(state: ManagerState): Pick<Channels, "loginQrStart" | "loginQrWait"> {
  const { table, connections } = state;
  return {
    async loginQrStart({ channel, ...login }) {
      const plugin = qrPlugin(table, channel, "loginWithQrStart");
      const { accountId } = find(state, plugin.id, login.accountId);
      // Two connections with one login disconnect each other.
      await connections.need(plugin.id, accountId).stop("login in progress");
      return plugin.gateway.loginWithQrStart({ ...login, accountId });
    },
    async loginQrWait({ channel, ...login }) {
      const plugin = qrPlugin(table, channel, "loginWithQrWait");
      const { accountId } = find(state, plugin.id, login.accountId);
      const result = await plugin.gateway.loginWithQrWait({ ...login, accountId });
      if (result.connected && !state.closed) await connections.need(plugin.id, accountId).restart("new login");
      return result;
    },
  };
}

/** Creates the channel manager; nothing runs before `start`. */
export function createChannels(deps: ChannelsDeps): Channels {
  const state: ManagerState = { ...deps, connections: createConnections(deps), redactor: deps.redactor ?? createRedactor(), closed: false };
  const { connections, table } = state;
  function open(): void {
    if (state.closed) throw new AppError("UNAVAILABLE", "the gateway is stopping: channels are no longer started");
  }
  return {
    start: () => startAndStop(state),
    isStarting: () => connections.all().some(({ connection }) => connection.health()?.state === "starting"),
    async startAccount(channel, wanted, { restart = false } = {}) {
      open();
      const { accountId } = find(state, channel, wanted);
      const connection = connections.need(channel, accountId);
      await (restart ? connection.restart("restarted") : connection.start());
      if (connection.isWanted) return runOf(channel, accountId, connection);
      throw new AppError("CONFLICT", `${channel}:${accountId} was not started: it is turned off or not set up. See: openclaw channels status`);
    },
    async stopAccount(channel, wanted) {
      const { accountId } = find(state, channel, wanted);
      const connection = connections.need(channel, accountId);
      await connection.hold();
      return runOf(channel, accountId, connection);
    },
    async restart(channel, accountId) {
      open();
      const first = find(state, channel, accountId);
      const ids = accountId === undefined ? idsOf(state, first.plugin) : [first.accountId];
      await Promise.all(ids.map((id) => connections.need(channel, id).restart("restarted")));
    },
    reload: (changed) => reload(state, changed),
    pluginsChanged: () => pluginsChanged(state),
    status: ({ probe = false, timeoutMs = PROBE_MS } = {}) =>
      readStatus(
        {
          cfg: copyOf(state.config()),
          clock: state.clock,
          redactor: state.redactor,
          plugins: table.list(),
          misconfigured: state.misconfigured,
          runtime: (channel, accountId) => connections.get(channel, accountId)?.status(),
          health: (channel, accountId) => connections.get(channel, accountId)?.health(),
          directions: (channel, accountId) => connections.get(channel, accountId)?.directions() ?? {},
        },
        { probe, timeoutMs: Math.min(MOST_PROBE_MS, Math.max(LEAST_PROBE_MS, timeoutMs)) },
      ),
    accounts: () => connections.all().map(({ channel, connection }) => ({ channel, snapshot: connection.status() })),
    capabilities: (channel) => table.get(channel)?.capabilities ?? table.dock?.(channel)?.capabilities,
    logout: (channel, accountId) => logout(state, channel, accountId),
    ...logins(state),
    health: () =>
      connections.all().flatMap(({ channel, accountId, connection }) => {
        const health = connection.health();
        return health ? [{ channel, accountId, state: health.state, why: withAccountKeys(state.redactor.text(health.why), { channel, accountId }) }] : [];
      }),
    canSend(channel, accountId) {
      const connection = connections.get(channel, accountId);
      if (!connection) return true;
      if (connection.isHeld) return false;
      // Receiving may be down while sending works; the attempt shows whether it does.
      if (connection.plugin?.outbound?.independent === true) return true;
      const health = connection.health();
      // One that stays down is tried anyway: its error says what to do.
      return !health || health.state === "down" || connection.snapshot.connected !== false;
    },
    isReceiving: (channel, accountId) => connections.get(channel, accountId)?.snapshot.connected !== false,
    async [Symbol.asyncDispose]() {
      state.closed = true;
      await each(
        state,
        connections
          .all()
          .map(({ channel, accountId, connection }) => ({ name: `${channel}:${accountId}`, run: () => connection.stop("the gateway is stopping") })),
      );
    },
  };
}
