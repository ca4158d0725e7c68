import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { entryIn, folderWith } from "./plugin-on-disk.ts";

/** A process in which the first load of the parser fails, as it does when no descriptor is left. */
const PROGRAM = `
import { registerHooks } from "node:module";
let failed = false;
registerHooks({
  resolve(specifier, context, next) {
    if (specifier !== "es-module-lexer" || failed) return next(specifier, context);
    failed = true;
    throw Object.assign(new Error("EMFILE: too many open files"), { code: "EMFILE" });
  },
});
const { createModuleLoader, createHostPackages } = await import(process.argv[1]);
const { systemClock } = await import(process.argv[2]);
using loader = createModuleLoader({ sdkDir: ".", hostPackages: createHostPackages(), clock: systemClock });
const entry = JSON.parse(process.argv[3]);
const load = () => loader.load(entry, 1).then(({ definition }) => definition.register("api"), (error) => error.message);
console.log(JSON.stringify([await load(), await load()]));
`;

test("a plugin whose loader could not be made ready once is loaded the next time", () => {
  const entry = entryIn(folderWith({ "index.js": "export default (api) => api + '!';" }), "index.js");
  const urls = ["./index.ts", "../../base/clock.ts"].map((file) => new URL(file, import.meta.url).href);
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", PROGRAM, ...urls, JSON.stringify(entry)], { encoding: "utf8" });
  expect(stdout, stderr).toBe(`${JSON.stringify(["EMFILE: too many open files", "api!"])}\n`);
});
