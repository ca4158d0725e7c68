import { mkdtempSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { rolldown } from "rolldown";
import type { Plugin } from "vite";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const FOLDER = join(ROOT, "node_modules", ".cache", "openclaw-tests");
const FILE = join(FOLDER, "store-worker.js");
const SOURCE = 'new URL("../thread/worker.ts", import.meta.url)';

async function bundle(): Promise<void> {
  mkdirSync(FOLDER, { recursive: true });
  // Written beside and swapped in: another run may be using what is there.
  const fresh = mkdtempSync(join(FOLDER, "fresh-"));
  const built = await rolldown({ input: join(ROOT, "src/store/thread/worker.ts"), platform: "node", cwd: ROOT });
  await built.write({ file: join(fresh, "store-worker.js"), format: "esm", codeSplitting: false });
  await built.close();
  renameSync(join(fresh, "store-worker.js"), FILE);
  rmSync(fresh, { recursive: true, force: true });
}

/**
 * Starts the store's thread from one bundled file, made from the sources when a run begins. From the sources themselves a thread takes a quarter of a
 * second of processor time to strip types from them, and there are hundreds of threads in a run.
 */
export function bundledThreads(): Plugin {
  return {
    name: "bundled-threads",
    enforce: "pre",
    configResolved: bundle,
    transform(code, id) {
      if (!id.endsWith("/src/store/client/start-thread.ts")) return undefined;
      if (!code.includes(SOURCE)) throw new Error(`src/store/client/start-thread.ts no longer has ${SOURCE}: change scripts/test-threads.ts with it`);
      return { code: code.replace(SOURCE, `new URL(${JSON.stringify(pathToFileURL(FILE).href)})`), map: null };
    },
  };
}
