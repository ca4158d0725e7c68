import { AppError } from "../../../base/errors.ts";
import { defineCommand } from "../../command.ts";
import { callGateway, GATEWAY_OPTIONS } from "../../gateway-call.ts";
import { printJson } from "../../io.ts";

export const remove = defineCommand({
  positionals: "<deviceId>",
  options: GATEWAY_OPTIONS,
  examples: [{ line: "openclaw devices remove DEVICE_ID", does: "forget it; its connections are closed" }],
  async run({ io, values, positionals }) {
    const [deviceId, extra] = positionals;
    if (deviceId === undefined || extra !== undefined) throw new AppError("INVALID_INPUT", "expected one device id; see: openclaw devices list");
    const done = await callGateway(io, "device.pair.remove", { deviceId }, values);
    if (values.json) printJson(io, done);
    else io.out(`forgot ${done.deviceId}\n`);
  },
});
