import type { Io } from "../../../io.ts";

/** The platform's way to open an address; undefined where nobody would see it. */
function opener({ env }: Io): readonly [string, ...string[]] | undefined {
  if (process.platform === "darwin") return ["open"];
  if (process.platform === "win32") return ["rundll32", "url.dll,FileProtocolHandler"];
  return env["DISPLAY"] || env["WAYLAND_DISPLAY"] ? ["xdg-open"] : undefined;
}

/** No browser of the user runs on this machine. */
export function isRemote(io: Io): boolean {
  const { SSH_CLIENT, SSH_TTY, SSH_CONNECTION, REMOTE_CONTAINERS, CODESPACES } = io.env;
  return [SSH_CLIENT, SSH_TTY, SSH_CONNECTION, REMOTE_CONTAINERS, CODESPACES].some(Boolean) || opener(io) === undefined;
}

/** Opens an address in the user's browser, if there is one. */
export async function openUrl(io: Io, url: string): Promise<void> {
  const command = isRemote(io) ? undefined : opener(io);
  if (!command) return;
  const { run } = await import("../../../../base/spawn.ts");
  const [program, ...args] = command;
  // The address is always printed, to be copied where no browser opens.
  await run(program, { args: [...args, url], env: io.env, timeoutMs: 10_000, maxOutputBytes: 65_536 }).catch(() => undefined);
}
