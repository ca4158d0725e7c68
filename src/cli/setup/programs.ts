import { homedir } from "node:os";
import type { ProgramsPort } from "../../app/index.ts";
import { messageOf } from "../../base/errors.ts";
import { clip } from "../../base/text.ts";
import type { Io } from "../io.ts";

const INSTALL_MS = 300_000;
const MOST_OUTPUT_BYTES = 16 * 1024 * 1024;
/** The end of what an installer says has the reason. */
const SHOWN_CHARS = 600;
/** What installs a program needs no key of ours. */
const SECRET = /key|token|secret|password|credential/i;

/** Installers of this user. Their output is kept for a failure only. */
export function programsOf(io: Io): ProgramsPort {
  const env = Object.fromEntries(Object.entries(io.env).filter(([name]) => !SECRET.test(name)));
  return {
    isRoot: process.getuid?.() === 0,
    async find(names) {
      const { findPrograms } = await import("../../agent/index.ts");
      return findPrograms(names, io.env, process.platform);
    },
    async run([program, ...args], signal) {
      const { run } = await import("../../base/spawn.ts");
      try {
        const options = { args, cwd: homedir(), env, timeoutMs: INSTALL_MS, maxOutputBytes: MOST_OUTPUT_BYTES, signal };
        const { code, stdout, stderr } = await run(program!, options);
        const said = (stderr.trim() || stdout.trim()).slice(-SHOWN_CHARS);
        return { ok: code === 0, text: code === 0 ? "" : `exit code ${code}${said === "" ? "" : `: ${said}`}` };
      } catch (error) {
        return { ok: false, text: clip(messageOf(error), SHOWN_CHARS) };
      }
    },
  };
}
