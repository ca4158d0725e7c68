import { AppError } from "../../../base/errors.ts";
import { defineCommand } from "../../command.ts";
import { callGateway, GATEWAY_OPTIONS } from "../../gateway-call.ts";
import { printJson } from "../../io.ts";

export const reject = defineCommand({
  positionals: "<requestId>",
  options: GATEWAY_OPTIONS,
  examples: [{ line: "openclaw devices reject REQUEST_ID", does: "turn it away" }],
  async run({ io, values, positionals }) {
    const [requestId, extra] = positionals;
    if (requestId === undefined || extra !== undefined) throw new AppError("INVALID_INPUT", "expected one request id; see: openclaw devices list");
    const done = await callGateway(io, "device.pair.reject", { requestId }, values);
    if (values.json) printJson(io, done);
    else io.out(`turned away: ${done.deviceId}\n`);
  },
});
