/** What is wrong with accounts of the channels that everybody knows, and how it is put right. */
import type { ChannelAccountSnapshot, ChannelStatusIssue } from "../../../protocol/index.ts";
import { recordOf } from "../account-ids.ts";
import { formatAllowlistMatchMeta } from "../access/allow-lists.ts";

type Finding = Omit<ChannelStatusIssue, "channel" | "accountId">;

const number = (value: unknown) => (typeof value === "number" ? value : 0);
const list = (value: unknown) => (Array.isArray(value) ? value.map((entry) => recordOf(entry) ?? {}) : []);
const said = (value: unknown) => (typeof value === "string" ? value.trim() : "");

/** Looks through the accounts that are on, and configured where that matters. */
function collector(channel: string, needsConfigured: boolean, look: (account: ChannelAccountSnapshot) => Finding[]) {
  return (accounts: readonly ChannelAccountSnapshot[]): ChannelStatusIssue[] =>
    accounts
      .filter((account) => account.enabled !== false && (!needsConfigured || account.configured === true))
      .flatMap((account) => look(account).map((finding) => ({ channel, accountId: account.accountId ?? "default", ...finding })));
}

/** The checked rooms that failed. */
function failed(entries: unknown, describe: (entry: Record<string, unknown>) => Finding): Finding[] {
  return list(entries)
    .filter((entry) => entry["ok"] !== true)
    .map((entry) => {
      const finding = describe(entry);
      const matched = entry["matchKey"] || entry["matchSource"];
      const meta = matched
        ? ` (${formatAllowlistMatchMeta({ matchKey: said(entry["matchKey"]) || undefined, matchSource: said(entry["matchSource"]) || undefined })})`
        : "";
      return { ...finding, message: `${finding.message}${meta}` };
    });
}

const behind = (text: string) => (text ? `: ${text}` : "");

export const collectDiscordStatusIssues = collector("discord", true, (account) => {
  const audit = recordOf(account.audit) ?? {};
  const unresolved = number(audit["unresolvedChannels"]);
  const findings: Finding[] = [];
  if (recordOf(recordOf(account.application)?.["intents"])?.["messageContent"] === "disabled") {
    findings.push({
      kind: "intent",
      message: "The Message Content intent is off: the bot sees messages only when it is mentioned",
      fix: "Turn it on in the Discord developer portal (Bot, Privileged Gateway Intents), or require mentions",
    });
  }
  if (unresolved > 0) {
    findings.push({
      kind: "config",
      message: `${unresolved} configured channels are not numeric ids, so their permissions cannot be checked`,
      fix: "Use numeric ids as keys of channels.discord.guilds.*.channels",
    });
  }
  const permissions = failed(audit["channels"], (entry) => ({
    kind: "permissions",
    message: `Channel ${String(entry["channelId"])} failed its permission check${Array.isArray(entry["missing"]) && entry["missing"].length > 0 ? `, missing ${entry["missing"].join(", ")}` : ""}${behind(said(entry["error"]))}`,
    fix: "Let the bot's role view the channel and send in it",
  }));
  return [...findings, ...permissions];
});

export const collectTelegramStatusIssues = collector("telegram", true, (account) => {
  const audit = recordOf(account.audit) ?? {};
  const unresolved = number(audit["unresolvedGroups"]);
  const findings: Finding[] = [];
  if (account.allowUnmentionedGroups === true) {
    findings.push({
      kind: "config",
      message: "Groups are set to be answered without a mention, but a bot in privacy mode does not receive such messages",
      fix: "Send /setprivacy to BotFather, choose Disable for this bot, and restart the gateway",
    });
  }
  if (audit["hasWildcardUnmentionedGroups"] === true) {
    findings.push({
      kind: "config",
      message: 'channels.telegram.groups["*"] needs no mention, so there are no groups whose membership could be checked',
      fix: "List groups by their numeric ids under channels.telegram.groups",
    });
  }
  if (unresolved > 0) {
    findings.push({
      kind: "config",
      message: `${unresolved} configured groups are not numeric ids, so membership cannot be checked`,
      fix: "Use numeric chat ids (-100…) as keys of channels.telegram.groups",
    });
  }
  const membership = failed(audit["groups"], (entry) => ({
    kind: "runtime",
    message: `The bot does not reach group ${String(entry["chatId"])}${said(entry["status"]) ? ` (status ${said(entry["status"])})` : ""}${behind(said(entry["error"]))}`,
    fix: "Invite the bot to the group, write /start to it once, and restart the gateway",
  }));
  return [...findings, ...membership];
});

export const collectWhatsAppStatusIssues = collector("whatsapp", false, (account) => {
  if (account.linked !== true) {
    return [
      { kind: "auth", message: "Not linked: there is no WhatsApp Web session", fix: "Run openclaw channels login on the gateway's machine and scan the code" },
    ];
  }
  if (account.running !== true || account.connected === true) return [];
  const tries = typeof account.reconnectAttempts === "number" ? ` (${account.reconnectAttempts} attempts to reconnect)` : "";
  return [
    {
      kind: "runtime",
      message: `Linked but not connected${tries}${behind(said(account.lastError))}`,
      fix: "Run openclaw doctor or restart the gateway; if the problem persists, link again",
    },
  ];
});

export const collectBlueBubblesStatusIssues = collector("bluebubbles", false, (account) => {
  if (account.configured !== true) {
    return [
      {
        kind: "config",
        message: "Not configured: serverUrl or password is missing",
        fix: "Run openclaw channels add bluebubbles --http-url <url> --password <password>",
      },
    ];
  }
  const probe = recordOf(account.probe);
  const findings: Finding[] = [];
  if (probe?.["ok"] === false) {
    const why = said(probe["error"]) || (number(probe["status"]) ? `HTTP ${number(probe["status"])}` : "");
    findings.push({ kind: "runtime", message: `The BlueBubbles server does not respond${behind(why)}`, fix: "Check that it runs, and serverUrl and password" });
  }
  const lastError = said(account.lastError);
  if (account.running === true && lastError)
    findings.push({
      kind: "runtime",
      message: `Channel error: ${lastError}`,
      fix: "Check the gateway's log; check the webhook's address in the server's settings",
    });
  return findings;
});
