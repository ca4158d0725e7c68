import { valueAt } from "../../config/index.ts";
import { channelScopes, isOpen } from "../channels.ts";
import { listed, sectionAt, textsAt, type AuditCheck, type AuditContext, type AuditFinding } from "../finding.ts";
import { realpathSync } from "node:fs";
import { posix } from "node:path";
import { isInside } from "../../base/files.ts";
import { knownSecret } from "../../tools/index.ts";

/** Folders of the machine that decide what it does, or show what it does. */
const KEPT = /^\/(?:etc|proc|sys|dev|root|boot|run|var\/run|private\/(?:etc|var\/run))(?:\/|$)/;
/** A client of one of these can run anything on this machine. */
const CONTROL_SOCKET = /(?:^|\/)(?:(?:docker|podman|crio|buildkitd)\.sock|containerd(?:\/|\.sock|$)|dockerd(?:\/|$)|dbus(?:\/|$))/;
/** Where a runtime of containers keeps all of them. */
const CONTAINERS = /^\/var\/lib\/(?:docker|containers|containerd|kubelet|rancher)(?:\/|$)/;
const ALL_HOMES = ["/home", "/Users", "/root"];

/** Why a mount of a sandbox gives away this machine; undefined when it does not. Completes "it mounts …, which …". */
function dangerOf(bind: string, { config, osHome }: Pick<AuditContext, "config" | "osHome">): string | undefined {
  const [written = ""] = bind.split(":");
  if (!posix.isAbsolute(written)) return undefined;
  const plain = posix.normalize(written).replace(/(?<=.)\/+$/, "");
  return [...new Set([plain, realPath(plain)])].map((host) => dangerOfFolder(host, config.paths, osHome)).find((why) => why !== undefined);
}

function dangerOfFolder(host: string, paths: AuditContext["config"]["paths"], osHome: string): string | undefined {
  if (host === "/") return "is the whole machine";
  if (CONTROL_SOCKET.test(host)) return "lets it start anything on this machine";
  const states = [paths.state, realPath(paths.state)];
  if (states.some((state) => isInside(state, host) && isAgents(state, host))) return undefined;
  if (states.some((state) => isInside(state, host) || isInside(host, state))) return "holds the gateway's own state, with its keys and conversations";
  if (isInside(host, paths.file)) return "holds the gateway's configuration";
  if (KEPT.test(host)) return "is one of the machine's own folders";
  if (CONTAINERS.test(host)) return "holds the containers of this machine";
  if ([osHome, paths.home, ...ALL_HOMES].some((home) => isInside(host, home))) return "is a home folder, with logins and start files";
  const secret = knownSecret(host, [osHome, paths.home]);
  return secret === undefined ? undefined : secret.because;
}

/** Folders of the state that exist for agents. */
const isAgents = (state: string, host: string): boolean => /^(?:workspace(?:-[^/]*)?|media|canvas|sandboxes|skills)(?:\/|$)/.test(host.slice(state.length + 1));

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

const MANY_ELEVATED = 25;

interface Place {
  /** `agents.defaults` or `agents.list[1]`. */
  readonly path: string;
  readonly section: Readonly<Record<string, unknown>>;
  readonly isDefaults: boolean;
}

/** The defaults and each agent. */
function agentsOf(cfg: unknown): readonly Place[] {
  const list = valueAt(cfg, ["agents", "list"]);
  const agents = Array.isArray(list) ? list : [];
  return [
    { path: "agents.defaults", section: sectionAt(cfg, "agents", "defaults") ?? {}, isDefaults: true },
    ...agents.flatMap((section, at): Place[] =>
      typeof section === "object" && section !== null ? [{ path: `agents.list[${at}]`, section, isDefaults: false }] : [],
    ),
  ];
}

const modeOf = (section: unknown): unknown => valueAt(section, ["sandbox", "mode"]);

