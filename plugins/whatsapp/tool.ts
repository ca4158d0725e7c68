/** `whatsapp_login`: the owner links a number by talking to the agent. */
import type { AgentTool } from "openclaw/plugin-sdk/plugin-entry";
import type { HostConfig, WhatsAppAccounts } from "./account.ts";
import type { Logins } from "./login.ts";

interface Params {
  readonly action: "start" | "wait";
  readonly accountId?: string;
  readonly force?: boolean;
  readonly phoneNumber?: string;
  readonly timeoutMs?: number;
}

const text = (value: string) => ({ type: "text" as const, text: value });

export function createLoginTool(deps: { readonly accounts: WhatsAppAccounts; readonly logins: Logins; config(): HostConfig }): AgentTool<Params> {
  const { accounts, logins } = deps;
  return {
    name: "whatsapp_login",
    label: "WhatsApp login",
    ownerOnly: true,
    description:
      "Links a WhatsApp number to this gateway. start returns a QR code to scan with the phone, or with phoneNumber a code to type there; wait waits until that is done.",
    parameters: {
      type: "object",
      additionalProperties: false,
      required: ["action"],
      properties: {
        action: { type: "string", enum: ["start", "wait"] },
        accountId: { type: "string", description: "Account; default: the default account." },
        force: { type: "boolean", description: "Link again even if the account is linked." },
        phoneNumber: { type: "string", description: "The number to link, with its country code: returns a code to type instead of a QR code." },
        timeoutMs: { type: "number", minimum: 1000 },
      },
    },
    async execute(_id, { action, accountId, force, phoneNumber, timeoutMs }) {
      const account = accounts.read(deps.config(), accountId);
      if (action === "wait") {
        const { connected, message } = await logins.wait(account, timeoutMs);
        const next = connected ? ` To connect it: openclaw channels start --channel whatsapp --account ${account.accountId}` : "";
        return { content: [text(`${message}${next}`)], details: { connected } };
      }
      const digits = phoneNumber?.replaceAll(/\D/g, "");
      const { message, qrDataUrl } = await logins.start(account, { force, timeoutMs, ...(digits ? { phoneNumber: digits } : {}) });
      const picture = qrDataUrl === undefined ? [] : [{ type: "image" as const, mimeType: "image/png", data: qrDataUrl.slice(qrDataUrl.indexOf(",") + 1) }];
      return { content: [text(message), ...picture], details: { qr: qrDataUrl !== undefined } };
    },
  };
}
