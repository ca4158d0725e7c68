import type { IncomingMessage, ServerResponse } from "node:http";
import { messageOf } from "../../base/errors.ts";
import type { Gateway, GatewayHub, PluginRoute } from "../../gateway/index.ts";
import { needsGatewayToken } from "../registry/routes.ts";
import { type Owner } from "../registry/owner.ts";
import { type Registries } from "../registry/registries.ts";
import { type RouteRegistration } from "../registry/kinds.ts";

/** What plugins need of the gateway. */
export interface PluginGateway extends Pick<Gateway, "port" | "registerRoute"> {
  readonly hub: Pick<GatewayHub, "broadcast">;
}

type Report = (pluginId: string, message: string, error: unknown) => void;

const METHODS: PluginRoute["methods"] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/** The path that was checked is the one the plugin sees, whatever escapes the caller wrote. */
function showCheckedPath(request: IncomingMessage, path: string): void {
  const { url = "" } = request;
  const query = url.indexOf("?");
  request.url = encodeURI(path) + (query < 0 ? "" : url.slice(query));
}

function failed(response: ServerResponse): void {
  if (response.headersSent) response.destroy();
  else response.writeHead(500, { "content-type": "text/plain; charset=utf-8" }).end("Internal Server Error");
}

/** Puts plugins' routes on the gateway's port. */
export function routeMounter(gateway: Pick<Gateway, "registerRoute">, report: Report): (owner: Owner, route: RouteRegistration) => Disposable {
  return ({ pluginId }, { path, match, auth, handler }) =>
    gateway.registerRoute({
      plugin: pluginId,
      path,
      match,
      methods: METHODS,
      // A plugin that checks its callers itself does so over the body that it reads.
      auth: auth === "gateway" ? "bearer" : "own",
      readsBody: true,
      maxBodyBytes: 0,
      async handle({ request, response, path: seen }) {
        showCheckedPath(request, seen);
        try {
          await handler(request, response);
        } catch (error) {
          report(pluginId, `the HTTP route ${path} failed: ${messageOf(error)}`, error);
          failed(response);
        }
      },
    });
}

export const needsToken = needsGatewayToken;

/** Asks handlers that look for their path themselves, in order; true: one has answered. */
export async function askHandlers(
  handlers: Registries["httpHandlers"],
  { request, response, path }: { readonly request: IncomingMessage; readonly response: ServerResponse; readonly path: string },
  report: Report,
): Promise<boolean> {
  if (handlers.size === 0) return false;
  showCheckedPath(request, path);
  for (const { owner, value } of handlers.list()) {
    try {
      if ((await value(request, response)) === true || response.headersSent) return true;
    } catch (error) {
      report(owner.pluginId, `an HTTP handler failed: ${messageOf(error)}`, error);
      failed(response);
      return true;
    }
  }
  return false;
}
