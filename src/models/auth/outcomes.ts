import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import type { AuthProfiles, Candidate, CredentialRest } from "./profiles.ts";
import {
  afterFailure,
  afterSuccess,
  isPassing,
  nextState,
  restFor,
  restRules,
  restsOf,
  withoutPassing,
  withoutRests,
  type Failed,
  type RestRules,
} from "./rest.ts";
import { EMPTY_DOCUMENT, credentialOf, type AuthDocument, type FailureState, type ModelFailures } from "./store/document.ts";
import type { AuthFile } from "./store/file.ts";
import type { Stores } from "./stores.ts";

/** Rests after trouble that passes by itself: at most a minute long, and gone with the process. */
interface PassingRests {
  failed(failure: Failed, rules: RestRules): void;
  /** The model answered: nothing is held against it any more. */
  succeeded(id: string, modelId: string): void;
  /** Of these credentials; of all without a list. */
  clear(ids?: readonly string[]): void;
  /** The document with what rests now added to its failures. */
  over(document: AuthDocument, now: number): AuthDocument;
}

interface Noted extends Pick<Failed, "id" | "modelId" | "kind"> {
  readonly state: FailureState;
}

function createPassingRests(): PassingRests {
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

/** The time of use is written no more often than this; within it, memory knows. */
const STAMP_MS = 30_000;

export interface OutcomesDeps {
  readonly stores: Stores;
  readonly clock: Clock;
  readonly log: Logger;
  readonly config: () => OpenClawConfig;
  readonly canonical: (provider: string) => string;
}

/** What became of calls, by credential: on disk what outlasts the process, in memory the rest. */
export interface Outcomes extends Pick<AuthProfiles, "succeeded" | "failed" | "rests" | "clearRests"> {
  /** The files with everything this process knows. */
  view(): AuthDocument;
  /** Drops what this process alone knows against a credential. */
  forget(id: string): void;
}

/** A file with the failures that could not be written to it. */
const merge = (document: AuthDocument, kept: AuthDocument | undefined): AuthDocument =>
  kept === undefined ? document : { ...document, modelFailures: { ...document.modelFailures, ...kept.modelFailures } };

const isProfile = ({ source }: Candidate): boolean => source === "profile";

export function createOutcomes({ stores, clock, log, config, canonical }: OutcomesDeps): Outcomes {
  const usedAt = new Map<string, number>();
  /** What could not be written: a full disk must not make a failing key be tried for ever, nor fail a call that was answered. */
  const unsaved = new Map<AuthFile, AuthDocument>();
  const passing = createPassingRests();

  /** What a restart leaves: the files, with what this process knows and has not written. */
  function lasting(): AuthDocument {
    const document = withoutPassing(stores.merged());
    if (usedAt.size === 0 && unsaved.size === 0) return document;
    const usageStats = { ...document.usageStats };
    for (const [id, lastUsed] of usedAt) usageStats[id] = { ...usageStats[id], lastUsed: Math.max(lastUsed, usageStats[id]?.lastUsed ?? 0) };
    const modelFailures = Object.assign({}, document.modelFailures, ...[...unsaved.values()].map((kept) => kept.modelFailures));
    return { ...document, usageStats, modelFailures };
  }

  const view = (): AuthDocument => passing.over(lasting(), clock.now());

  async function record(file: AuthFile, change: (document: AuthDocument) => AuthDocument): Promise<void> {
    try {
      await file.update((document) => change(merge(withoutPassing(document), unsaved.get(file))));
      unsaved.delete(file);
    } catch (error) {
      log.warn(`what happened to a credential could not be written; this process remembers it: ${messageOf(error)}`, { path: file.path });
      unsaved.set(file, change(merge(withoutPassing(file.read() ?? EMPTY_DOCUMENT), unsaved.get(file))));
    }
  }

  async function rests(): Promise<readonly CredentialRest[]> {
    await stores.prepare();
    const document = view();
    const ids = new Set([...Object.keys(document.modelFailures ?? {}), ...Object.keys(document.usageStats ?? {})]);
    const found = [...ids].flatMap((id) => restsOf(document, id, clock.now()).map((rest): CredentialRest => withProvider(document, { id, ...rest })));
    return found.sort((a, b) => a.id.localeCompare(b.id) || a.until - b.until);
  }

  /** State of keys that stand in no profile is the agent's own. */
  const fileFor = (candidate: Candidate): AuthFile => (isProfile(candidate) ? stores.holder(candidate.id) : stores.own);

  return {
    view,
    rests,
    forget: (id) => passing.clear([id]),

    async succeeded(candidate, modelId) {
      const { id, provider } = candidate;
      const now = clock.now();
      const file = fileFor(candidate);
      if (isProfile(candidate)) usedAt.set(id, now);
      passing.succeeded(id, modelId);
      const change = (document: AuthDocument): AuthDocument =>
        afterSuccess(document, { id, isProfile: isProfile(candidate), provider: canonical(provider), modelId, now, stampMs: STAMP_MS });
      const before = unsaved.get(file) ?? file.read();
      if (before !== undefined && change(before) !== before) await record(file, change);
    },

    async failed(candidate, modelId, kind, facts = {}) {
      const now = clock.now();
      const { id, provider } = candidate;
      const rules = restRules(config(), provider, canonical);
      const failed: Failed = { id, isProfile: isProfile(candidate), provider: canonical(provider), modelId, kind, now, ...facts };
      if (isPassing(kind)) passing.failed(failed, rules);
      else await record(fileFor(candidate), (before) => afterFailure(before, failed, rules));
      return restFor(view(), id, modelId, now);
    },

    async clearRests({ provider, id } = {}) {
      const of = provider === undefined ? undefined : canonical(provider);
      const isMeant = (rest: CredentialRest): boolean =>
        (id === undefined || rest.id === id) && (of === undefined || (rest.provider !== undefined && canonical(rest.provider) === of));
      const cleared = (await rests()).filter(isMeant);
      const ids = id === undefined && provider === undefined ? undefined : cleared.map((rest) => rest.id);
      passing.clear(ids);
      for (const file of new Set([stores.own, stores.main])) {
        if (file.read() !== undefined || unsaved.has(file)) await record(file, (document) => withoutRests(document, ids));
      }
      return cleared;
    },
  };
}

/** A rest knows its provider by itself, or by the profile it is about. */
function withProvider(document: AuthDocument, rest: CredentialRest): CredentialRest {
  const provider = rest.provider ?? credentialOf(document.profiles[rest.id])?.provider ?? /^config:models\.providers\.(.+)\.apiKey$/.exec(rest.id)?.[1];
  return provider === undefined ? rest : { ...rest, provider };
}
