/** Draws the steps that manifests of channels declare into `docs/channels/<id>/`. Files of steps that are gone are removed. */
import { globSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { stepPictures } from "./channel-steps/pictures.ts";

const ROOT = join(import.meta.dirname, "..");

for (const file of globSync("docs/channels/*/step-*.svg", { cwd: ROOT })) rmSync(join(ROOT, file));
for (const [path, content] of stepPictures()) {
  mkdirSync(dirname(join(ROOT, path)), { recursive: true });
  writeFileSync(join(ROOT, path), content);
}
