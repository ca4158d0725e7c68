import { failingOf, jobOf } from "../automation/index.ts";
import { sessionName } from "../base/session-name.ts";
import { formatBytes, formatDuration } from "../base/text.ts";
import type { Channels } from "../channels/index.ts";
import type { Config } from "../config/index.ts";
import { loadWhy, type Why } from "../conversation/index.ts";
import type { PluginFacts } from "../plugins/index.ts";
import type { Store } from "../store/index.ts";
import type { Trouble } from "./problem.ts";

/** How many of the most recently ended messages and deliveries are checked for failures. */
const AMONG = 500;
const MOST_FAILURES = 50;
/** How many kinds of failures are explained. */
const MOST_EXPLAINED = 10;
const MOST_TRACED = 200;
const MB = 1024 * 1024;

/** Accounts with problems. */
export function channelTroubles(channels: Pick<Channels, "health" | "accounts">): Trouble[] {
  const known = new Map(channels.accounts().map(({ channel, snapshot }) => [`${channel}:${snapshot.accountId}`, snapshot]));
  return channels.health().flatMap(({ channel, accountId, state, why }): Trouble[] => {
    if (state === "ok" || state === "starting") return [];
    const name = `${channel}:${accountId}`;
    const snapshot = known.get(name);
    const isStopped = snapshot?.stoppedByHand === true;
    const lost = snapshot?.lastDisconnect;
    const at = (typeof lost === "object" ? lost?.at : undefined) ?? snapshot?.lastStopAt ?? snapshot?.lastStartAt ?? undefined;
    return [
      {
        id: `channel:${name}`,
        ...(at === undefined ? {} : { at }),
        level: state === "down" && !isStopped ? "error" : "warn",
        text: `${channel} (${accountId}): ${why || (snapshot?.lastError ?? "not connected")}`,
        todo: isStopped
          ? `Outgoing messages are queued. Start it with: openclaw channels start --channel ${channel} --account ${accountId}`
          : state === "down"
            ? "Fix this, then run openclaw channels status --probe to check."
            : "It reconnects automatically.",
        page: "channels",
      },
    ];
  });
}

/** Warnings about the configuration in use, including channel settings. */
export function configTroubles(config: Pick<Config, "snapshot">): Trouble[] {
  return config.snapshot().warnings.map(({ path, message, line, file }) => ({
    id: `config:${path}:${message}`,
    level: "warn",
    text: `${path === "" ? "The configuration" : path}: ${message}`,
    todo: `Change it on line ${line} of ${file}.`,
    page: "config",
  }));
}

export function pluginTroubles({ plugins, diagnostics, breakers }: PluginFacts): Trouble[] {
  const failed = plugins.flatMap(({ id, status, error }): Trouble[] =>
    status === "error"
      ? [{ id: `plugin:${id}`, level: "error", text: `The plugin ${id} is not running: ${error ?? "it could not be loaded"}`, todo: `Fix the problem, then run: openclaw plugins reload ${id}`, page: "plugins" }]
      : [],
  ); // prettier-ignore
  const down = new Set(failed.map(({ id }) => id));
  const reported = diagnostics.flatMap(({ level, message, pluginId, source, line }): Trouble[] => {
    if (pluginId !== undefined && down.has(`plugin:${pluginId}`)) return [];
    const position = source === undefined ? "" : ` (${source}${line === undefined ? "" : `:${line}`})`;
    return [{ id: `plugin:${pluginId ?? ""}:${message}`, level, text: `${pluginId ?? "plugins"}: ${message}${position}`, todo: "For details, run: openclaw plugins doctor", page: "plugins" }]; // prettier-ignore
  });
  const skipped = breakers.flatMap(({ pluginId, hook, state, failures }): Trouble[] =>
    state === "counting"
      ? []
      : [{ id: `breaker:${pluginId}:${hook}`, level: "warn", text: `${hook} of the plugin ${pluginId} failed ${failures} times in a row and is skipped`, todo: `It is retried automatically. After fixing the plugin, run: openclaw plugins reload ${pluginId}`, page: "plugins" }],
  ); // prettier-ignore
  return [...failed, ...reported, ...skipped];
}

export interface FailureTroubles {
  list(): Promise<Trouble[]>;
}

