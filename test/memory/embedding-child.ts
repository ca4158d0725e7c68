/** Embeds the notes of a state folder until it is killed. */
import { openConfig } from "../../src/config/index.ts";
import { systemClock } from "../../src/base/clock.ts";
import { createIds } from "../../src/base/ids.ts";
import { silentLogger } from "../../src/base/log/logger.ts";
import { systemRandom } from "../../src/base/random.ts";
import { createMemory } from "../../src/memory/index.ts";

const [folder = "", workspace = ""] = process.argv.slice(2);
const env = { HOME: folder, OPENCLAW_STATE_DIR: folder, OPENCLAW_CONFIG_PATH: `${folder}/openclaw.json` };
const config = await openConfig({ env, cwd: folder, osHome: folder, version: "1.0.0", clock: systemClock, ids: createIds(systemRandom), purpose: "start" });
const memory = createMemory({ config, clock: systemClock, log: silentLogger, home: folder, workspaceOf: () => workspace });
await memory.sync("main");
setInterval(() => void memory.status("main"), 50);
