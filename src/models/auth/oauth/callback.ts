import type { AddressInfo } from "node:net";
import { loadHttp } from "../../../base/builtin.ts";
import { AppError } from "../../../base/errors.ts";

/** What the authorization server sent the browser back with. */
export interface Returned {
  readonly code?: string;
  readonly state?: string;
  readonly error?: string;
}

export interface CallbackListener extends AsyncDisposable {
  /** The redirect address with the port that is in use. */
  readonly redirectUri: string;
  /** The first return with the right state, or the server's refusal. */
  readonly returned: Promise<Returned>;
}

const PAGE = (title: string, words: string): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><body style="font:16px system-ui;margin:4rem auto;max-width:30rem"><h1>${title}</h1><p>${words}</p></body></html>`;

/** Reads what comes back from a redirect address; the code may be followed by `#state`. */
export function parseReturn(text: string): Returned {
  const given = text.trim();
  const query = given.includes("?")
    ? given.slice(given.indexOf("?") + 1).split("#")[0]!
    : /^[\w.~%+/-]+=/.test(given) && given.includes("code=")
      ? given
      : undefined;
  if (query !== undefined) {
    const fields = new URLSearchParams(query);
    const [code, state, error] = [fields.get("code"), fields.get("state"), fields.get("error_description") ?? fields.get("error")];
    return { ...(code ? { code } : {}), ...(state ? { state } : {}), ...(error ? { error } : {}) };
  }
  const [code, state] = given.split("#");
  return { ...(code ? { code } : {}), ...(state ? { state } : {}) };
}

/**
 * Listens on the loopback interface for one return. Undefined when the port is taken: then the user pastes the address. A return with another
 * state is not ours and is refused without ending the wait.
 */
export async function listenForReturn(redirectUri: string, state: string): Promise<CallbackListener | undefined> {
  const wanted = new URL(redirectUri);
  if (!["127.0.0.1", "localhost", "[::1]"].includes(wanted.hostname)) {
    throw new AppError("INVALID_INPUT", `a login returns to this machine only: expected a loopback address, got ${wanted.host}`);
  }
  const { promise, resolve } = Promise.withResolvers<Returned>();
  const server = loadHttp().createServer((request, response) => {
    const url = new URL(request.url ?? "/", redirectUri);
    const answer = (status: number, title: string, words: string): void => {
      response.writeHead(status, {
        "content-type": "text/html; charset=utf-8",
        "cache-control": "no-store",
        connection: "close",
        "referrer-policy": "no-referrer",
      });
      response.end(PAGE(title, words));
    };
    if (request.method !== "GET" || url.pathname !== wanted.pathname) return answer(404, "Nothing here", "This address waits for a login only.");
    const returned = parseReturn(url.search);
    if (returned.state !== state) return answer(400, "Not this login", "This return belongs to another login. Start again from the terminal.");
    answer(
      returned.code === undefined ? 400 : 200,
      returned.code === undefined ? "The login was refused" : "Logged in",
      "You can close this page and go back to the terminal.",
    );
    resolve(returned);
  });
  // Browsers open connections ahead: an answer on one that has asked nothing would be taken for the one to the login's return.
  server.on("clientError", (_, socket) => socket.destroy());
  const bound = await new Promise<boolean>((done) => {
    server.once("error", () => done(false));
    server.listen({ port: Number(wanted.port), host: wanted.hostname === "[::1]" ? "::1" : "127.0.0.1", exclusive: true }, () => done(true));
  });
  if (!bound) return undefined;
  wanted.port = String((server.address() as AddressInfo).port);
  return {
    redirectUri: wanted.href,
    returned: promise,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