/** Failed messages and undelivered answers, with an explanation from `why`. */
export function createFailureTroubles({ store, now }: { readonly store: Store; readonly now: () => number }): FailureTroubles {
  /** A cache: what has ended does not change. */
  const traced = new Map<string, { readonly text: string; readonly todo?: string }>();
  let why: Why | undefined;

  async function explain(what: string): Promise<{ readonly text: string; readonly todo?: string } | undefined> {
    const known = traced.get(what);
    if (known) return known;
    why ??= (await loadWhy()).createWhy({ store, now });
    const verdict = (await why.tell(what).catch(() => []))[0]?.verdict;
    if (!verdict) return undefined;
    const { text, todo } = verdict;
    const [oldest] = traced.keys();
    if (oldest !== undefined && traced.size >= MOST_TRACED) traced.delete(oldest);
    const summary = { text, ...(todo === undefined ? {} : { todo }) };
    traced.set(what, summary);
    return summary;
  }

  /** How people know a conversation. */
  async function nameOf(key: string): Promise<string> {
    const entry: Readonly<Record<string, unknown>> = (await store.read("sessions.get", { key }))?.entry ?? {};
    const text = (field: string): string | undefined => (typeof entry[field] === "string" ? entry[field] : undefined);
    return sessionName({ key, label: text("label"), displayName: text("displayName"), subject: text("subject") });
  }

  return {
    async list() {
      const wanted = { among: AMONG, limit: MOST_FAILURES };
      const [inputs, deliveries] = await Promise.all([store.read("inbox.failures", wanted), store.read("outbox.failures", wanted)]);
      const failures = [
        ...inputs.map(({ id, at, sessionKey, why: reason }) => ({ id: `turn:${sessionKey}:${reason}`, at, what: `in:${id}`, about: sessionKey ?? "a message", reason })),
        ...deliveries.map(({ id, at, channel, account, why: reason }) => ({ id: `delivery:${channel}:${account}:${reason}`, at, what: `out:${id}`, about: channel, reason })),
      ]; // prettier-ignore
      const newest = [...new Map(failures.toReversed().map((failure) => [failure.id, failure])).values()].slice(-MOST_EXPLAINED);
      const explained = new Map(await Promise.all(newest.map(async ({ id, what }) => [id, await explain(what)] as const)));
      const keys = new Set(inputs.flatMap(({ sessionKey }) => sessionKey ?? []));
      const names = new Map(await Promise.all([...keys].map(async (key) => [key, await nameOf(key)] as const)));
      return failures.map(({ id, at, what, about, reason }) => {
        const known = explained.get(id);
        const text = `${names.get(about) ?? about}: ${known?.text ?? reason ?? "it failed"}`;
        return { id, at, level: "error" as const, text, ...(known?.todo === undefined ? {} : { todo: known.todo }), why: what, page: "trace" };
      });
    },
  };
}

/** Scheduled jobs that need attention. Read again only when jobs changed. */
export function createJobTroubles(store: Pick<Store, "read">): () => Promise<readonly Trouble[]> {
  let known: { readonly mark: string; readonly troubles: readonly Trouble[] } | undefined;
  return async () => {
    const mark = await store.read("cron.job.mark", {});
    if (known?.mark === mark) return known.troubles;
    const rows = await store.read("cron.job.list", { lastStatus: "error" });
    const troubles = rows.flatMap((row): Trouble[] => {
      const failing = failingOf(jobOf(row));
      if (!failing) return [];
      const { id, at, text, todo } = failing;
      return [{ id: `job:${id}`, ...(at === undefined ? {} : { at }), level: "error", text, todo, page: "jobs" }];
    });
    known = { mark, troubles };
    return troubles;
  };
}

export interface DiskSpace {
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/** Free space below which a disk is reported: as a warning, or as an error. */
const WARN_BELOW = 1024 * MB;
const ERROR_BELOW = 200 * MB;

export function diskTroubles(disk: DiskSpace | undefined, directory: string): Trouble[] {
  if (!disk || disk.freeBytes >= WARN_BELOW) return [];
  const text = `The disk is nearly full: ${formatBytes(disk.freeBytes)} of ${formatBytes(disk.totalBytes)} free at ${directory}`;
  return [
    { id: "disk", level: disk.freeBytes < ERROR_BELOW ? "error" : "warn", text, todo: "Free some space: no messages are accepted when the disk is full." },
  ];
}

/** The parts of a model's state that can stop it from answering. */
export interface ModelState {
  readonly model: string | null;
  readonly why: string;
  readonly keyMissing: boolean;
  readonly rest?: { readonly kind: string; readonly until: number } | undefined;
}

export function modelTroubles({ model, why, keyMissing, rest }: ModelState, now: number): Trouble[] {
  if (model === null) return [{ id: "model", level: "error", text: `No model can answer: ${why}`, todo: "Choose one, or add a key.", page: "setup" }];
  if (keyMissing)
    return [{ id: "model:key", level: "error", text: `${model} cannot answer: ${why}`, todo: "Add the key, or choose another model.", page: "setup" }];
  if (!rest || rest.until <= now) return [];
  const text = `All keys for ${model} are paused for another ${formatDuration(rest.until - now)}: ${rest.kind}`;
  return [
    { id: "model:rest", level: "warn", text, todo: "It is retried automatically. To continue now, add another key or choose another model.", page: "setup" },
  ];
}
