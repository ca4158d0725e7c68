import { homedir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../../base/clock.ts";
import { AppError } from "../../../base/errors.ts";
import { createIds } from "../../../base/ids.ts";
import { lockHolder } from "../../../base/instance-lock.ts";
import { silentLogger } from "../../../base/log/logger.ts";
import { systemRandom } from "../../../base/random.ts";
import { stateLockPath, type Config } from "../../../config/index.ts";
import { loadNodeHost, type NodeHostDeps } from "../../../nodes/index.ts";
import { createExecRules } from "../../../tools/index.ts";
import { defineCommand, type Values } from "../../command.ts";
import { openForReading, secretAt } from "../../gateway-target.ts";
import type { Io } from "../../io.ts";
import { changeSettings, claimNode, gatewayUrl, HOST_OPTIONS, nodeFolder, type NodeSettings } from "./settings.ts";

const OPTIONS = {
  ...HOST_OPTIONS,
  token: { type: "string", value: "text", help: "the gateway's token, for the first connection" },
  password: { type: "string", value: "text", help: "the gateway's password, for the first connection" },
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

function hostDeps(io: Io, config: Config, settings: NodeSettings, gateway: NodeHostDeps["gateway"]): NodeHostDeps {
  const stateDir = config.paths.state;
  const ids = createIds(systemRandom);
  let shown = "";
  return {
    folder: nodeFolder(stateDir),
    version: io.version,
    displayName: settings.displayName,
    instanceId: settings.nodeId,
    gateway,
    clock: systemClock,
    random: systemRandom.float,
    config: () => config.current,
    rules: createExecRules({ path: join(stateDir, "exec-approvals.json"), clock: systemClock, ids, random: systemRandom }),
    env: io.env,
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
    const ended = await runNodeHost(hostDeps(io, config, settings, gateway));
    if (ended !== undefined) throw new AppError("CONFLICT", ended);
  },
});
