/** HTTP mode: requests that Slack signs with the app's secret. */
import {
  type AccountRun,
  type Fields,
  fieldsOf,
  isFresh,
  jsonOf,
  textOf,
  unfit,
  type Verified,
  verifyHmac,
  type WebhookAnswer,
  type WebhookRequest,
} from "openclaw/plugin-sdk/channel-kit";
import type { createWebhooks } from "openclaw/plugin-sdk/channel-kit";
import type { SlackAccount } from "../account.ts";
import type { DeliveryType, Receiver } from "./receiver.ts";

const one = (value: string | string[] | undefined): string => (Array.isArray(value) ? value.join(",") : (value ?? "")).trim();

/** `v0=` and the HMAC of `v0:<time>:<body>`, not older than five minutes. */
export function verifySlack({ headers, body }: WebhookRequest, secret: string, now: number): Verified {
  const time = one(headers["x-slack-request-timestamp"]);
  const [, received] = /^v0=([\da-f]{64})$/i.exec(one(headers["x-slack-signature"])) ?? [];
  if (!/^\d{1,12}$/.test(time) || !isFresh(Number(time), now)) return { ok: false, why: "its timestamp is off by more than five minutes" };
  return verifyHmac({ secret, payload: Buffer.concat([Buffer.from(`v0:${time}:`), body]), received, encoding: "hex" });
}

interface Delivered {
  readonly type: DeliveryType;
  readonly payload: Fields;
}

/** What a body brings: JSON with an event, or a form with a command or an interaction. */
function read({ body, headers }: WebhookRequest): Delivered | WebhookAnswer {
  const text = body.toString("utf8");
  if (one(headers["content-type"]).includes("application/x-www-form-urlencoded")) {
    const form = new URLSearchParams(text);
    if (form.get("ssl_check") === "1") return { status: 200, body: "" };
    const payload = form.get("payload");
    if (payload === null) return { type: "slash_commands", payload: Object.fromEntries(form) };
    const interaction = fieldsOf(jsonOf(payload));
    return interaction ? { type: "interactive", payload: interaction } : { status: 400, body: "expected JSON in payload" };
  }
  const event = fieldsOf(jsonOf(text));
  if (event === undefined) return { status: 400, body: "expected JSON" };
  if (event["type"] === "url_verification") return { status: 200, body: { challenge: textOf(event["challenge"]) ?? "" } };
  return event["type"] === "event_callback" ? { type: "events_api", payload: event } : { status: 200, body: "" };
}

export interface WebhookDeps {
  readonly webhooks: ReturnType<typeof createWebhooks>;
  readonly account: SlackAccount;
  readonly run: AccountRun;
  readonly receiver: Receiver;
  readonly ending: AbortSignal;
}

/** Takes requests until the account ends. */
export async function runWebhook({ webhooks, account, run, receiver, ending }: WebhookDeps, opened: () => void): Promise<void> {
  if (account.signingSecret === "") throw unfit("start", "HTTP mode needs channels.slack.signingSecret");
  const close = webhooks.register({
    pluginId: "slack",
    accountId: account.accountId,
    path: account.webhookPath,
    log: run.log,
    now: run.waiting.now,
    verify: (request) => verifySlack(request, account.signingSecret, run.waiting.now()),
    async handle(request) {
      const delivered = read(request);
      if (!("type" in delivered)) return delivered;
      await receiver.take(delivered.type, delivered.payload, true);
      return { status: 200, body: "" };
    },
    // A second time has no effect, and Slack itself is not to try again.
    repeated: () => ({ status: 200, body: "" }),
  });
  try {
    opened();
    await new Promise<void>((resolve) => {
      if (ending.aborted) resolve();
      else ending.addEventListener("abort", () => resolve(), { once: true });
    });
  } finally {
    close();
  }
}
