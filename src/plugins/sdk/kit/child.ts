import type { Child } from "../../../base/spawn.ts";
import { inheritedEnvironment } from "../../../base/inherited-environment.ts";
import { sdkHost } from "../host-binding.ts";
import { hopeless, messageOf, notSent } from "./failure.ts";

export interface ChildSpec {
  /** A path, or a name on the search path. No shell reads it. */
  readonly command: string;
  readonly args: readonly string[];
  /** Default: the gateway's state folder. */
  readonly cwd?: string | undefined;
  /** Where inherited variables come from. Default: the gateway's environment. */
  readonly from?: Readonly<Record<string, string | undefined>> | undefined;
  /** Added to what is inherited. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly input: boolean;
  readonly onOutput: (stream: "stdout" | "stderr", chunk: Buffer) => Promise<void> | undefined;
}

/** Starts a program with what commands inherit. Rejects with `permanent` where it cannot be run at all. */
export async function openChild({ command, args, cwd, from, env, input, onOutput }: ChildSpec): Promise<Child> {
  const { startChild } = await import("../../../base/spawn.ts");
  const host = sdkHost();
  try {
    const inherited = inheritedEnvironment(from ?? host?.env ?? {});
    return await startChild(command, { args, cwd: cwd ?? host?.stateDir ?? "/", env: { ...inherited, ...env }, input, onOutput });
  } catch (error) {
    const code = (error as { cause?: { code?: unknown } }).cause?.code;
    if (code === "ENOENT") throw hopeless(`${command} cannot be started: it is not installed, or not on the PATH of the gateway`, "NOT_FOUND");
    if (code === "EACCES") throw hopeless(`${command} cannot be started: it may not be executed`, "FORBIDDEN");
    throw notSent("start", messageOf(error));
  }
}

/** Chunks as lines, without their ends and the empty ones. Where one is too long `tooLong` is called and it is left out; without it, it is cut. */
export function createLines(maxBytes: number, line: (text: string) => void, tooLong?: () => void): (chunk: Buffer) => void {
  let open: Buffer[] = [];
  let size = 0;
  let isLeftOut = false;
  return (chunk) => {
    let rest = chunk;
    for (;;) {
      const end = rest.indexOf(10);
      const part = (end < 0 ? rest : rest.subarray(0, end)).subarray(0, maxBytes + 1 - size);
      open.push(part);
      size += part.length;
      if (size > maxBytes && tooLong && !isLeftOut) {
        isLeftOut = true;
        open = [];
        tooLong();
      }
      if (end < 0) return;
      const text = Buffer.concat(open).subarray(0, maxBytes).toString("utf8").trim();
      open = [];
      size = 0;
      rest = rest.subarray(end + 1);
      if (text !== "" && !isLeftOut) line(text);
      isLeftOut = false;
    }
  };
}
