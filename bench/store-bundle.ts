import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type * as StoreModule from "../src/store/index.ts";
import type { BenchContext } from "./row.ts";

/** Gives the store as it ships, bundled and without failpoints, with its door as an entry of its own. It is built when it is first asked for. */
export function storeLoader(context: Pick<BenchContext, "root" | "node" | "built">): () => Promise<typeof StoreModule> {
  let isBuilt = false;
  return async () => {
    if (!isBuilt) {
      const built = spawnSync(context.node, ["scripts/build.ts", context.built], { cwd: context.root, stdio: ["ignore", "ignore", "inherit"] });
      if (built.status !== 0) throw new Error("the bench build failed");
    }
    isBuilt = true;
    return (await import(pathToFileURL(join(context.root, context.built, "store.js")).href)) as typeof StoreModule;
  };
}