function elevated({ cfg }: AuditContext): readonly AuditFinding[] {
  if (cfg.tools?.elevated?.enabled === false) return [];
  const lists = Object.entries(sectionAt(cfg, "tools", "elevated", "allowFrom") ?? {});
  const found = lists.flatMap(([channel]): AuditFinding[] => {
    const senders = textsAt(cfg, "tools", "elevated", "allowFrom", channel);
    if (senders.includes("*"))
      return [
        {
          checkId: `tools.elevated.allowFrom.${channel}.wildcard`,
          severity: "critical",
          title: `everybody on ${channel} may run commands with elevated rights`,
          detail: `tools.elevated.allowFrom.${channel} has "*"`,
          remediation: `name the senders in tools.elevated.allowFrom.${channel}`,
        },
      ];
    return senders.length > MANY_ELEVATED
      ? [
          {
            checkId: `tools.elevated.allowFrom.${channel}.large`,
            severity: "warn",
            title: `many may run commands with elevated rights on ${channel}`,
            detail: `tools.elevated.allowFrom.${channel} names ${senders.length} senders`,
            remediation: "keep those who need it",
          },
        ]
      : [];
  });
  const open = channelScopes(cfg).filter(({ section }) => section["groupPolicy"] === "open");
  return lists.length === 0 || open.length === 0
    ? found
    : [
        ...found,
        {
          checkId: "security.exposure.open_groups_with_elevated",
          severity: "critical",
          title: "open groups, and commands with elevated rights",
          detail: `${listed(open.map(({ path }) => path.join(".")))} take every group while tools.elevated is on: text in a group can lead an elevated session astray`,
          remediation: "openclaw security audit --fix closes the groups; or openclaw config set tools.elevated.enabled false",
        },
      ];
}

function exec(context: AuditContext): readonly AuditFinding[] {
  const { cfg } = context;
  const open = channelScopes(cfg).filter(isOpen);
  const shown = listed(open.map(({ path }) => path.join(".")));
  const denied = textsAt(cfg, "tools", "deny").some((name) => name === "exec" || name === "group:runtime" || name === "*");
  const found: AuditFinding[] = [];
  for (const { path, section, isDefaults } of agentsOf(cfg)) {
    const own = isDefaults ? sectionAt(cfg, "tools", "exec") : sectionAt(section, "tools", "exec");
    const key = isDefaults ? "tools.exec" : `${path}.tools.exec`;
    const merged: Readonly<Record<string, unknown>> = { ...(isDefaults ? {} : sectionAt(cfg, "tools", "exec")), ...own };
    const { host, security, ask } = merged;
    const mode = modeOf(section) ?? modeOf(sectionAt(cfg, "agents", "defaults"));
    if (own && host !== "sandbox" && security === "full" && ask === "off")
      found.push({
        checkId: "tools.exec.full_unasked",
        severity: open.length > 0 ? "critical" : "warn",
        title: "every command runs unasked",
        detail: `${key} has security "full" and ask "off"${open.length > 0 ? `, and anybody may write: ${shown}` : ""}`,
        remediation: `openclaw config set ${isDefaults ? "tools.exec.security allowlist" : "tools.exec.ask on-miss"}`,
      });
    if (own?.["host"] === "sandbox" && (mode === undefined || mode === "off"))
      found.push({
        checkId: isDefaults ? "tools.exec.host_sandbox_no_sandbox_defaults" : "tools.exec.host_sandbox_no_sandbox_agents",
        severity: "warn",
        title: "commands are meant for a sandbox that is off",
        detail: `${key}.host is "sandbox" and ${path}.sandbox.mode is off: commands run on this machine, by the rules for it`,
        remediation: `openclaw config set agents.defaults.sandbox.mode non-main`,
      });
  }
  const boxed = agentsOf(cfg).every(({ section }) => {
    const mode = modeOf(section) ?? modeOf(sectionAt(cfg, "agents", "defaults"));
    return mode !== undefined && mode !== "off";
  });
  if (open.length > 0 && !boxed && !denied && cfg.tools?.exec?.security !== "deny")
    found.push({
      checkId: "security.exposure.open_chats_without_sandbox",
      severity: "critical",
      title: "anybody may write, and tools work on this machine",
      detail: `${shown}: strangers' words reach an agent that has files and commands without a sandbox`,
      remediation: 'openclaw config set agents.defaults.sandbox.mode all; or openclaw config set tools.deny \'["group:runtime","group:fs"]\'',
    });
  if (valueAt(cfg, ["tools", "fs", "outside"]) === "allow")
    found.push({
      checkId: "tools.fs.outside_allow",
      severity: "warn",
      title: "file tools write anywhere unasked",
      detail: 'tools.fs.outside is "allow": an agent can change files of its user outside of the workspace, except for sealed places',
      remediation: "openclaw config set tools.fs.outside ask",
    });
  return found;
}

