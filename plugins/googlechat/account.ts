/** What an account's configuration says. */
import { createPrivateKey, type KeyObject } from "node:crypto";
import { resolveWebhookPath } from "openclaw/plugin-sdk";
import {
  type AccountReader,
  type ChannelAccount,
  choiceOf,
  createAccountReader,
  type CredentialSpec,
  fieldsOf,
  flagOf,
  groupLayers,
  jsonOf,
  numberOf,
  rulesOf,
  textOf,
  trimmedOf,
} from "openclaw/plugin-sdk/channel-kit";
import { tryReadSecretFileSync } from "openclaw/plugin-sdk/secret-file-runtime";

export type AudienceType = "app-url" | "project-number";
export type TypingIndicator = "none" | "message" | "reaction";
export type StreamMode = "replace" | "status_final" | "append";

export interface GoogleChatAccount extends ChannelAccount {
  /** The service account as JSON. */
  readonly serviceAccount: string;
  readonly audienceType: AudienceType | undefined;
  /** What the platform's tokens are made out to: the address of the webhook, or the number of the project. */
  readonly audience: string;
  readonly webhookPath: string;
  readonly webhookUrl: string | undefined;
  /** The app's own user, `users/…`. */
  readonly botUser: string | undefined;
  readonly typingIndicator: TypingIndicator;
  readonly streamMode: StreamMode;
  readonly maxBytes: number;
}

export interface ServiceAccount {
  readonly email: string;
  readonly keyId: string | undefined;
  readonly key: KeyObject;
}

const DEFAULT_PATH = "/googlechat";
const DEFAULT_MEDIA_MB = 20;
const ENV_FILE = "serviceAccountEnvFile";

/** The key of a service account, or what is wrong with it. The text itself is in no message. */
export function readServiceAccount(text: string): ServiceAccount | string {
  const fields = fieldsOf(jsonOf(text));
  if (!fields) return "expected the JSON of a service account's key";
  const [email, pem] = [trimmedOf(fields["client_email"]), textOf(fields["private_key"])];
  if (email === undefined || pem === undefined) return "the JSON has no client_email or no private_key; download the service account key again";
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType !== "rsa") return "private_key is not an RSA key";
    return { email, keyId: textOf(fields["private_key_id"]), key };
  } catch {
    return "private_key cannot be read; download the service account key again";
  }
}

const isJson = (text: string): boolean => text.trimStart().startsWith("{");

function wrongWith(text: string): string | undefined {
  const found = readServiceAccount(text);
  return typeof found === "string" ? found : undefined;
}

/** An entered value is the JSON itself, or the path of its file. */
function wrongEntry(entry: string): string | undefined {
  if (isJson(entry)) return wrongWith(entry);
  const read = tryReadSecretFileSync(entry, "service account", undefined, {});
  return read.status === "available" ? wrongWith(read.value) : read.diagnostic.message;
}

export const CREDENTIALS: readonly CredentialSpec[] = [
  {
    key: "serviceAccount",
    fileKey: "serviceAccountFile",
    env: "GOOGLE_CHAT_SERVICE_ACCOUNT",
    inputs: ["token"],
    label: "Service account",
    placeholder: "path of the JSON file, or the JSON itself",
    // An object and the file of the environment count as well: `read` decides.
    isOptional: () => true,
    checkEntry: wrongEntry,
    whenRefused: "Set channels.googlechat.serviceAccountFile to the path of a key that Google accepts",
    keys: (entry) => (isJson(entry) ? { serviceAccount: entry } : { serviceAccountFile: entry }),
  },
  // Only the environment: the configuration has serviceAccountFile.
  { key: ENV_FILE, env: "GOOGLE_CHAT_SERVICE_ACCOUNT_FILE", label: "Service account file", isOptional: true, isAsked: false, isPublic: true },
];

interface Found {
  readonly text: string;
  readonly source: ChannelAccount["sources"][string];
  readonly problem?: string | undefined;
}

/** Written as text, in a file, as an object, in the environment, in a file of the environment. */
function serviceAccountOf({ config, credentials, sources }: ChannelAccount): Found {
  const [text = "", source = "none"] = [credentials["serviceAccount"], sources["serviceAccount"]];
  const object = fieldsOf(config["serviceAccount"]);
  if (object && (source === "none" || source === "env")) return { text: JSON.stringify(object), source: "config" };
  if (text !== "") return { text, source };
  const file = credentials[ENV_FILE] ?? "";
  if (file === "") return { text, source };
  const read = tryReadSecretFileSync(file, "GOOGLE_CHAT_SERVICE_ACCOUNT_FILE", undefined, {});
  return read.status === "available" ? { text: read.value, source: "env" } : { text: "", source: "none", problem: read.diagnostic.message };
}

