import type { LoginPort } from "../../setup/index.ts";
import { ownLogin } from "../commands/models/auth/own-login.ts";
import { pluginLogin } from "../commands/models/auth/plugin-login.ts";
import { openAuth } from "../commands/models/auth/source.ts";
import type { Io } from "../io.ts";

const COPILOT = "github-copilot";

/** Logs in with the plugin that knows how, else as a client that the user registered. */
export async function loginTo(io: Io, provider: string): ReturnType<LoginPort["login"]> {
  const view = await openAuth(io, undefined);
  const result = await pluginLogin(io, view, provider, undefined);
  if (result) return result;
  const credential = await ownLogin(io, view, { provider, method: undefined });
  // What GitHub gives is changed for short-lived tokens, and kept as `models auth login-github-copilot` keeps it.
  if (provider === COPILOT) return { profiles: [{ profileId: `${COPILOT}:github`, credential: { type: "token", provider, token: credential.access } }] };
  return { profiles: [{ profileId: `${provider}:${credential.email ?? "default"}`, credential }] };
}
