/** What an account's configuration says. */
import {
  type AccountReader,
  type ChannelAccount,
  choiceOf,
  createAccountReader,
  type CredentialSpec,
  fieldsOf,
  flagOf,
  groupLayers,
  rulesOf,
  textOf,
  textsOf,
} from "openclaw/plugin-sdk/channel-kit";

export interface MattermostAccount extends ChannelAccount {
  readonly token: string;
  /** Without a slash at its end. */
  readonly baseUrl: string;
  /** Texts in channels that begin with one of these are for the bot. Empty unless `chatmode` is `onchar`. */
  readonly prefixes: readonly string[];
  readonly streamMode: "off" | "partial";
  /** Where Mattermost reports pressed buttons. */
  readonly callbackUrl: string | undefined;
  readonly callbackPath: string;
  /** Where Mattermost reports slash commands. */
  readonly commandUrl: string | undefined;
  readonly commandPath: string;
}

const isAddress = (text: string): boolean => /^https?:$/.test(URL.parse(text)?.protocol ?? "");

export const CREDENTIALS: readonly CredentialSpec[] = [
  {
    key: "botToken",
    env: "MATTERMOST_BOT_TOKEN",
    inputs: ["botToken", "token"],
    label: "Bot token",
    whenRefused: "In Mattermost, Integrations > Bot Accounts, create a new token for the bot, and set channels.mattermost.botToken",
    check: (token) => (/\s/.test(token) ? "a token has no spaces in it" : undefined),
  },
  {
    key: "baseUrl",
    env: "MATTERMOST_URL",
    inputs: ["httpUrl", "url"],
    label: "Server URL",
    isPublic: true,
    placeholder: "https://chat.example.com",
    check: (url) => (isAddress(url) ? undefined : `expected a URL such as https://chat.example.com, not "${url}"`),
  },
];

export const ID = /^[a-z0-9]{26}$/;

/** An entry of an allow list as the id that it names. */
export const bareEntry = (entry: string): string =>
  entry
    .trim()
    .replace(/^(?:mattermost|user):/i, "")
    .replace(/^@/, "")
    .toLowerCase();

export function createAccounts(): AccountReader<MattermostAccount> {
  return createAccountReader<MattermostAccount>({
    channel: "mattermost",
    credentials: CREDENTIALS,
    read(account) {
      const { config, credentials, accountId } = account;
      const prefixes = textsOf(config["oncharPrefixes"]).filter(Boolean);
      const callbackBase = textOf(fieldsOf(config["interactions"])?.["callbackBaseUrl"])?.replace(/\/+$/, "");
      const callbackPath = `/mattermost/interactions/${accountId}`;
      const commandPath = `/mattermost/commands/${accountId}`;
      return {
        ...account,
        token: credentials["botToken"] ?? "",
        baseUrl: (credentials["baseUrl"] ?? "").replace(/\/+$/, ""),
        prefixes: config["chatmode"] !== "onchar" ? [] : prefixes.length > 0 ? prefixes : [">", "!"],
        streamMode: choiceOf(config["streamMode"], ["off", "partial"], "partial"),
        callbackUrl: callbackBase === undefined ? undefined : `${callbackBase}${callbackPath}`,
        callbackPath,
        commandUrl: callbackBase === undefined ? undefined : `${callbackBase}${commandPath}`,
        commandPath,
      };
    },
  });
}

/** The group's own setting, then `chatmode`, then `requireMention` of the account. */
export function requiresMention({ groups, config }: MattermostAccount, channelId: string): boolean {
  const { chatmode } = config;
  const fromMode = chatmode === undefined ? flagOf(config["requireMention"]) : chatmode !== "onmessage";
  return rulesOf(groupLayers(groups, channelId)).requireMention ?? fromMode ?? true;
}
