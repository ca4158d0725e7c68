import { AppError, messageOf } from "../../base/errors.ts";
import type { PluginDiagnostic } from "../record.ts";
import type { Owner } from "./owner.ts";

/** Kinds of things that plugins register. */
export type RegistrationKind =
  | "tool"
  | "hook"
  | "internal hook"
  | "command"
  | "http route"
  | "http handler"
  | "gateway method"
  | "channel"
  | "provider"
  | "media provider"
  | "cli"
  | "service"
  | "session extension"
  | "tool policy";

/** More of a kind from one plugin are refused: a plugin that registers in a loop must not slow down every turn. */
export const LIMITS: Readonly<Record<RegistrationKind, number>> = {
  tool: 500,
  hook: 500,
  "internal hook": 500,
  command: 200,
  "http route": 200,
  "http handler": 20,
  "gateway method": 200,
  channel: 50,
  provider: 100,
  "media provider": 100,
  cli: 50,
  service: 50,
  "session extension": 50,
  "tool policy": 50,
};

/** One thing a plugin asked for. */
export interface LedgerEntry {
  readonly kind: RegistrationKind;
  readonly name: string;
  /** Puts it into its registry. */
  readonly apply: () => Disposable;
}

/**
 * Everything one generation of a plugin registered. While it is `staged` nothing of it can be seen by others; `commit` puts it all in place at once;
 * `retire` takes it all away again. What comes after that registers nothing.
 */
export interface Ledger {
  readonly owner: Owner;
  readonly state: "staged" | "live" | "retired";
  enter(entry: LedgerEntry): void;
  commit(): void;
  /** Safe to call twice. */
  retire(): void;
  /** Names of a kind that are in place, in order. */
  names(kind: RegistrationKind): readonly string[];
}

interface Placed {
  readonly entry: LedgerEntry;
  readonly placed: Disposable;
}

/** How bad it is that something could not be registered, and the word for machines. */
function verdict(entry: LedgerEntry, error: unknown): readonly [PluginDiagnostic["level"], string] {
  const code = error instanceof AppError ? error.code : undefined;
  if (code === "CONFLICT") return ["error", "conflict"];
  if (code === "PERMISSION_DENIED") return ["warn", "refused"];
  return entry.kind === "hook" && code === "INVALID_INPUT" ? ["warn", "hook-unknown"] : ["error", "registration-failed"];
}

/** `onLate`: called after something was put in place while the plugin already runs. */
export function createLedger(owner: Owner, onDiagnostic: (found: PluginDiagnostic) => void, onLate?: () => void): Ledger {
  const staged: LedgerEntry[] = [];
  const live: Placed[] = [];
  const counts = new Map<RegistrationKind, number>();
  let state: Ledger["state"] = "staged";

  const tell = (level: PluginDiagnostic["level"], code: string, message: string): void =>
    onDiagnostic({ level, code, message, pluginId: owner.pluginId, source: owner.source });

  function place(entry: LedgerEntry): void {
    try {
      live.push({ entry, placed: entry.apply() });
    } catch (error) {
      const [level, code] = verdict(entry, error);
      tell(level, code, messageOf(error));
    }
  }

  return {
    owner,
    get state() {
      return state;
    },
    enter(entry) {
      if (state === "retired") {
        return tell("warn", "after-disposal", `the ${entry.kind} ${entry.name} was registered after the plugin was unloaded: it is ignored`);
      }
      const count = (counts.get(entry.kind) ?? 0) + 1;
      if (count > LIMITS[entry.kind]) {
        return tell("error", "flood", `more than ${LIMITS[entry.kind]} of kind "${entry.kind}" were registered: the rest is ignored`);
      }
      counts.set(entry.kind, count);
      if (state === "staged") return void staged.push(entry);
      place(entry);
      onLate?.();
    },
    commit() {
      if (state !== "staged") return;
      state = "live";
      for (const entry of staged.splice(0)) place(entry);
    },
    retire() {
      state = "retired";
      staged.length = 0;
      for (const { placed } of live.splice(0).toReversed()) placed[Symbol.dispose]();
    },
    names: (kind) => live.filter(({ entry }) => entry.kind === kind).map(({ entry }) => entry.name),
  };
}
