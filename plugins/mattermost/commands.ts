/** Slash commands of the server. Each has a token that the server made; every call of the command carries it. */
import { createHash } from "node:crypto";
import type { ChannelPlugin } from "openclaw/plugin-sdk";
import { asChannelError, type Fields, recordsOf, equalSecrets, textOf, unfit, type Verified, type WebhookRequest } from "openclaw/plugin-sdk/channel-kit";
import { ID, type MattermostAccount } from "./account.ts";
import type { MattermostApi } from "./api.ts";

type Offered = Parameters<NonNullable<ChannelPlugin["nativeCommands"]>["register"]>[0]["commands"][number];

/** Before our names: many of them are the server's own commands. */
const PREFIX = "oc_";
const MAX_DESCRIPTION = 128;
const NAME = /^[a-z0-9_-]{1,120}$/;

/** Tokens by trigger, of all teams. */
export type CommandTokens = Map<string, Set<string>>;

interface Wanted {
  readonly trigger: string;
  readonly description: string;
  readonly hint: string;
}

function wantedOf(commands: readonly Offered[]): readonly Wanted[] {
  const named = commands.map(({ name, description, acceptsArgs }) => ({
    trigger: `${PREFIX}${name.trim().replace(/^\//, "").toLowerCase()}`,
    description: description.trim().slice(0, MAX_DESCRIPTION),
    hint: acceptsArgs ? "[arguments]" : "",
  }));
  return [...new Map(named.filter(({ trigger }) => NAME.test(trigger)).map((one) => [one.trigger, one])).values()];
}

const bodyOf = ({ trigger, description, hint }: Wanted, teamId: string, url: string): Fields => ({
  team_id: teamId,
  trigger,
  method: "P",
  url,
  auto_complete: true,
  auto_complete_desc: description,
  auto_complete_hint: hint,
  display_name: "OpenClaw",
  description,
});

const isSame = (known: Fields, body: Fields): boolean => Object.entries(body).every(([key, value]) => known[key] === value);

async function permitted<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    if (asChannelError(error)?.status !== 403) throw error;
    throw unfit(
      "commands",
      "the bot is not allowed to manage slash commands; a system admin can allow it under Integrations, or set channels.mattermost.commands.native to false",
    );
  });
}

export interface Registration {
  readonly api: MattermostApi;
  readonly account: MattermostAccount;
  readonly commands: readonly Offered[];
  /** Filled with each command that is there: it may be called before the last one is. */
  readonly tokens: CommandTokens;
  readonly signal: AbortSignal;
}

async function registerInTeam({ api, tokens, signal }: Registration, wanted: readonly Wanted[], teamId: string, url: string): Promise<void> {
  const me = await api.me();
  const listed = recordsOf(await permitted(api.call("GET", "/commands", { query: { team_id: teamId, custom_only: true }, signal })));
  const ours = new Map(listed.filter(({ creator_id: by, url: its }) => by === me.id && its === url).map((one) => [textOf(one["trigger"]) ?? "", one]));
  for (const [trigger, { id }] of ours) if (!wanted.some((one) => one.trigger === trigger)) await api.call("DELETE", `/commands/${String(id)}`, { signal });
  for (const one of wanted) {
    const body = bodyOf(one, teamId, url);
    const known = ours.get(one.trigger);
    const path = known ? `/commands/${String(known["id"])}` : "/commands";
    const isKept = known !== undefined && isSame(known, body);
    const [made] = recordsOf([isKept ? known : await permitted(api.call(known ? "PUT" : "POST", path, { json: { ...known, ...body }, signal }))]);
    const token = textOf(made?.["token"]);
    if (token) tokens.set(one.trigger, (tokens.get(one.trigger) ?? new Set()).add(token));
  }
}

/** Makes the server's commands those that are offered: ours are added, changed and taken away; other people's stay. */
export async function registerCommands(registration: Registration): Promise<void> {
  const { api, account, commands, tokens, signal } = registration;
  const { commandUrl: url } = account;
  tokens.clear();
  if (url === undefined && commands.length === 0) return;
  if (url === undefined)
    throw unfit("commands", "slash commands need channels.mattermost.interactions.callbackBaseUrl, the URL at which the server reaches this gateway");
  const teams = recordsOf(await api.call("GET", "/users/me/teams", { signal }));
  for (const { id } of teams) await registerInTeam(registration, wantedOf(commands), String(id), url);
}

export interface Called {
  readonly id: string;
  readonly userId: string;
  readonly channelId: string;
  readonly rootId: string | undefined;
  /** As if it had been written: `/status`. */
  readonly text: string;
}

const formOf = ({ body }: WebhookRequest): URLSearchParams => new URLSearchParams(body.toString("utf8"));
const triggerIn = (form: URLSearchParams): string => (form.get("command") ?? "").replace(/^\//, "").toLowerCase();

/** Whether the server knows the command by the token that it gave to it. */
export function verifyCommand(request: WebhookRequest, tokens: CommandTokens): Verified {
  const form = formOf(request);
  const [token, trigger] = [form.get("token") ?? "", form.get("trigger_id") ?? ""];
  if (token === "" || trigger === "") return { ok: false, why: "it has no token or trigger" };
  // All are compared, so that the time says nothing about which fits.
  const fits = [...(tokens.get(triggerIn(form)) ?? [])].filter((known) => equalSecrets(token, known));
  return fits.length > 0 ? { ok: true, signature: Buffer.from(trigger) } : { ok: false, why: "its token does not match the command" };
}

export function calledIn(request: WebhookRequest): Called | undefined {
  const form = formOf(request);
  const [userId, channelId, trigger, rootId] = [
    form.get("user_id") ?? "",
    form.get("channel_id") ?? "",
    form.get("trigger_id") ?? "",
    form.get("root_id") ?? "",
  ];
  const name = triggerIn(form).slice(PREFIX.length);
  if (!ID.test(userId) || !ID.test(channelId) || name === "") return undefined;
  return {
    id: `command:${createHash("sha256").update(trigger).digest("hex").slice(0, 32)}`,
    userId,
    channelId,
    rootId: ID.test(rootId) ? rootId : undefined,
    text: `/${name} ${form.get("text") ?? ""}`.trim(),
  };
}
