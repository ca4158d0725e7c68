import { defineCommand, JSON_OPTION } from "../command.ts";
import { printJson } from "../io.ts";
import { createStyle } from "../output/style.ts";
import { withSetupHost } from "./onboard/host.ts";
import { ONBOARD_OPTIONS } from "./onboard/flags.ts";
import { runOnboard } from "./onboard/index.ts";

const { mode, workspace, "non-interactive": silent, "accept-risk": risk, "remote-url": url, "remote-token": token } = ONBOARD_OPTIONS;

export const setup = defineCommand({
  options: {
    workspace,
    wizard: { type: "boolean", help: "Ask questions, like openclaw onboard" },
    "non-interactive": silent,
    "accept-risk": risk,
    mode,
    "remote-url": url,
    "remote-token": token,
    json: JSON_OPTION,
  },
  examples: [{ line: "openclaw setup", does: "Create the configuration and workspace; keeps existing files" }],
  async run({ io, values }) {
    const { wizard, ...flags } = values;
    if (wizard || flags["non-interactive"] || flags.mode || flags["remote-url"] || flags["remote-token"]) return runOnboard(io, flags, "setup");
    return withSetupHost(io, async (host) => {
      const { prepareFolders } = await import("../../setup/index.ts");
      const made = await prepareFolders(host, flags.workspace);
      if (flags.json) printJson(io, { ok: true, ...made });
      else {
        const ok = createStyle(io.color).green("OK");
        io.out(`Config ${ok}: ${made.config}${made.madeConfig ? " (created)" : ""}\nWorkspace ${ok}: ${made.workspace}\nSessions ${ok}: ${made.sessions}\n`);
      }
      if (made.otherWorkspace) io.err(`The configured workspace was kept. Change it with: openclaw config set agents.defaults.workspace <dir>\n`);
      return 0;
    });
  },
});
