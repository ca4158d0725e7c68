import { AppError } from "../../../../base/errors.ts";
import type { ProviderAuthResult } from "../../../../protocol/index.ts";
import { defineCommand } from "../../../command.ts";
import { editConfig } from "../../../config-edit.ts";
import type { Io } from "../../../io.ts";
import { ownLogin } from "./own-login.ts";
import { save } from "./profiles.ts";
import { AGENT_OPTION, openAuth, profileIdOf, providerOf, type AuthView } from "./source.ts";

/** Takes over what a plugin's login resulted in. */
async function takeOver(io: Io, view: AuthView, result: ProviderAuthResult): Promise<void> {
  for (const { profileId, credential } of result.profiles) await save(io, view, profileId, credential);
  if (result.configPatch && Object.keys(result.configPatch).length > 0) {
    await editConfig(io, { kind: "patch", value: result.configPatch }, "cli models auth login");
  }
  for (const note of result.notes ?? []) io.out(`${view.redactor.text(note)}\n`);
}

async function setDefault(io: Io, model: string | undefined, provider: string): Promise<void> {
  if (model === undefined) {
    io.err(`${provider} has no default model; choose one with: openclaw models set ${provider}/<model>\n`);
    return;
  }
  await editConfig(io, { kind: "patch", value: { agents: { defaults: { model: { primary: model } } } } }, "cli models auth login");
  io.out(`Default model: ${model}\n`);
}

export const login = defineCommand({
  options: {
    provider: { type: "string", value: "id", help: "Provider to log in to" },
    method: { type: "string", value: "id", help: "Login method of the plugin; without a plugin: browser or device" },
    "set-default": { type: "boolean", help: "Make the provider's model the default" },
    "profile-id": { type: "string", value: "id", help: "Profile id (default <provider>:<email or default>)" },
    "client-id": { type: "string", value: "id", help: "Your OAuth client id; its secret is read from OPENCLAW_OAUTH_CLIENT_SECRET" },
    "authorize-url": { type: "string", value: "url", help: "Authorization endpoint, if it is not known" },
    "token-url": { type: "string", value: "url", help: "Token endpoint" },
    "device-url": { type: "string", value: "url", help: "Device code endpoint" },
    "redirect-uri": { type: "string", value: "url", help: "Loopback redirect URL; port 0 for any port" },
    scope: { type: "string", value: "words", help: "Scopes to ask for, separated by spaces" },
    agent: AGENT_OPTION,
  },
  examples: [],
  async run({ io, values }) {
    const view = await openAuth(io, values.agent);
    const provider = providerOf(view, values.provider);
    const own = values["client-id"] !== undefined || values["token-url"] !== undefined;
    const { pluginLogin } = await import("./plugin-login.ts");
    const result = own ? undefined : await pluginLogin(io, view, provider, values.method);
    if (result) {
      await takeOver(io, view, result);
      if (values["set-default"]) await setDefault(io, result.defaultModel, provider);
      return;
    }
    const { method } = values;
    if (method !== undefined && method !== "browser" && method !== "device") {
      throw new AppError(
        "INVALID_INPUT",
        `no enabled plugin logs in to ${provider}; without one, --method is browser or device, not ${JSON.stringify(method)}`,
      );
    }
    const credential = await ownLogin(io, view, {
      provider,
      method,
      clientId: values["client-id"],
      authorizeUrl: values["authorize-url"],
      tokenUrl: values["token-url"],
      deviceUrl: values["device-url"],
      redirectUri: values["redirect-uri"],
      scopes: values.scope?.split(/\s+/).filter(Boolean),
    });
    await save(io, view, profileIdOf(provider, values["profile-id"], credential.email ?? "default"), credential);
    if (values["set-default"]) await setDefault(io, undefined, provider);
  },
});

const PROVIDER = "github-copilot";

export const loginGithubCopilot = defineCommand({
  options: {
    "profile-id": { type: "string", value: "id", help: "Profile id (default github-copilot:github)" },
    yes: { type: "boolean", help: "Replace a stored login without asking" },
    "client-id": { type: "string", value: "id", help: "Client id of your GitHub OAuth app" },
    "token-url": { type: "string", value: "url", help: "Token endpoint of GitHub Enterprise" },
    "device-url": { type: "string", value: "url", help: "Device code endpoint of GitHub Enterprise" },
    agent: AGENT_OPTION,
  },
  examples: [],
  async run({ io, values }) {
    const view = await openAuth(io, values.agent);
    const id = profileIdOf(PROVIDER, values["profile-id"], "github");
    const stored = (await view.auth.list()).some((profile) => profile.id === id);
    if (stored && !values.yes && !(await io.confirm(`${id} is already stored. Replace it?`))) {
      io.err(`${id} not changed; use --yes to replace it\n`);
      return;
    }
    const settings = { clientId: values["client-id"], tokenUrl: values["token-url"], deviceUrl: values["device-url"] };
    const { access } = await ownLogin(io, view, { provider: PROVIDER, method: "device", ...settings });
    await save(io, view, id, { type: "token", provider: PROVIDER, token: access });
  },
});
