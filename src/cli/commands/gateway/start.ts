import { AppError } from "../../../base/errors.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { printJson } from "../../io.ts";
import { control, isInstalled, requireService } from "./service/service.ts";

export const start = defineCommand({
  options: { json: JSON_OPTION },
  examples: [],
  async run({ io, values }) {
    const service = requireService(io);
    if (!isInstalled(service))
      throw new AppError("NOT_FOUND", `${service.label} is not installed; install it with \`openclaw gateway install\`, or run \`openclaw gateway\``);
    const problem = await control(io, service.start);
    if (problem !== undefined) throw new AppError("UNAVAILABLE", `${service.label} could not be started: ${problem}`);
    if (values.json) printJson(io, { ok: true, label: service.label });
    else io.out(`started ${service.label}\n`);
  },
});
