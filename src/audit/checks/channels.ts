import { knownChannel, valueAt } from "../../config/index.ts";
import { allowFromOf, channelScopes, dmPolicyOf, entriesOf, groupPolicyOf, type ChannelScope } from "../channels.ts";
import { listed, sectionAt, textsAt, type AuditCheck, type AuditContext, type AuditFinding } from "../finding.ts";

function direct(scope: ChannelScope, { cfg }: AuditContext): readonly AuditFinding[] {
  const { channel, path } = scope;
  const at = path.join(".");
  const policy = dmPolicyOf(scope);
  const everybody = allowFromOf(scope).includes("*");
  if (policy === "disabled")
    return [
      { checkId: `channels.${channel}.dm.disabled`, severity: "info", title: `${channel}: direct messages are off`, detail: `${at}.dmPolicy is "disabled"` },
    ];
  if (policy === "open" && !everybody) {
    return [
      {
        checkId: `channels.${channel}.dm.open_invalid`,
        severity: "warn",
        title: `${channel}: open direct messages without "*"`,
        detail: `${at}.dmPolicy is "open", but ${at}.allowFrom does not have "*": it is treated as an allowlist`,
        remediation: `openclaw config set ${at}.dmPolicy allowlist`,
      },
    ];
  }
  const found: AuditFinding[] = [];
  if (everybody) {
    found.push({
      checkId: `channels.${channel}.dm.open`,
      severity: "critical",
      title: `${channel}: anybody may write to the agent`,
      detail: `${at}.allowFrom has "*" (dmPolicy "${policy}"): every stranger can have the agent work, with the tools it has`,
      remediation: `openclaw config set ${at}.dmPolicy pairing, and remove "*" from ${at}.allowFrom`,
    });
  }
  const senders = allowFromOf(scope).filter((entry) => entry !== "*");
  const scopeOfSessions = cfg.session?.dmScope ?? "main";
  if (scopeOfSessions === "main" && (everybody || senders.length > 1)) {
    found.push({
      checkId: `channels.${channel}.dm.scope_main_multiuser`,
      severity: "warn",
      title: `${channel}: several people share one session`,
      detail: `session.dmScope is "main" and ${everybody ? "anybody" : `${senders.length} senders`} may write: what one says, the others' answers can show`,
      remediation: "openclaw config set session.dmScope per-channel-peer",
    });
  }
  return found;
}

function groups(scope: ChannelScope, { cfg, exposed: _exposed }: AuditContext): readonly AuditFinding[] {
  const { channel, path } = scope;
  const at = path.join(".");
  if (groupPolicyOf(scope) !== "open") return [];
  const execOff = cfg.tools?.exec?.security === "deny" || textsAt(cfg, "tools", "deny").includes("exec");
  return [
    {
      checkId: `channels.${channel}.groups.open`,
      severity: execOff ? "warn" : "critical",
      title: `${channel}: every group may have the agent work`,
      detail: `${at}.groupPolicy is "open": anyone who adds the account to a group, and everyone in that group, can write to the agent`,
      remediation: `openclaw config set ${at}.groupPolicy allowlist, or openclaw security audit --fix`,
    },
  ];
}

/** A number, with the channel's name before it or without. */
function isNumericId(channel: string, entry: string): boolean {
  const { shortNames = [] } = knownChannel(channel);
  const prefix = [channel, ...shortNames].map((name) => `${name}:`).find((name) => entry.toLowerCase().startsWith(name)) ?? "";
  return /^-?\d+$/.test(entry.slice(prefix.length));
}

/** Where ids are numbers, a user name identifies no one: another user can take it. */
function numericIds(scope: ChannelScope, { cfg }: AuditContext): readonly AuditFinding[] {
  const { channel, path, section } = scope;
  if (!knownChannel(channel).numericIds) return [];
  const at = path.join(".");
  const found: AuditFinding[] = [];
  const invalid = [...allowFromOf(scope), ...entriesOf(section, "groupAllowFrom")].filter((entry) => entry !== "*" && !isNumericId(channel, entry));
  if (invalid.length > 0) {
    found.push({
      checkId: `channels.${channel}.allowFrom.invalid_entries`,
      severity: "warn",
      title: `${channel}: allowlist entries that are no ids`,
      detail: `${listed(invalid)}: only numeric ids are compared, so these entries let nobody in`,
      remediation: `replace them in ${at}.allowFrom by the numeric ids of the senders (openclaw logs shows them)`,
    });
  }
  const groupsSection = sectionAt(section, "groups");
  const active = groupPolicyOf(scope) !== "disabled" && (groupsSection !== undefined || groupPolicyOf(scope) === "open");
  const perGroup = Object.values(groupsSection ?? {}).flatMap((group) => entriesOf(group, "allowFrom"));
  const allowed = [...entriesOf(section, "groupAllowFrom"), ...perGroup];
  const senders = allowed.length > 0 ? allowed : allowFromOf(scope);
  const commandsOn = cfg.commands?.text !== false;
  if (active && commandsOn && senders.includes("*")) {
    found.push({
      checkId: `channels.${channel}.groups.allowFrom.wildcard`,
      severity: "critical",
      title: `${channel}: everybody in a group may give commands`,
      detail: `${at} has "*" among the senders of its groups`,
      remediation: `name the senders in ${at}.groupAllowFrom`,
    });
  } else if (active && commandsOn && senders.length === 0 && groupPolicyOf(scope) === "open") {
    found.push({
      checkId: `channels.${channel}.groups.allowFrom.missing`,
      severity: "critical",
      title: `${channel}: nobody is named for groups`,
      detail: `${at} takes messages of groups, and neither groupAllowFrom nor allowFrom names anybody`,
      remediation: `name the senders in ${at}.groupAllowFrom`,
    });
  }
  const url = section["webhookUrl"];
  const secret = section["webhookSecret"];
  if (typeof url === "string" && url.trim() !== "" && (secret === undefined || (typeof secret === "string" && secret.trim() === ""))) {
    found.push({
      checkId: `channels.${channel}.webhook.secret_missing`,
      severity: "critical",
      title: `${channel}: a webhook without a secret`,
      detail: `${at}.webhookUrl is set and ${at}.webhookSecret is not: the account does not start, because anybody could post messages to it`,
      remediation: `openclaw config set ${at}.webhookSecret <a long random text>`,
    });
  }
  return found;
}

