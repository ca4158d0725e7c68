/** Webhooks: their paths, who listens on them, and routes that appear while the gateway runs. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { messageOf } from "../../../base/errors.ts";
import type { OpenClawPluginHttpRouteHandler } from "../../../protocol/index.ts";
import { requireHost } from "../host-binding.ts";

/** With a slash before it and none behind. */
export function normalizeWebhookPath(raw: string): string {
  return `/${raw.trim().replace(/^\//, "")}`.replace(/(.)\/$/, "$1");
}

/** The path, else that of the URL, else the default; `null` for a URL that is none. */
export function resolveWebhookPath(params: {
  webhookPath?: string | undefined;
  webhookUrl?: string | undefined;
  defaultPath?: string | null | undefined;
}): string | null {
  if (params.webhookPath?.trim()) return normalizeWebhookPath(params.webhookPath);
  const url = params.webhookUrl?.trim();
  if (!url) return params.defaultPath ?? null;
  return URL.canParse(url) ? normalizeWebhookPath(new URL(url).pathname) : null;
}

export interface RegisteredWebhookTarget<T> {
  target: T;
  unregister(): void;
}

/** Adds a listener at its path; several may share one. */
export function registerWebhookTarget<T extends { path: string }>(targetsByPath: Map<string, T[]>, target: T): RegisteredWebhookTarget<T> {
  const path = normalizeWebhookPath(target.path);
  const registered = { ...target, path };
  targetsByPath.set(path, [...(targetsByPath.get(path) ?? []), registered]);
  return {
    target: registered,
    unregister() {
      const left = (targetsByPath.get(path) ?? []).filter((entry) => entry !== registered);
      if (left.length > 0) targetsByPath.set(path, left);
      else targetsByPath.delete(path);
    },
  };
}

/** Who listens for a request, or `null`. */
export function resolveWebhookTargets<T>(req: Pick<IncomingMessage, "url">, targetsByPath: ReadonlyMap<string, T[]>): { path: string; targets: T[] } | null {
  if (!URL.canParse(req.url ?? "/", "http://localhost")) return null;
  const path = normalizeWebhookPath(new URL(req.url ?? "/", "http://localhost").pathname);
  const targets = targetsByPath.get(path) ?? [];
  return targets.length > 0 ? { path, targets } : null;
}

/** Answers 405 to everything but POST; true when it did. */
export function rejectNonPostWebhookRequest(req: Pick<IncomingMessage, "method">, res: Pick<ServerResponse, "statusCode" | "setHeader" | "end">): boolean {
  if (req.method === "POST") return false;
  res.statusCode = 405;
  res.setHeader("Allow", "POST");
  res.end("Method Not Allowed");
  return true;
}

/** With a slash before it; the fallback where the path is empty, `null` where both are. */
export function normalizePluginHttpPath(path?: string | null, fallback?: string | null): string | null {
  const chosen = path?.trim() || fallback?.trim();
  return chosen ? (chosen.startsWith("/") ? chosen : `/${chosen}`) : null;
}

/** Adds an HTTP route now. A failure is logged and the answer does nothing. */
export function registerPluginHttpRoute(params: {
  path?: string | null | undefined;
  fallbackPath?: string | null | undefined;
  handler: OpenClawPluginHttpRouteHandler;
  pluginId?: string | undefined;
  source?: string | undefined;
  accountId?: string | undefined;
  log?: ((message: string) => void) | undefined;
}): () => void {
  const { handler, pluginId, source, log } = params;
  const path = normalizePluginHttpPath(params.path, params.fallbackPath);
  const who = params.accountId ? `${pluginId ?? "plugin"} (${params.accountId})` : (pluginId ?? "plugin");
  if (!path) {
    log?.(`${who}: an HTTP route needs a path, and none was given`);
    return () => {};
  }
  try {
    return requireHost("registerPluginHttpRoute", "registerHttpRoute")({ path, handler, pluginId, source });
  } catch (error) {
    log?.(`${who}: the HTTP route ${path} was not added: ${messageOf(error)}`);
    return () => {};
  }
}
