import { createRequire, type LoadFnOutput, type ResolveFnOutput } from "node:module";
import { fileURLToPath } from "node:url";
import { systemCode } from "../../base/errors.ts";

/** ES modules that CommonJS code requires. */
export interface RequiredModules {
  /**
   * Runs the module at `url` and answers CommonJS that exports what Node's own `require` would give for it. Throws what the module throws, and
   * Node's codes for modules with top-level await and for cycles.
   *
   * Node cannot do this itself in two cases. It refuses a module that an `import` under way has linked and not instantiated yet, which happens
   * when plugins that share a module load at the same time. And it looks modules up by their path, so that after a reload it would
   * give the first generation's module. A fresh module that imports `url` has neither problem: linking and running it is synchronous.
   */
  load(url: string): LoadFnOutput;
  /** Address of one of the modules made here, by its specifier. */
  resolve(specifier: string): ResolveFnOutput | undefined;
  /** Text of one of the modules made here. */
  source(url: string): LoadFnOutput | undefined;
}

const NAMESPACE = "openclaw-namespace:";
const FACADE = "openclaw-facade:";
const TARGET = "openclaw-target:";

/** The colon at the end keeps Node from taking the end of the address for a file's extension. */
const made = (prefix: string, url: string): string => `${prefix}${encodeURIComponent(url)}:`;
const targetOf = (prefix: string, address: string): string | undefined =>
  address.startsWith(prefix) ? decodeURIComponent(address.slice(prefix.length, -1)) : undefined;

/** What Node's `require` puts around a module with a default export, so that transpiled code recognizes it. */
const facadeOf = (target: string): string => `export*from${target};export{default}from${target};export const __esModule=true;`;
const namespaceOf = (target: string): string => `import*as namespace from${target};export{namespace as "module.exports"};`;

export function createRequiredModules(from: string): RequiredModules {
  const require = createRequire(from);
  const running = new Set<string>();

  /** Runs the module at `url`, if it has not run yet, and answers its namespace. */
  function run(url: string): Readonly<Record<string, unknown>> {
    const file = fileURLToPath(url);
    if (running.has(url)) throw failure("ERR_REQUIRE_CYCLE_MODULE", file);
    // While the module runs, a `require` of it has to come here again instead of getting the unfinished exports.
    const { cache } = require;
    const entry = cache[file];
    delete cache[file];
    running.add(url);
    try {
      return require(made(NAMESPACE, url)) as Readonly<Record<string, unknown>>;
    } catch (error) {
      const code = systemCode(error);
      if (code === "ERR_REQUIRE_ASYNC_MODULE" && isAbout(error, url)) throw failure(code, file, error);
      if (code === "ERR_REQUIRE_CYCLE_MODULE" && isAbout(error, url)) throw failure(code, file, error);
      throw error;
    } finally {
      running.delete(url);
      if (entry) cache[file] = entry;
    }
  }

  return {
    load(url) {
      const namespace = run(url);
      const has = (name: string): boolean => Object.hasOwn(namespace, name);
      const whole = has("module.exports") || !has("default") || has("__esModule");
      const value = `require(${JSON.stringify(made(whole ? NAMESPACE : FACADE, url))})${has("module.exports") ? '["module.exports"]' : ""}`;
      return { format: "commonjs", source: `module.exports=${value};`, shortCircuit: true };
    },
    resolve(specifier) {
      if (specifier.startsWith(NAMESPACE) || specifier.startsWith(FACADE)) return { url: specifier, format: "module", shortCircuit: true };
      const url = targetOf(TARGET, specifier);
      return url === undefined ? undefined : { url, shortCircuit: true };
    },
    source(address) {
      for (const [prefix, text] of [
        [NAMESPACE, namespaceOf],
        [FACADE, facadeOf],
      ] as const) {
        const url = targetOf(prefix, address);
        if (url !== undefined) return { format: "module", source: text(JSON.stringify(made(TARGET, url))), shortCircuit: true };
      }
      return undefined;
    },
  };
}

/** Whether an error of Node names the module that was made for `url`. */
const isAbout = (error: unknown, url: string): boolean => error instanceof Error && error.message.includes(encodeURIComponent(url));

const REASONS = {
  ERR_REQUIRE_ASYNC_MODULE: "it, or a module that it imports, uses top-level await; load it with import() instead",
  ERR_REQUIRE_CYCLE_MODULE: "it is being loaded and its imports lead back to this require(); load part of the cycle later",
} as const;

function failure(code: keyof typeof REASONS, file: string, cause?: unknown): Error {
  return Object.assign(new Error(`require() cannot load the ES module ${file}: ${REASONS[code]}`, { cause }), { code });
}
