import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { formatDuration } from "../../base/text.ts";
import type { Check, Finding } from "../finding.ts";

/** The oldest Node that can run the product. */
const OLDEST_NODE = 24;

export const nodeVersion: Check = {
  id: "program.node",
  topic: "program",
  title: "Node",
  run({ nodeVersion: version }) {
    if (Number(version.split(".")[0]) >= OLDEST_NODE) return [];
    return [
      { level: "error", text: `this is Node ${version}; ${OLDEST_NODE} or newer is needed`, todo: "run npm ci in the checkout, which brings its own Node" },
    ];
  },
};

const BUILD = "npm run build";

/** The scripts of the page, in one text. Undefined when one that the page names is not there. */
function scripts(folder: string, page: string): string | undefined {
  const named = [...page.matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map(([, file = ""]) => join(folder, file));
  if (named.some((file) => !existsSync(file))) return undefined;
  const assets = join(folder, "assets");
  const all = existsSync(assets) ? readdirSync(assets).filter((name) => name.endsWith(".js")) : [];
  return all.map((name) => readFileSync(join(assets, name), "utf8")).join("\n");
}

/** The page in the browser is built, whole, and of this version. */
export const controlUi: Check = {
  id: "program.ui",
  topic: "program",
  title: "Control UI",
  run({ config, uiFolder, version }) {
    if (config.current.gateway?.controlUi?.enabled === false) return [];
    const index = join(uiFolder, "index.html");
    if (!existsSync(index)) return [{ part: "missing", level: "warn", text: `the Control UI is not built: ${index} is missing`, todo: BUILD }];
    const code = scripts(uiFolder, readFileSync(index, "utf8"));
    if (code === undefined) return [{ part: "broken", level: "warn", text: `the Control UI in ${uiFolder} lacks files that its page names`, todo: BUILD }];
    return code.includes(version)
      ? []
      : [{ part: "version", level: "warn", text: `the Control UI in ${uiFolder} was not built for version ${version}`, todo: BUILD }];
  },
};

const OLD_NAME = /^(?:CLAWDBOT|MOLTBOT|MOLDBOT)_(.+)$/;

/** Variables under names of earlier versions. */
export const oldVariables: Check = {
  id: "program.variables",
  topic: "program",
  title: "Environment variables",
  run: ({ env }) =>
    Object.keys(env)
      .filter((name) => OLD_NAME.test(name) && env[name]?.trim())
      .sort()
      .map((name): Finding => {
        const now = name.replace(OLD_NAME, "OPENCLAW_$1");
        return {
          part: name,
          level: "warn",
          text: `${name} is an old name, and may be passed over`,
          todo: env[now]?.trim() ? `take it away: ${now} is set` : `set ${now} in its place`,
        };
      }),
};

/** More than what clocks of file servers differ by. */
const SKEW_MS = 5 * 60_000;
const DAY_MS = 86_400_000;

/** Times that cannot be: a file from the future, or a program installed after now. */
export const clockSkew: Check = {
  id: "program.clock",
  topic: "program",
  title: "Clock",
  run({ config, clock, uiFolder }) {
    const now = clock.now();
    const touched = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    const { state, file } = config.paths;
    const files = [file, join(state, "openclaw.db"), join(state, "openclaw.db-wal")];
    const ahead = files.map((path) => ({ path, ms: touched(path) - now })).find(({ ms }) => ms > SKEW_MS);
    const todo = "set the clock of this machine (timedatectl set-ntp true): logins, schedules and budgets depend on it";
    if (ahead) return [{ level: "warn", text: `${ahead.path} was changed ${formatDuration(ahead.ms)} from now: the clock is, or was, wrong`, todo }];
    if (touched(join(uiFolder, "index.html")) - now > DAY_MS)
      return [{ level: "warn", text: "the clock stands before the day on which this program was built", todo }];
    return [];
  },
};

/** A rule such as `CET-1CEST`, which names no zone. */
const RULE = /^[A-Z]{3,}[+-]?\d/;

function isZone(name: string): boolean {
  if (RULE.test(name)) return true;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

/** An unknown time zone is silently read as UTC. */
export const timeZone: Check = {
  id: "program.time-zone",
  topic: "program",
  title: "Time zone",
  run({ config, env }) {
    const named = [
      ["TZ", env["TZ"]?.trim().replace(/^:/, ""), "set TZ to a name such as Europe/Berlin"],
      ["agents.defaults.userTimezone", config.current.agents?.defaults?.userTimezone?.trim(), "openclaw config set agents.defaults.userTimezone Europe/Berlin"],
    ] as const;
    return named.flatMap(([place, zone, todo]): Finding[] =>
      !zone || zone.startsWith("/") || isZone(zone)
        ? []
        : [{ part: place, level: "warn", text: `${place} names a time zone that is not known: ${zone}`, todo }],
    );
  },
};
