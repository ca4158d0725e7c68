import { lstatSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { sessionIndexFile } from "../../config/index.ts";
import type { AuditCheck, AuditContext, AuditFinding, Severity } from "../finding.ts";

/** A path whose rights matter, with what each kind of looseness is called. */
interface Guarded {
  readonly path: string;
  readonly mode: 0o700 | 0o600;
  readonly what: string;
  /** From the most to the least dangerous; the first that fits is reported. */
  readonly rules: readonly { readonly bits: number; readonly checkId: string; readonly severity: Severity; readonly others: string }[];
}

const WRITABLE = 0o022;
const READABLE = 0o044;

const rule = (bits: number, checkId: string, severity: Severity, others: string): Guarded["rules"][number] => ({ bits, checkId, severity, others });

const CONFIG_RULES = (part: "config" | "config_include"): Guarded["rules"] => [
  rule(WRITABLE, `fs.${part}.perms_writable`, "critical", "change"),
  rule(0o004, `fs.${part}.perms_world_readable`, "critical", "read"),
  rule(0o040, `fs.${part}.perms_group_readable`, "warn", "read (its group)"),
];

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}

function agentFiles({ config, cfg }: Pick<AuditContext, "config" | "cfg">): Guarded[] {
  const { state } = config.paths;
  return namesIn(join(state, "agents")).flatMap((id): Guarded[] => [
    {
      path: join(state, "agents", id, "agent", "auth-profiles.json"),
      mode: 0o600,
      what: "credentials of models",
      rules: [rule(WRITABLE, "fs.auth_profiles.perms_writable", "critical", "change"), rule(READABLE, "fs.auth_profiles.perms_readable", "warn", "read")],
    },
    {
      path: sessionIndexFile(cfg.session?.store, config.paths, id),
      mode: 0o600,
      what: "the list of sessions",
      rules: [rule(READABLE | WRITABLE, "fs.sessions_store.perms_readable", "warn", "read")],
    },
  ]);
}

/** Everything whose rights are looked at, with the mode it should have. */
export function guardedPaths({ config, cfg }: Pick<AuditContext, "config" | "cfg">): readonly Guarded[] {
  const { state, file } = config.paths;
  const includes = config.snapshot().files.filter((path) => resolve(path) !== resolve(file) && basename(path) !== ".env");
  const log = typeof cfg.logging?.file === "string" ? [cfg.logging.file] : namesIn(join(state, "logs")).map((name) => join(state, "logs", name));
  const readable = (checkId: string) => [rule(READABLE | WRITABLE, checkId, "warn" as const, "read")];
  return [
    {
      path: state,
      mode: 0o700,
      what: "the state folder",
      rules: [
        rule(0o002, "fs.state_dir.perms_world_writable", "critical", "change"),
        rule(0o020, "fs.state_dir.perms_group_writable", "warn", "change (its group)"),
        rule(READABLE, "fs.state_dir.perms_readable", "warn", "read"),
      ],
    },
    { path: file, mode: 0o600, what: "the configuration", rules: CONFIG_RULES("config") },
    ...includes.map((path): Guarded => ({ path, mode: 0o600, what: "a file that the configuration includes", rules: CONFIG_RULES("config_include") })),
    {
      path: join(state, "credentials"),
      mode: 0o700,
      what: "credentials of channels",
      rules: [rule(WRITABLE, "fs.credentials_dir.perms_writable", "critical", "change"), rule(READABLE, "fs.credentials_dir.perms_readable", "warn", "read")],
    },
    ...["openclaw.db", "openclaw.db-wal", "openclaw.db-shm"].map((name): Guarded => ({
      path: join(state, name),
      mode: 0o600,
      what: "the database of sessions",
      rules: readable("fs.sessions_store.perms_readable"),
    })),
    ...agentFiles({ config, cfg }),
    ...log.map((path): Guarded => ({ path, mode: 0o600, what: "a log", rules: readable("fs.log_file.perms_readable") })),
  ];
}

