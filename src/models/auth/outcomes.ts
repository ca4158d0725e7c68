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
  type CooldownRules,
} from "./cooldowns.ts";
import { EMPTY_DOCUMENT, credentialOf, type AuthDocument, type FailureState, type ModelFailures } from "./store/document.ts";
import type { AuthFile } from "./store/file.ts";
import type { Stores } from "./stores.ts";

/** Cooldowns after transient errors: at most a minute long, and in memory only. */
interface TransientCooldowns {
  failed(failure: Failed, rules: CooldownRules): void;
  /** The model answered: its failures are cleared. */
  succeeded(id: string, modelId: string): void;
  /** Of these credentials; of all without a list. */
  clear(ids?: readonly string[]): void;
  /** The document with current cooldowns added to its failures. */
  over(document: AuthDocument, now: number): AuthDocument;
}

interface Noted extends Pick<Failed, "id" | "modelId" | "kind"> {
  readonly state: FailureState;
}

function createTransientCooldowns(): TransientCooldowns {
  const noted = new Map<string, Noted>();
  const drop = (which: (one: Noted) => boolean): void => {
    for (const [key, one] of noted) if (which(one)) noted.delete(key);
  };
  return {
    failed(failure, rules) {
      const { id, modelId, kind } = failure;
      const key = JSON.stringify([id, modelId, kind]);
      noted.set(key, { id, modelId, kind, state: nextState(noted.get(key)?.state, failure, rules) });
    },
    succeeded: (id, modelId) => drop((one) => one.id === id && one.modelId === modelId),
    clear: (ids) => drop(({ id }) => ids === undefined || ids.includes(id)),
    over(document, now) {
      drop(({ state }) => state.until <= now);
      if (noted.size === 0) return document;
      const modelFailures: Record<string, ModelFailures[string]> = { ...document.modelFailures };
      for (const { id, modelId, kind, state } of noted.values()) {
        const models = modelFailures[id] ?? {};
        modelFailures[id] = { ...models, [modelId]: { ...models[modelId], [kind]: state } };
      }
      return { ...document, modelFailures };
    },
  };
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

const isProfile = ({ source }: Candidate): boolean => source === "profile";

export function createOutcomes({ stores, clock, log, config, canonical }: OutcomesDeps): Outcomes {
  const usedAt = new Map<string, number>();
  /** Failures that could not be written: with a full disk a failing key must not be tried for ever, nor an answered call fail. */
  const unsaved = new Map<AuthFile, AuthDocument>();
  const transient = createTransientCooldowns();

  /** The state after a restart: the files, with what this process knows and has not written. */
  function lasting(): AuthDocument {
    const document = withoutTransient(stores.merged());
    if (usedAt.size === 0 && unsaved.size === 0) return document;
    const usageStats = { ...document.usageStats };
    for (const [id, lastUsed] of usedAt) usageStats[id] = { ...usageStats[id], lastUsed: Math.max(lastUsed, usageStats[id]?.lastUsed ?? 0) };
    const modelFailures = Object.assign({}, document.modelFailures, ...[...unsaved.values()].map((document) => document.modelFailures));
    return { ...document, usageStats, modelFailures };
  }

  const view = (): AuthDocument => transient.over(lasting(), clock.now());

  async function record(file: AuthFile, change: (document: AuthDocument) => AuthDocument): Promise<void> {
    try {
      await file.update((document) => change(merge(withoutTransient(document), unsaved.get(file))));
      unsaved.delete(file);
    } catch (error) {
      log.warn(`what happened to a credential could not be written; this process remembers it: ${messageOf(error)}`, { path: file.path });
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
  const fileFor = (candidate: Candidate): AuthFile => (isProfile(candidate) ? stores.holder(candidate.id) : stores.own);

  return {
    view,
    cooldowns,
    forget: (id) => transient.clear([id]),

    async succeeded(candidate, modelId) {
      const { id, provider } = candidate;
      const now = clock.now();
      const file = fileFor(candidate);
      if (isProfile(candidate)) usedAt.set(id, now);
      transient.succeeded(id, modelId);
      const change = (document: AuthDocument): AuthDocument =>
        afterSuccess(document, { id, isProfile: isProfile(candidate), provider: canonical(provider), modelId, now, stampMs: STAMP_MS });
      const before = unsaved.get(file) ?? file.read();
      if (before !== undefined && change(before) !== before) await record(file, change);
    },

    async failed(candidate, modelId, kind, facts = {}) {
      const now = clock.now();
      const { id, provider } = candidate;
      const rules = cooldownRules(config(), provider, canonical);
      const failed: Failed = { id, isProfile: isProfile(candidate), provider: canonical(provider), modelId, kind, now, ...facts };
      if (isTransient(kind)) transient.failed(failed, rules);
      else await record(fileFor(candidate), (before) => afterFailure(before, failed, rules));
      return cooldownFor(view(), id, modelId, now);
    },

    async clearCooldowns({ provider, id } = {}) {
      const of = provider === undefined ? undefined : canonical(provider);
      const isMeant = (cooldown: CredentialCooldown): boolean =>
        (id === undefined || cooldown.id === id) && (of === undefined || (cooldown.provider !== undefined && canonical(cooldown.provider) === of));
      const cleared = (await cooldowns()).filter(isMeant);
      const ids = id === undefined && provider === undefined ? undefined : cleared.map((cooldown) => cooldown.id);
      transient.clear(ids);
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
