import { buildOauthProviderAuthResult, type OpenClawPluginApi, type ProviderAuthContext } from "openclaw/plugin-sdk";

async function signIn(ctx: ProviderAuthContext) {
  const spin = ctx.prompter.progress("Signing in");
  const handlers = ctx.oauth.createVpsAwareHandlers({
    isRemote: ctx.isRemote,
    prompter: ctx.prompter,
    runtime: ctx.runtime,
    spin,
    openUrl: ctx.openUrl,
    localBrowserMessage: "Look at your browser",
  });
  await handlers.onAuth({ url: "https://auth.example" });
  const access = await ctx.prompter.text({ message: "Token", validate: (value) => (value ? undefined : "Required") });
  spin.stop("Done");
  return buildOauthProviderAuthResult({ providerId: "acme", defaultModel: "acme/big", access, refresh: null });
}

export default (api: OpenClawPluginApi) => {
  api.registerProvider({
    id: "acme",
    label: "Acme",
    envVars: ["ACME_KEY"],
    models: {
      baseUrl: "https://api.example",
      models: [
        {
          id: "big",
          name: "Big",
          reasoning: false,
          input: ["text"],
          cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
          contextWindow: 1000,
          maxTokens: 100,
        },
      ],
    },
    auth: [{ id: "oauth", label: "Sign in", kind: "oauth", run: signIn }],
    refreshOAuth: async (credential) => ({ ...credential, access: "new" }),
  });
};
