import { homedir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../../base/clock.ts";
import { AppError } from "../../../base/errors.ts";
import { createIds } from "../../../base/ids.ts";
import { lockHolder } from "../../../base/instance-lock.ts";
import { silentLogger } from "../../../base/log/logger.ts";
import { systemRandom } from "../../../base/random.ts";
import { createLazyBrowser, hasBrowser } from "../../../browser/index.ts";
import { stateLockPath, type Config } from "../../../config/index.ts";
import { loadNodeHost, type HostBrowser, type NodeHostDeps } from "../../../nodes/index.ts";
import { createExecRules, createSealedCheck } from "../../../tools/index.ts";
import { defineCommand, type Values } from "../../command.ts";
import { openForReading, secretAt } from "../../gateway-target.ts";
import type { Io } from "../../io.ts";
import { changeSettings, claimNode, gatewayUrl, HOST_OPTIONS, nodeFolder, type NodeSettings } from "./settings.ts";

const OPTIONS = {
  ...HOST_OPTIONS,
  token: { type: "string", value: "text", help: "Gateway token, for the first connection" },
  password: { type: "string", value: "text", help: "Gateway password, for the first connection" },
} as const;

const isLoopback = (host: string): boolean => host === "localhost" || host === "::1" || host.startsWith("127.");

/** How this node proves that it may ask for pairing. Once it is paired, its own token is used. */
async function credentials(
  io: Io,
  config: Config,
  settings: NodeSettings,
  flags: Values<typeof OPTIONS>,
): Promise<Pick<NodeHostDeps["gateway"], "token" | "password">> {
  const { remote, auth } = config.current.gateway ?? {};
  if (flags.token !== undefined) return { token: flags.token };
  if (flags.password !== undefined) return { password: flags.password };
  const token = io.env["OPENCLAW_GATEWAY_TOKEN"] ?? (await secretAt(config, remote?.token, "gateway.remote.token"));
  if (token !== undefined) return { token };
  const password = io.env["OPENCLAW_GATEWAY_PASSWORD"] ?? (await secretAt(config, remote?.password, "gateway.remote.password"));
  if (password !== undefined) return { password };
  if (!isLoopback(settings.host)) return {};
  const holder = lockHolder(stateLockPath(config.paths.state));
  if (holder?.port === settings.port && holder.runSecret !== undefined) return { token: holder.runSecret };
  const own = await secretAt(config, auth?.token, "gateway.auth.token");
  return own === undefined ? {} : { token: own };
}

/** The browser that this node shares; none where there is no browser or the configuration forbids it. */
async function sharedBrowser(config: Config, stack: AsyncDisposableStack): Promise<HostBrowser | undefined> {
  const settings = () => config.current.nodeHost?.browserProxy ?? {};
  if (settings().enabled === false || !(await hasBrowser({ config }))) return undefined;
  const browser = stack.use(createLazyBrowser({ config, clock: systemClock, ids: createIds(systemRandom), log: silentLogger }));
  return { proxy: (params, signal) => browser.proxy(params, signal, settings) };
}

function hostDeps(io: Io, config: Config, settings: NodeSettings, gateway: NodeHostDeps["gateway"], browser: HostBrowser | undefined): NodeHostDeps {
  const stateDir = config.paths.state;
  const ids = createIds(systemRandom);
  let shown = "";
  return {
    folder: nodeFolder(stateDir),
    version: io.version,
    displayName: settings.displayName,
    instanceId: settings.nodeId,
    gateway,
    browser,
    clock: systemClock,
    random: systemRandom.float,
    config: () => config.current,
    rules: createExecRules({ path: join(stateDir, "exec-approvals.json"), clock: systemClock, ids, random: systemRandom }),
    env: io.env,
    checkFile: createSealedCheck({ config, env: io.env, home: homedir() }),
    unique: ids.uuid,
    home: homedir(),
    platform: process.platform,
    log: { ...silentLogger, warn: (message) => io.err(`${message}\n`), error: (message) => io.err(`${message}\n`) },
    signal: io.signal(),
    report(state, text) {
      const line = state === "connected" ? `connected to ${text}` : `not connected: ${text}`;
      // A gateway that stays away is reported once.
      const subject = line.replace(/ \(next try.*$/, "");
      if (subject !== shown) io.err(`${line}\n`);
      shown = subject;
    },
  };
}

export const run = defineCommand({
  options: OPTIONS,
  examples: [],
  async run({ io, values }) {
    using config = await openForReading(io);
    const stateDir = config.paths.state;
    const settings = changeSettings(stateDir, values);
    claimNode(stateDir);
    const { tlsFingerprint } = settings;
    const gateway = {
      url: gatewayUrl(settings),
      ...(await credentials(io, config, settings, values)),
      ...(tlsFingerprint === undefined ? {} : { tlsFingerprint }),
    };
    const { runNodeHost } = await loadNodeHost();
    await using stack = new AsyncDisposableStack();
    const browser = await sharedBrowser(config, stack);
    const ended = await runNodeHost(hostDeps(io, config, settings, gateway, browser));
    if (ended !== undefined) throw new AppError("CONFLICT", ended);
  },
});
