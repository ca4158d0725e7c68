import { createHash } from "node:crypto";
import type { Clock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import { describeSchema, type Config, type DescribedSections } from "../../config/index.ts";
import type { MethodParams, MethodResult } from "../../protocol/index.ts";
import { changeFile, editOf } from "./config/change.ts";
import { configReviewHandlers, type PluginIssues } from "./config-review.ts";
import { currentSnapshot, shownConfig } from "./config/shown.ts";
import type { MethodDeps, RestartReport, RestartRequest, SentinelPayload } from "./deps.ts";
import type { CallContext, Caller, Handlers } from "./handler.ts";

const CALLS = 3;
const WINDOW_MS = 60_000;

/** Calls that restart the gateway are rare: a few a minute for each caller, failed ones counted. */
export interface WriteBudget {
  /** Takes one call of the caller's budget, or refuses with the time to wait. */
  take(method: string, caller: Pick<Caller, "deviceId" | "remoteIp">): void;
}

export function createWriteBudget(clock: Pick<Clock, "now">): WriteBudget {
  const calls = new Map<string, number[]>();
  return {
    take(method, { deviceId, remoteIp }) {
      const now = clock.now();
      for (const [caller, times] of calls) if (times.every((time) => now - time >= WINDOW_MS)) calls.delete(caller);
      const key = `${deviceId ?? ""}|${remoteIp ?? ""}`;
      const recent = (calls.get(key) ?? []).filter((time) => now - time < WINDOW_MS);
      const [first = now] = recent;
      if (recent.length >= CALLS) {
        const retryAfterMs = first + WINDOW_MS - now;
        throw new AppError("UNAVAILABLE", `rate limit exceeded for ${method}; retry after ${Math.ceil(retryAfterMs / 1000)}s`, {
          details: { method, limit: `${CALLS} per 60s`, retryable: true, retryAfterMs },
        });
      }
      calls.set(key, [...recent, now]);
    },
  };
}

/** What plugins say about their sections of the configuration in use. */
export interface PluginSectionsPort {
  /** Schemas, labels and help. Another answer after plugins were reloaded. */
  describe(): Promise<DescribedSections>;
  /** After it the configuration knows what plugins call secret. */
  learn(): Promise<void>;
}

export interface ConfigDeps extends Pick<MethodDeps, "config" | "clock"> {
  readonly version: string;
  /** Shared with `update.run`. */
  readonly budget: WriteBudget;
  /** Asks for a restart; the report says whether there will be one. */
  readonly requestRestart: (request: RestartRequest, options?: { readonly urgent?: boolean }) => RestartReport;
  /** Without it `config.check` knows nothing of the settings of plugins. */
  readonly pluginIssues?: PluginIssues | undefined;
  /** Without it forms and secrets of plugins are not known. */
  readonly pluginSections?: PluginSectionsPort | undefined;
  /** Leaves a note for the gateway after the restart. Gives its path; null when it could not be left. */
  readonly leaveSentinel?: (payload: SentinelPayload) => Promise<string | null>;
}

const RESTART_DELAY_MS = 2000;
const MAX_RESTART_DELAY_MS = 60_000;

function shownConfigOf(config: Config): unknown {
  return config.shown().config;
}

async function schema({ config, clock, version, pluginSections }: ConfigDeps): Promise<MethodResult<"config.schema">> {
  const { schema: whole, hints, hash } = await describeSchema(await pluginSections?.describe());
  const effects = (await config.review()).effects(Object.keys(hints));
  const changes = [...effects].map(([key, change]) => [key, { ...hints[key], change: { ...change } }] as const);
  const uiHints = { ...hints, ...Object.fromEntries(changes) };
  // What a change does depends on settings as well: the page asks whether it has the newest answer.
  const whether = createHash("sha256")
    .update(JSON.stringify([hash, [...effects]]))
    .digest("hex");
  return { schema: whole, uiHints, version, hash: whether, generatedAt: new Date(clock.now()).toISOString() };
}

async function set(params: MethodParams<"config.set">, { config }: ConfigDeps, { caller }: CallContext): Promise<MethodResult<"config.set">> {
  await changeFile(config, editOf("config.set", params.raw), { baseHash: params.baseHash, by: `config.set (${caller.client.id})` });
  return { ok: true, path: config.paths.file, config: shownConfigOf(config) };
}

type ChangeMethod = "config.apply" | "config.patch";

async function change(
  method: ChangeMethod,
  params: MethodParams<ChangeMethod>,
  deps: ConfigDeps,
  { caller }: CallContext,
): Promise<MethodResult<ChangeMethod>> {
  const { config, clock, budget, leaveSentinel, requestRestart } = deps;
  budget.take(method, caller);
  const by = `${method} (${caller.client.id})`;
  await changeFile(config, editOf(method, params.raw), { baseHash: params.baseHash, by, restartFollows: true });
  const delayMs = Math.min(params.restartDelayMs ?? RESTART_DELAY_MS, MAX_RESTART_DELAY_MS);
  const payload: SentinelPayload = {
    kind: method.replace(".", "-"),
    status: "ok",
    ts: clock.now(),
    ...(params.sessionKey === undefined ? {} : { sessionKey: params.sessionKey }),
    message: params.note ?? null,
    doctorHint: null,
    stats: { mode: method, root: config.paths.state },
  };
  const path = (await leaveSentinel?.(payload)) ?? null;
  const restart = requestRestart({ reason: method, delayMs });
  return { ok: true, path: config.paths.file, config: shownConfigOf(config), restart: { ...restart }, sentinel: { path, payload } };
}

/** Nothing of the file is shown before it is known what in it is secret. */
function afterLearning<Showing extends Handlers>(handlers: Showing, { config, pluginSections }: ConfigDeps): Showing {
  if (!pluginSections) return handlers;
  const learned = Object.entries(handlers).map(([method, handle]) => [
    method,
    async (params: never, context: CallContext) => {
      currentSnapshot(config);
      await pluginSections.learn();
      return handle?.(params, context);
    },
  ]);
  return Object.fromEntries(learned) as Showing;
}

/** Reading and changing the configuration file. */
export function configHandlers(deps: ConfigDeps) {
  const showing = {
    ...configReviewHandlers(deps),
    "config.get": () => shownConfig(deps.config),
    "config.set": (params, context) => set(params, deps, context),
    "config.apply": (params, context) => change("config.apply", params, deps, context),
    "config.patch": (params, context) => change("config.patch", params, deps, context),
  } satisfies Handlers;
  return { ...afterLearning(showing, deps), "config.schema": () => schema(deps) } satisfies Handlers;
}
