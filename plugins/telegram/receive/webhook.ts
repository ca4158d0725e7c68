/** Updates that Telegram posts to us. It posts again whatever is not answered with 2xx. */
import { createHash, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { readRequestBodyWithLimit, isRequestBodyLimitError } from "openclaw/plugin-sdk";
import { hopeless, type KitLog, messageOf } from "openclaw/plugin-sdk/channel-kit";
import type { WebhookSettings } from "../account.ts";
import type { Updates } from "./intake.ts";

const MAX_BODY_BYTES = 1024 * 1024;
const BODY_TIMEOUT_MS = 30_000;
const TAKE_TIMEOUT_MS = 10_000;
const HEALTH_PATH = "/healthz";

export interface WebhookDeps {
  readonly settings: WebhookSettings;
  readonly updates: Updates;
  readonly log: KitLog;
  /** An update came. */
  alive(): void;
}

export interface WebhookListener extends AsyncDisposable {
  readonly port: number;
}

/** A webhook without a secret would take messages from anybody: it is not started. */
export function requireSecret({ secret }: WebhookSettings): void {
  const refuse = (why: string): never => {
    throw hopeless(`channels.telegram.webhookSecret ${why}`);
  };
  if (secret === "") refuse("is missing: webhookUrl needs it, so that only Telegram can post messages; set it to a long random string");
  if (!/^[\w-]{1,256}$/.test(secret)) refuse("must be 1 to 256 letters, digits, underscores and hyphens; choose another one");
}

/** As long for a wrong secret as for a right one. */
function isSecret(received: unknown, secret: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(typeof received === "string" ? received : ""), digest(secret));
}

function end(response: ServerResponse, status: number, text = ""): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, { "content-type": "text/plain", ...(status === 503 ? { "retry-after": "5" } : {}) }).end(text);
}

/** The host's answer, or a failure when it takes too long. It may still take the update: the one that Telegram posts again is the same. */
async function inTime(taking: Promise<void>): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error("the host did not answer in time")), TAKE_TIMEOUT_MS);
  taking.catch(() => {});
  try {
    await Promise.race([taking, promise]);
  } finally {
    clearTimeout(timer);
  }
}

async function handle(request: IncomingMessage, response: ServerResponse, { settings, updates, log, alive }: WebhookDeps): Promise<void> {
  const path = (request.url ?? "/").split("?", 1)[0];
  if (path === HEALTH_PATH) return end(response, 200, "ok");
  if (path !== settings.path) return end(response, 404);
  if (request.method !== "POST") return end(response, 405);
  if (!isSecret(request.headers["x-telegram-bot-api-secret-token"], settings.secret)) return end(response, 401);
  let update: unknown;
  try {
    update = JSON.parse(await readRequestBodyWithLimit(request, { maxBytes: MAX_BODY_BYTES, timeoutMs: BODY_TIMEOUT_MS }));
  } catch (error) {
    return end(response, isRequestBodyLimitError(error) ? error.statusCode : 400);
  }
  alive();
  try {
    await inTime(updates.takeNow(update));
    end(response, 200);
  } catch (error) {
    log.warn(`an update was not accepted, Telegram sends it again: ${messageOf(error)}`);
    end(response, 503);
  }
}

function listening(server: Server, { host, port }: WebhookSettings): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve((server.address() as { port: number }).port);
    });
  });
}

/** Takes updates until it is disposed of. */
export async function openWebhook(deps: WebhookDeps): Promise<WebhookListener> {
  requireSecret(deps.settings);
  const server = createServer({ requestTimeout: BODY_TIMEOUT_MS, headersTimeout: BODY_TIMEOUT_MS }, (request, response) => {
    handle(request, response, deps).catch((error: unknown) => {
      deps.log.warn(`a webhook request failed: ${String(error)}`);
      end(response, 500);
    });
  });
  // Proxies keep connections open ahead: an answer on one that has asked nothing would be taken for the one to the next update.
  server.on("clientError", (_, socket) => socket.destroy());
  const port = await listening(server, deps.settings);
  return {
    port,
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      // What is being taken ends within its time; a sender that stalls does not hold us.
      const timer = setTimeout(() => server.closeAllConnections(), 1000);
      await closed;
      clearTimeout(timer);
    },
  };
}
