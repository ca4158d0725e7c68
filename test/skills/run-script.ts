/** Runs the scripts of bundled skills, with programs of the machine that a test plays. */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { ROOT } from "../harness/gateway-process.ts";
import { fakePrograms } from "../setup/fake-programs.ts";

export interface ScriptResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ScriptRunner {
  readonly home: string;
  /** What was called, in order. */
  calls(): readonly string[];
  write(name: string, content: string | Buffer): string;
  run(script: string, args?: readonly string[], options?: { readonly input?: string; readonly env?: Readonly<Record<string, string>> }): Promise<ScriptResult>;
}

export function scriptRunner(programs: Readonly<Record<string, string>> = {}): ScriptRunner {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "skill-script-")));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const machine = fakePrograms(home, programs);
  return {
    home,
    calls: machine.calls,
    write(name, content) {
      const path = join(home, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content);
      return path;
    },
    run(script, args = [], { input = "", env = {} } = {}) {
      const path = join(ROOT, "skills", script);
      const program = script.endsWith(".py") ? "python3" : "sh";
      const { promise, resolve } = Promise.withResolvers<ScriptResult>();
      const options = { cwd: home, env: { PATH: machine.path, HOME: home, LC_ALL: "C.UTF-8", ...env } };
      const child = execFile(program, [path, ...args], options, (error, stdout, stderr) =>
        resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr }),
      );
      child.stdin?.on("error", () => undefined);
      child.stdin?.end(input);
      return promise;
    },
  };
}
