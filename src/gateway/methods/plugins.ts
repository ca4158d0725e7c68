import type { MethodResult } from "../../protocol/index.ts";
import type { MethodDeps } from "./deps.ts";
import { COMMAND_CALLER, unavailable, type Handler, type HandlersOf } from "./handler.ts";
import { canonicalKey } from "./sessions/keys.ts";

/** The plugins of this gateway, as methods need them. */
export interface PluginsPort {
  list(): Promise<MethodResult<"plugins.list">>;
  stats(id: string | undefined): Promise<MethodResult<"plugins.stats">>;
  /** Rejects when the new code cannot be loaded. */
  reload(id: string): Promise<Omit<MethodResult<"plugins.reload">, "ok">>;
  /** `key` is canonical. */
  patchSession(patch: {
    readonly key: string;
    readonly pluginId: string;
    readonly namespace: string;
    readonly value?: unknown;
    readonly unset?: boolean;
  }): Promise<{ readonly value?: unknown }>;
  /** Called before a client resets a session: its internal hooks run. */
  sessionResetting(key: string, reason: "new" | "reset"): Promise<void>;
  /** Called after a session was reset or deleted. */
  sessionEnded(key: string, reason: "reset" | "delete"): void;
}

/** What the running gateway makes of another set of plugins. */
export interface SwitchEffect {
  /** It restarts. */
  readonly restart: boolean;
  /** In words. */
  readonly does: string;
}

/** Says which plugins there are and which are on. */
export interface PluginAdminPort {
  enable(id: string, enabled: boolean): Promise<SwitchEffect & Omit<MethodResult<"plugins.enable">, "ok" | "notes"> & { readonly notes: readonly string[] }>;
  /** Asks the operator's policy and `before_install` of plugins that run. */
  install(asked: { readonly spec: string; readonly enable: boolean }): Promise<Omit<Extract<MethodResult<"plugins.install">, { readonly ok: true }>, "ok">>;
  uninstall(id: string): Promise<Omit<MethodResult<"plugins.uninstall">, "ok">>;
}

export interface PluginsDeps extends Pick<MethodDeps, "config"> {
  readonly plugins: PluginsPort;
  /** Without it plugins cannot be turned on and off, installed and removed. */
  readonly admin?: PluginAdminPort | undefined;
}

function adminHandlers(admin: PluginAdminPort): HandlersOf<"plugins.enable" | "plugins.install" | "plugins.uninstall"> {
  return {
    "plugins.enable": async ({ id, enabled }) => {
      const { notes, ...answer } = await admin.enable(id, enabled);
      return { ok: true, ...answer, notes: [...notes] };
    },
    "plugins.install": async ({ spec, enable = true }, { accepted }) => {
      accepted({ status: "accepted", spec });
      return { ok: true, ...(await admin.install({ spec, enable })) };
    },
    "plugins.uninstall": async ({ id }) => ({ ok: true, ...(await admin.uninstall(id)) }),
  };
}

/** The handlers that end sessions: plugins are notified afterwards. */
type Endings = { readonly [M in "sessions.reset" | "sessions.delete"]: Handler<M> };

/** Handlers of `plugins.*` and of what plugins store in sessions, and those that end sessions. */
export function pluginsHandlers(
  { plugins, config, admin }: PluginsDeps,
  { "sessions.reset": reset, "sessions.delete": remove }: Endings,
): HandlersOf<"plugins" | "sessions.pluginPatch" | keyof Endings> {
  return {
    ...(admin ? adminHandlers(admin) : unavailable("plugins.enable", "plugins.install", "plugins.uninstall")),
    "plugins.list": () => plugins.list(),
    "plugins.stats": ({ id }) => plugins.stats(id),
    "plugins.reload": async ({ id }) => ({ ok: true, ...(await plugins.reload(id)) }),
    "sessions.pluginPatch": async ({ pluginId, namespace, value, unset, ...params }) => {
      const key = canonicalKey(params.key, config.current);
      return { ok: true, key, ...(await plugins.patchSession({ key, pluginId, namespace, value, ...(unset === undefined ? {} : { unset }) })) };
    },
    "sessions.reset": async (params, context) => {
      if (context.caller.connId !== COMMAND_CALLER) await plugins.sessionResetting(canonicalKey(params.key, config.current), params.reason ?? "reset");
      const answer = await reset(params, context);
      plugins.sessionEnded(answer.key, "reset");
      return answer;
    },
    "sessions.delete": async (params, context) => {
      const answer = await remove(params, context);
      if (answer.deleted) plugins.sessionEnded(answer.key, "delete");
      return answer;
    },
  };
}
