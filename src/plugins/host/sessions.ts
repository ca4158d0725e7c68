import { AppError, messageOf } from "../../base/errors.ts";
import type { Store } from "../../store/index.ts";
import { jsonOf, type CleanupReason, type Registration, type SessionExtensionRegistration, type Table } from "../registry/index.ts";
import type { Clock } from "../../base/clock.ts";
import { within } from "./within.ts";

/** State of a plugin in a session, as session rows show it. */
export interface ExtensionRowValue {
  readonly pluginId: string;
  readonly namespace: string;
  readonly value: unknown;
}

export interface ExtensionPatch {
  readonly key: string;
  readonly pluginId: string;
  readonly namespace: string;
  readonly value?: unknown;
  readonly unset?: boolean;
}

/** What plugins keep in sessions. */
export interface SessionExtensions {
  /** False while no plugin keeps anything: then nothing is read. */
  readonly any: boolean;
  patch(patch: ExtensionPatch): Promise<{ readonly value?: unknown }>;
  project(sessionKey: string, sessionId: string | undefined): Promise<readonly ExtensionRowValue[]>;
  /** Tells plugins that a session was reset or deleted. Its state is gone already. */
  ended(sessionKey: string, reason: "reset" | "delete"): Promise<void>;
  /** Notifies a plugin that it is unloaded; on `disable` its stored state is deleted. */
  left(pluginId: string, reason: "disable" | "restart"): Promise<void>;
}

export interface SessionExtensionsDeps {
  readonly table: Table<SessionExtensionRegistration>;
  readonly store: Pick<Store, "read" | "write">;
  readonly clock: Clock;
  readonly tell: (pluginId: string, code: string, message: string, error: unknown) => void;
}

const MOST_STATE = 16_384;
const CLEANUP_MS = 2000;

export function createSessionExtensions({ table, store, clock, tell }: SessionExtensionsDeps): SessionExtensions {
  async function cleanUp(
    which: (row: Registration<SessionExtensionRegistration>) => boolean,
    context: { reason: CleanupReason; sessionKey?: string },
  ): Promise<void> {
    const concerned = table.list().filter((row) => row.value.cleanup && which(row));
    await Promise.all(
      concerned.map(async ({ owner, value }) => {
        try {
          await within(clock, CLEANUP_MS, `cleanup of ${value.namespace}`, () => value.cleanup?.(context));
        } catch (error) {
          tell(owner.pluginId, "cleanup", `the cleanup of the session extension ${value.namespace} failed: ${messageOf(error)}`, error);
        }
      }),
    );
  }

  /** What the row shows: the plugin's projection, or all of it. */
  function shown(pluginId: string, row: { namespace: string; value: unknown }, session: { sessionKey: string; sessionId?: string }): unknown {
    const project = table.get(`${pluginId}/${row.namespace}`)?.value.project;
    if (!project) return row.value;
    try {
      const value = project({ ...session, state: row.value });
      return value === undefined ? undefined : jsonOf("what project returns", value, MOST_STATE);
    } catch (error) {
      tell(pluginId, "project", `the projection of the session extension ${row.namespace} failed: ${messageOf(error)}`, error);
      return undefined;
    }
  }

  return {
    get any() {
      return table.size > 0;
    },
    async patch({ key, pluginId, namespace, value, unset }) {
      if (!table.get(`${pluginId}/${namespace}`)) {
        throw new AppError("NOT_FOUND", `no plugin ${JSON.stringify(pluginId)} stores ${JSON.stringify(namespace)} in sessions: see plugins.list`);
      }
      const gone = unset === true || value === undefined || value === null;
      const kept = gone ? null : jsonOf("value", value, MOST_STATE);
      await store.write("extensions.set", { sessionKey: key, pluginId, namespace, value: kept });
      return gone ? {} : { value: kept };
    },
    async project(sessionKey, sessionId) {
      const rows = await store.read("extensions.get", { sessionKey });
      const session = { sessionKey, ...(sessionId === undefined ? {} : { sessionId }) };
      return rows
        .filter((row) => table.get(`${row.pluginId}/${row.namespace}`))
        .map(({ pluginId, namespace, ...row }) => ({ pluginId, namespace, value: shown(pluginId, { namespace, value: row.value }, session) }))
        .filter((row) => row.value !== undefined);
    },
    ended: (sessionKey, reason) => cleanUp(() => true, { reason, sessionKey }),
    async left(pluginId, reason) {
      await cleanUp((row) => row.owner.pluginId === pluginId, { reason });
      if (reason === "disable") await store.write("extensions.clear", { pluginId });
    },
  };
}
