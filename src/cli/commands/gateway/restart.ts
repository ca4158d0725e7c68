import { lockHolder, stateLockPath } from "../../../app/index.ts";
import { AppError } from "../../../base/errors.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { loadFor } from "../../config-source.ts";
import { printJson } from "../../io.ts";
import { control, isInstalled, requireService } from "./service/service.ts";

export const restart = defineCommand({
  options: { json: JSON_OPTION },
  examples: [],
  async run({ io, values }) {
    const service = requireService(io);
    if (!isInstalled(service)) {
      const holder = lockHolder(stateLockPath(loadFor(io).paths.state));
      const running = holder
        ? `process ${holder.pid} runs in a terminal or under something else: end it there and start it again`
        : "no gateway runs: start one with `openclaw gateway`";
      throw new AppError(
        "NOT_FOUND",
        `${service.label} is not installed, so nothing would bring the gateway back; ${running}, or install the service with \`openclaw gateway install\``,
      );
    }
    const problem = await control(io, service.restart);
    if (problem !== undefined) throw new AppError("UNAVAILABLE", `${service.label} could not be restarted: ${problem}`);
    if (values.json) printJson(io, { ok: true, label: service.label });
    else io.out(`restarted ${service.label}\n`);
  },
});
