import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { loadHttp } from "./builtin.ts";

/** A web server on this machine that counts its connections: the remote side for code that speaks HTTP. */
export interface LoopbackServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** Connections that were opened, with or without a request. */
  readonly connections: () => number;
  readonly requests: { readonly method: string; readonly path: string; readonly headers: IncomingMessage["headers"]; readonly body: string }[];
}

export type LoopbackHandler = (request: IncomingMessage, response: ServerResponse, body: string) => unknown;

export async function startLoopbackServer(handler: LoopbackHandler = (_request, response) => response.end("ok"), host = "127.0.0.1"): Promise<LoopbackServer> {
  const requests: LoopbackServer["requests"] = [];
  let connections = 0;
  const server = loadHttp().createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString("utf8");
      requests.push({ method: request.method!, path: request.url!, headers: request.headers, body });
      handler(request, response, body);
    });
  });
  server.on("connection", () => (connections += 1));
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.on("error", reject);
  server.listen(0, host, resolve);
  await promise;
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${port}`,
    port,
    connections: () => connections,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      await closed.promise;
    },
  };
}

/** Resolves every name to this machine. */
export const loopbackLookup = async (): Promise<{ address: string; family: number }[]> => [{ address: "127.0.0.1", family: 4 }];
