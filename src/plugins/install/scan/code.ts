import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Finding } from "./finding.ts";

interface Rule {
  readonly ruleId: string;
  readonly severity: Finding["severity"];
  readonly message: string;
  /** The first match gives the line; all must match. */
  readonly all: readonly RegExp[];
}

const NETWORK = /\bfetch\s*\(|\bhttps?\.request\b|\bnet\.connect\b|\bnew WebSocket\b|\baxios\b/;

const RULES: readonly Rule[] = [
  {
    ruleId: "starts-programs",
    severity: "warn",
    message: "starts other programs",
    all: [/["'](?:node:)?child_process["']/],
  },
  { ruleId: "makes-code", severity: "warn", message: "creates code from text", all: [/\beval\s*\(|\bnew Function\s*\(|["'](?:node:)?vm["']/] },
  { ruleId: "environment-and-network", severity: "warn", message: "reads environment variables and uses the network", all: [/\bprocess\.env\b/, NETWORK] },
  { ruleId: "files-and-network", severity: "info", message: "reads files and uses the network", all: [/\breadFile(?:Sync)?\b/, NETWORK] },
  {
    ruleId: "credentials",
    severity: "warn",
    message: "names files that store secrets",
    all: [/\.ssh\/|id_(?:rsa|ed25519)\b|\.aws\/credentials|auth-profiles\.json|\/etc\/shadow/],
  },
  { ruleId: "mining", severity: "critical", message: "looks like a cryptocurrency miner", all: [/stratum\+(?:tcp|ssl)|coinhive|cryptonight|xmrig/i] },
  {
    ruleId: "obfuscated",
    severity: "warn",
    message: "hides what it does: long encoded text",
    all: [/(?:\\x[0-9a-fA-F]{2}){60}|["'][A-Za-z0-9+/]{2000,}={0,2}["']/],
  },
];

const CODE = /\.[mc]?[jt]sx?$/;
const MOST_FILES = 1000;
const MOST_BYTES = 2 * 1024 * 1024;

/** Looks for things in the plugin's own code that its user may want to know. Reads it as text; nothing of it runs. */
export function scanCode(root: string, files: readonly string[]): { readonly findings: readonly Finding[]; readonly scanned: number } {
  const findings: Finding[] = [];
  const code = files.filter((file) => CODE.test(file) && !/\.d\.[mc]?ts$/.test(file));
  if (code.length > MOST_FILES) {
    findings.push({ severity: "info", ruleId: "not-all-read", message: `${code.length - MOST_FILES} of ${code.length} files were not scanned` });
  }
  let scanned = 0;
  for (const file of code.slice(0, MOST_FILES)) {
    const path = join(root, file);
    if (statSync(path).size > MOST_BYTES) {
      findings.push({ severity: "info", ruleId: "not-all-read", message: "is too large to scan", file });
      continue;
    }
    scanned += 1;
    findings.push(...scanText(file, readFileSync(path, "utf8")));
  }
  return { findings, scanned };
}

function* scanText(file: string, text: string): Generator<Finding> {
  for (const { all, ruleId, severity, message } of RULES) {
    const matches = all.map((pattern) => pattern.exec(text));
    const first = matches[0];
    if (!first || matches.includes(null)) continue;
    yield { severity, ruleId, message, file, line: text.slice(0, first.index).split("\n").length };
  }
}
