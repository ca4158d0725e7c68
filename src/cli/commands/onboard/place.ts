import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { lockHolder } from "../../../base/instance-lock.ts";
import type { ProgramsPort, SetupPlace, Asker } from "../../../setup/index.ts";
import { systemClock } from "../../../base/clock.ts";
import { createIds } from "../../../base/ids.ts";
import { lazy } from "../../../base/lazy.ts";
import { createLogger } from "../../../base/log/logger.ts";
import { systemRandom } from "../../../base/random.ts";
import { createRedactor } from "../../../base/redaction.ts";
import { mainAgentFolder, oauthFolder, openConfig, type PathContext, stateLockPath } from "../../../config/index.ts";
import { loadChoice, loadProfiles } from "../../../models/index.ts";
import type { Io } from "../../io.ts";
import { messageOf } from "../../../base/errors.ts";
import { clip } from "../../../base/text.ts";

/** A command's process as the place where things are set up. */

const INSTALL_MS = 300_000;
const MOST_OUTPUT_BYTES = 16 * 1024 * 1024;
/** The end of what an installer says has the reason. */
const SHOWN_CHARS = 600;
/** What installs a program needs no key of ours. */
const SECRET = /key|token|secret|password|credential/i;

/** Installers of this user. Their output is kept for a failure only. */
function programsOf(io: Io): ProgramsPort {
  const env = Object.fromEntries(Object.entries(io.env).filter(([name]) => !SECRET.test(name)));
  return {
    isRoot: process.getuid?.() === 0,
    async find(names) {
      const { findPrograms } = await import("../../../agent/index.ts");
      return findPrograms(names, io.env, process.platform);
    },
    async run([program, ...args], signal) {
      const { run } = await import("../../../base/spawn.ts");
      try {
        const options = { args, cwd: homedir(), env, timeoutMs: INSTALL_MS, maxOutputBytes: MOST_OUTPUT_BYTES, signal };
        const { code, stdout, stderr } = await run(program, options);
        const said = (stderr.trim() || stdout.trim()).slice(-SHOWN_CHARS);
        return { ok: code === 0, text: code === 0 ? "" : `exit code ${code}${said === "" ? "" : `: ${said}`}` };
      } catch (error) {
        return { ok: false, text: clip(messageOf(error), SHOWN_CHARS) };
      }
    },
  };
}

interface CommandPlace extends SetupPlace, Disposable {}

/** Opens the configuration, be it broken or not there. Close it when everything is set up. */
export async function openPlace(io: Io): Promise<CommandPlace> {
  const [clock, ids, redactor] = [systemClock, createIds(systemRandom), createRedactor()];
  const { env, cwd, version } = io;
  const osHome = homedir();
  const warn = (text: string): void => io.err(`${text}\n`);
  const config = await openConfig({ env, cwd, osHome, version, clock, ids, purpose: "inspect", onSecret: redactor.register, warn });
  const paths: PathContext = { env, exists: existsSync, osHome, cwd };
  const agentDir = mainAgentFolder(paths);
  const sink = { write: ({ message }: { readonly message: string }) => warn(message), flush: () => Promise.resolve() };
  const log = createLogger({ clock, redactor, outputs: [{ sink, level: "warn" }] });

  const auth = lazy(async (): ReturnType<SetupPlace["auth"]> => {
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
    programs: programsOf(io),
    logins: { login: async (provider) => (await import("./ports.ts")).loginTo(io, provider) },
    health: async () => (await import("./ports.ts")).healthOf(io),
    [Symbol.dispose]: () => config[Symbol.dispose](),
  };
}

/** Runs `use` with the place where things are set up. Leaving a question is no failure: 0 is the exit code then. */
export async function inPlace(io: Io, use: (place: CommandPlace) => Promise<number>): Promise<number> {
  using place = await openPlace(io);
  const { isLeft } = await import("../../../setup/index.ts");
  try {
    return await use(place);
  } catch (error) {
    if (!isLeft(error)) throw error;
    io.err(`${error instanceof Error ? error.message : String(error)}\n`);
    return 0;
  }
}

/** Who is asked at this terminal. */
export async function openAsker(io: Pick<Io, "runnable">): Promise<Asker> {
  return (await import("./terminal-asker.ts")).terminalAsker(io);
}
