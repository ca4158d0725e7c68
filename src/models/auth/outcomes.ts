import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import type { AuthProfiles, Candidate, CredentialCooldown } from "./profiles.ts";
import {
  afterFailure,
  afterSuccess,
  isTransient,
  nextState,
  cooldownFor,
  cooldownRules,
  cooldownsOf,
  withoutTransient,
  withoutCooldowns,
  type Failed,
} from "./cooldowns.ts";
import { EMPTY_DOCUMENT, credentialOf, type AuthDocument, type FailureState, type ModelFailures } from "./document.ts";
import type { AuthFile, Stores } from "./stores.ts";

/** A cooldown after a transient error: at most a minute long, and in memory only. */
interface TransientCooldown extends Pick<Failed, "id" | "modelId" | "kind"> {
  readonly state: FailureState;
}

/** The time of use is written at most this often; in between it is in memory. */
const STAMP_MS = 30_000;

export interface OutcomesDeps {
  readonly stores: Stores;
  readonly clock: Clock;
  readonly log: Logger;
  readonly config: () => OpenClawConfig;
  readonly canonical: (provider: string) => string;
}

/** Outcomes of calls, by credential: persistent ones on disk, the rest in memory. */
export interface Outcomes extends Pick<AuthProfiles, "succeeded" | "failed" | "cooldowns" | "clearCooldowns"> {
  /** The files with everything this process knows. */
  view(): AuthDocument;
  /** Drops this process's unwritten failures of a credential. */
  forget(id: string): void;
}

/** A file with the failures that could not be written to it. */
const merge = (document: AuthDocument, unwritten: AuthDocument | undefined): AuthDocument =>
  unwritten === undefined ? document : { ...document, modelFailures: { ...document.modelFailures, ...unwritten.modelFailures } };

/** The document with what this process knows and has not written. */
function withUnwritten(document: AuthDocument, usedAt: ReadonlyMap<string, number>, unsaved: ReadonlyMap<AuthFile, AuthDocument>): AuthDocument {
  const usageStats = { ...document.usageStats };
  for (const [id, lastUsed] of usedAt) usageStats[id] = { ...usageStats[id], lastUsed: Math.max(lastUsed, usageStats[id]?.lastUsed ?? 0) };
  const modelFailures = { ...document.modelFailures };
  for (const unwritten of unsaved.values()) Object.assign(modelFailures, unwritten.modelFailures);
  return { ...document, usageStats, modelFailures };
}

/** The document with current transient cooldowns added to its failures. Those that are over are removed from `transient`. */
function withTransient(document: AuthDocument, transient: Map<string, TransientCooldown>, now: number): AuthDocument {
  const modelFailures: Record<string, ModelFailures[string]> = { ...document.modelFailures };
  for (const [key, { id, modelId, kind, state }] of transient) {
    if (state.until <= now) {
      transient.delete(key);
      continue;
    }
    const models = modelFailures[id] ?? {};
    modelFailures[id] = { ...models, [modelId]: { ...models[modelId], [kind]: state } };
  }
  return transient.size === 0 ? document : { ...document, modelFailures };
}

