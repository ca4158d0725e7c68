import type { Clock } from "../../../src/base/clock.ts";
import { badRequest } from "./objects.ts";
import type { Updates } from "./updates.ts";

export interface WebhookSettings {
  readonly url: string;
  readonly secret: string | undefined;
  readonly maxConnections: number;
}

/** Sends updates to the bot's address, one after the other, until each was taken. */
export interface Webhook {
  /** True when something changed. */
  set(settings: WebhookSettings | undefined): boolean;
  readonly settings: WebhookSettings | undefined;
  /** What stands in `getWebhookInfo` of the last failure. */
  readonly lastError: { readonly at: number; readonly message: string } | undefined;
  /** How addresses on the internet are reached from here: `https://bot.example` → `http://127.0.0.1:1234`. */
  reach(origin: string, local: string): void;
  /** Every attempt with the status of its answer; 0 without one. */
  readonly attempts: readonly { readonly updateId: number; readonly status: number }[];
  stop(): void;
}

const PORTS = new Set(["", "443", "80", "88", "8443"]);
const ALLOWED_SECRET = /^[A-Za-z0-9_-]*$/;

export function checkWebhook(url: string, secret: string | undefined): void {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.protocol !== "https:") throw badRequest("bad webhook: An HTTPS URL must be provided for webhook");
  if (!PORTS.has(parsed.port)) throw badRequest("bad webhook: Webhook can be set up only on ports 80, 88, 443 or 8443");
  if (secret !== undefined && secret.length > 256) throw badRequest("secret token is too long");
  if (secret !== undefined && !ALLOWED_SECRET.test(secret)) throw badRequest("secret token contains unallowed characters");
}

export function createWebhook(clock: Clock, updates: Updates, retryMs: number): Webhook {
  const routes = new Map<string, string>();
  const attempts: { updateId: number; status: number }[] = [];
  let settings: WebhookSettings | undefined;
  let lastError: { at: number; message: string } | undefined;
  let isSending = false;
  let timer: Disposable | undefined;
  let abort = new AbortController();

  async function offer(update: { readonly update_id: number }, { url, secret }: WebhookSettings): Promise<boolean> {
    const wanted = new URL(url);
    const local = routes.get(wanted.origin);
    let status = 0;
    let message = "Connection refused";
    try {
      if (local === undefined) throw new Error(`nobody is at ${wanted.origin}: name it with reach()`);
      const response = await fetch(`${local}${wanted.pathname}${wanted.search}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...(secret ? { "X-Telegram-Bot-Api-Secret-Token": secret } : {}) },
        body: JSON.stringify(update),
        signal: abort.signal,
      });
      await response.arrayBuffer();
      status = response.status;
      message = `Wrong response from the webhook: ${status} ${response.statusText}`;
    } catch {
      // Stays what it is: not reached.
    }
    attempts.push({ updateId: update.update_id, status });
    const isTaken = status >= 200 && status < 300;
    lastError = isTaken ? lastError : { at: Math.floor(clock.now() / 1000), message };
    return isTaken;
  }

  async function run(): Promise<void> {
    if (isSending) return;
    isSending = true;
    for (;;) {
      const next = updates.first();
      const to = settings;
      if (!next || !to) break;
      const isTaken = await offer(next, to);
      if (isTaken) updates.done(next.update_id);
      else {
        timer = clock.after(retryMs, () => void run());
        break;
      }
    }
    isSending = false;
  }

  function stop(): void {
    timer?.[Symbol.dispose]();
    abort.abort();
    abort = new AbortController();
  }

  updates.onPut(() => void (settings && run()));
  return {
    set(next) {
      const isChange = JSON.stringify(next) !== JSON.stringify(settings);
      settings = next;
      if (isChange) stop();
      if (next) setImmediate(() => void run());
      return isChange;
    },
    get settings() {
      return settings;
    },
    get lastError() {
      return lastError;
    },
    reach: (origin, local) => void routes.set(origin, local),
    attempts,
    stop,
  };
}
