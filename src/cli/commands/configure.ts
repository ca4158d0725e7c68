import { lockHolder } from "../../base/instance-lock.ts";
import type { Section } from "../../setup/index.ts";
import { AppError } from "../../base/errors.ts";
import { nearest } from "../../base/text.ts";
import { diffPaths, stateLockPath } from "../../config/index.ts";
import { defineCommand } from "../command.ts";
import { describeAnswer, gatewayAnswer } from "../gateway-answer.ts";
import { withSetupHost, openAsker } from "./onboard/host.ts";

async function sectionsOf(answers: readonly string[]): Promise<readonly Section[]> {
  const { SECTIONS } = await import("../../setup/index.ts");
  return answers.map((name) => {
    const found = SECTIONS.find((section) => section === name.trim().toLowerCase());
    if (found) return found;
    const close = nearest(name, SECTIONS);
    throw new AppError("INVALID_INPUT", `--section takes ${SECTIONS.join(", ")}, not ${JSON.stringify(name)}${close ? `; did you mean ${close}?` : ""}`);
  });
}

export const configure = defineCommand({
  options: {
    section: { type: "string", value: "name", multiple: true, help: "workspace, model, web, gateway, daemon, channels, skills or health; repeatable" },
  },
  examples: [],
  async run({ io, values }) {
    const wanted = await sectionsOf(values.section ?? []);
    if (!io.interactive)
      throw new AppError("INVALID_INPUT", "configure needs a terminal; without one use openclaw config set, or openclaw onboard --non-interactive");
    return withSetupHost(io, async (host) => {
      const setup = await import("../../setup/index.ts");
      const ask = await openAsker(io);
      await ask.intro("openclaw configure");
      const before = host.config.current;
      const { sections, committed } = await setup.configure(host, ask, wanted);
      await ask.outro(committed.files.length > 0 ? `Saved ${committed.files.join(", ")}` : "No changes");
      const pid = committed.files.length > 0 ? lockHolder(stateLockPath(host.config.paths.state))?.pid : undefined;
      const answer = gatewayAnswer(pid, diffPaths(before, host.config.current), host.config.current);
      io.out(`Configured ${sections.join(", ")}${pid === undefined ? "" : `; ${io.runnable(describeAnswer(answer))}`}\n`);
      return 0;
    });
  },
});
