import { existsSync } from "node:fs";
import { formatLocated, isKept, isManaged, missingFile, type LocatedIssue, type Snapshot } from "../../config/index.ts";
import type { DoctorDeps } from "../deps.ts";
import type { Check, Finding } from "../finding.ts";

const BY = { by: "cli doctor" } as const;
/** So many errors are read one by one; the rest are counted. */
const MOST_SHOWN = 20;

const isUnknownKey = ({ code }: LocatedIssue): boolean => code === "unknown-key";
const errorsOf = (snapshot: Snapshot): LocatedIssue[] => snapshot.issues.filter((issue) => !isUnknownKey(issue));
const noted = (names: readonly string[]): string => names.join(", ");

function backupHint(path: string): string {
  return existsSync(`${path}.bak`) ? `; the previous version is ${path}.bak` : "";
}

/** Can it be read, and is it right? */
export const configFile: Check = {
  id: "config.file",
  topic: "config",
  title: "Configuration file",
  run({ config }) {
    const snapshot = config.snapshot();
    if (!snapshot.exists) {
      const { state } = config.paths;
      if (isKept(state, snapshot.path)) {
        const text = `${missingFile(snapshot.path, state)}; until then the last good configuration is in use`;
        return [{ part: "missing", level: "error", text, todo: `restore ${snapshot.path}${backupHint(snapshot.path)}` }];
      }
      return [{ part: "missing", level: "info", text: `no configuration at ${snapshot.path}; using the defaults`, todo: "openclaw onboard" }];
    }
    const errors = errorsOf(snapshot).filter(({ code }) => code !== "unknown-name" && code !== "unknown-plugin");
    const shown = errors.slice(0, MOST_SHOWN).map((issue): Finding => {
      const todo = `fix line ${issue.line} of ${issue.file}${backupHint(issue.file)}`;
      return { part: issue.code, level: "error", text: formatLocated(issue), todo };
    });
    const rest = errors.length - shown.length;
    return rest > 0 ? [...shown, { part: "more", level: "error", text: `and ${rest} more errors`, todo: "openclaw config validate" }] : shown;
  },
};

/** Keys that nothing reads. */
export const configKeys: Check = {
  id: "config.keys",
  topic: "config",
  title: "Unknown keys",
  run({ config, env }) {
    const snapshot = config.snapshot();
    const unknown = snapshot.issues.filter(isUnknownKey);
    if (unknown.length === 0) return [];
    const keys = unknown.map(({ path, line }) => `${path} (line ${line})`);
    const text = `${unknown.length === 1 ? "an unknown key" : `${unknown.length} unknown keys`}: ${noted(keys)}`;
    if (isManaged(env)) return [{ level: "error", text, todo: "this file is managed externally; change it there" }];
    if (errorsOf(snapshot).length > 0) return [{ level: "error", text, todo: "fix the other errors first, then remove these with: openclaw doctor --fix" }];
    const guesses = unknown.flatMap(({ path, suggestion }) => (suggestion === undefined ? [] : [`${path}: did you mean ${suggestion}?`]));
    const todo = `fix them, or remove them with openclaw doctor --fix${guesses.length === 0 ? "" : `; ${noted(guesses)}`}`;
    return [
      { level: "error", text, todo, repair: { summary: `remove ${noted(unknown.map(({ path }) => path))}`, safe: false, apply: () => dropKeys(config) } },
    ];
  },
};

async function dropKeys(config: DoctorDeps["config"]): Promise<string> {
  const before = config.snapshot().issues.filter(isUnknownKey);
  const { files } = await config.edit({ kind: "prune" }, BY);
  return `Removed ${noted(before.map(({ path }) => path))}; the previous version is ${files.map((file) => `${file}.bak`).join(", ")}`;
}

