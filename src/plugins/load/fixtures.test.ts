import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { systemClock } from "../../base/clock.ts";
import { createHostPackages, createModuleLoader } from "./index.ts";
import { entryIn } from "./plugin-on-disk.ts";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const fixture = (id: string): string => here(`../../../test/fixtures/plugins/${id}`);

test("plugins of this repository load with the host's SDK", async () => {
  using loader = createModuleLoader({ sdkDir: here("../sdk/paths"), hostPackages: createHostPackages(), clock: systemClock });
  const typed = await loader.load(entryIn(fixture("hello-typescript"), "index.ts", { id: "hello-typescript" }), 1);
  expect(typed.definition).toMatchObject({ id: "hello-typescript", name: "Hello" });
  expect(typed.files).toEqual([join(fixture("hello-typescript"), "index.ts"), join(fixture("hello-typescript"), "src/greeting.ts")]);
  const plain = await loader.load(entryIn(fixture("hello-commonjs"), "index.js", { id: "hello-commonjs" }), 1);
  expect(typeof plain.definition.register).toBe("function");
  await expect(loader.load(entryIn(fixture("lacking-names"), "index.js", { id: "lacking-names" }), 1)).rejects.toMatchObject({
    details: { pluginId: "lacking-names", line: 1, missing: [{ specifier: "openclaw/plugin-sdk", known: true, names: ["thisNameWillNeverExist"] }] },
  });
});
