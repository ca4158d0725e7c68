import { readdirSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { isInside } from "../../base/files.ts";
import { messageOf } from "../../base/errors.ts";
import { valueAt } from "../../config/index.ts";
import { loadInstall, loadSkillInstall, type PluginEntry } from "../../plugins/index.ts";
import { channelScopes, isOpen } from "../channels.ts";
import { listed, sectionAt, textsAt, type AuditCheck, type AuditContext, type AuditFinding } from "../finding.ts";
import { installFindings } from "./hooks.ts";

const MOST_FILES = 2000;

/** Files below a folder, without the packages that it brought. */
function filesIn(folder: string): string[] {
  const found: string[] = [];
  const visit = (at: string): void => {
    for (const entry of readdirSync(join(folder, at), { withFileTypes: true })) {
      if (found.length >= MOST_FILES || entry.name === "node_modules" || entry.name === ".git") continue;
      const path = at === "" ? entry.name : `${at}/${entry.name}`;
      if (entry.isDirectory()) visit(path);
      else if (entry.isFile()) found.push(path);
    }
  };
  visit("");
  return found;
}

/** Reads code as text; nothing of it runs. */
async function codeFindings(kind: "plugins" | "skills", id: string, folder: string): Promise<readonly AuditFinding[]> {
  // A gateway audits itself while it works: others get a turn between two folders.
  await setImmediate();
  try {
    const { findings } = kind === "skills" ? (await loadSkillInstall()).scanSkill(folder) : (await loadInstall()).scanCode(folder, filesIn(folder));
    const reported = findings.filter(({ severity }) => severity !== "info");
    if (reported.length === 0) return [];
    const worst = reported.some(({ severity }) => severity === "critical");
    return [
      {
        checkId: `${kind}.code_safety`,
        severity: worst ? "critical" : "warn",
        title: `${kind === "plugins" ? "plugin" : "skill"} ${id}: look at its code`,
        detail: listed(reported.map(({ message, file, line }) => `${message}${file === undefined ? "" : ` (${file}${line === undefined ? "" : `:${line}`})`}`)),
        remediation: `read ${folder} before you trust it`,
      },
    ];
  } catch (error) {
    return [
      {
        checkId: `${kind}.code_safety.scan_failed`,
        severity: "warn",
        title: `the code of ${id} could not be read`,
        detail: messageOf(error),
        remediation: `make ${folder} readable for this user, and run openclaw security audit --deep again`,
      },
    ];
  }
}

/** Where a plugin's package says its code is. */
function entryFindings({ id, rootDir, source }: PluginEntry): readonly AuditFinding[] {
  const escapes = (() => {
    try {
      return !isInside(realpathSync(rootDir), realpathSync(source));
    } catch {
      return false;
    }
  })();
  if (escapes)
    return [
      {
        checkId: "plugins.code_safety.entry_escape",
        severity: "critical",
        title: `plugin ${id}: its code lies outside of its folder`,
        detail: `${source} is not in ${rootDir}: it is not loaded`,
        remediation: `openclaw plugins uninstall ${id}`,
      },
    ];
  return /\/(?:node_modules|\.[^/]+)\//.test(source.slice(rootDir.length))
    ? [
        {
          checkId: "plugins.code_safety.entry_path",
          severity: "warn",
          title: `plugin ${id}: its code is in a hidden place`,
          detail: source,
          remediation: "look at it before you trust it",
        },
      ]
    : [];
}

function trustFindings({ cfg }: AuditContext, foreign: readonly PluginEntry[]): readonly AuditFinding[] {
  const open = channelScopes(cfg).some(isOpen);
  const unlisted = foreign.filter(({ explicit }) => explicit !== true);
  const withTools = foreign.filter(({ manifest }) => {
    const contracts = valueAt(manifest, ["contracts", "tools"]);
    return Array.isArray(contracts) ? contracts.length > 0 : true;
  });
  const limited = cfg.tools?.profile === "minimal" || textsAt(cfg, "tools", "allow").length > 0 || textsAt(cfg, "tools", "deny").includes("group:plugins");
  return [
    ...(textsAt(cfg, "plugins", "allow").length === 0 && unlisted.length > 0
      ? [
          {
            checkId: "plugins.extensions_no_allowlist",
            severity: open ? ("critical" as const) : ("warn" as const),
            title: "every plugin that is found is loaded",
            detail: `plugins.allow is empty: ${listed(unlisted.map(({ id }) => id))}. Plugins run in the gateway's own process and can do what it can`,
            remediation: `openclaw config set plugins.allow '${JSON.stringify(foreign.map(({ id }) => id))}'`,
          },
        ]
      : []),
    ...(open && withTools.length > 0 && !limited
      ? [
          {
            checkId: "plugins.tools_reachable_permissive_policy",
            severity: "warn" as const,
            title: "strangers can have tools of plugins used",
            detail: `anybody may write, no tool policy is set, and ${listed(withTools.map(({ id }) => id))} can bring tools`,
            remediation: "openclaw config set tools.deny '[\"group:plugins\"]', or name the tools that are needed in tools.allow",
          },
        ]
      : []),
  ];
}

/** Code of others in the gateway's own process. */
export const extensions: AuditCheck = async (context) => {
  const { inventory, cfg, deep, config } = context;
  const { entries } = await inventory();
  const foreign = entries.filter(({ origin, enabled }) => origin !== "bundled" && enabled);
  const versions = new Map(entries.map(({ id, version }) => [id, version]));
  const found: AuditFinding[] = [
    ...trustFindings(context, foreign),
    ...foreign.flatMap(entryFindings),
    ...installFindings("plugins", sectionAt(cfg, "plugins", "installs") ?? {}, (id) => versions.get(id)),
  ];
  if (!deep) return found;
  for (const { id, rootDir } of foreign) found.push(...(await codeFindings("plugins", id, rootDir)));
  const skills = join(config.paths.state, "skills");
  const names = statSync(skills, { throwIfNoEntry: false })?.isDirectory() ? readdirSync(skills).filter((name) => !name.startsWith(".")) : [];
  for (const name of names) if (statSync(join(skills, name)).isDirectory()) found.push(...(await codeFindings("skills", name, join(skills, name))));
  return found;
};
