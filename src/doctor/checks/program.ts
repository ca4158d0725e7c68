import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../../base/errors.ts";
import { formatDuration } from "../../base/text.ts";
import { loadFindBrowser } from "../../browser/index.ts";
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
      {
        level: "error",
        text: `Node ${version} is too old; ${OLDEST_NODE} or newer is required`,
        todo: "run npm ci in the checkout to install the bundled Node",
      },
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
    if (code === undefined)
      return [{ part: "broken", level: "warn", text: `the Control UI in ${uiFolder} is incomplete: files of its page are missing`, todo: BUILD }];
    return code.includes(version)
      ? []
      : [{ part: "version", level: "warn", text: `the Control UI in ${uiFolder} was not built for version ${version}`, todo: BUILD }];
  },
};

/** A browser for agents, where the configuration sets one up or allows the tool by its name. */
export const browserProgram: Check = {
  id: "program.browser",
  topic: "program",
  title: "Browser",
  async run({ config: { current }, env, osHome: home, platform }) {
    const { browser, tools, agents } = current;
    const policies = [tools, ...(agents?.list ?? []).map((agent) => agent.tools)];
    const isNamed = policies.some((policy) => [...(policy?.allow ?? []), ...(policy?.alsoAllow ?? [])].includes("browser"));
    const isStarted = browser?.cdpUrl === undefined && browser?.attachOnly !== true;
    if (browser?.enabled === false || !isStarted || (browser === undefined && !isNamed)) return [];
    const { chooseBrowser, installAdvice } = await loadFindBrowser();
    try {
      chooseBrowser(browser?.executablePath?.trim() || undefined, { platform, env, home });
      return [];
    } catch (error) {
      const isSet = browser?.executablePath !== undefined;
      return [
        {
          level: "warn",
          text: isSet ? messageOf(error) : "the configuration uses a browser, but none is installed",
          todo: isSet ? "openclaw config unset browser.executablePath" : installAdvice(platform),
        },
      ];
    }
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
          text: `${name} is a legacy name and may be ignored`,
          todo: env[now]?.trim() ? `remove it: ${now} is set` : `use ${now} instead`,
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
    const todo = "set this machine's clock (timedatectl set-ntp true); logins, schedules and budgets depend on it";
    if (ahead) return [{ level: "warn", text: `${ahead.path} was changed ${formatDuration(ahead.ms)} in the future: the clock is or was wrong`, todo }];
    if (touched(join(uiFolder, "index.html")) - now > DAY_MS)
      return [{ level: "warn", text: "the clock is set to a date before this program was built", todo }];
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
      !zone || zone.startsWith("/") || isZone(zone) ? [] : [{ part: place, level: "warn", text: `${place} is set to an unknown time zone: ${zone}`, todo }],
    );
  },
};
