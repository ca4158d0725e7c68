import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { loadHttp } from "../../base/builtin.ts";
import { AppError } from "../../base/errors.ts";
import type { PluginRoute } from "../../gateway/index.ts";

/** Routes of plugins on a port of their own, opened when the first is asked. */
export interface TestHttp extends AsyncDisposable {
  readonly registerRoute: (route: PluginRoute) => Disposable;
  readonly url: () => Promise<string>;
}

type Unrouted = (request: IncomingMessage, response: ServerResponse, path: string) => Promise<boolean>;

export function openHttp(token: string, unrouted: Unrouted): TestHttp {
  const routes = new Map<string, PluginRoute>();
  let server: Server | undefined;
  let opening: Promise<string> | undefined;

  function find(path: string): PluginRoute | undefined {
    const exact = routes.get(path);
    if (exact) return exact;
    const below = [...routes.values()].filter((route) => route.match === "prefix" && path.startsWith(`${route.path === "/" ? "" : route.path}/`));
    return below.sort((a, b) => b.path.length - a.path.length)[0];
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = decodeURIComponent(new URL(request.url ?? "/", "http://localhost").pathname);
    const route = find(path);
    if (route && route.auth !== "own" && request.headers.authorization !== `Bearer ${token}`) return void response.writeHead(401).end("Unauthorized");
    if (route) return route.handle({ request, response, path } as Parameters<PluginRoute["handle"]>[0]);
    if (!(await unrouted(request, response, path))) response.writeHead(404).end("Not Found");
  }

  async function open(): Promise<string> {
    server = loadHttp().createServer((request, response) => void answer(request, response).catch((error: unknown) => response.destroy(error as Error)));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  return {
    registerRoute(route) {
      const other = routes.get(route.path);
      if (other) throw new AppError("CONFLICT", `the path ${route.path} is taken by the plugin ${other.plugin}`);
      routes.set(route.path, route);
      return { [Symbol.dispose]: () => void (routes.get(route.path) === route && routes.delete(route.path)) };
    },
    url: () => (opening ??= open()),
    async [Symbol.asyncDispose]() {
      await opening;
      server?.closeAllConnections();
      await new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve()));
    },
  };
}
