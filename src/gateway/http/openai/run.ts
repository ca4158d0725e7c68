import type { Clock } from "../../../base/clock.ts";
import type { Ids } from "../../../base/ids.ts";
import type { Logger } from "../../../base/log/logger.ts";
import type { Config } from "../../../config/index.ts";
import type { Documents } from "../../../media/index.ts";
import type { HealthReport } from "../../health.ts";
import type { Responder, RunOutcome } from "../../ports.ts";
import { turnLimitMs } from "../../../sessions/index.ts";
import type { ImageContent } from "../../../protocol/index.ts";
import { checkSendPolicy, cleanMessage, type SendPolicyDeps } from "../../methods/chat/incoming.ts";
import { apiErrorOfRun, INTERNAL, timedOut } from "../failures.ts";
import { isReady } from "../../health.ts";
import type { Conversation, RunSettings } from "./conversation.ts";
import { loadImages, type ImageDeps } from "./images.ts";
import { RequestRefused } from "./refusal.ts";
import type { RunTarget } from "./target.ts";

export interface ApiDeps {
  readonly responder: Responder;
  readonly health: () => HealthReport;
  readonly config: Pick<Config, "current">;
  readonly store: SendPolicyDeps["store"];
  readonly log: Logger;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly fetchFile?: ImageDeps["fetchFile"];
  readonly documents?: Documents | undefined;
}

/** What the answer is when an agent has nothing to say. */
export const NO_RESPONSE = "No response from OpenClaw.";

/** The channel that runs of this API come by. */
const CHANNEL = "api";

export interface RunWatcher {
  /** The message is on disk. Called before any text. */
  accepted(): void;
  /** More of the answer. */
  delta(text: string): void;
}

/** A run that ended with an answer: whole, or stopped early. */
export type Answer = Exclude<RunOutcome, { readonly status: "error" }>;

/** The message with the text of its files, and its images. */
async function withFiles(
  deps: ApiDeps,
  { message, images: sources = [], files = [] }: Conversation,
  signal: AbortSignal,
): Promise<{ readonly message: string; readonly images?: readonly ImageContent[] }> {
  const images = sources.length === 0 ? [] : await loadImages(sources, signal, deps);
  if (files.length === 0) return { message, ...(images.length === 0 ? {} : { images }) };
  const { loadFiles } = await import("./files.ts");
  const loaded = await loadFiles(files, sources.filter((source) => "url" in source).length, signal, deps);
  const all = [...images, ...loaded.images];
  return { message: [message, ...loaded.blocks].filter(Boolean).join("\n\n"), ...(all.length === 0 ? {} : { images: all }) };
}

/**
 * Runs a message and resolves with its answer. Undefined: the caller left. Throws `RequestRefused` with the reason when the run failed,
 * and what `accept` threw when it was never started.
 */
export async function runMessage(
  deps: ApiDeps,
  target: RunTarget,
  asked: { readonly conversation: Conversation; readonly settings: RunSettings },
  caller: { readonly signal: AbortSignal; readonly watcher?: RunWatcher },
): Promise<Answer | undefined> {
  const { responder, log } = deps;
  const { runId, sessionKey, resumable } = target;
  const { signal, watcher } = caller;
  const health = deps.health();
  // While plugins are being loaded it is accepted and waits, as over every other entrance.
  if (!isReady(health) && health.status !== "starting")
    throw new RequestRefused({
      status: 503,
      message: "the gateway is not ready; try again shortly",
      type: "unavailable",
      code: "UNAVAILABLE",
      retryAfterMs: 1000,
    });

  const { systemPrompt } = asked.conversation;
  await checkSendPolicy(sessionKey, CHANNEL, deps);
  const { message, ...images } = await withFiles(deps, asked.conversation, signal);
  const early: string[] = [];
  let started = false;
  let joined = false;
  let before = "";
  using _listening = responder.onEvent((run, event) => {
    if (run.runId !== runId || event.stream !== "assistant") return;
    // Who joins a run under way has missed its first deltas; its first event still holds the text so far.
    const { text: whole, delta } = event.data;
    const begun = joined && before !== "" && whole === delta;
    const text = !joined ? whole : begun ? `\n\n${delta}` : delta;
    joined = true;
    before = whole;
    if (started) watcher?.delta(text);
    else early.push(text);
  });
  const texts = { message: cleanMessage(message), ...(systemPrompt === undefined ? {} : { systemPrompt: cleanMessage(systemPrompt) }) };
  // The holder of the gateway's secret is its owner.
  const timeoutMs = turnLimitMs(deps.config.current);
  const accepted = await responder.accept({ runId, sessionKey, channel: CHANNEL, owner: true, timeoutMs, ...texts, ...images, ...asked.settings });
  const leave = (): void => {
    if (!resumable) responder.abort({ sessionKey, runId }, "rpc");
  };
  if (signal.aborted) {
    leave();
    return undefined;
  }
  watcher?.accepted();
  started = true;
  for (const text of early) watcher?.delta(text);

  signal.addEventListener("abort", leave, { once: true });
  try {
    const outcome = accepted.ended ?? (await responder.outcome(runId, signal));
    if (signal.aborted) return undefined;
    if (outcome === undefined) log.error("a run for the HTTP API has no outcome", { runId, sessionKey });
    if (outcome === undefined || outcome.status === "error") throw new RequestRefused(outcome ? apiErrorOfRun(outcome) : INTERNAL);
    if (outcome.status === "aborted" && outcome.abortedBy === "timeout") throw new RequestRefused(timedOut(timeoutMs));
    return outcome;
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  } finally {
    signal.removeEventListener("abort", leave);
  }
}
