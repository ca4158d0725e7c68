import { changesBetween, formatPath, mergePatch, type ConfigReview, type OpenClawConfig, type ReloadWords } from "../config/index.ts";
import type { AuthProfileCredential } from "../protocol/index.ts";
import type { ResetScope } from "./answers.ts";
import type { SetupHost } from "./host.ts";
import { isRecord } from "../base/records.ts";

type Patch = Readonly<Record<string, unknown>>;

export interface Committed {
  /** Files that were written. */
  readonly files: readonly string[];
  /** What was put away, and where it is now. */
  readonly removed: readonly { readonly from: string; readonly to: string }[];
}

/** In words; its lists may be sent. */
interface Reload {
  readonly kind: ReloadWords["kind"];
  readonly paths: { path: string; does: string }[];
}

/** What was answered so far. Nothing of it is in a file before `commit`. */
export interface Draft {
  /** The configuration as it would be. */
  readonly config: OpenClawConfig;
  /** Adds to it; `null` takes a key away. */
  merge(patch: Patch): void;
  /** Takes over a changed copy of `config`. */
  become(config: object): void;
  /** Stores a credential, and names it in the configuration. */
  credential(profileId: string, credential: AuthProfileCredential): void;
  /** Everything that is there counts as gone. */
  reset(scope: ResetScope): void;
  readonly isReset: boolean;
  /** What a running gateway would do about it. */
  reload(review: ConfigReview): Reload;
  /** Puts away what is to be reset, stores the credentials, then writes the configuration in one step. */
  commit(by: string): Promise<Committed>;
}

/** `path` → `value` as a patch. */
function patchOf(path: readonly string[], value: unknown): Patch {
  const [first = "", ...rest] = path;
  return { [first]: rest.length === 0 ? value : patchOf(rest, value) };
}

export function createDraft(host: SetupHost): Draft {
  let patch: Patch = {};
  let scope: ResetScope | undefined;
  let credentials = new Map<string, AuthProfileCredential>();
  const base = (): unknown => (scope === undefined ? host.config.current : {});
  const current = (): OpenClawConfig => mergePatch(base(), patch) as OpenClawConfig;
  /** Patches are put together so that what a later one takes away stays away. */
  const add = (next: Patch): void => void (patch = joined(patch, next));

  return {
    get config() {
      return current();
    },
    merge: add,
    become(config) {
      for (const { path, after } of changesBetween(current(), config)) add(patchOf(path, after === undefined ? null : after));
    },
    credential(profileId, credential) {
      credentials.set(profileId, credential);
      const { provider, type, email } = credential;
      add({ auth: { profiles: { [profileId]: { provider, mode: type, ...(email ? { email } : {}) } } } });
    },
    reset(wanted) {
      scope = wanted;
      patch = {};
      credentials = new Map();
    },
    get isReset() {
      return scope !== undefined;
    },
    reload(review) {
      const changes = changesBetween(host.config.current, current());
      const set = changes.flatMap(({ path, after }) => (after === undefined ? [] : [{ path: formatPath(path), value: after }]));
      const { kind, paths } = review.check(review.edit({ set })).reload;
      return { kind, paths: paths.map((path) => ({ ...path })) };
    },
    async commit(by) {
      const removed = scope === undefined ? [] : await (await import("./reset.ts")).putAway(host, scope);
      if (removed.length > 0) host.config.reload();
      if (credentials.size > 0) {
        const auth = await host.auth();
        for (const [id, credential] of credentials) await auth.add(id, credential);
      }
      const { files } = await host.config.edit({ kind: "patch", value: patch }, { by });
      [patch, scope, credentials] = [{}, undefined, new Map()];
      return { files, removed };
    },
  };
}

function joined(first: Patch, next: Patch): Patch {
  const result: Record<string, unknown> = { ...first };
  for (const [key, value] of Object.entries(next)) {
    const before = result[key];
    result[key] = isRecord(value) && isRecord(before) ? joined(before, value) : value;
  }
  return result;
}
