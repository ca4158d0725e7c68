import { chmodSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { manualClock, type ManualClock } from "../../src/base/clock.ts";
import { createIds } from "../../src/base/ids.ts";
import { systemRandom } from "../../src/base/random.ts";
import { mergePatch, type Snapshot } from "../../src/config/index.ts";
import { loadInstall, type InstallDeps, type InstallRequest, type InstallResult } from "../../src/plugins/index.ts";

/** A state folder with a configuration that is a value, to install into. */
export interface InstallPlace {
  readonly home: string;
  readonly stateDir: string;
  readonly extensions: string;
  readonly clock: ManualClock;
  readonly deps: InstallDeps;
  /** The configuration as it is now. */
  config(): { plugins?: { installs?: Record<string, Record<string, unknown>>; entries?: Record<string, { enabled?: boolean }>; [key: string]: unknown } };
  install(spec: string, more?: Omit<InstallRequest, "spec">): Promise<InstallResult>;
  /** Writes files below the home folder and gives the folder's path. */
  write(folder: string, files: Readonly<Record<string, string | Buffer>>): string;
  /** What is installed, with what is hidden. */
  installed(): string[];
}

export function makeInstallPlace(config: object = {}, over: Partial<InstallDeps> = {}): InstallPlace {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "openclaw-install-")));
  const stateDir = join(home, "state");
  const extensions = join(stateDir, "extensions");
  const clock = manualClock();
  let current: unknown = config;
  const deps: InstallDeps = {
    stateDir,
    config: () => current,
    edit: async (given) => {
      const edit = given.kind === "from" ? given.edit({ resolved: current } as Snapshot) : given;
      if (edit.kind !== "patch") throw new Error(`unexpected edit ${edit.kind}`);
      current = mergePatch(current, edit.value);
    },
    env: { PATH: process.env["PATH"], HOME: home },
    cwd: home,
    home,
    pid: process.pid,
    clock,
    ids: createIds(systemRandom),
    confirm: async () => false,
    ...over,
  };
  return {
    home,
    stateDir,
    extensions,
    clock,
    deps,
    config: () => current as ReturnType<InstallPlace["config"]>,
    install: async (spec, more) => (await loadInstall()).installPlugin({ spec, ...more }, deps),
    write(folder, files) {
      for (const [name, content] of Object.entries(files)) {
        const path = join(home, folder, name);
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, content);
        chmodSync(path, 0o644);
      }
      return join(home, folder);
    },
    installed() {
      try {
        return readdirSync(extensions).sort();
      } catch {
        return []; // Nothing was ever installed.
      }
    },
  };
}

/** The files of a plugin that does nothing, as `name: content`. */
export function pluginFiles(
  id: string,
  more: { readonly version?: string; readonly manifest?: object; readonly pkg?: object; readonly code?: string } = {},
): Record<string, string> {
  const { version = "1.0.0", manifest = {}, pkg = {}, code = "export default function register() {}\n" } = more;
  return {
    "package.json": JSON.stringify({ name: id, version, type: "module", openclaw: { extensions: ["./index.js"] }, ...pkg }),
    "openclaw.plugin.json": JSON.stringify({ id, configSchema: { type: "object", properties: {} }, ...manifest }),
    "index.js": code,
  };
}

/** The same as entries of an archive, below `package/` as npm has them. */
export const pluginEntries = (id: string, more?: Parameters<typeof pluginFiles>[1], below = "package/"): { name: string; content: string }[] =>
  Object.entries(pluginFiles(id, more)).map(([name, content]) => ({ name: below + name, content }));
