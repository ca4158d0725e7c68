import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { lockHolder } from "../../../base/instance-lock.ts";
import type { ProgramsPort, SetupHost, Asker } from "../../../setup/index.ts";
import { systemClock } from "../../../base/clock.ts";
import { createIds } from "../../../base/ids.ts";
import { lazy } from "../../../base/lazy.ts";
import { createLogger } from "../../../base/log/logger.ts";
import { systemRandom } from "../../../base/random.ts";
import { createRedactor } from "../../../base/redaction.ts";
import { mainAgentFolder, oauthFolder, openConfig, type PathContext, stateLockPath } from "../../../config/index.ts";
import { loadChoice, loadProfiles } from "../../../models/index.ts";
import { loadSkillInstall, type ProgramDeps } from "../../../plugins/index.ts";
import type { Io } from "../../io.ts";
import { clip } from "../../../base/text.ts";

/** The end of an installer's output has the reason. */
const SHOWN_CHARS = 600;

/** Runs installers as this user. Their output is shown only when they fail. */
function programsOf(io: Io, stateDir: string): ProgramsPort {
  const deps: ProgramDeps = {
    env: io.env,
    platform: process.platform,
    toolsDir: join(stateDir, "tools"),
    pid: process.pid,
    clock: systemClock,
    ids: createIds(systemRandom),
  };
  return {
    host: async (config) => (await loadSkillInstall()).installHost(config, deps, { withBrewBin: true }),
    async install(plan, signal, onProgress) {
      const { installProgram } = await loadSkillInstall();
      const { ok, message } = await installProgram({ plan, skill: plan.skill, signal, onProgress: ({ text }) => text !== undefined && onProgress(text) }, deps);
      return { ok, text: ok ? "" : clip(message, SHOWN_CHARS) };
    },
  };
}

interface OpenSetupHost extends SetupHost, Disposable {}

/** Opens the configuration, be it broken or not there. Close it when everything is set up. */
export async function openSetupHost(io: Io): Promise<OpenSetupHost> {
  const [clock, ids, redactor] = [systemClock, createIds(systemRandom), createRedactor()];
  const { env, cwd, version } = io;
  const osHome = homedir();
  const warn = (text: string): void => io.err(`${text}\n`);
  const config = await openConfig({ env, cwd, osHome, version, clock, ids, purpose: "inspect", onSecret: redactor.register, warn });
  const paths: PathContext = { env, exists: existsSync, osHome, cwd };
  const agentDir = mainAgentFolder(paths);
  const sink = { write: ({ message }: { readonly message: string }) => warn(message), flush: () => Promise.resolve() };
  const log = createLogger({ clock, redactor, outputs: [{ sink, level: "warn" }] });

  const auth = lazy(async (): ReturnType<SetupHost["auth"]> => {
    const [{ createAuthProfiles }, { keyVariables, canonicalProvider }] = await Promise.all([loadProfiles(), loadChoice()]);
    return createAuthProfiles({
      agentDir,
      mainAgentDir: agentDir,
      config: () => config.current,
      env: config.env,
      clock,
      ids,
      log,
      redactor,
      envNames: keyVariables,
      canonical: canonicalProvider,
      oauthFile: join(oauthFolder(paths), "oauth.json"),
      home: env["HOME"]?.trim() || env["USERPROFILE"]?.trim() || osHome,
      version,
    });
  });

  return {
    config,
    env,
    cwd,
    osHome,
    version,
    clock,
    ids,
    log,
    redactor,
    agentDir,
    signal: io.signal(),
    auth,
    inventory: async () => (await (await import("../../plugin-source.ts")).loadPlugins(io)).inventory,
    async withChannel(channel, use) {
      const { openChannels } = await import("../channels/source.ts");
      await using view = await openChannels(io, { channel, evenUnconfigured: true });
      return use(view.plugins.find(({ id }) => id === channel));
    },
    isRunning: () => lockHolder(stateLockPath(config.paths.state)) !== undefined,
    service: {
      look: async () => (await import("./ports.ts")).lookAtService(io),
      install: async ({ force }) => (await import("./ports.ts")).installService(io, force),
      restart: async () => (await import("./ports.ts")).restartService(io),
    },
    programs: programsOf(io, config.paths.state),
    logins: { login: async (provider) => (await import("./ports.ts")).loginTo(io, provider) },
    health: async () => (await import("./ports.ts")).healthOf(io),
    [Symbol.dispose]: () => config[Symbol.dispose](),
  };
}

/** Runs `use` with an open setup host. Leaving a question is no failure: the exit code is 0 then. */
export async function withSetupHost(io: Io, use: (host: OpenSetupHost) => Promise<number>): Promise<number> {
  using host = await openSetupHost(io);
  const { isLeft } = await import("../../../setup/index.ts");
  try {
    return await use(host);
  } catch (error) {
    if (!isLeft(error)) throw error;
    io.err(`${error instanceof Error ? error.message : String(error)}\n`);
    return 0;
  }
}

/** Asks questions at this terminal. */
export async function openAsker(io: Pick<Io, "runnable">): Promise<Asker> {
  return (await import("./terminal-asker.ts")).terminalAsker(io);
}
