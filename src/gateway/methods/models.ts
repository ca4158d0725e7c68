import type { Config } from "../../config/index.ts";
import { loadChoice, type AuthProfiles, type Catalogue, type CredentialCooldown } from "../../models/index.ts";
import type { MethodResult } from "../../protocol/index.ts";
import type { HandlersOf } from "./handler.ts";

/** Models, as methods need them. */
export interface ModelsPort {
  /** Everything that is known now, and for whom there is a credential; opened when first asked for. */
  choices(): Promise<{ readonly catalogue: Catalogue; readonly hasCredential: (provider: string) => boolean }>;
  /** Credentials of agents: of the one that is named, else of all. */
  auths(agentId: string | undefined): Promise<readonly { readonly agentId: string; readonly auth: Pick<AuthProfiles, "cooldowns" | "clearCooldowns"> }[]>;
}

export interface ModelsDeps {
  readonly config: Pick<Config, "current">;
  readonly models: ModelsPort;
}

type RestRow = MethodResult<"models.rests.list">["rests"][number];

const restRow =
  (agentId: string) =>
  ({ id, provider, modelId, kind, until, reason }: CredentialCooldown): RestRow => ({
    agentId,
    id,
    kind,
    until,
    ...(provider === undefined ? {} : { provider }),
    ...(modelId === undefined ? {} : { modelId }),
    ...(reason === undefined ? {} : { reason }),
  });

/** Handlers of `models.list` (what may be chosen, by the rules that choices are checked with) and of rests. */
export function modelsHandlers({ config, models }: ModelsDeps): HandlersOf<"models"> {
  return {
    "models.rests.list": async ({ agentId, provider }) => {
      const { canonicalProvider } = await loadChoice();
      const of = provider === undefined ? undefined : canonicalProvider(provider);
      const rests = await Promise.all((await models.auths(agentId)).map(async (one) => (await one.auth.cooldowns()).map(restRow(one.agentId))));
      return { rests: rests.flat().filter((rest) => of === undefined || (rest.provider !== undefined && canonicalProvider(rest.provider) === of)) };
    },
    "models.rests.clear": async ({ agentId, provider, id }) => {
      const cleared: RestRow[] = [];
      for (const one of await models.auths(agentId)) cleared.push(...(await one.auth.clearCooldowns({ provider, id })).map(restRow(one.agentId)));
      return { cleared };
    },
    "models.list": async () => {
      const [{ allowlistOf, isLocal, standardChoice }, { catalogue, hasCredential }] = await Promise.all([loadChoice(), models.choices()]);
      const allowlist = allowlistOf(config.current, standardChoice({ config: config.current, catalogue, hasCredential }).ref);
      const entries = allowlist.any ? catalogue.list() : allowlist.refs.flatMap((ref) => catalogue.find(ref) ?? []);
      /** Undefined where nobody can tell: settings of the user's own may carry a key in their headers. */
      const hasKey = (entry: (typeof entries)[number]): boolean | undefined =>
        hasCredential(entry.provider) || isLocal(entry) || (catalogue.settings(entry.provider) === undefined ? false : undefined);
      return {
        models: entries.map((entry) => {
          const { id, name, provider, contextWindow, reasoning, input } = entry;
          const known = hasKey(entry);
          return { id, name, provider, contextWindow, reasoning, input: [...input], ...(known === undefined ? {} : { hasKey: known }) };
        }),
      };
    },
  };
}
