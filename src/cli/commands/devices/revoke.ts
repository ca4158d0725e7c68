import { defineCommand } from "../../command.ts";
import { callGateway, GATEWAY_OPTIONS } from "../../gateway-call.ts";
import { printJson } from "../../io.ts";
import { TOKEN_OPTIONS, tokenTarget } from "./token-target.ts";

export const revoke = defineCommand({
  options: { ...TOKEN_OPTIONS, ...GATEWAY_OPTIONS },
  examples: [{ line: "openclaw devices revoke --device DEVICE_ID --role operator", does: "its token and its connections end" }],
  async run({ io, values }) {
    const done = await callGateway(io, "device.token.revoke", tokenTarget(values), values);
    if (values.json) printJson(io, done);
    else io.out(`revoked the token of ${done.deviceId} as ${done.role}\n`);
  },
});
