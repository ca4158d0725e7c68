import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { scanCode } from "../install/scan/code.ts";
import { scanOf, type BuiltinScan, type Finding } from "../install/scan/finding.ts";

interface Rule {
  readonly ruleId: string;
  readonly severity: Finding["severity"];
  readonly message: string;
  readonly pattern: RegExp;
}

/** A skill is read by a model that does as it says: its text counts as much as its scripts. */
const RULES: readonly Rule[] = [
  {
    ruleId: "pipe-to-shell",
    severity: "critical",
    message: "runs what it downloads: a download is piped into a shell",
    pattern: /\b(?:curl|wget)\b[^\n|]{0,400}\|\s*(?:sudo\s+)?(?:ba|z|da|k)?sh\b|\b(?:ba|z)?sh\s+(?:-c\s+)?["']?(?:<\(|\$\()\s*(?:curl|wget)\b/,
  },
  { ruleId: "decode-to-shell", severity: "critical", message: "runs encoded text", pattern: /base64\s+(?:-d|-D|--decode)\b[^\n|]{0,200}\|\s*(?:ba|z)?sh\b/ },
  {
    ruleId: "reverse-shell",
    severity: "critical",
    message: "opens a shell to the network",
    pattern: /\/dev\/tcp\/|\bnc(?:at)?\b[^\n]{0,80}\s-e\b|\bbash\s+-i\b[^\n]{0,40}>&/,
  },
  {
    ruleId: "overrides-instructions",
    severity: "critical",
    message: "tells the model to set aside its instructions or to hide what it does",
    pattern:
      /\b(?:ignore|disregard|forget)\s+(?:all\s+|any\s+)?(?:previous|prior|earlier|above|other)\s+(?:instructions|rules|prompts?)|\bdo\s+not\s+(?:tell|inform|mention\s+(?:this|it)\s+to)\s+the\s+(?:user|owner|human)/i,
  },
  {
    ruleId: "hidden-text",
    severity: "critical",
    message: "has characters that hide or reorder text",
    // eslint-disable-next-line no-misleading-character-class -- single code points, each of them invisible
    pattern: /[\u202A-\u202E\u2066-\u2069]|[\u200B\u2060\u{E0001}\u{E0020}-\u{E007F}]{2}/u,
  },
  {
    ruleId: "deletes-everything",
    severity: "critical",
    message: "deletes a home or a whole disk",
    pattern: /\brm\s+-[a-zA-Z]*[rR][a-zA-Z]*\s+(?:--\s+)?["']?(?:\/|~|\$HOME)\/?["']?(?:\s|$|\*)/m,
  },
  { ruleId: "becomes-root", severity: "warn", message: "uses sudo", pattern: /(?:^|[\s`|&;])sudo\s+\S/m },
  {
    ruleId: "credentials",
    severity: "warn",
    message: "names files that store secrets",
    pattern: /\.ssh\/|\bid_(?:rsa|ed25519)\b|\.aws\/credentials|auth-profiles\.json|\/etc\/shadow|\.netrc\b|login\.keychain/,
  },
  {
    ruleId: "own-settings",
    severity: "warn",
    message: "changes OpenClaw's own settings",
    pattern: /\bopenclaw\s+(?:config\s+(?:set|unset|patch)|approvals\s+(?:set|allowlist)|plugins\s+install|skills\s+install)\b/,
  },
  {
    ruleId: "stays",
    severity: "warn",
    message: "makes something start by itself",
    pattern: /\bcrontab\s+-|\blaunchctl\s+(?:load|bootstrap)\b|\bsystemctl\s+(?:--user\s+)?enable\b|~\/\.(?:bashrc|zshrc|profile)\b/,
  },
  { ruleId: "open-to-all", severity: "info", message: "makes files writable for everyone", pattern: /\bchmod\s+(?:-R\s+)?(?:0?777|a\+w)\b/ },
  { ruleId: "obfuscated", severity: "warn", message: "hides what it does: long encoded text", pattern: /[A-Za-z0-9+/]{2000,}={0,2}/ },
];

const TEXT = /(?:^|\/)SKILL\.md$|\.(?:md|txt|sh|bash|zsh|py|rb|pl|ps1|[mc]?[jt]s|json5?|ya?ml|toml)$/i;
const MOST_FILES = 10_000;
const MOST_BYTES = 2 * 1024 * 1024;

/** All files below a folder, relative to it. Nothing is passed over: a skill can lead a model to any of them. `others`: also links and what else is no folder. */
export function filesBelow(folder: string, { others = false }: { readonly others?: boolean } = {}): readonly string[] {
  const found: string[] = [];
  const visit = (at: string): void => {
    for (const { name } of readdirSync(join(folder, at), { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = at === "" ? name : `${at}/${name}`;
      const stat = lstatSync(join(folder, path));
      if (stat.isDirectory()) visit(path);
      else if (others || stat.isFile()) found.push(path);
    }
  };
  visit("");
  return found;
}

/** Looks for things in a skill that its user may want to know. Reads it as text; nothing of it runs. */
export function scanSkill(folder: string, files: readonly string[] = filesBelow(folder)): BuiltinScan {
  const findings: Finding[] = [];
  if (files.length > MOST_FILES)
    findings.push({ severity: "warn", ruleId: "not-all-read", message: `${files.length - MOST_FILES} of ${files.length} files were not scanned` });
  const texts = files.slice(0, MOST_FILES).filter((file) => TEXT.test(file) || isScript(folder, file));
  for (const file of texts) {
    const path = join(folder, file);
    if (lstatSync(path).size > MOST_BYTES) findings.push({ severity: "info", ruleId: "not-all-read", message: "is too large to scan", file });
    else findings.push(...scanText(file, readFileSync(path, "utf8")));
  }
  const code = scanCode(folder, files);
  const known = new Set(findings.map(({ ruleId, file }) => `${ruleId} ${file}`));
  findings.push(...code.findings.filter(({ ruleId, file }) => !known.has(`${ruleId} ${file}`)));
  return scanOf(findings, texts.length);
}

function* scanText(file: string, text: string): Generator<Finding> {
  for (const { ruleId, severity, message, pattern } of RULES) {
    const found = pattern.exec(text);
    if (found) yield { severity, ruleId, message, file, line: text.slice(0, found.index).split("\n").length };
  }
}

const SCRIPT = /\.(?:sh|bash|zsh|py|rb|pl|ps1|[mc]?[jt]s)$/i;

/** Whether a file is a program in text: by its name, or because it begins with `#!`. */
export function isScript(folder: string, file: string): boolean {
  if (SCRIPT.test(file)) return true;
  if (/\.[a-z0-9]+$/i.test(file)) return false;
  const path = join(folder, file);
  return lstatSync(path).size <= MOST_BYTES && readFileSync(path).subarray(0, 2).toString("latin1") === "#!";
}
