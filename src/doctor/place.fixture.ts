/** An installation in a temporary folder, for the doctor to look at. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { manualClock } from "../base/clock.ts";
import { createIds } from "../base/ids.ts";
import { systemRandom } from "../base/random.ts";
import { openConfig } from "../config/index.ts";
import { CHECKS, examine, type Outcome } from "./examine.ts";
import type { DoctorDeps, ModelFacts } from "./deps.ts";

export interface PlaceOptions {
  /** The text of the configuration; none when it is undefined. */
  readonly config?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The state folder's name below the home, found without a variable. */
  readonly stateName?: string;
}

export interface DoctorPlace {
  readonly home: string;
  readonly state: string;
  readonly configPath: string;
  /** Writes a file below the state folder, for its owner only. */
  put(name: string, text?: string): string;
  read(path: string): string;
  has(name: string): boolean;
  /** What these checks find; with `fix` every repair is made. */
  look(ids: readonly string[], over?: Partial<DoctorDeps> & { readonly fix?: boolean }): Promise<readonly Outcome[]>;
  /** Removes everything. */
  remove(): void;
}

const MODELS: ModelFacts = {
  model: "anthropic/claude",
  source: "config",
  reason: "it is configured",
  warnings: [],
  missing: [],
  resting: [],
  logins: [],
  hasCredential: () => true,
  problemWith: () => undefined,
};

/** Now, as the checks see it. */
export const NOW = Date.now();

export function makeDoctorPlace({ config, env: own = {}, stateName }: PlaceOptions = {}): DoctorPlace {
  const home = mkdtempSync(join(tmpdir(), "doctor-"));
  const state = join(home, stateName ?? "state");
  const configPath = stateName === undefined ? join(home, "openclaw.json") : join(state, "openclaw.json");
  mkdirSync(state, { mode: 0o700 });
  if (config !== undefined) writeFileSync(configPath, config, { mode: 0o600 });
  const env = { HOME: home, ...(stateName === undefined ? { OPENCLAW_STATE_DIR: state, OPENCLAW_CONFIG_PATH: configPath } : {}), ...own };
  const clock = manualClock(NOW);
  const ids = createIds(systemRandom);

  async function look(wanted: readonly string[], { fix = false, ...over }: Parameters<DoctorPlace["look"]>[1] = {}): Promise<readonly Outcome[]> {
    using opened = await openConfig({ env, cwd: home, osHome: home, version: "1.0.0", clock, ids, purpose: "inspect" });
    const deps: DoctorDeps = {
      config: opened,
      env,
      cwd: home,
      osHome: home,
      version: "1.0.0",
      platform: "linux",
      nodeVersion: "26.0.0",
      uid: process.getuid?.(),
      userName: "nobody-of-this-test",
      temporary: home,
      clock,
      ids,
      deep: false,
      generateToken: false,
      suggestions: true,
      uiFolder: join(home, "ui"),
      inventory: () => Promise.resolve({ entries: [], diagnostics: [], workspaceDir: home }),
      models: () => Promise.resolve(MODELS),
      service: () => undefined,
      probe: () => Promise.resolve({ holder: undefined, reachable: false }),
      accounts: () => Promise.resolve([]),
      channelRules: () => Promise.resolve([]),
      failedPlugins: () => Promise.resolve([]),
      ...over,
    };
    const checks = CHECKS.filter(({ id }) => wanted.includes(id));
    if (checks.length !== wanted.length) throw new Error(`not every one is a check: ${wanted.join(", ")}`);
    return examine(deps, { checks, decide: () => fix });
  }

  return {
    home,
    state,
    configPath,
    put(name, text = "{}") {
      const path = join(state, name);
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      writeFileSync(path, text, { mode: 0o600 });
      return path;
    },
    read: (path) => readFileSync(path, "utf8"),
    has: (name) => existsSync(join(state, name)),
    look,
    remove() {
      if (existsSync(state)) chmodSync(state, 0o700);
      rmSync(home, { recursive: true, force: true });
    },
  };
}

export const modelsWith = (over: Partial<ModelFacts>): DoctorDeps["models"] => {
  return () => Promise.resolve({ ...MODELS, ...over });
};
