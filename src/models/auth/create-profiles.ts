import { messageOf } from "../../base/errors.ts";
import { createAccess } from "./access.ts";
import { createEdits } from "./edits.ts";
import { isFor, orderProfiles, type OrderInput } from "./order.ts";
import { awsFirst, otherKeys, type OtherKey, type OtherKeysInput } from "./other-keys.ts";
import type { AuthProfiles, AuthProfilesDeps, Candidate } from "./profiles.ts";
import { afterFailure, afterSuccess, restFor, restRules } from "./rest.ts";
import { EMPTY_DOCUMENT, type AuthDocument } from "./store/document.ts";
import type { AuthFile } from "./store/file.ts";
import { createStores } from "./stores.ts";

/** The time of use is written no more often than this; within it, memory knows. */
const STAMP_MS = 30_000;

/** Those that may be tried, in their order, then those that rest, the soonest first. */
function restingLast(candidates: readonly Candidate[]): readonly Candidate[] {
  const resting = candidates.filter(({ rest }) => rest).sort((a, b) => a.rest!.until - b.rest!.until);
  return [...candidates.filter(({ rest }) => !rest), ...resting];
}

/** A file with the failures that could not be written to it. */
const merge = (document: AuthDocument, kept: AuthDocument | undefined): AuthDocument =>
  kept === undefined ? document : { ...document, modelFailures: { ...document.modelFailures, ...kept.modelFailures } };

/** Everything about credentials of one agent. Nothing is read before it is asked for. */
export function createAuthProfiles(deps: AuthProfilesDeps): AuthProfiles {
  const { clock } = deps;
  const canonical = deps.canonical ?? ((provider: string) => provider.trim().toLowerCase());
  const stores = createStores(deps);
  const usedAt = new Map<string, number>();

  /** What could not be written: a full disk must not make a failing key be tried for ever, nor fail a call that was answered. */
  const unsaved = new Map<AuthFile, AuthDocument>();

  function view(): AuthDocument {
    const document = stores.merged();
    if (usedAt.size === 0 && unsaved.size === 0) return document;
    const usageStats = { ...document.usageStats };
    for (const [id, lastUsed] of usedAt) usageStats[id] = { ...usageStats[id], lastUsed: Math.max(lastUsed, usageStats[id]?.lastUsed ?? 0) };
    const modelFailures = Object.assign({}, document.modelFailures, ...[...unsaved.values()].map((kept) => kept.modelFailures));
    return { ...document, usageStats, modelFailures };
  }

  async function record(file: AuthFile, change: (document: AuthDocument) => AuthDocument): Promise<AuthDocument> {
    try {
      const written = await file.update((document) => change(merge(document, unsaved.get(file))));
      unsaved.delete(file);
      return written;
    } catch (error) {
      deps.log.warn(`what happened to a credential could not be written; this process remembers it: ${messageOf(error)}`, { path: file.path });
      const kept = change(merge(file.read() ?? EMPTY_DOCUMENT, unsaved.get(file)));
      unsaved.set(file, kept);
      return kept;
    }
  }

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
    const profiles = orderProfiles(input).map(({ credential, ...rest }): Candidate => ({ ...rest, source: "profile", provider, type: credential.type }));
    if (options.userPin !== undefined && isFor(options.userPin, input)) return profiles;
    const other = ({ source, id, type, why, secret }: OtherKey): Candidate => {
      if (secret !== undefined) deps.redactor.register(secret);
      const rest = restFor(document, id, options.modelId, clock.now());
      return { source, id, provider, type, why, ...(rest ? { rest } : {}) };
    };
    const keys = othersFor(provider);
    const pinned = profiles.filter(({ id }) => id === options.sessionPin);
    return restingLast([...pinned, ...awsFirst(keys).map(other), ...profiles.filter((profile) => !pinned.includes(profile)), ...otherKeys(keys).map(other)]);
  };

  const isProfile = ({ source }: Candidate): boolean => source === "profile";
  /** State of keys that stand in no profile is the agent's own. */
  const fileFor = (candidate: Candidate): AuthFile => (isProfile(candidate) ? stores.holder(candidate.id) : stores.own);

  return {
    storePath: stores.own.path,
    candidates,
    credential: createAccess(deps, stores, othersFor),
    ...createEdits({ stores, view, canonical, now: () => clock.now() }),

    async succeeded(candidate, modelId) {
      const { id, provider } = candidate;
      const now = clock.now();
      const file = fileFor(candidate);
      if (isProfile(candidate)) usedAt.set(id, now);
      const change = (document: AuthDocument): AuthDocument =>
        afterSuccess(document, { id, isProfile: isProfile(candidate), provider: canonical(provider), modelId, now, stampMs: STAMP_MS });
      const before = unsaved.get(file) ?? file.read();
      if (before !== undefined && change(before) !== before) await record(file, change);
    },

    async failed(candidate, modelId, kind, retryAfterMs) {
      const now = clock.now();
      const rules = restRules(deps.config(), candidate.provider, canonical);
      const facts = { id: candidate.id, isProfile: isProfile(candidate), modelId, kind, retryAfterMs, now };
      const document = await record(fileFor(candidate), (before) => afterFailure(before, facts, rules));
      return restFor(document, candidate.id, modelId, now);
    },
  };
}
