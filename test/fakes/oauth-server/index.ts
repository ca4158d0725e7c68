import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface TokenRequest {
  readonly path: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly userAgent: string | undefined;
}

export interface OAuthServer extends AsyncDisposable {
  readonly url: string;
  /** Everything that was posted, in order. */
  readonly requests: readonly TokenRequest[];
  /** Every secret that was ever handed out. */
  readonly secrets: readonly string[];
  /** A refresh token that works once. */
  refreshToken(): string;
}

export interface OAuthServerOptions {
  /** Milliseconds before a token request is answered. */
  readonly delayMs?: number;
  /** Answers every refresh with this status and body. */
  readonly refuse?: { readonly status: number; readonly body: string };
  readonly expiresIn?: number;
  /** Answers to device polls before the last one: `slow_down` and `authorization_pending`. */
  readonly polls?: readonly string[];
  readonly email?: string;
  /** The user says no: what the browser is sent back with. */
  readonly denies?: string;
  /** Seconds that a device code lives. */
  readonly deviceExpiresIn?: number;
}

const jwt = (claims: object): string => `h.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.s`;

async function bodyOf(request: IncomingMessage): Promise<Record<string, string>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString("utf8");
  return request.headers["content-type"]?.includes("json") ? (JSON.parse(text) as Record<string, string>) : Object.fromEntries(new URLSearchParams(text));
}

/** An authorization server over real sockets: PKCE is checked, codes and refresh tokens work once, device codes wait as long as the test says. */
export async function startOAuthServer(options: OAuthServerOptions = {}): Promise<OAuthServer> {
  const requests: TokenRequest[] = [];
  const secrets: string[] = [];
  const codes = new Map<string, { challenge: string; redirectUri: string; clientId: string }>();
  const refreshTokens = new Set<string>();
  const devices = new Map<string, { polls: string[] }>();

  const secret = (prefix: string): string => {
    const value = `${prefix}-${randomBytes(18).toString("base64url")}`;
    secrets.push(value);
    return value;
  };
  const newRefresh = (): string => {
    const token = secret("refresh");
    refreshTokens.add(token);
    return token;
  };
  const grant = (): object => ({
    access_token: secret("access"),
    refresh_token: newRefresh(),
    token_type: "bearer",
    expires_in: options.expiresIn ?? 3600,
    ...(options.email ? { id_token: jwt({ email: options.email }) } : {}),
  });

  function token(fields: Record<string, string>): [number, object | string] {
    switch (fields["grant_type"]) {
      case "authorization_code": {
        const code = codes.get(fields["code"] ?? "");
        codes.delete(fields["code"] ?? "");
        const challenge = createHash("sha256")
          .update(fields["code_verifier"] ?? "")
          .digest("base64url");
        const good = code && code.challenge === challenge && code.redirectUri === fields["redirect_uri"] && code.clientId === fields["client_id"];
        return good ? [200, grant()] : [400, { error: "invalid_grant", error_description: `the code ${fields["code"]} is not good` }];
      }
      case "refresh_token": {
        if (options.refuse) return [options.refuse.status, options.refuse.body.replaceAll("{refresh_token}", fields["refresh_token"] ?? "")];
        if (!refreshTokens.delete(fields["refresh_token"] ?? "")) {
          return [400, { error: "invalid_grant", error_description: `refresh token ${fields["refresh_token"]} was used before` }];
        }
        return [200, grant()];
      }
      default: {
        const device = devices.get(fields["device_code"] ?? "");
        if (!device) return [400, { error: "expired_token" }];
        const poll = device.polls.shift();
        if (poll !== undefined) return [poll === "ok200" ? 200 : 400, { error: poll === "ok200" ? "authorization_pending" : poll }];
        return [200, grant()];
      }
    }
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://127.0.0.1");
    const send = (status: number, body: object | string): void => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(typeof body === "string" ? body : JSON.stringify(body));
    };
    if (url.pathname === "/authorize") {
      const code = secret("code");
      const redirectUri = url.searchParams.get("redirect_uri") ?? "";
      codes.set(code, { challenge: url.searchParams.get("code_challenge") ?? "", redirectUri, clientId: url.searchParams.get("client_id") ?? "" });
      const back = new URL(redirectUri);
      if (options.denies === undefined) back.searchParams.set("code", code);
      else back.searchParams.set("error", options.denies);
      back.searchParams.set("state", url.searchParams.get("state") ?? "");
      response.writeHead(302, { location: back.href }).end();
      return;
    }
    if (url.pathname === "/userinfo") return send(200, { email: "from-userinfo@example.test" });
    const fields = await bodyOf(request);
    requests.push({ path: url.pathname, fields, userAgent: request.headers["user-agent"] });
    if (options.delayMs) await new Promise((resolve) => setTimeout(resolve, options.delayMs));
    if (url.pathname === "/device") {
      const code = secret("device");
      devices.set(code, { polls: [...(options.polls ?? [])] });
      const expires_in = options.deviceExpiresIn ?? 600;
      return send(200, { device_code: code, user_code: "ABCD-EFGH", verification_uri: "https://login.example.test/device", interval: 1, expires_in });
    }
    send(...token(fields));
  }

  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    secrets,
    refreshToken: newRefresh,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
