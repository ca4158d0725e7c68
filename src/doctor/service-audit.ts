/** A service file compared with what this version would install. Codes are the documented ones. */
import { existsSync } from "node:fs";
import { basename } from "node:path";
import type { ServiceFacts } from "./deps.ts";

export interface ServiceIssue {
  readonly code: string;
  readonly text: string;
}

/** The content of a service file, whatever its form. */
export interface ParsedService {
  readonly command: readonly string[];
  readonly environment: ReadonlyMap<string, string>;
  /** Directives of a unit, or keys of a property list, each with its last value. */
  readonly directives: ReadonlyMap<string, string>;
}

const unquoted = (word: string): string => (/^".*"$/s.test(word) ? word.slice(1, -1).replaceAll(/\\(.)/gs, "$1") : word).replaceAll("%%", "%");

function parseUnit(text: string): ParsedService {
  const directives = new Map<string, string>();
  const environment = new Map<string, string>();
  for (const line of text.split("\n")) {
    const [, name, value] = /^\s*([A-Za-z]+)\s*=\s*(.*)$/.exec(line) ?? [];
    if (name === undefined || value === undefined) continue;
    if (name === "Environment") {
      for (const word of value.match(/"(?:[^"\\]|\\.)*"|\S+/g) ?? []) {
        const pair = unquoted(word);
        environment.set(pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1));
      }
    } else directives.set(name, value.trim());
  }
  const words = (directives.get("ExecStart") ?? "").match(/"(?:[^"\\]|\\.)*"|\S+/g) ?? [];
  return { command: words.map((word) => unquoted(word).replaceAll("$$", "$")), environment, directives };
}

const plain = (xml: string): string => xml.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");

function parsePlist(text: string): ParsedService {
  const after = (key: string): string | undefined =>
    new RegExp(`<key>${key}</key>\\s*(<(array|dict)>[\\s\\S]*?</\\2>|<[^>]+/>|<string>[\\s\\S]*?</string>)`).exec(text)?.[1];
  const variables = [...(after("EnvironmentVariables") ?? "").matchAll(/<key>([^<]*)<\/key>\s*<string>([^<]*)<\/string>/g)];
  const inner = text.replace(/<key>EnvironmentVariables<\/key>\s*<dict>[\s\S]*?<\/dict>/, "<key>EnvironmentVariables</key>");
  const keys = [...inner.matchAll(/<key>([^<]*)<\/key>/g)].map(([, key = ""]) => key);
  return {
    command: [...(after("ProgramArguments") ?? "").matchAll(/<string>([^<]*)<\/string>/g)].map(([, word = ""]) => plain(word)),
    environment: new Map(variables.map(([, name = "", value = ""]) => [plain(name), plain(value)])),
    directives: new Map(keys.map((key) => [key, after(key) ?? ""])),
  };
}

export const parseService = (kind: ServiceFacts["kind"], text: string): ParsedService => (kind === "systemd" ? parseUnit(text) : parsePlist(text));

const OF_VERSION_MANAGER = /\/(?:\.nvm|\.fnm|fnm_multishells|\.volta|\.asdf|\.nodenv|\.nvs|mise|rtx)\//;
const isEntry = (word: string): boolean => /(?:^|\/)(?:openclaw|clawdbot|moltbot)(?:\.[cm]?js)?$|\.[cm]?js$/.test(word);

function commandIssues(command: readonly string[], wanted: readonly string[]): ServiceIssue[] {
  const [node = "", ...rest] = command;
  if (node === "" || !command.includes("gateway")) return [{ code: "gateway-command-missing", text: "it does not start the gateway" }];
  const entry = rest.find(isEntry);
  const issues: ServiceIssue[] = [];
  if (entry !== wanted[1]) issues.push({ code: "gateway-entrypoint-mismatch", text: `it starts ${entry ?? node} instead of ${wanted[1]}` });
  if (/^bun\b/.test(basename(node))) issues.push({ code: "gateway-runtime-bun", text: `it runs under Bun (${node}); the gateway needs Node` });
  else if (node !== wanted[0] && OF_VERSION_MANAGER.test(node)) {
    issues.push({ code: "gateway-runtime-node-version-manager", text: `its Node belongs to a version manager (${node}) and disappears with an update` });
  }
  if (node.startsWith("/") && !existsSync(node)) issues.push({ code: "gateway-runtime-node-system-missing", text: `its Node no longer exists: ${node}` });
  return issues;
}

