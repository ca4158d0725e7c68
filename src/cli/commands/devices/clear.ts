import { AppError } from "../../../base/errors.ts";
import { loadNodeClient } from "../../../protocol/index.ts";
import { defineCommand } from "../../command.ts";
import { GATEWAY_OPTIONS, withGateway } from "../../gateway-call.ts";
import { printJson } from "../../io.ts";

export const clear = defineCommand({
  options: {
    pending: { type: "boolean", help: "turn away those that wait, too" },
    yes: { type: "boolean", short: "y", help: "agree without being asked" },
    ...GATEWAY_OPTIONS,
  },
  examples: [{ line: "openclaw devices clear --pending --yes", does: "forget all others, and turn away those that wait" }],
  async run({ io, values }) {
    if (!values.yes && !io.interactive) throw new AppError("INVALID_INPUT", "this forgets every device but this machine's: give --yes to agree");
    if (!values.yes && !(await io.confirm("Forget every device but this machine's?"))) {
      io.err("nothing was changed\n");
      return;
    }
    const done = await withGateway(io, values, async (client, { stateDir }) => {
      const { loadDeviceFile } = await loadNodeClient();
      const own = loadDeviceFile(stateDir, io.now()).id;
      const { pending, paired } = await client.request("device.pair.list", {});
      const removed = paired.map(({ deviceId }) => deviceId).filter((deviceId) => deviceId !== own);
      const rejected = values.pending ? pending.map(({ requestId }) => requestId) : [];
      for (const requestId of rejected) await client.request("device.pair.reject", { requestId });
      for (const deviceId of removed) await client.request("device.pair.remove", { deviceId });
      return { removed, rejected };
    });
    if (values.json) printJson(io, { ok: true, ...done });
    else io.out(`forgot ${done.removed.length} devices${values.pending ? `, turned away ${done.rejected.length}` : ""}\n`);
  },
});
