import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { expect, test } from "vitest";

/** What a bundle of an entry would take from outside of itself. */
async function outsideOf(entry: string): Promise<string[]> {
  const outside = new Set<string>();
  const bundle = await rolldown({
    input: fileURLToPath(new URL(entry, import.meta.url)),
    platform: "browser",
    external(id) {
      if (!id.startsWith("node:") && !/^[a-z@]/.test(id)) return false;
      outside.add(id);
      return true;
    },
  });
  await bundle.generate({ format: "esm" });
  await bundle.close();
  return [...outside].sort();
}

test("the client for browsers takes nothing of Node, and no library", async () => {
  expect(await outsideOf("./index.ts")).toEqual([]);
  expect(await outsideOf("./node.ts")).toContain("ws");
});
