import { randomUUID } from "node:crypto";
import { AppError } from "../../../base/errors.ts";
import { defineCommand } from "../../command.ts";
import { callGateway, GATEWAY_OPTIONS } from "../../gateway-call.ts";
import { printJson } from "../../io.ts";
import { reportMissing } from "./action.ts";

export const resend = defineCommand({
  positionals: "<delivery>",
  options: GATEWAY_OPTIONS,
  examples: [{ line: "openclaw message resend out:17", does: "Resend a failed delivery; openclaw why shows its id" }],
  async run({ io, values, positionals }) {
    const [id, extra] = positionals;
    if (id === undefined || extra !== undefined) throw new AppError("INVALID_INPUT", "expected one delivery, such as: openclaw message resend out:17");
    const sent = await callGateway(io, "message.resend", { id, idempotencyKey: randomUUID() }, { timeout: "45000", ...values });
    if (values.json) printJson(io, sent);
    else io.out(`Sent to ${sent.channel} as message ${sent.messageId}\n`);
    return reportMissing(io, sent);
  },
});
