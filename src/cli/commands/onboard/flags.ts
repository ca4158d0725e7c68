import type { SetupAnswers } from "../../../setup/index.ts";
import { AppError } from "../../../base/errors.ts";
import type { Values } from "../../command.ts";
import { JSON_OPTION } from "../../command.ts";
import { parsePort } from "../gateway/port.ts";

const flag = (value: string, help: string) => ({ type: "string", value, help }) as const;
const yes = (help: string) => ({ type: "boolean", help }) as const;
const key = (of: string) => flag("key", `API key for ${of}`);

/** Flags of `onboard`. `setup` takes some of them. */
export const ONBOARD_OPTIONS = {
  "non-interactive": yes("Don't ask; use flags (needs --accept-risk)"),
  "accept-risk": yes("Confirm that agents can run commands and send messages"),
  mode: flag("local|remote", "Run a gateway here, or use a remote one (default local)"),
  flow: flag("quickstart|advanced", "Setup mode: quickstart or advanced (manual means advanced)"),
  reset: yes("First move configuration, credentials and conversations out of the way"),
  "reset-scope": flag("scope", "Scope of --reset: config, config+creds+sessions or full"),
  workspace: flag("dir", "Agent workspace folder"),
  "auth-choice": flag("id", "Model credentials: apiKey, openai-api-key, vllm, custom-api-key, skip …"),
  "anthropic-api-key": key("Anthropic"),
  "openai-api-key": key("OpenAI"),
  "openrouter-api-key": key("OpenRouter"),
  "litellm-api-key": key("LiteLLM"),
  "ai-gateway-api-key": key("Vercel AI Gateway"),
  "cloudflare-ai-gateway-api-key": key("Cloudflare AI Gateway"),
  "cloudflare-ai-gateway-account-id": flag("id", "Cloudflare account id"),
  "cloudflare-ai-gateway-gateway-id": flag("id", "Cloudflare gateway id"),
  "moonshot-api-key": key("Moonshot"),
  "kimi-code-api-key": key("Kimi Coding"),
  "gemini-api-key": key("Google Gemini"),
  "zai-api-key": key("Z.AI"),
  "xai-api-key": key("xAI"),
  "qianfan-api-key": key("Qianfan"),
  "xiaomi-api-key": key("Xiaomi MiMo"),
  "minimax-api-key": key("MiniMax"),
  "synthetic-api-key": key("Synthetic"),
  "venice-api-key": key("Venice"),
  "together-api-key": key("Together"),
  "huggingface-api-key": key("Hugging Face"),
  "opencode-zen-api-key": key("OpenCode Zen"),
  token: flag("text", "Token created elsewhere"),
  "token-provider": flag("id", "Provider of --token (default anthropic)"),
  "token-profile-id": flag("id", "Profile id (default <provider>:manual)"),
  "token-expires-in": flag("duration", "Lifetime, such as 365d or 12h"),
  "custom-base-url": flag("url", "Base URL of a custom provider"),
  "custom-model-id": flag("id", "Model id of the custom provider"),
  "custom-api-key": flag("key", "API key of the custom provider (or CUSTOM_API_KEY)"),
  "custom-provider-id": flag("id", "Id of the custom provider (default custom-<host>-<port>)"),
  "custom-compatibility": flag("openai|anthropic", "API it is compatible with (default openai)"),
  "gateway-port": flag("n", "Gateway port (default 18789)"),
  "gateway-bind": flag("mode", "Listen on: loopback, lan, tailnet, auto or custom"),
  "gateway-auth": flag("token|password", "Authentication of clients"),
  "gateway-token": flag("text", "Gateway token (default: generated)"),
  "gateway-password": flag("text", "Password"),
  tailscale: flag("off|serve|funnel", "Expose the gateway through Tailscale"),
  "tailscale-reset-on-exit": yes("Reset Tailscale when the gateway stops"),
  "install-daemon": yes("Install the gateway as a service"),
  "no-install-daemon": yes("Don't install a service"),
  "skip-daemon": yes("Same as --no-install-daemon"),
  "daemon-runtime": flag("node", "Runtime of the service; always node"),
  owner: flag("channel:id", "Owner, such as telegram:123456789"),
  "skip-channels": yes("Skip channels"),
  "skip-skills": yes("Skip skills"),
  "skip-health": yes("Don't check the provider or the gateway"),
  "skip-ui": yes("Don't open the Control UI"),
  "node-manager": flag("npm|pnpm|bun", "Package manager for skill programs"),
  "remote-url": flag("ws", "URL of the remote gateway"),
  "remote-token": flag("text", "Token of the remote gateway"),
  json: JSON_OPTION,
} as const;

