import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A request as it came over the socket. */
export interface Asked {
  /** `GET https://host/path`, as the caller wanted it. */
  readonly line: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** A status with a body, or `silent`: no answer ever. */
export type Answer = { readonly status?: number; readonly body: unknown; readonly headers?: Readonly<Record<string, string>> } | "silent" | "reset";

export interface JsonServer extends AsyncDisposable {
  readonly asked: readonly Asked[];
  /** Takes every host to this server; the wanted address is in `Asked.line`. */
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
}

const WANTED = "x-wanted-address";

/** Stands in for hosts on the internet, over real sockets. Answers by `METHOD url` without the query; a function sees the request. */
export async function startJsonServer(answers: Readonly<Record<string, Answer | ((asked: Asked, count: number) => Answer)>>): Promise<JsonServer> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const { [WANTED]: wanted, ...headers } = request.headers;
      const seen: Asked = { line: `${request.method} ${String(wanted)}`, headers, body: Buffer.concat(parts).toString("utf8") };
      asked.push(seen);
      const given = answers[seen.line.split("?")[0]!] ?? { status: 404, body: { message: "not here" } };
      const answer = typeof given === "function" ? given(seen, asked.filter(({ line }) => line === seen.line).length) : given;
      if (answer === "silent") return;
      if (answer === "reset") {
        request.socket.destroy();
        return;
      }
      response.writeHead(answer.status ?? 200, { "content-type": "application/json", ...answer.headers });
      response.end(typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A test may put this server in the place of the global one.
  const realFetch = globalThis.fetch;
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    asked,
    fetch: (url, init) => realFetch(`${origin}${new URL(url).pathname}`, { ...init, headers: { ...(init.headers as Record<string, string>), [WANTED]: url } }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
