import type { Env } from "../../../config/index.ts";

/** Our client registration at an authorization server, and its endpoints. */
export interface OAuthClient {
  readonly provider: string;
  readonly clientId: string;
  readonly clientSecret?: string;
  readonly authorizeUrl?: string;
  readonly tokenUrl: string;
  /** Where a device code is requested. */
  readonly deviceUrl?: string;
  readonly userInfoUrl?: string;
  readonly scopes: readonly string[];
  /** A loopback address with path; port 0 takes any free one. */
  readonly redirectUri: string;
  readonly tokenFormat: "form" | "json";
  /** The token endpoint also needs the PKCE challenge with the device code. */
  readonly devicePkce?: boolean;
  /** Variant of the device flow: `user_code` has no device code, absolute expiry times and pauses in milliseconds. */
  readonly deviceDialect?: "user_code";
  /** Endpoints for the project of a login, in order, when it needs one. */
  readonly projectUrls?: readonly string[];
}

/** Known endpoints and scopes of a provider's login. Client ids are not included: they belong to the application that registered them. */
type KnownLogin = Omit<OAuthClient, "provider" | "clientId" | "clientSecret"> & {
  /** Variables with the user's own client id and secret, in order. */
  readonly clientIdEnv?: readonly string[];
  readonly clientSecretEnv?: readonly string[];
};

const GOOGLE_LOGIN = {
  // Without these Google issues no refresh token.
  authorizeUrl: "https://accounts.google.com/o/oauth2/v2/auth?access_type=offline&prompt=consent",
  tokenUrl: "https://oauth2.googleapis.com/token",
  userInfoUrl: "https://www.googleapis.com/oauth2/v1/userinfo?alt=json",
  tokenFormat: "form",
} as const;
const googleScopes = (...names: readonly string[]): readonly string[] => names.map((name) => `https://www.googleapis.com/auth/${name}`);
const CODE_ASSIST = "https://cloudcode-pa.googleapis.com";
const ANY_PORT = "http://127.0.0.1:0/oauth-callback";

const KNOWN: Readonly<Record<string, KnownLogin>> = {
  anthropic: {
    authorizeUrl: "https://claude.ai/oauth/authorize",
    tokenUrl: "https://console.anthropic.com/v1/oauth/token",
    scopes: ["org:create_api_key", "user:profile", "user:inference"],
    redirectUri: ANY_PORT,
    tokenFormat: "json",
  },
  "openai-codex": {
    authorizeUrl: "https://auth.openai.com/oauth/authorize?id_token_add_organizations=true&originator=openclaw",
    tokenUrl: "https://auth.openai.com/oauth/token",
    scopes: ["openid", "profile", "email", "offline_access"],
    redirectUri: "http://localhost:1455/auth/callback",
    tokenFormat: "form",
  },
  "google-gemini-cli": {
    ...GOOGLE_LOGIN,
    scopes: googleScopes("cloud-platform", "userinfo.email", "userinfo.profile"),
    redirectUri: "http://localhost:8085/oauth2callback",
    projectUrls: [CODE_ASSIST],
    clientIdEnv: ["OPENCLAW_GEMINI_OAUTH_CLIENT_ID", "GEMINI_CLI_OAUTH_CLIENT_ID"],
    clientSecretEnv: ["OPENCLAW_GEMINI_OAUTH_CLIENT_SECRET", "GEMINI_CLI_OAUTH_CLIENT_SECRET"],
  },
  "google-antigravity": {
    ...GOOGLE_LOGIN,
    scopes: googleScopes("cloud-platform", "userinfo.email", "userinfo.profile", "cclog", "experimentsandconfigs"),
    redirectUri: "http://localhost:51121/oauth-callback",
    projectUrls: [CODE_ASSIST, "https://daily-cloudcode-pa.sandbox.googleapis.com"],
  },
  "github-copilot": {
    deviceUrl: "https://github.com/login/device/code",
    tokenUrl: "https://github.com/login/oauth/access_token",
    scopes: ["read:user"],
    redirectUri: ANY_PORT,
    tokenFormat: "form",
  },
  "qwen-portal": {
    deviceUrl: "https://chat.qwen.ai/api/v1/oauth2/device/code",
    tokenUrl: "https://chat.qwen.ai/api/v1/oauth2/token",
    scopes: ["openid", "profile", "email", "model.completion"],
    redirectUri: ANY_PORT,
    tokenFormat: "form",
    devicePkce: true,
  },
  "minimax-portal": {
    // In China the host is api.minimaxi.com: --device-url and --token-url.
    deviceUrl: "https://api.minimax.io/oauth/code",
    tokenUrl: "https://api.minimax.io/oauth/token",
    scopes: ["group_id", "profile", "model.completion"],
    redirectUri: ANY_PORT,
    tokenFormat: "form",
    devicePkce: true,
    deviceDialect: "user_code",
  },
  chutes: {
    authorizeUrl: "https://api.chutes.ai/idp/authorize",
    tokenUrl: "https://api.chutes.ai/idp/token",
    userInfoUrl: "https://api.chutes.ai/idp/userinfo",
    scopes: ["openid", "profile", "chutes:invoke"],
    redirectUri: "http://127.0.0.1:1456/oauth-callback",
    tokenFormat: "form",
    clientIdEnv: ["CHUTES_CLIENT_ID"],
    clientSecretEnv: ["CHUTES_CLIENT_SECRET"],
  },
};