export type OnboardValues = Values<typeof ONBOARD_OPTIONS>;

/** The value of a flag that takes one of a few words. */
function oneOf<T extends string>(name: string, value: string | undefined, words: readonly T[]): T | undefined {
  const word = words.find((known) => known === value);
  if (value === undefined || word !== undefined) return word;
  throw new AppError("INVALID_INPUT", `--${name} takes ${words.join(", ")}, not ${JSON.stringify(value)}`);
}

function daemonOf(values: OnboardValues): boolean | undefined {
  const no = values["no-install-daemon"] || values["skip-daemon"];
  if (no && values["install-daemon"]) throw new AppError("INVALID_INPUT", "--install-daemon and --no-install-daemon were both given");
  const runtime = values["daemon-runtime"];
  if (runtime !== undefined && runtime !== "node")
    throw new AppError("INVALID_INPUT", `--daemon-runtime takes node, not ${JSON.stringify(runtime)}: the gateway runs on Node only`);
  return values["install-daemon"] ? true : no ? false : undefined;
}

/** What the flags say. Throws for values that none of them takes. */
export async function answersFrom(values: OnboardValues): Promise<SetupAnswers> {
  const { KEY_FLAGS, BINDS, TAILSCALE_MODES, NODE_MANAGERS, RESET_SCOPES } = await import("../../../setup/index.ts");
  const flags: Readonly<Record<string, unknown>> = values;
  const keys = KEY_FLAGS.flatMap((name) => {
    const value = flags[`${name}-api-key`];
    return typeof value === "string" ? [[name, value] as const] : [];
  });
  const empty = keys.find(([, value]) => value.trim() === "");
  if (empty) throw new AppError("INVALID_INPUT", `--${empty[0]}-api-key is empty; expected a key`);
  const flow = oneOf("flow", values.flow, ["quickstart", "advanced", "manual"]);
  const scope = oneOf("reset-scope", values["reset-scope"], RESET_SCOPES);
  return {
    acceptRisk: values["accept-risk"],
    mode: oneOf("mode", values.mode, ["local", "remote"]),
    flow: flow === "manual" ? "advanced" : flow,
    reset: values.reset ? (scope ?? "config+creds+sessions") : undefined,
    workspace: values.workspace,
    authChoice: values["auth-choice"],
    keys: Object.fromEntries(keys),
    cloudflare: { accountId: values["cloudflare-ai-gateway-account-id"], gatewayId: values["cloudflare-ai-gateway-gateway-id"] },
    token: { value: values.token, provider: values["token-provider"], profileId: values["token-profile-id"], expiresIn: values["token-expires-in"] },
    custom: {
      baseUrl: values["custom-base-url"],
      modelId: values["custom-model-id"],
      apiKey: values["custom-api-key"],
      providerId: values["custom-provider-id"],
      compatibility: oneOf("custom-compatibility", values["custom-compatibility"], ["openai", "anthropic"]),
    },
    gateway: {
      port: parsePort(values["gateway-port"], 1, "gateway-port"),
      bind: oneOf("gateway-bind", values["gateway-bind"], BINDS),
      auth: oneOf("gateway-auth", values["gateway-auth"], ["token", "password"]),
      token: values["gateway-token"],
      password: values["gateway-password"],
      tailscale: oneOf("tailscale", values.tailscale, TAILSCALE_MODES),
      tailscaleResetOnExit: values["tailscale-reset-on-exit"],
    },
    owner: values.owner,
    installDaemon: daemonOf(values),
    skip: {
      channels: values["skip-channels"] ?? false,
      skills: values["skip-skills"] ?? false,
      health: values["skip-health"] ?? false,
      ui: values["skip-ui"] ?? false,
    },
    nodeManager: oneOf("node-manager", values["node-manager"], NODE_MANAGERS),
    remote: { url: values["remote-url"], token: values["remote-token"] },
  };
}