function problemsOf({ text, problem }: Found, before: readonly string[], type: AudienceType | undefined, audience: string): string[] {
  const path = "channels.googlechat";
  const missing = `no service account: set ${path}.serviceAccount, serviceAccountFile, GOOGLE_CHAT_SERVICE_ACCOUNT or GOOGLE_CHAT_SERVICE_ACCOUNT_FILE`;
  const key = text === "" ? (problem ?? (before.length > 0 ? undefined : missing)) : wrongWith(text);
  const isUrl = type === "app-url";
  return [
    ...before,
    ...(key === undefined ? [] : [text === "" ? key : `${path}.serviceAccount: ${key}`]),
    ...(type === undefined ? [`${path}.audienceType is missing: set app-url or project-number, as in the configuration of the Chat app`] : []),
    ...(audience === "" ? [`${path}.audience is missing: set the webhook URL (app-url) or the project number (project-number)`] : []),
    ...(isUrl && audience !== "" && !/^https?:$/.test(URL.parse(audience)?.protocol ?? "")
      ? [`${path}.audience: expected a URL such as https://claw.example.com/googlechat for app-url`]
      : []),
    ...(type === "project-number" && audience !== "" && !/^\d+$/.test(audience)
      ? [`${path}.audience: expected the project number for project-number, not the project id`]
      : []),
  ];
}

function audienceTypeOf(value: unknown): AudienceType | undefined {
  return value === "app-url" || value === "project-number" ? value : undefined;
}

function read(account: ChannelAccount): GoogleChatAccount {
  const { config } = account;
  const found = serviceAccountOf(account);
  const audienceType = audienceTypeOf(config["audienceType"]);
  // A number may be written as one.
  const audience = trimmedOf(config["audience"]) ?? (numberOf(config["audience"]) === undefined ? "" : String(config["audience"]));
  const [webhookPath, webhookUrl] = [trimmedOf(config["webhookPath"]), trimmedOf(config["webhookUrl"])];
  return {
    ...account,
    sources: { ...account.sources, serviceAccount: found.source },
    problems: problemsOf(found, account.problems, audienceType, audience),
    serviceAccount: found.text,
    audienceType,
    audience,
    webhookPath: resolveWebhookPath({ webhookPath, webhookUrl, defaultPath: DEFAULT_PATH }) ?? DEFAULT_PATH,
    webhookUrl,
    botUser: trimmedOf(config["botUser"]) === undefined ? undefined : userEntry(trimmedOf(config["botUser"])!),
    typingIndicator: choiceOf(config["typingIndicator"], ["none", "message", "reaction"], "message"),
    streamMode: choiceOf(config["streamMode"], ["replace", "status_final", "append"], "replace"),
    maxBytes: (numberOf(config["mediaMaxMb"]) ?? DEFAULT_MEDIA_MB) * 1024 * 1024,
  };
}

export function createAccounts(): AccountReader<GoogleChatAccount> {
  return createAccountReader<GoogleChatAccount>({ channel: "googlechat", credentials: CREDENTIALS, read });
}

export const PREFIX = /^(?:(?:googlechat|google-chat|gchat):)+/i;
export const isUserId = (text: string): boolean => /^users\/\d+$/.test(text);

/** An entry of an allow list as the user that it names: `users/…`. What is no number, such as an e-mail address, stays recognizable as a name. */
export function userEntry(entry: string): string {
  const bare = entry
    .trim()
    .replace(PREFIX, "")
    .replace(/^(?:user:|users\/)+/i, "")
    .trim();
  if (bare === "*" || bare === "") return bare;
  return `users/${/^\d+$/.test(bare) ? bare : bare.toLowerCase()}`;
}

/** `spaces/…`; ids are case-sensitive on the platform. */
export const spaceEntry = (entry: string): string =>
  `spaces/${entry
    .trim()
    .replace(PREFIX, "")
    .replace(/^(?:space:|spaces\/)+/i, "")}`;

export const layersOf = ({ groups }: GoogleChatAccount, space: string) => groupLayers(groups, space, spaceEntry);

export function requiresMention(account: GoogleChatAccount, space: string): boolean {
  return rulesOf(layersOf(account, space)).requireMention ?? flagOf(account.config["requireMention"]) ?? true;
}
