import type { Config } from "../../config/index.ts";
import { loadChoice, type Catalogue } from "../../models/index.ts";
import type { Handlers } from "./handler.ts";

/** Models, as methods need them. */
export interface ModelsPort {
  /** Everything that is known now, and for whom there is a credential; opened when first asked for. */
  choices(): Promise<{ readonly catalogue: Catalogue; readonly hasCredential: (provider: string) => boolean }>;
}

export interface ModelsDeps {
  readonly config: Pick<Config, "current">;
  readonly models: ModelsPort;
}

/** Handler of `models.list`: what may be chosen, by the rules that choices are checked with. */
export function modelsHandlers({ config, models }: ModelsDeps): Handlers {
  return {
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
