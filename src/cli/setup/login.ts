import type { LoginPort } from "../../app/index.ts";
import { ownLogin } from "../commands/models/auth/own-login.ts";
import { pluginLogin } from "../commands/models/auth/plugin-login.ts";
import { openAuth } from "../commands/models/auth/source.ts";
import type { Io } from "../io.ts";

/** Logs in with the plugin that knows how, else as a client that the user registered. */
export async function loginTo(io: Io, provider: string): ReturnType<LoginPort["login"]> {
  const view = await openAuth(io, undefined);
  const result = await pluginLogin(io, view, provider, undefined);
  if (result) return result.profiles[0];
  if ("missing" in view.room.oauthClient(provider, {}, view.env)) return undefined;
  const credential = await ownLogin(io, view, { provider, method: undefined });
  return { profileId: `${provider}:${credential.email ?? "default"}`, credential };
}
