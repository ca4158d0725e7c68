/** Answers to interactions: within three seconds a first one, and later the text that takes its place. */
import { asChannelError, type KitLog, messageOf, type Waiting } from "openclaw/plugin-sdk/channel-kit";
import { INTERACTION, type Interaction } from "./inbound/interaction.ts";
import { codeOf, type Rest } from "./rest.ts";
import type { ChannelInboundResult } from "./types.ts";

/** A command whose answer goes into the message that Discord shows for it. */
export interface PendingAnswer {
  /** `/webhooks/<application>/<token>`. */
  readonly path: string;
  /** Whether Discord took the first answer. */
  readonly isOpen: Promise<boolean>;
}

interface Store {
  register(key: string, value: unknown, options?: { ttlMs?: number }): Promise<void>;
  delete(key: string): Promise<boolean>;
  entries(): Promise<{ key: string; value: unknown }[]>;
}

export interface AnswersOptions {
  readonly rest: Rest;
  readonly waiting: Waiting;
  readonly log: KitLog;
  /** Answers that are due, for the process after this one. */
  readonly store: Store | undefined;
  readonly accountId: string;
  /** The account stops. */
  readonly signal: AbortSignal;
}

export interface Answers {
  /** Those that a process before this one left. */
  load(): Promise<void>;
  /** Answers for now; `result` is what the host says about the event. */
  open(interaction: Interaction, result: Promise<ChannelInboundResult | undefined>): Promise<void>;
  /** At once, seen by the person alone. */
  refuse(interaction: Interaction, text: string): Promise<void>;
  suggest(interaction: Interaction, choices: readonly string[]): Promise<void>;
  /** The answer that this event still waits for. */
  pending(eventId: string): PendingAnswer | undefined;
  settled(eventId: string): void;
}

const CALLBACK = { message: 4, deferred: 5, deferredUpdate: 6, choices: 8 } as const;
const EPHEMERAL = 64;
/** The host usually decides in milliseconds; Discord waits for three seconds. */
const DECIDE_MS = 1500;
const CALLBACK_MS = 2500;
/** Discord's tokens are good for 15 minutes. */
const TOKEN_MS = 14 * 60_000;
const MAX_PENDING = 1000;
const MAX_CHOICES = 25;
/** Too late, or done already. */
const GONE: ReadonlySet<number> = new Set([10_062, 40_060]);

export function createAnswers({ rest, waiting, log, store, accountId, signal }: AnswersOptions): Answers {
  const waitingFor = new Map<string, PendingAnswer>();

  async function callback({ id, token }: Interaction, type: number, data?: Readonly<Record<string, unknown>>): Promise<boolean> {
    try {
      const json = { type, ...(data ? { data } : {}) };
      await rest.call("POST", `/interactions/${id}/${token}/callback`, { json, timeoutMs: CALLBACK_MS, action: "the answer to an interaction" });
      return true;
    } catch (error) {
      if (!GONE.has(codeOf(error) ?? 0)) log.warn(`an interaction could not be answered: ${messageOf(error)}`);
      return codeOf(error) === 40_060;
    }
  }

  function forget(eventId: string): void {
    if (waitingFor.delete(eventId)) void store?.delete(`${accountId}:${eventId}`).catch(() => false);
  }

  /** The sign that an answer is being written goes away when none came. */
  async function expire(eventId: string, path: string): Promise<void> {
    await waiting.sleep(TOKEN_MS, signal);
    if (signal.aborted || !waitingFor.has(eventId)) return;
    forget(eventId);
    await rest.call("DELETE", `${path}/messages/@original`, { action: "the removal of an answer" }).catch(() => undefined);
  }

  function remember(eventId: string, answer: PendingAnswer): void {
    waitingFor.set(eventId, answer);
    const [oldest] = waitingFor.size > MAX_PENDING ? waitingFor.keys() : [];
    if (oldest !== undefined) forget(oldest);
  }

  const refuse: Answers["refuse"] = async (interaction, text) => {
    await callback(interaction, CALLBACK.message, { content: text, flags: EPHEMERAL, allowed_mentions: { parse: [] } });
  };

  return {
    async load() {
      const prefix = `${accountId}:`;
      for (const { key, value } of (await store?.entries()) ?? [])
        if (key.startsWith(prefix) && typeof value === "string") waitingFor.set(key.slice(prefix.length), { path: value, isOpen: Promise.resolve(true) });
    },
    async open(interaction, result) {
      const isCommand = interaction.type === INTERACTION.command;
      const path = `/webhooks/${interaction.applicationId}/${interaction.token}`;
      const taken = Promise.withResolvers<boolean>();
      if (isCommand) remember(interaction.id, { path, isOpen: taken.promise });
      const stop = new AbortController();
      const early = await Promise.race([result, waiting.sleep(DECIDE_MS, stop.signal).then(() => "late" as const)]);
      stop.abort();
      if (early !== "late" && early?.outcome === "refused") {
        taken.resolve(false);
        forget(interaction.id);
        return refuse(interaction, "You are not allowed to use this here.");
      }
      const isOpen = await callback(interaction, isCommand ? CALLBACK.deferred : CALLBACK.deferredUpdate);
      taken.resolve(isOpen);
      if (!isCommand) return;
      if (!isOpen) return forget(interaction.id);
      await store?.register(`${accountId}:${interaction.id}`, path, { ttlMs: TOKEN_MS }).catch(() => undefined);
      void expire(interaction.id, path);
    },
    refuse,
    async suggest(interaction, choices) {
      const offered = choices.slice(0, MAX_CHOICES).map((choice) => ({ name: choice.slice(0, 100), value: choice.slice(0, 100) }));
      await callback(interaction, CALLBACK.choices, { choices: offered });
    },
    pending: (eventId) => waitingFor.get(eventId),
    settled: forget,
  };
}

/** Refusals that mean: the interaction is over, so its answer goes to the channel. */
export function isOver(error: unknown): boolean {
  const failure = asChannelError(error);
  return failure?.status === 401 || failure?.status === 404;
}