export function createOutcomes({ stores, clock, log, config, canonical }: OutcomesDeps): Outcomes {
  const usedAt = new Map<string, number>();
  /** Failures that could not be written: with a full disk a failing key must not be tried for ever, nor an answered call fail. */
  const unsaved = new Map<AuthFile, AuthDocument>();
  const transient = new Map<string, TransientCooldown>();

  /** Ends transient cooldowns of these credentials; of all without a list. */
  function endTransient(ids: readonly string[] | undefined): void {
    for (const [key, { id }] of transient) if (ids === undefined || ids.includes(id)) transient.delete(key);
  }

  function view(): AuthDocument {
    const stored = stores.merged();
    const document = usedAt.size === 0 && unsaved.size === 0 ? stored : withUnwritten(stored, usedAt, unsaved);
    return transient.size === 0 ? document : withTransient(document, transient, clock.now());
  }

  async function record(file: AuthFile, change: (document: AuthDocument) => AuthDocument): Promise<void> {
    try {
      await file.update((document) => change(merge(withoutTransient(document), unsaved.get(file))));
      unsaved.delete(file);
    } catch (error) {
      log.warn(`the state of a credential could not be stored; it is kept in memory until the process exits: ${messageOf(error)}`, { path: file.path });
      unsaved.set(file, change(merge(withoutTransient(file.read() ?? EMPTY_DOCUMENT), unsaved.get(file))));
    }
  }

  async function cooldowns(): Promise<readonly CredentialCooldown[]> {
    await stores.prepare();
    const document = view();
    const ids = new Set([...Object.keys(document.modelFailures ?? {}), ...Object.keys(document.usageStats ?? {})]);
    const found = [...ids].flatMap((id) =>
      cooldownsOf(document, id, clock.now()).map((cooldown): CredentialCooldown => withProvider(document, { id, ...cooldown })),
    );
    return found.sort((a, b) => a.id.localeCompare(b.id) || a.until - b.until);
  }

  /** The state of keys without a profile is stored in the agent's own file. */
  const fileFor = ({ id, source }: Candidate): AuthFile => (source === "profile" ? stores.holder(id) : stores.own);

  return {
    view,
    cooldowns,
    forget: (id) => endTransient([id]),

    async succeeded(candidate, modelId) {
      const { id, provider, source } = candidate;
      const now = clock.now();
      const isProfile = source === "profile";
      const file = fileFor(candidate);
      if (isProfile) usedAt.set(id, now);
      for (const [key, one] of transient) if (one.id === id && one.modelId === modelId) transient.delete(key);
      const before = unsaved.get(file) ?? file.read();
      if (before === undefined) return;
      const change = (document: AuthDocument): AuthDocument =>
        afterSuccess(document, { id, isProfile, provider: canonical(provider), modelId, now, stampMs: STAMP_MS });
      if (change(before) !== before) await record(file, change);
    },

    async failed(candidate, modelId, kind, facts = {}) {
      const now = clock.now();
      const { id, provider, source } = candidate;
      const rules = cooldownRules(config(), provider, canonical);
      const failed: Failed = { id, isProfile: source === "profile", provider: canonical(provider), modelId, kind, now, ...facts };
      if (isTransient(kind)) {
        const key = JSON.stringify([id, modelId, kind]);
        transient.set(key, { id, modelId, kind, state: nextState(transient.get(key)?.state, failed, rules) });
      } else await record(fileFor(candidate), (before) => afterFailure(before, failed, rules));
      return cooldownFor(view(), id, modelId, now);
    },

    async clearCooldowns({ provider, id } = {}) {
      const of = provider === undefined ? undefined : canonical(provider);
      const isMeant = (cooldown: CredentialCooldown): boolean =>
        (id === undefined || cooldown.id === id) && (of === undefined || (cooldown.provider !== undefined && canonical(cooldown.provider) === of));
      const cleared = (await cooldowns()).filter(isMeant);
      const ids = id === undefined && provider === undefined ? undefined : cleared.map((cooldown) => cooldown.id);
      endTransient(ids);
      for (const file of new Set([stores.own, stores.main])) {
        if (file.read() !== undefined || unsaved.has(file)) await record(file, (document) => withoutCooldowns(document, ids));
      }
      return cleared;
    },
  };
}

/** The provider of a cooldown: its own, or that of its profile. */
function withProvider(document: AuthDocument, cooldown: CredentialCooldown): CredentialCooldown {
  const provider =
    cooldown.provider ?? credentialOf(document.profiles[cooldown.id])?.provider ?? /^config:models\.providers\.(.+)\.apiKey$/.exec(cooldown.id)?.[1];
  return provider === undefined ? cooldown : { ...cooldown, provider };
}
