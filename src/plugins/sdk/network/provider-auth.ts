/** What a sign-in of a model provider results in. */
import type { HostConfig, OAuthCredential, ProviderAuthResult } from "../../../protocol/index.ts";

/** One OAuth profile, `<provider>:<email or default>`, and the model in the list of models unless `configPatch` says otherwise. */
export function buildOauthProviderAuthResult(params: {
  providerId: string;
  defaultModel: string;
  access: string;
  refresh?: string | null | undefined;
  expires?: number | null | undefined;
  email?: string | null | undefined;
  profilePrefix?: string | undefined;
  credentialExtra?: Record<string, unknown> | undefined;
  configPatch?: Partial<HostConfig> | undefined;
  notes?: string[] | undefined;
}): ProviderAuthResult {
  const { providerId, defaultModel, access, refresh, expires, email } = params;
  const credential = {
    type: "oauth",
    provider: providerId,
    access,
    ...(refresh ? { refresh } : {}),
    ...(Number.isFinite(expires) ? { expires } : {}),
    ...(email ? { email } : {}),
    ...params.credentialExtra,
  } as OAuthCredential;
  return {
    profiles: [{ profileId: `${params.profilePrefix ?? providerId}:${email || "default"}`, credential }],
    configPatch: params.configPatch ?? { agents: { defaults: { models: { [defaultModel]: {} } } } },
    defaultModel,
    notes: params.notes,
  };
}
