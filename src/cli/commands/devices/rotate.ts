import { defineCommand } from "../../command.ts";
import { callGateway, GATEWAY_OPTIONS } from "../../gateway-call.ts";
import { printJson } from "../../io.ts";
import { TOKEN_OPTIONS, tokenTarget } from "./token-target.ts";

export const rotate = defineCommand({
  options: {
    ...TOKEN_OPTIONS,
    scope: { type: "string", multiple: true, value: "scope", help: "what the token may do (default: as before)" },
    ...GATEWAY_OPTIONS,
  },
  examples: [{ line: "openclaw devices rotate --device DEVICE_ID --role operator", does: "a new token; the old one ends" }],
  async run({ io, values }) {
    const done = await callGateway(io, "device.token.rotate", { ...tokenTarget(values), ...(values.scope ? { scopes: values.scope } : {}) }, values);
    if (values.json) return printJson(io, done);
    io.err(`new token of ${done.deviceId} as ${done.role}, for ${done.scopes.join(", ") || "nothing"}; it is shown once:\n`);
    io.out(`${done.token}\n`);
  },
});
