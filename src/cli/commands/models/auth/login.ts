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
    io.err(`${provider} names no default model; choose one with: openclaw models set ${provider}/<model>\n`);
    return;
  }
  await editConfig(io, { kind: "patch", value: { agents: { defaults: { model: { primary: model } } } } }, "cli models auth login");
  io.out(`the default model is ${model}\n`);
}

export const login = defineCommand({
  options: {
    provider: { type: "string", value: "id", help: "where to log in" },
    method: { type: "string", value: "id", help: "a plugin's way to log in; without a plugin: browser or device" },
    "set-default": { type: "boolean", help: "use the provider's model from now on" },
    "profile-id": { type: "string", value: "id", help: "its name (default <provider>:<email or default>)" },
    "client-id": { type: "string", value: "id", help: "the OAuth client you registered; its secret comes from OPENCLAW_OAUTH_CLIENT_SECRET" },
    "authorize-url": { type: "string", value: "url", help: "the provider's login page, where it is not known" },
    "token-url": { type: "string", value: "url", help: "its token endpoint" },
    "device-url": { type: "string", value: "url", help: "where it gives device codes" },
    "redirect-uri": { type: "string", value: "url", help: "a loopback address; port 0 takes any" },
    scope: { type: "string", value: "words", help: "scopes to ask for, separated by spaces" },
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
    "profile-id": { type: "string", value: "id", help: "its name (default github-copilot:github)" },
    yes: { type: "boolean", help: "replace a stored login without asking" },
    "client-id": { type: "string", value: "id", help: "the OAuth app you registered at GitHub" },
    "token-url": { type: "string", value: "url", help: "token endpoint of a GitHub of your own" },
    "device-url": { type: "string", value: "url", help: "device code endpoint of a GitHub of your own" },
    agent: AGENT_OPTION,
  },
  examples: [],
  async run({ io, values }) {
    const view = await openAuth(io, values.agent);
    const id = profileIdOf(PROVIDER, values["profile-id"], "github");
    const stored = (await view.auth.list()).some((profile) => profile.id === id);
    if (stored && !values.yes && !(await io.confirm(`${id} is stored already. Replace it?`))) {
      io.err(`${id} stays as it is; --yes replaces it\n`);
      return;
    }
    const settings = { clientId: values["client-id"], tokenUrl: values["token-url"], deviceUrl: values["device-url"] };
    const { access } = await ownLogin(io, view, { provider: PROVIDER, method: "device", ...settings });
    await save(io, view, id, { type: "token", provider: PROVIDER, token: access });
  },
});
