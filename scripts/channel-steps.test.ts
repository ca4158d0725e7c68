import { globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { stepPictures } from "./channel-steps/pictures.ts";

const ROOT = join(import.meta.dirname, "..");

test("the drawings in the documentation are those of the manifests: run node scripts/channel-steps.ts", () => {
  const pictures = stepPictures();
  expect(globSync("docs/channels/*/step-*.svg", { cwd: ROOT }).toSorted()).toEqual([...pictures.keys()].toSorted());
  for (const [path, content] of pictures) expect(readFileSync(join(ROOT, path), "utf8"), path).toBe(content);
});

test("every drawing stands on the page of its channel", () => {
  for (const path of stepPictures().keys()) {
    const folder = dirname(path);
    expect(readFileSync(join(ROOT, `${folder}.md`), "utf8"), path).toContain(`](${basename(folder)}/${basename(path)})`);
  }
});
