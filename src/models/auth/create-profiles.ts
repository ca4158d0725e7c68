import { createAccess } from "./access.ts";
import { createEdits } from "./edits.ts";
import { isFor, orderProfiles, type OrderInput } from "./order.ts";
import { awsFirst, otherKeys, type OtherKey, type OtherKeysInput } from "./other-keys.ts";
import { createOutcomes } from "./outcomes.ts";
import type { AuthProfiles, AuthProfilesDeps, Candidate } from "./profiles.ts";
import { cooldownFor } from "./cooldowns.ts";
import { createStores } from "./stores.ts";

/** Usable candidates in their order, then those in cooldown, soonest first. */
function cooldownsLast(candidates: readonly Candidate[]): readonly Candidate[] {
  const inCooldown = candidates.filter(({ cooldown }) => cooldown).sort((a, b) => a.cooldown!.until - b.cooldown!.until);
  return [...candidates.filter(({ cooldown }) => !cooldown), ...inCooldown];
}

/** All credentials of one agent. Nothing is read before it is needed. */
export function createAuthProfiles(deps: AuthProfilesDeps): AuthProfiles {
  const { clock } = deps;
  const canonical = deps.canonical ?? ((provider: string) => provider.trim().toLowerCase());
  const stores = createStores(deps);
  const { view, forget, ...outcomes } = createOutcomes({ stores, canonical, clock, log: deps.log, config: deps.config });

  const othersFor = (provider: string): OtherKeysInput => ({
    provider,
    canonical,
    config: deps.config(),
    env: deps.env(),
    envNames: deps.envNames(provider),
    ambient: deps.ambient?.(provider) ?? false,
  });

  const candidates: AuthProfiles["candidates"] = async (provider, options = {}) => {
    await stores.prepare();
    const document = view();
    const input: OrderInput = { ...options, provider, document, canonical, config: deps.config(), now: clock.now() };
    const profiles = orderProfiles(input).map(({ credential, ...ordered }): Candidate => ({ ...ordered, source: "profile", provider, type: credential.type }));
    if (options.userPin !== undefined && isFor(options.userPin, input)) return profiles;
    const other = ({ source, id, type, why, secret }: OtherKey): Candidate => {
      if (secret !== undefined) deps.redactor.register(secret);
      const cooldown = cooldownFor(document, id, options.modelId, clock.now());
      return { source, id, provider, type, why, ...(cooldown ? { cooldown } : {}) };
    };
    const keys = othersFor(provider);
    const pinned = profiles.filter(({ id }) => id === options.sessionPin);
    return cooldownsLast([...pinned, ...awsFirst(keys).map(other), ...profiles.filter((profile) => !pinned.includes(profile)), ...otherKeys(keys).map(other)]);
  };

  return {
    storePath: stores.own.path,
    candidates,
    credential: createAccess(deps, stores, othersFor),
    ...createEdits({ stores, view, canonical, now: () => clock.now(), forget }),
    ...outcomes,
  };
}
