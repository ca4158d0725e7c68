import { formatBytes, formatDuration } from "../base/text.ts";
import type { Channels } from "../channels/index.ts";
import type { Config } from "../config/index.ts";
import { loadWhy, type Why } from "../conversation/index.ts";
import type { PluginFacts } from "../plugins/index.ts";
import type { Store } from "../store/index.ts";
import type { Trouble } from "./problem.ts";

/** Failures are looked for among so many messages and deliveries that ended last. */
const AMONG = 500;
const MOST_FAILURES = 50;
/** Kinds of failures that are explained. */
const MOST_STORIES = 10;
const MOST_TRACED = 200;
const MB = 1024 * 1024;

/** Accounts that are not well. */
export function channelTroubles(channels: Pick<Channels, "health" | "accounts">): Trouble[] {
  const known = new Map(channels.accounts().map(({ channel, snapshot }) => [`${channel}:${snapshot.accountId}`, snapshot]));
  return channels.health().flatMap(({ channel, accountId, state, why }): Trouble[] => {
    if (state === "ok" || state === "starting") return [];
    const name = `${channel}:${accountId}`;
    const snapshot = known.get(name);
    const held = snapshot?.stoppedByHand === true;
    const lost = snapshot?.lastDisconnect;
    const at = (typeof lost === "object" ? lost?.at : undefined) ?? snapshot?.lastStopAt ?? snapshot?.lastStartAt ?? undefined;
    return [
      {
        id: `channel:${name}`,
        ...(at === undefined ? {} : { at }),
        level: state === "down" && !held ? "error" : "warn",
        text: `${channel} (${accountId}): ${why || (snapshot?.lastError ?? "not connected")}`,
        todo: held
          ? `What is to be sent over it waits. Start it: openclaw channels start --channel ${channel} --account ${accountId}`
          : state === "down"
            ? "Fix this, then run openclaw channels status --probe to check."
            : "It is being connected again by itself.",
        page: "channels",
      },
    ];
  });
}

/** What is doubtful in the configuration in use, settings of channels included. */
export function configTroubles(config: Pick<Config, "snapshot">): Trouble[] {
  return config.snapshot().warnings.map(({ path, message, line, file }) => ({
    id: `config:${path}:${message}`,
    level: "warn",
    text: `${path === "" ? "The configuration" : path}: ${message}`,
    todo: `Change it in line ${line} of ${file}.`,
    page: "config",
  }));
}

export function pluginTroubles({ plugins, diagnostics, breakers }: PluginFacts): Trouble[] {
  const failed = plugins.flatMap(({ id, status, error }): Trouble[] =>
    status === "error"
      ? [{ id: `plugin:${id}`, level: "error", text: `The plugin ${id} does not run: ${error ?? "it could not be loaded"}`, todo: `Mend it, then: openclaw plugins reload ${id}`, page: "plugins" }]
      : [],
  ); // prettier-ignore
  const down = new Set(failed.map(({ id }) => id));
  const said = diagnostics.flatMap(({ level, message, pluginId, source, line }): Trouble[] => {
    if (pluginId !== undefined && down.has(`plugin:${pluginId}`)) return [];
    const place = source === undefined ? "" : ` (${source}${line === undefined ? "" : `:${line}`})`;
    return [{ id: `plugin:${pluginId ?? ""}:${message}`, level, text: `${pluginId ?? "plugins"}: ${message}${place}`, todo: "openclaw plugins doctor tells more.", page: "plugins" }]; // prettier-ignore
  });
  const skipped = breakers.flatMap(({ pluginId, hook, state, failures }): Trouble[] =>
    state === "counting"
      ? []
      : [{ id: `breaker:${pluginId}:${hook}`, level: "warn", text: `${hook} of the plugin ${pluginId} failed ${failures} times in a row and is skipped`, todo: `It is tried again by itself; or mend it, then: openclaw plugins reload ${pluginId}`, page: "plugins" }],
  ); // prettier-ignore
  return [...failed, ...said, ...skipped];
}

export interface FailureTroubles {
  list(): Promise<Trouble[]>;
}

/** Messages that failed and answers that did not arrive, with what `why` says about them. */
export function createFailureTroubles({ store, now }: { readonly store: Store; readonly now: () => number }): FailureTroubles {
  /** What has ended does not change. */
  const traced = new Map<string, { readonly text: string; readonly todo?: string }>();
  let why: Why | undefined;

  async function story(what: string): Promise<{ readonly text: string; readonly todo?: string } | undefined> {
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

  return {
    async list() {
      const wanted = { among: AMONG, limit: MOST_FAILURES };
      const [inputs, deliveries] = await Promise.all([store.read("inbox.failures", wanted), store.read("outbox.failures", wanted)]);
      const failures = [
        ...inputs.map(({ id, at, sessionKey, why: reason }) => ({ id: `turn:${sessionKey}:${reason}`, at, what: `in:${id}`, about: sessionKey ?? "a message", reason })),
        ...deliveries.map(({ id, at, channel, account, why: reason }) => ({ id: `delivery:${channel}:${account}:${reason}`, at, what: `out:${id}`, about: channel, reason })),
      ]; // prettier-ignore
      const newest = [...new Map(failures.toReversed().map((failure) => [failure.id, failure])).values()].slice(-MOST_STORIES);
      const stories = new Map(await Promise.all(newest.map(async ({ id, what }) => [id, await story(what)] as const)));
      return failures.map(({ id, at, what, about, reason }) => {
        const known = stories.get(id);
        const text = `${about}: ${known?.text ?? reason ?? "it failed"}`;
        return { id, at, level: "error" as const, text, ...(known?.todo === undefined ? {} : { todo: known.todo }), why: what, page: "trace" };
      });
    },
  };
}

export interface DiskSpace {
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/** Below these a disk is nearly full, or as good as full. */
const SCARCE = 1024 * MB;
const LAST = 200 * MB;

export function diskTroubles(disk: DiskSpace | undefined, place: string): Trouble[] {
  if (!disk || disk.freeBytes >= SCARCE) return [];
  const text = `The disk is nearly full: ${formatBytes(disk.freeBytes)} of ${formatBytes(disk.totalBytes)} are free at ${place}`;
  return [{ id: "disk", level: disk.freeBytes < LAST ? "error" : "warn", text, todo: "Free some space: when it is full, no message is accepted." }];
}

/** The parts of the model's state that keep it from answering. */
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
  const text = `Every key for ${model} rests for ${formatDuration(rest.until - now)} more, after: ${rest.kind}`;
  return [{ id: "model:rest", level: "warn", text, todo: "It is tried again by itself; another key or model helps at once.", page: "setup" }];
}
