/** `npm run modules [-- --list <part of a name>]`: the figures of the code base, and the drawing of its modules in `docs/modules.svg`. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { Layer } from "./lint-rules.ts";
import { drawModules } from "./modules/drawing.ts";
import { figuresOf } from "./modules/figures.ts";
import { readSources } from "./modules/sources.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const { values } = parseArgs({ options: { list: { type: "string" } } });
const files = [...readSources(root, "src"), ...readSources(root, "plugins")];
const layers = JSON.parse(readFileSync(join(root, "layers.json"), "utf8")) as Layer[];
writeFileSync(
  join(root, "docs/modules.svg"),
  drawModules(
    files,
    layers.map(({ modules }) => modules),
  ),
);
const figures = figuresOf(
  root,
  files,
  readSources(root, "scripts").filter(({ path }) => !/^scripts\/(?:modules|walk)/.test(path)),
);
for (const { name, value, most, found } of figures) {
  console.log(`${name}: ${value} (at most ${most})`);
  if (values.list !== undefined && name.includes(values.list)) for (const line of found) console.log(`  ${line}`);
}
