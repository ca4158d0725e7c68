import { AppError } from "../../base/errors.ts";
import { maskSecret } from "../../base/redaction.ts";
import type { AuthProfiles, ProfileView } from "./profiles.ts";
import { cooldownsOf } from "./cooldowns.ts";
import { credentialOf, mainSecret, whyUnusable, type AuthDocument } from "./document.ts";
import type { Stores } from "./stores.ts";

/** Failures of a credential do not count against its replacement. */
function withoutState(document: AuthDocument, id: string): AuthDocument {
  const { [id]: _stats, ...usageStats } = document.usageStats ?? {};
  const { [id]: _failures, ...modelFailures } = document.modelFailures ?? {};
  return { ...document, ...(document.usageStats ? { usageStats } : {}), ...(document.modelFailures ? { modelFailures } : {}) };
}

function withOrder(document: AuthDocument, name: string, ids: readonly string[] | undefined, canonical: (provider: string) => string): AuthDocument {
  const entries = Object.entries(document.order ?? {});
  const others = entries.filter(([provider]) => canonical(provider) !== name);
  if (ids === undefined && others.length === entries.length) return document;
  const order = Object.fromEntries([...others, ...(ids === undefined ? [] : [[name, [...ids]] as const])]);
  const { order: _, ...rest } = document;
  return Object.keys(order).length > 0 ? { ...rest, order } : rest;
}

function viewOf(id: string, document: AuthDocument, from: ProfileView["from"], now: number): ProfileView | undefined {
  const credential = credentialOf(document.profiles[id]);
  if (!credential) return undefined;
  const { email, provider, type } = credential;
  const expires = credential.type === "api_key" ? undefined : credential.expires;
  const lastUsed = document.usageStats?.[id]?.lastUsed;
  const unusable = whyUnusable(credential, now);
  return {
    id,
    provider,
    type,
    masked: maskSecret(mainSecret(credential)),
    from,
    rests: cooldownsOf(document, id, now),
    ...(email === undefined ? {} : { email }),
    ...(expires === undefined ? {} : { expires }),
    ...(lastUsed === undefined ? {} : { lastUsed }),
    ...(unusable === undefined ? {} : { unusable }),
  };
}

export interface EditsDeps {
  readonly stores: Stores;
  /** Both files, with what this process knows and has not written. */
  readonly view: () => AuthDocument;
  readonly canonical: (provider: string) => string;
  readonly now: () => number;
  /** Drops this process's unwritten failures of a credential. */
  readonly forget: (id: string) => void;
}

/** User operations on profiles: list, add, remove, reorder. */
export function createEdits({ stores, view, canonical, now, forget }: EditsDeps): Pick<AuthProfiles, "list" | "add" | "remove" | "order" | "setOrder"> {
  return {
    async list() {
      await stores.prepare();
      const document = view();
      return Object.keys(document.profiles)
        .map((id) => viewOf(id, document, stores.isOwn(id) ? "agent" : "main", now()))
        .filter((profile) => profile !== undefined);
    },

    async add(id, credential) {
      if (!/^[^\s:]+:\S+$/.test(id)) throw new AppError("INVALID_INPUT", `an auth profile is named <provider>:<name>, got ${JSON.stringify(id.slice(0, 80))}`);
      await stores.prepare();
      forget(id);
      await stores.own.update((document) => withoutState({ ...document, profiles: { ...document.profiles, [id]: { ...credential } } }, id));
    },

    async remove(id) {
      await stores.prepare();
      const file = stores.holder(id);
      if (file.read()?.profiles[id] === undefined) return false;
      forget(id);
      await file.update((document) => {
        const { [id]: _, ...profiles } = document.profiles;
        return withoutState({ ...document, profiles }, id);
      });
      return true;
    },

    async order(provider) {
      await stores.prepare();
      return Object.entries(stores.merged().order ?? {}).find(([name]) => canonical(name) === canonical(provider))?.[1];
    },

    async setOrder(provider, ids) {
      await stores.prepare();
      await stores.own.update((document) => withOrder(document, canonical(provider), ids, canonical));
    },
  };
}