/** Client settings from the command line or a stored login. */
export interface ClientOptions {
  readonly clientId?: string | undefined;
  readonly clientSecret?: string | undefined;
  readonly authorizeUrl?: string | undefined;
  readonly tokenUrl?: string | undefined;
  readonly deviceUrl?: string | undefined;
  readonly userInfoUrl?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
  readonly redirectUri?: string | undefined;
}

export type ClientResult = OAuthClient | { readonly missing: string };

const first = (env: Env, names: readonly string[] = []): string | undefined => names.map((name) => env[name]?.trim()).find(Boolean);

/** The client for a provider from its options, the environment and known endpoints; or what is missing. */
export function oauthClient(provider: string, options: ClientOptions, env: Env): ClientResult {
  const known = KNOWN[provider];
  const clientId = options.clientId ?? first(env, [...(known?.clientIdEnv ?? []), "OPENCLAW_OAUTH_CLIENT_ID"]);
  const clientSecret = options.clientSecret ?? first(env, [...(known?.clientSecretEnv ?? []), "OPENCLAW_OAUTH_CLIENT_SECRET"]);
  const tokenUrl = options.tokenUrl ?? known?.tokenUrl;
  if (clientId === undefined) {
    const names = [...(known?.clientIdEnv ?? []), "OPENCLAW_OAUTH_CLIENT_ID"].join(" or ");
    return { missing: `a client id that was registered with ${provider} for you (--client-id, or ${names})` };
  }
  if (tokenUrl === undefined) return { missing: `the address of ${provider}'s token endpoint (--token-url)` };
  const authorizeUrl = options.authorizeUrl ?? known?.authorizeUrl;
  const deviceUrl = options.deviceUrl ?? known?.deviceUrl;
  const userInfoUrl = options.userInfoUrl ?? known?.userInfoUrl;
  return {
    provider,
    clientId,
    tokenUrl,
    scopes: options.scopes ?? known?.scopes ?? [],
    redirectUri: options.redirectUri ?? (provider === "chutes" ? env["CHUTES_OAUTH_REDIRECT_URI"]?.trim() : undefined) ?? known?.redirectUri ?? ANY_PORT,
    tokenFormat: known?.tokenFormat ?? "form",
    ...(clientSecret === undefined ? {} : { clientSecret }),
    ...(authorizeUrl === undefined ? {} : { authorizeUrl }),
    ...(deviceUrl === undefined ? {} : { deviceUrl }),
    ...(userInfoUrl === undefined ? {} : { userInfoUrl }),
    ...(known?.devicePkce === undefined ? {} : { devicePkce: known.devicePkce }),
    ...(known?.deviceDialect === undefined ? {} : { deviceDialect: known.deviceDialect }),
    ...(known?.projectUrls === undefined ? {} : { projectUrls: known.projectUrls }),
  };
}

const SETUP_TOKEN_PREFIX = "sk-ant-oat01-";
const SHORTEST_SETUP_TOKEN = 80;

/** What is wrong with a setup-token, without repeating it; undefined when it is well-formed. */
export function setupTokenProblem(pasted: string): string | undefined {
  if (!pasted.startsWith(SETUP_TOKEN_PREFIX)) return `expected a token that begins with ${SETUP_TOKEN_PREFIX}; make one with: claude setup-token`;
  if (pasted.length < SHORTEST_SETUP_TOKEN)
    return `expected a token of at least ${SHORTEST_SETUP_TOKEN} characters, got ${pasted.length}: it was cut off; copy all of it`;
  return undefined;
}
