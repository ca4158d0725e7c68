import { rmSync } from "node:fs";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { printJson } from "../../io.ts";
import { asText, control, isInstalled, requireService } from "./service/service.ts";

export const uninstall = defineCommand({
  options: { print: { type: "boolean", help: "show what would be done; change nothing" }, json: JSON_OPTION },
  examples: [{ line: "openclaw gateway uninstall --print", does: "what would be removed" }],
  async run({ io, values }) {
    const service = requireService(io);
    const { label, file, unload, forget } = service;
    const installed = isInstalled(service);
    if (values.print) {
      if (values.json) printJson(io, { label, file, installed, run: [...unload, ...forget].map((line) => line.join(" ")) });
      else io.out(`${installed ? "" : "not installed; otherwise "}removes ${file} and runs:\n${asText([...unload, ...forget])}`);
      return;
    }
    const problem = installed ? await control(io, unload) : undefined;
    rmSync(file, { force: true });
    if (installed) await control(io, forget);
    if (values.json) printJson(io, { ok: true, label, file, removed: installed, ...(problem === undefined ? {} : { problem }) });
    else {
      io.out(installed ? `removed ${file}\n` : `${label} is not installed\n`);
      if (problem !== undefined) io.err(`it may still run (${problem}); stop it with: openclaw gateway stop\n`);
    }
  },
});