function modeFindings(context: AuditContext): readonly AuditFinding[] {
  return guardedPaths(context).flatMap(({ path, mode, what, rules }): AuditFinding[] => {
    const stat = statSync(path, { throwIfNoEntry: false });
    const broken = stat && rules.find(({ bits }) => (stat.mode & bits) !== 0);
    if (!stat || !broken) return [];
    return [
      {
        checkId: broken.checkId,
        severity: broken.severity,
        title: `others may ${broken.others} ${what}`,
        detail: `${path} has mode ${(stat.mode & 0o777).toString(8)}; ${mode.toString(8)} is enough`,
        remediation: `chmod ${mode.toString(8)} ${path}`,
      },
    ];
  });
}

/** Folders that other machines get a copy of. */
const SYNCED =
  /(?:^|\/)(?:Dropbox|Google ?Drive|GoogleDrive|OneDrive[^/]*|iCloud ?Drive|Mobile Documents|Nextcloud|ownCloud|Syncthing|Sync|pCloudDrive|Box)(?:\/|$)/i;

/** Who can read and change the files that control the agent, and its messages. */
export const files: AuditCheck = (context) => {
  const { config, platform } = context;
  const { state, file } = config.paths;
  const isLink = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  const link = (checkId: string, path: string, what: string): AuditFinding[] =>
    isLink(path)
      ? [
          {
            checkId,
            severity: "warn",
            title: `${what} is a link`,
            detail: `${path} leads elsewhere: what it leads to needs the same protection`,
            remediation: `put ${what} itself at ${path}`,
          },
        ]
      : [];
  const synced = [state, dirname(file)].find((path) => SYNCED.test(path));
  return [
    ...(platform === "win32" ? [] : modeFindings(context)),
    ...link("fs.state_dir.symlink", state, "the state folder"),
    ...link("fs.config.symlink", file, "the configuration"),
    ...(synced === undefined
      ? []
      : [
          {
            checkId: "fs.synced_dir",
            severity: "warn" as const,
            title: "secrets are in a folder that is synchronised",
            detail: `${synced} looks like one: credentials and conversations are copied to other machines, and a database in use can be damaged`,
            remediation: "move the state folder to a local one (OPENCLAW_STATE_DIR)",
          },
        ]),
  ];
};

/** Secrets that stand in files as they are, and logs that show them. */
export const secrets: AuditCheck = ({ cfg, config }) => {
  const found: AuditFinding[] = [];
  const { exists, valid, path, issues } = config.snapshot();
  if (exists && !valid)
    found.push({
      checkId: "config.invalid",
      severity: "warn",
      title: "the configuration has errors",
      detail: `${path}: ${issues[0]?.message ?? "it cannot be read"}; a gateway that runs goes on with an earlier one, so this audit may not be about what is in use`,
      remediation: "openclaw config validate",
    });
  const isText = (value: unknown): boolean => typeof value === "string" && value.trim() !== "" && !/^\$\{[^}]+\}$/.test(value.trim());
  if (isText(cfg.gateway?.auth?.password))
    found.push({
      checkId: "config.secrets.gateway_password_in_config",
      severity: "warn",
      title: "the gateway's password stands in the configuration",
      detail: "gateway.auth.password is a plain text",
      remediation: "use OPENCLAW_GATEWAY_PASSWORD or a secret reference, and remove it from the file",
    });
  if (cfg.hooks?.enabled === true && isText(cfg.hooks.token))
    found.push({
      checkId: "config.secrets.hooks_token_in_config",
      severity: "info",
      title: "the hooks' token stands in the configuration",
      detail: "hooks.token is a plain text",
      remediation: "use a reference to a variable: ${OPENCLAW_HOOKS_TOKEN}",
    });
  if (cfg.logging?.redactSensitive === "off")
    found.push({
      checkId: "logging.redact_off",
      severity: "warn",
      title: "logs show secrets",
      detail: 'logging.redactSensitive is "off"',
      remediation: "openclaw config set logging.redactSensitive tools, or openclaw security audit --fix",
    });
  return found;
};