function profiles({ cfg }: AuditContext): readonly AuditFinding[] {
  if (cfg.tools?.profile !== "minimal") return [];
  const wider = agentsOf(cfg).filter(({ section, isDefaults }) => {
    const own = valueAt(section, ["tools", "profile"]);
    return !isDefaults && typeof own === "string" && own !== "minimal";
  });
  return wider.length === 0
    ? []
    : [
        {
          checkId: "tools.profile_minimal_overridden",
          severity: "warn",
          title: "agents have more tools than the minimal profile",
          detail: `tools.profile is "minimal", but ${listed(wider.map(({ path }) => path))} choose another one`,
          remediation: "remove tools.profile from those agents, if that was not meant",
        },
      ];
}

const is = (value: unknown, word: string): boolean => typeof value === "string" && value.trim().toLowerCase() === word;
function sandboxes(context: AuditContext): readonly AuditFinding[] {
  const { cfg } = context;
  const defaultsMode = modeOf(sectionAt(cfg, "agents", "defaults"));
  return agentsOf(cfg).flatMap(({ path, section }): AuditFinding[] => {
    const docker = sectionAt(section, "sandbox", "docker");
    const binds = ["docker", "bwrap", "browser"].flatMap((part) => textsAt(section, "sandbox", part, "binds"));
    const critical = (checkId: string, title: string, detail: string): AuditFinding => ({
      checkId,
      severity: "critical",
      title,
      detail,
      remediation: `remove it from ${path}.sandbox`,
    });
    const network = docker?.["network"];
    const apart = sectionAt(section, "sandbox", "bwrap")?.["network"];
    const mode = modeOf(section) ?? defaultsMode;
    return [
      ...(is(network, "host") || (typeof network === "string" && network.trim().toLowerCase().startsWith("container:"))
        ? [critical("sandbox.dangerous_network_mode", "a sandbox shares another network", `${path}.sandbox.docker.network is ${JSON.stringify(network)}`)]
        : []),
      ...(is(apart, "host") ? [critical("sandbox.dangerous_network_mode", "a sandbox shares another network", `${path}.sandbox.bwrap.network is "host"`)] : []),
      ...(is(docker?.["seccompProfile"], "unconfined")
        ? [critical("sandbox.dangerous_seccomp_profile", "a sandbox has no seccomp", `${path}.sandbox.docker.seccompProfile is "unconfined"`)]
        : []),
      ...(is(docker?.["apparmorProfile"], "unconfined")
        ? [critical("sandbox.dangerous_apparmor_profile", "a sandbox has no AppArmor", `${path}.sandbox.docker.apparmorProfile is "unconfined"`)]
        : []),
      ...binds.flatMap((bind) => {
        const why = dangerOf(bind, context);
        const detail = `${path}.sandbox mounts ${JSON.stringify(bind)}, which ${why}`;
        return why === undefined ? [] : [critical("sandbox.dangerous_bind_mount", "a mount opens the sandbox", detail)];
      }),
      ...binds
        .filter((bind) => !bind.startsWith("/"))
        .map((bind): AuditFinding => ({
          checkId: "sandbox.bind_mount_non_absolute",
          severity: "warn",
          title: "a mount that is no absolute path",
          detail: `${path}.sandbox mounts ${JSON.stringify(bind)}: it is refused`,
          remediation: "write the whole path of the folder",
        })),
      ...(docker && (mode === undefined || mode === "off")
        ? [
            {
              checkId: "sandbox.docker_config_mode_off",
              severity: "warn" as const,
              title: "a sandbox is set up and off",
              detail: `${path}.sandbox.docker is set and ${path}.sandbox.mode is off: nothing runs in it`,
              remediation: `openclaw config set agents.defaults.sandbox.mode non-main`,
            },
          ]
        : []),
    ];
  });
}

/** What an agent can do, and who can have it done. */
export const tools: AuditCheck = (context) => [...elevated(context), ...exec(context), ...profiles(context), ...sandboxes(context)];

/** Entries that users wrote into the allowlists. They stay valid. */
export const allowlists: AuditCheck = async ({ riskyEntries }) =>
  (await riskyEntries()).map(({ scope, pattern, reason }) => ({
    checkId: "tools.exec.allowlist_risky",
    severity: "warn",
    title: "an allowlist entry covers more than it seems to",
    detail: `${scope}: ${pattern}: ${reason}`,
    remediation: "remove it (openclaw approvals allowlist remove), and let commands be asked about",
  }));
