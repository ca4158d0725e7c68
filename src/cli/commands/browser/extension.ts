/** `openclaw browser extension`: the Chrome extension that shares tabs. Works without a running gateway. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { AppError } from "../../../base/errors.ts";
import { createIds } from "../../../base/ids.ts";
import { lockHolder } from "../../../base/instance-lock.ts";
import { systemRandom } from "../../../base/random.ts";
import { loadExtension } from "../../../browser/index.ts";
import { formatLocated, gatewayPort, stateLockPath } from "../../../config/index.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { loadFor, requireValid } from "../../config-source.ts";
import { printJson } from "../../io.ts";

const STEPS = `Load it once in Chrome:
  1. Open chrome://extensions and turn on "Developer mode"
  2. Click "Load unpacked" and choose the folder above
  3. Pin OpenClaw to the toolbar

To share a tab with agents, open it and click the OpenClaw button; click again to stop.
After an update, run this command again and reload the extension in chrome://extensions.
`;

export const install = defineCommand({
  options: {
    "browser-profile": { type: "string", value: "name", help: "Browser profile (default: chrome)" },
    "show-secret": { type: "boolean", help: "Print the secret, to paste into the options of the extension" },
    json: JSON_OPTION,
  },
  examples: [{ line: "openclaw browser extension install", does: "Write the extension to a folder that Chrome can load" }],
  async run({ io, values }) {
    const { snapshot, paths } = loadFor(io);
    requireValid(snapshot, formatLocated);
    const { config } = snapshot;
    const { installExtension } = await loadExtension();
    const running = lockHolder(stateLockPath(paths.state))?.port;
    const { path, port, secret } = installExtension({
      stateDir: paths.state,
      ids: createIds(systemRandom),
      gatewayPort: running ?? gatewayPort(io.env, { config: config.gateway?.port }),
      config,
      profile: values["browser-profile"] ?? "chrome",
    });
    const shown = values["show-secret"] ? { secret } : {};
    if (values.json) return printJson(io, { path, port, ...shown });
    io.out(`Extension: ${path}\nPort: ${port}\n${values["show-secret"] ? `Secret: ${secret}\n` : ""}\n${STEPS}`);
  },
});

export const path = defineCommand({
  options: { json: JSON_OPTION },
  examples: [],
  async run({ io, values }) {
    const { paths } = loadFor(io);
    const { extensionPath } = await loadExtension();
    const folder = extensionPath(paths.state);
    if (!existsSync(join(folder, "manifest.json")))
      throw new AppError("NOT_FOUND", `the extension is not in ${folder} yet: write it there with openclaw browser extension install`);
    if (values.json) printJson(io, { path: folder });
    else io.out(`${folder}\n`);
  },
});
