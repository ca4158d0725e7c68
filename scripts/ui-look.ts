/**
 * Pictures of the page as it is now: `node scripts/ui-look.ts <folder for pictures> [--ui <built page>] [--mock] [path …]`. Every path in light, dark
 * and on a phone. For work on the page; `npm run ui:shots` makes those of the documentation.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openScene } from "../test/ui/harness/scene.ts";

const { values, positionals } = parseArgs({ allowPositionals: true, options: { ui: { type: "string" }, mock: { type: "boolean" } } });
const [folder = "shots", ...paths] = positionals;
mkdirSync(folder, { recursive: true });
await using scene = await openScene({ ...(values.ui ? { uiRoot: values.ui } : {}), ...(values.mock ? { model: "mock" } : {}) });
for (const [look, options] of [
  ["light", { colorScheme: "light" }],
  ["dark", { colorScheme: "dark" }],
  ["phone", { colorScheme: "light", viewport: { width: 390, height: 844 } }],
] as const) {
  const page = await scene.open("", options);
  page.on("console", (message) => message.type() === "error" && console.error(`${look}: ${message.text()}`));
  page.on("pageerror", (error) => console.error(`${look}: ${error.message}`));
  for (const path of paths.length > 0 ? paths : ["chat"]) {
    await page.goto(`${scene.url}/${path}`);
    await page.waitForTimeout(700);
    await page.screenshot({ path: join(folder, `${path.replace(/[^a-z0-9]+/gi, "-")}-${look}.png`) });
  }
  await page.context().close();
}
