/** Buttons below messages. Mattermost reports a pressed one to an address of ours, without a signature: each button carries one. */
import { createHash, createHmac } from "node:crypto";
import type { ReplyPayload } from "openclaw/plugin-sdk";
import {
  buttonRows,
  type Fields,
  fieldsOf,
  jsonOf,
  type ReplyButton,
  textOf,
  type Verified,
  verifyHmac,
  type WebhookRequest,
} from "openclaw/plugin-sdk/channel-kit";
import type { MattermostAccount } from "./account.ts";

/** Only this account can make buttons that it accepts; the token itself never leaves. */
const secretOf = ({ token }: MattermostAccount): string => createHash("sha256").update(`openclaw buttons ${token}`).digest("hex");
const signed = ({ accountId }: MattermostAccount, channelId: string, value: string): string => JSON.stringify([accountId, channelId, value]);

/** Nothing where the gateway cannot be reached from Mattermost. */
export function attachmentsOf(account: MattermostAccount, channelId: string, payload: ReplyPayload | undefined): Fields | undefined {
  const rows = account.callbackUrl === undefined ? [] : buttonRows(payload, "mattermost");
  const action = ({ text, value }: ReplyButton): Fields => {
    const signature = createHmac("sha256", secretOf(account))
      .update(signed(account, channelId, value))
      .digest("hex");
    return { name: text, type: "button", integration: { url: account.callbackUrl, context: { value, signature } } };
  };
  // A button of Mattermost cannot open an address.
  const attachments = rows.map((row) => ({ actions: row.filter(({ url }) => url === undefined).map(action) })).filter(({ actions }) => actions.length > 0);
  return attachments.length === 0 ? undefined : { attachments };
}

export interface Pressed {
  readonly id: string;
  readonly userId: string;
  readonly postId: string;
  readonly value: string;
}

const fieldsIn = ({ body }: WebhookRequest): Fields => fieldsOf(jsonOf(body.toString("utf8"))) ?? {};

/** Whether the server got this button from us. What names the request is the press, not the button: that may be pressed again. */
export function verifyPress(request: WebhookRequest, account: MattermostAccount): Verified {
  const fields = fieldsIn(request);
  const context = fieldsOf(fields["context"]) ?? {};
  const [channelId, value, trigger] = [textOf(fields["channel_id"]), textOf(context["value"]), textOf(fields["trigger_id"])];
  if (channelId === undefined || value === undefined || trigger === undefined) return { ok: false, why: "it has no channel, button or trigger" };
  const payload = signed(account, channelId, value);
  const checked = verifyHmac({ secret: secretOf(account), payload, received: textOf(context["signature"]), encoding: "hex" });
  return checked.ok ? { ok: true, signature: Buffer.from(trigger) } : checked;
}

export function pressedIn(request: WebhookRequest): Pressed | undefined {
  const fields = fieldsIn(request);
  const [userId, postId, trigger] = [textOf(fields["user_id"]), textOf(fields["post_id"]), textOf(fields["trigger_id"])];
  const value = textOf(fieldsOf(fields["context"])?.["value"]);
  if (userId === undefined || postId === undefined || value === undefined || trigger === undefined) return undefined;
  return { id: `press:${createHash("sha256").update(trigger).digest("hex").slice(0, 32)}`, userId, postId, value };
}
