import type { AddressInfo } from "node:net";
import { loadHttp } from "../../../base/builtin.ts";
import { AppError } from "../../../base/errors.ts";

/** Parameters of the authorization server's redirect. */
export interface CallbackParams {
  readonly code?: string;
  readonly state?: string;
  readonly error?: string;
}

export interface CallbackListener extends AsyncDisposable {
  /** The redirect address with the port that is in use. */
  readonly redirectUri: string;
  /** The first callback with the right state, or the server's refusal. */
  readonly returned: Promise<CallbackParams>;
}

const PAGE = (title: string, text: string): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><body style="font:16px system-ui;margin:4rem auto;max-width:30rem"><h1>${title}</h1><p>${text}</p></body></html>`;

/** Parses a redirect URL or a code, which may be followed by `#state`. */
export function parseCallback(text: string): CallbackParams {
  const pasted = text.trim();
  const query = pasted.includes("?")
    ? pasted.slice(pasted.indexOf("?") + 1).replace(/#.*$/s, "")
    : /^[\w.~%+/-]+=/.test(pasted) && pasted.includes("code=")
      ? pasted
      : undefined;
  if (query !== undefined) {
    const fields = new URLSearchParams(query);
    const [code, state, error] = [fields.get("code"), fields.get("state"), fields.get("error_description") ?? fields.get("error")];
    return { ...(code ? { code } : {}), ...(state ? { state } : {}), ...(error ? { error } : {}) };
  }
  const [code, state] = pasted.split("#");
  return { ...(code ? { code } : {}), ...(state ? { state } : {}) };
}

/**
 * Listens on the loopback interface for one callback. Undefined when the port is taken: then the user pastes the URL. A callback with another
 * state is not of this login and is refused without ending the wait.
 */
export async function listenForCallback(redirectUri: string, state: string): Promise<CallbackListener | undefined> {
  const redirect = new URL(redirectUri);
  if (!["127.0.0.1", "localhost", "[::1]"].includes(redirect.hostname)) {
    throw new AppError("INVALID_INPUT", `a login can only redirect to this machine: expected a loopback address, got ${redirect.host}`);
  }
  const { promise, resolve } = Promise.withResolvers<CallbackParams>();
  const server = loadHttp().createServer((request, response) => {
    const url = new URL(request.url ?? "/", redirectUri);
    const answer = (status: number, title: string, text: string): void => {
      response.writeHead(status, {
        "content-type": "text/html; charset=utf-8",
        "cache-control": "no-store",
        connection: "close",
        "referrer-policy": "no-referrer",
      });
      response.end(PAGE(title, text));
    };
    if (request.method !== "GET" || url.pathname !== redirect.pathname) return answer(404, "Nothing here", "This address only receives logins.");
    const returned = parseCallback(url.search);
    if (returned.state !== state) return answer(400, "Not this login", "This response belongs to another login. Start again from the terminal.");
    answer(
      returned.code === undefined ? 400 : 200,
      returned.code === undefined ? "The login was refused" : "Logged in",
      "You can close this page and go back to the terminal.",
    );
    resolve(returned);
  });
  // Browsers open connections ahead: an answer on an unused one would be taken for the answer to the login's callback.
  server.on("clientError", (_, socket) => socket.destroy());
  const bound = await new Promise<boolean>((done) => {
    server.once("error", () => done(false));
    server.listen({ port: Number(redirect.port), host: redirect.hostname === "[::1]" ? "::1" : "127.0.0.1", exclusive: true }, () => done(true));
  });
  if (!bound) return undefined;
  redirect.port = String((server.address() as AddressInfo).port);
  return {
    redirectUri: redirect.href,
    returned: promise,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