const isOff = (value: unknown): boolean => value === false;

/** Commands of a platform's own menus, which no list guards when access groups are off. */
function nativeCommands(scope: ChannelScope, { cfg }: AuditContext): readonly AuditFinding[] {
  const { channel, section, path } = scope;
  const { slashCommands } = knownChannel(channel);
  const at = path.join(".");
  const accessGroupsOff = isOff(cfg.commands?.useAccessGroups);
  const owners = textsAt(cfg, "commands", "ownerAllowFrom").length + allowFromOf(scope).length;
  if (slashCommands === "guilds" && valueAt(section, ["commands", "native"]) !== false) {
    const guilds = Object.values(sectionAt(section, "guilds") ?? {});
    const named = owners + guilds.flatMap((guild) => entriesOf(guild, "users")).length;
    if (accessGroupsOff && guilds.length > 0)
      return [
        {
          checkId: `channels.${channel}.commands.native.unrestricted`,
          severity: "critical",
          title: `${channel}: slash commands without access groups`,
          detail: "commands.useAccessGroups is false: everybody in a guild can use the slash commands",
          remediation: "openclaw config set commands.useAccessGroups true",
        },
      ];
    if (guilds.length > 0 && named === 0)
      return [
        {
          checkId: `channels.${channel}.commands.native.no_allowlists`,
          severity: "warn",
          title: `${channel}: slash commands without allowlists`,
          detail: `neither ${at}.allowFrom nor the users of a guild are named: slash commands answer nobody`,
          remediation: `name users in ${at}.guilds.<id>.users or ${at}.allowFrom`,
        },
      ];
  }
  if (slashCommands === "workspace" && valueAt(section, ["slashCommand", "enabled"]) === true) {
    if (accessGroupsOff)
      return [
        {
          checkId: `channels.${channel}.commands.slash.useAccessGroups_off`,
          severity: "critical",
          title: `${channel}: slash commands without access groups`,
          detail: "commands.useAccessGroups is false: everybody in the workspace can use the slash command",
          remediation: "openclaw config set commands.useAccessGroups true",
        },
      ];
    const named = owners + Object.values(sectionAt(section, "channels") ?? {}).flatMap((one) => entriesOf(one, "users")).length;
    if (named === 0)
      return [
        {
          checkId: `channels.${channel}.commands.slash.no_allowlists`,
          severity: "warn",
          title: `${channel}: slash commands without allowlists`,
          detail: `neither ${at}.allowFrom nor the users of a channel are named`,
          remediation: `name users in ${at}.allowFrom`,
        },
      ];
  }
  return [];
}

/** Who may have the agent work. */
export const channels: AuditCheck = (context) => {
  const scopes = channelScopes(context.cfg);
  const found = scopes.flatMap((scope) => [
    ...direct(scope, context),
    ...groups(scope, context),
    ...numericIds(scope, context),
    ...nativeCommands(scope, context),
  ]);
  // An account that adds nothing to its channel would only repeat it.
  const seen = new Set<string>();
  return found.filter(({ checkId, detail }) => {
    const key = `${checkId}\0${detail}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
};

/** Who may loosen what the agent may do. */
export const owner: AuditCheck = ({ cfg }) => {
  if (channelScopes(cfg).length === 0 || textsAt(cfg, "commands", "ownerAllowFrom").length > 0) return [];
  return [
    {
      checkId: "commands.owner_missing",
      severity: "warn",
      title: "no owner is named",
      detail: "channels are set up and commands.ownerAllowFrom is empty: nobody in a chat counts as the owner by name",
      remediation: "openclaw config set commands.ownerAllowFrom '[\"<channel>:<your id>\"]'",
    },
  ];
};
