import { AppError, messageOf } from "../../base/errors.ts";
import { createEmbedder, providerKey, type EmbedderDeps } from "./create-embedder.ts";
import type { CacheKey } from "./cache.ts";
import type { Embedded, Embedder, EmbeddingSettings, EmbeddingUsage, ProviderAccess } from "./types.ts";

/** The provider in use: the requested one, or the fallback once that one failed. */
export interface ActiveProvider extends AsyncDisposable {
  readonly access: ProviderAccess | undefined;
  readonly embedder: Embedder | undefined;
  readonly key: CacheKey | undefined;
  readonly fallback: { readonly from: string; readonly reason: string } | undefined;
  /** Why there are no embeddings now. */
  readonly reason: string | undefined;
  /** Since when it fails, and when it is asked again at the earliest: milliseconds since the epoch. */
  readonly failing: { readonly since: number; readonly retryAt: number } | undefined;
  /** It failed a moment ago and is not asked. */
  readonly isResting: boolean;
  /**
   * Asks the provider, and counts what it cost. A failure switches to the fallback, once, or lets the provider rest for a while; it is thrown in any case.
   */
  ask(work: (embedder: Embedder) => Promise<Embedded>, share?: number): Promise<Embedded>;
  /** It has answered since it was set up: what it refuses then is the fault of a text. */
  readonly hasAnswered: boolean;
  /** Counts a refusal as a failure of the provider. */
  failed(error: unknown): void;
}

export interface ActiveProviderDeps extends Omit<EmbedderDeps, "version"> {
  readonly usage: (usage: EmbeddingUsage) => void;
  readonly notice: (message: string) => void;
  /** Milliseconds, never going back. */
  readonly monotonic: () => number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

const FIRST_REST_MS = 15_000;
const LONGEST_REST_MS = 5 * 60_000;

interface Start {
  readonly access: ProviderAccess | undefined;
  readonly fallback: ActiveProvider["fallback"];
  readonly reason: string | undefined;
}

/** The fallback is the first one when the requested provider is not set up. */
function firstOf({ primary, fallback, requested, unavailable }: EmbeddingSettings): Start {
  if (primary || !fallback) return { access: primary, fallback: undefined, reason: unavailable };
  return { access: fallback, fallback: { from: requested, reason: unavailable ?? "it is not set up" }, reason: undefined };
}

export function createActiveProvider(settings: EmbeddingSettings, deps: ActiveProviderDeps): ActiveProvider {
  const { monotonic, notice, now } = deps;
  const make = (access: ProviderAccess | undefined): Embedder | undefined => access && createEmbedder(access, { ...deps, version: settings.version });
  const { fallback: second } = settings;
  let { access, fallback, reason } = firstOf(settings);
  let failures = 0;
  let since: number | undefined;
  let answered = false;
  let restsUntil = Number.NEGATIVE_INFINITY;
  let embedder = make(access);

  function failed(error: unknown): void {
    const why = messageOf(error);
    if (access && access !== second && second && !fallback) {
      fallback = { from: access.id, reason: why };
      notice(`embeddings of ${access.id} failed (${why}); switched to ${second.id}`);
      void embedder?.[Symbol.asyncDispose]();
      access = second;
      embedder = make(second);
      [reason, answered, since] = [undefined, false, undefined];
      return;
    }
    if (failures === 0) notice(`${why}; search continues by words only`);
    failures += 1;
    reason = why;
    since ??= now();
    restsUntil = monotonic() + Math.min(LONGEST_REST_MS, FIRST_REST_MS * 2 ** (failures - 1));
  }

  return {
    get access() {
      return access;
    },
    get embedder() {
      return embedder;
    },
    get key() {
      return access && { provider: access.id, model: access.model, providerKey: providerKey(access) };
    },
    get fallback() {
      return fallback;
    },
    get reason() {
      return reason;
    },
    get failing() {
      return since === undefined ? undefined : { since, retryAt: now() + Math.max(0, restsUntil - monotonic()) };
    },
    get isResting() {
      return monotonic() < restsUntil;
    },
    get hasAnswered() {
      return answered;
    },
    failed,
    async ask(work, share = 1) {
      const [asked, by] = [embedder, access];
      if (!asked || !by) throw new AppError("UNAVAILABLE", reason ?? "there is no embedding provider");
      const started = monotonic();
      try {
        const result = await work(asked);
        deps.usage({
          provider: by.id,
          model: by.model,
          tokens: result.tokens,
          cost: (result.tokens * by.cost * share) / 1e6,
          ms: monotonic() - started,
          failed: false,
        });
        if (by === access) [failures, reason, answered, since] = [0, undefined, true, undefined];
        return result;
      } catch (error) {
        // What was stopped here says nothing about the provider, and one text that it refuses is not its end.
        if (by !== access || (error instanceof AppError && (error.code === "CANCELLED" || error.code === "INVALID_INPUT"))) throw error;
        deps.usage({ provider: by.id, model: by.model, tokens: 0, cost: 0, ms: monotonic() - started, failed: true });
        failed(error);
        throw error;
      }
    },
    [Symbol.asyncDispose]: async () => embedder?.[Symbol.asyncDispose](),
  };
}