/** Keys in places where they were in earlier versions. */
export const configLegacy: Check = {
  id: "config.legacy",
  topic: "config",
  title: "Legacy keys",
  run({ config, env }) {
    const { legacy, valid } = config.snapshot();
    if (legacy.length === 0) return [];
    const moves = legacy.map(({ from, to, note }) => (to === "" ? `${from} (${note})` : `${from} → ${to}`));
    const text = `${legacy.length === 1 ? "a legacy key" : `${legacy.length} legacy keys`}: ${noted(moves)}`;
    if (isManaged(env)) return [{ level: "error", text, todo: "this file is managed externally; change it there" }];
    if (!valid) return [{ level: "warn", text, todo: "fix the other errors in the file first" }];
    const apply = async (): Promise<string> => {
      const { files } = await config.edit({ kind: "migrate" }, BY);
      return `Moved ${noted(moves)}; the previous version is ${files.map((file) => `${file}.bak`).join(", ")}`;
    };
    return [
      { level: "warn", text, todo: "they still work; move them with: openclaw doctor --fix", repair: { summary: `move ${noted(moves)}`, safe: true, apply } },
    ];
  },
};

/** What is doubtful, but works. */
export const configRemarks: Check = {
  id: "config.remarks",
  topic: "config",
  title: "Questionable settings",
  run({ config }) {
    const remarks = config.snapshot().warnings.filter(({ code }) => code !== "legacy_key" && code !== "unknown-name");
    return remarks.map((issue): Finding => ({
      part: issue.code,
      level: "warn",
      text: formatLocated(issue),
      todo: `check line ${issue.line} of ${issue.file}`,
    }));
  },
};

/** Without it the gateway does not start. */
export const gatewayMode: Check = {
  id: "gateway.mode",
  topic: "config",
  title: "gateway.mode",
  run({ config }) {
    const { exists, valid } = config.snapshot();
    const mode = config.current.gateway?.mode;
    if (!exists || !valid || mode === "local") return [];
    if (mode === undefined) {
      return [
        {
          level: "warn",
          text: "gateway.mode is not set, so the gateway will not start",
          todo: "openclaw config set gateway.mode local (or openclaw configure)",
        },
      ];
    }
    const url = config.current.gateway?.remote?.url;
    if (url?.trim()) return [{ level: "info", text: `commands connect to the gateway at ${url}; no gateway runs here` }];
    return [{ level: "error", text: 'gateway.mode is "remote", but gateway.remote.url is not set', todo: "openclaw config set gateway.remote.url wss://…" }];
  },
};

/** 64 hexadecimal characters. */
const TOKEN_BYTES = 32;

/** Whether clients have something to prove themselves with. */
export const gatewayAuth: Check = {
  id: "gateway.auth",
  topic: "config",
  title: "Gateway token",
  run({ config, ids, generateToken }) {
    const env = config.env();
    const { exists, valid } = config.snapshot();
    const { gateway } = config.current;
    if (!valid || gateway?.mode === "remote" || !(exists || generateToken)) return [];
    const has = (value: unknown, variable: string): boolean =>
      (typeof value === "string" ? value.trim() !== "" : value !== undefined) || (env[variable]?.trim() ?? "") !== "";
    const token = has(gateway?.auth?.token, "OPENCLAW_GATEWAY_TOKEN");
    const password = has(gateway?.auth?.password, "OPENCLAW_GATEWAY_PASSWORD");
    const mode = gateway?.auth?.mode ?? (password ? "password" : "token");
    if (mode === "none" || mode === "trusted-proxy" || (mode === "password" ? password : token)) return [];
    if (mode === "password") {
      return [
        {
          level: "error",
          text: 'gateway.auth.mode is "password", but no password is set',
          todo: "openclaw config set gateway.auth.password …, or OPENCLAW_GATEWAY_PASSWORD",
        },
      ];
    }
    const apply = async (): Promise<string> => {
      const { files } = await config.edit({ kind: "patch", value: { gateway: { auth: { mode: "token", token: ids.hex(TOKEN_BYTES) } } } }, BY);
      return `Generated a token and saved it as gateway.auth.token in ${files.join(", ")}`;
    };
    const managed = isManaged(env);
    return [
      {
        level: "warn",
        text: "the gateway has no token; it generates a temporary one at each start",
        todo: managed ? "set gateway.auth.token where the configuration is managed" : "openclaw doctor --generate-gateway-token",
        ...(managed ? {} : { repair: { summary: "generate a token and save it as gateway.auth.token", safe: true, apply } }),
      },
    ];
  },
};
