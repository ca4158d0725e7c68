import type { Clock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import type { Ids } from "../../base/ids.ts";
import type { Store } from "../../store/index.ts";
import { checksFor } from "./arguments.ts";
import type { Binding } from "./binding.ts";
import type { SessionExtensionRegistration } from "./kinds.ts";
import type { Table } from "./table.ts";

const NAMESPACE = /^[A-Za-z0-9][\w.:-]{0,127}$/;

/** Registers a plugin's state in sessions. */
export function registerSessionExtension({ ledger, scope }: Binding, table: Table<SessionExtensionRegistration>, given: unknown): void {
  const checks = checksFor("api.registerSessionExtension");
  const extension = checks.fields("extension", given);
  const namespace = checks.text("extension.namespace", extension["namespace"], 128);
  if (!NAMESPACE.test(namespace)) checks.fail("extension.namespace", "letters, digits, _ . : and -", namespace);
  const description = checks.text("extension.description", extension["description"] ?? namespace);
  const project = checks.maybeFn("extension.project", extension["project"]);
  const cleanup = checks.maybeFn("extension.cleanup", extension["cleanup"]);
  const value: SessionExtensionRegistration = {
    namespace,
    description,
    ...(project ? { project: scope.bind(project, "a session extension's projection") } : {}),
    ...(cleanup ? { cleanup: scope.bind(cleanup, "a session extension's cleanup") } : {}),
  };
  ledger.enter({ kind: "session extension", name: namespace, apply: () => table.add(`${ledger.owner.pluginId}/${namespace}`, ledger.owner, value) });
}

export interface InjectionDeps {
  readonly store: Pick<Store, "read" | "write">;
  readonly ids: Pick<Ids, "uuid">;
  readonly clock: Pick<Clock, "now">;
  /** The key as sessions are stored under; undefined when the text is none. */
  readonly canonicalKey: (written: string, agentId: string | undefined) => string | undefined;
  /** False: the operator keeps the plugin out of prompts. */
  readonly isPromptAllowed: (pluginId: string) => boolean;
}

export interface Enqueued {
  /** False: the same was queued before, or the operator does not allow it. */
  readonly enqueued: boolean;
  readonly id: string;
  readonly sessionKey: string;
}

/** Longest text, and how many of a plugin may wait in a session. */
const MOST_TEXT = 65_536;
const MOST_WAITING = 100;
const YEAR_MS = 31_536_000_000;
const PLACEMENTS = ["prepend_context", "append_context"] as const;

/** Keeps a text for the next model turn of a session. Resolves when it is on disk. */
export async function enqueueInjection({ ledger, tell }: Binding, deps: InjectionDeps, given: unknown): Promise<Enqueued> {
  const checks = checksFor("api.enqueueNextTurnInjection");
  const injection = checks.fields("injection", given);
  const { pluginId } = ledger.owner;
  const written = checks.text("injection.sessionKey", injection["sessionKey"], 1024);
  const sessionKey =
    deps.canonicalKey(written, checks.maybeText("injection.agentId", injection["agentId"])) ?? checks.fail("injection.sessionKey", "a session key", written);
  const text = checks.text("injection.text", injection["text"], MOST_TEXT);
  const idempotencyKey = checks.maybeText("injection.idempotencyKey", injection["idempotencyKey"]);
  const placement = injection["placement"] === undefined ? PLACEMENTS[0] : checks.choice("injection.placement", injection["placement"], PLACEMENTS);
  const ttlMs = checks.maybeCount("injection.ttlMs", injection["ttlMs"], [1, YEAR_MS]);
  const { metadata } = injection;
  if (!deps.isPromptAllowed(pluginId)) {
    tell("warn", "injection-refused", `a next-turn injection is dropped: plugins.entries.${pluginId}.hooks.allowPromptInjection is false`);
    return { enqueued: false, id: "", sessionKey };
  }
  const waiting = await deps.store.read("injections.waiting", { sessionKey, now: deps.clock.now() });
  if (waiting.filter((row) => row.pluginId === pluginId).length >= MOST_WAITING) {
    throw new AppError("OVERLOADED", `${MOST_WAITING} injections of ${pluginId} already wait for the next turn of ${sessionKey}: this one is dropped`);
  }
  const added = await deps.store.write("injections.add", {
    id: deps.ids.uuid(),
    sessionKey,
    pluginId,
    placement,
    text,
    ...(metadata === undefined ? {} : { payload: jsonOf("injection.metadata", metadata) }),
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    ...(ttlMs === undefined ? {} : { expiresAt: deps.clock.now() + ttlMs }),
  });
  return { enqueued: !added.duplicate, id: added.id, sessionKey };
}

const MOST_JSON = 65_536;

/** A copy that holds only what JSON can, up to a size. */
export function jsonOf(what: string, value: unknown, most = MOST_JSON): unknown {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    throw new AppError("INVALID_INPUT", `${what} must be a JSON value`, { cause: error });
  }
  if (text === undefined) throw new AppError("INVALID_INPUT", `${what} must be a JSON value`);
  if (text.length > most) throw new AppError("INVALID_INPUT", `${what} must be at most ${most} characters of JSON, but is ${text.length}`);
  const copy: unknown = JSON.parse(text);
  return copy;
}
