/**
 * Transforms: the operator's own code that rewrites a request. Each call runs in a thread of its own, which is ended when it takes too long; a change of
 * the file counts from the next request on.
 */
import { realpath } from "node:fs/promises";
import { join, resolve, sep } from "node:path";
import { pathToFileURL } from "node:url";
import type { Clock } from "../../base/clock.ts";
import { AppError, messageOf } from "../../base/errors.ts";
import { isRecord } from "../../base/records.ts";

export interface TransformInput {
  readonly payload: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly url: string;
  readonly path: string;
}

export interface TransformDeps {
  readonly clock: Clock;
  /** Folder of the configuration file. */
  readonly configFolder: string;
  readonly transformsDir: () => string | undefined;
  readonly env: () => Readonly<Record<string, string | undefined>>;
}

export interface Transforms {
  /** What the code returns: fields that replace the mapping's, or null when the request needs no work. */
  run(transform: { readonly module: string; readonly export?: string | undefined }, input: TransformInput): Promise<Readonly<Record<string, unknown>> | null>;
}

const LIMIT_MS = 10_000;
const MOST_AT_ONCE = 4;
const MOST_WAITING = 100;
const MAX_RESULT_CHARS = 1_000_000;
const MEMORY_MB = 128;

const CODE = `
const { workerData, parentPort } = require("node:worker_threads");
const answer = async () => {
  const { file, name, input } = workerData;
  const loaded = await import(file);
  const transform = name === undefined ? (loaded.default ?? loaded.transform) : loaded[name];
  if (typeof transform !== "function") throw new Error("it exports no function " + (name ?? "default or transform"));
  const result = await transform({ ...input, url: new URL(input.url) });
  return result === null || result === undefined ? "null" : JSON.stringify(result) ?? "null";
};
answer().then((json) => parentPort.postMessage({ json }), (error) => parentPort.postMessage({ error: String(error?.message ?? error) }));
`;

const isBelow = (folder: string, path: string): boolean => path === folder || path.startsWith(folder + sep);

/** The file of a transform: what links lead to counts, so that nothing outside of the folder for transforms is loaded. */
async function fileOf({ configFolder, transformsDir }: TransformDeps, module: string): Promise<string> {
  const root = join(configFolder, "hooks", "transforms");
  const fail = (path: string, why: string): AppError => new AppError("CONFIG_INVALID", `${path} ${why}; transforms are files below ${root}`);
  const real = (path: string): Promise<string> =>
    realpath(path).catch((error: unknown) => {
      throw fail(path, `cannot be read (${messageOf(error)})`);
    });
  const realRoot = await real(root);
  const asked = transformsDir()?.trim();
  const folder = asked ? await real(resolve(root, asked)) : realRoot;
  if (!isBelow(realRoot, folder)) throw fail(`hooks.transformsDir (${asked})`, "leads outside that folder");
  const file = await real(resolve(folder, module));
  if (!isBelow(folder, file) || file === folder) throw fail(module, "leads outside the transforms folder");
  return file;
}

/** Runs the code in a thread; what it writes to its output is dropped. */
async function inThread(deps: TransformDeps, workerData: object): Promise<string> {
  const { Worker } = await import("node:worker_threads");
  const { promise, resolve: done, reject } = Promise.withResolvers<string>();
  const resourceLimits = { maxOldGenerationSizeMb: MEMORY_MB };
  const worker = new Worker(CODE, {
    eval: true,
    name: "transform",
    workerData,
    execArgv: [],
    env: { ...deps.env() },
    resourceLimits,
    stdout: true,
    stderr: true,
  });
  worker.stdout.resume();
  worker.stderr.resume();
  const timer = deps.clock.after(LIMIT_MS, () => reject(new AppError("TIMEOUT", `it did not return within ${LIMIT_MS / 1000} s and was stopped`)));
  worker.once("message", (answer: unknown) => {
    if (isRecord(answer) && typeof answer["json"] === "string") done(answer["json"]);
    else reject(new AppError("INVALID_INPUT", isRecord(answer) ? String(answer["error"]) : "its result cannot be read"));
  });
  worker.once("error", reject);
  worker.once("exit", () => reject(new AppError("INVALID_INPUT", "its thread exited without a result")));
  try {
    return await promise;
  } finally {
    timer[Symbol.dispose]();
    await worker.terminate();
  }
}

export function createTransforms(deps: TransformDeps): Transforms {
  let running = 0;
  const waiting: (() => void)[] = [];

  /** Resolves when one more thread may run. */
  async function turn(): Promise<void> {
    if (running < MOST_AT_ONCE) {
      running += 1;
      return;
    }
    if (waiting.length >= MOST_WAITING) throw new AppError("OVERLOADED", `${waiting.length} transforms are waiting; send it again shortly`);
    const { promise, resolve: begin } = Promise.withResolvers<void>();
    waiting.push(begin);
    await promise;
  }

  return {
    async run(transform, input) {
      const file = pathToFileURL(await fileOf(deps, transform.module)).href;
      const name = transform.export;
      await turn();
      let json: string;
      try {
        json = await inThread(deps, { file, name, input });
      } finally {
        const next = waiting.shift();
        if (next) next();
        else running -= 1;
      }
      if (json.length > MAX_RESULT_CHARS) throw new AppError("INVALID_INPUT", `it returned more than ${MAX_RESULT_CHARS} characters`);
      const result: unknown = JSON.parse(json);
      if (result === null) return null;
      if (!isRecord(result)) throw new AppError("INVALID_INPUT", "it must return an object with fields to replace, or null");
      return result;
    },
  };
}
