import { AppError } from "../../../base/errors.ts";
import type { GatewayClient } from "../../../protocol/index.ts";
import { defineCommand } from "../../command.ts";
import { GATEWAY_OPTIONS, withGateway } from "../../gateway-call.ts";
import { printJson } from "../../io.ts";

async function newestRequest(client: GatewayClient): Promise<string> {
  const { pending } = await client.request("device.pair.list", {});
  const newest = pending.toSorted((a, b) => b.ts - a.ts)[0];
  if (newest) return newest.requestId;
  throw new AppError("NOT_FOUND", "no device waits to be let in; requests are forgotten after 5 minutes, so let it ask again");
}

export const approve = defineCommand({
  positionals: "[requestId]",
  options: { latest: { type: "boolean", help: "the newest request (also without a request id)" }, ...GATEWAY_OPTIONS },
  examples: [
    { line: "openclaw devices approve --latest", does: "let the newest one in" },
    { line: "openclaw devices approve REQUEST_ID", does: "let a certain one in" },
  ],
  async run({ io, values, positionals }) {
    const [given, extra] = positionals;
    if (extra !== undefined || (given !== undefined && values.latest)) throw new AppError("INVALID_INPUT", "expected one request id, or --latest");
    const done = await withGateway(io, values, async (client) => client.request("device.pair.approve", { requestId: given ?? (await newestRequest(client)) }));
    if (values.json) printJson(io, done);
    else io.out(`let in: ${done.device.deviceId}${done.device.displayName === undefined ? "" : ` (${done.device.displayName})`}\n`);
  },
});