function pathIssues(path: string | undefined, wanted: string): ServiceIssue[] {
  if (path === undefined) return [{ code: "gateway-path-missing", text: "it sets no PATH, so programs of skills and tools are not found" }];
  const [has, needs] = [path.split(":"), wanted.split(":")];
  const missing = needs.filter((folder) => !has.includes(folder));
  const extra = has.filter((folder) => !needs.includes(folder));
  return [
    ...(missing.length === 0 ? [] : [{ code: "gateway-path-missing-dirs", text: `its PATH is missing ${missing.join(", ")}` }]),
    ...(extra.length === 0 ? [] : [{ code: "gateway-path-nonminimal", text: `its PATH has unneeded entries: ${extra.join(", ")}` }]),
  ];
}

function tokenIssues(token: string | undefined, configured: string | undefined): ServiceIssue[] {
  if (token === undefined || token === configured) return [];
  return configured === undefined
    ? [{ code: "gateway-token-drift", text: "it has a token that is not in the configuration" }]
    : [{ code: "gateway-token-mismatch", text: "its token differs from the configuration" }];
}

function platformIssues(kind: ServiceFacts["kind"], directives: ReadonlyMap<string, string>): ServiceIssue[] {
  const wanted = (name: string, fits: (value: string) => boolean, code: string, text: string): ServiceIssue[] =>
    fits(directives.get(name) ?? "") ? [] : [{ code, text }];
  if (kind === "launchd") {
    return [
      ...wanted("KeepAlive", (value) => value !== "" && value !== "<false/>", "launchd-keep-alive", "it is not restarted when it exits"),
      ...wanted("RunAtLoad", (value) => value === "<true/>", "launchd-run-at-load", "it is not started at login"),
    ];
  }
  const online = (value: string): boolean => value.split(/\s+/).includes("network-online.target");
  return [
    ...wanted("After", online, "systemd-after-network-online", "it does not wait for the network"),
    ...wanted("Wants", online, "systemd-wants-network-online", "it does not request the network"),
    ...wanted("RestartSec", (value) => /^\d+(?:s|ms)?$/.test(value) && value !== "0", "systemd-restart-sec", "it restarts without a delay"),
  ];
}

/** What is wrong with an installed service. `token`: the configuration's own, if it is a plain text. */
export function auditService({ kind, content, installed }: ServiceFacts & { readonly installed: string }, token: string | undefined): ServiceIssue[] {
  const [is, wanted] = [parseService(kind, installed), parseService(kind, content)];
  return [
    ...commandIssues(is.command, wanted.command),
    ...pathIssues(is.environment.get("PATH"), wanted.environment.get("PATH") ?? ""),
    ...tokenIssues(is.environment.get("OPENCLAW_GATEWAY_TOKEN"), token),
    ...platformIssues(kind, is.directives),
  ];
}

/** It was written or changed by hand: what this version installs would remove that. */
export function isCustom({ kind, content, installed }: ServiceFacts & { readonly installed: string }): boolean {
  const [is, ours] = [parseService(kind, installed), parseService(kind, content)];
  if (is.environment.get("OPENCLAW_SERVICE_MARKER") !== "openclaw") return true;
  const known = new Set([...ours.environment.keys(), "OPENCLAW_GATEWAY_TOKEN", "OPENCLAW_PROFILE"]);
  return [...is.directives.keys()].some((name) => !ours.directives.has(name)) || [...is.environment.keys()].some((name) => !known.has(name));
}
