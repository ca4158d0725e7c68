import type { Io } from "./io.ts";

type Environment = Io["env"];

/** The platform's command that opens a URL; undefined without a display. */
function opener(env: Environment): readonly [string, ...string[]] | undefined {
  if (process.platform === "darwin") return ["open"];
  if (process.platform === "win32") return ["rundll32", "url.dll,FileProtocolHandler"];
  return env["DISPLAY"] || env["WAYLAND_DISPLAY"] ? ["xdg-open"] : undefined;
}

const isSet = (env: Environment, ...names: readonly string[]): boolean => names.some((name) => (env[name] ?? "") !== "");

/** No browser of the user runs on this machine. */
export const isRemote = (env: Environment): boolean =>
  isSet(env, "SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY", "REMOTE_CONTAINERS", "CODESPACES") || opener(env) === undefined;

/** True where a browser window would appear in front of the user: a display, not over SSH, not in CI. */
export const hasDesktop = (env: Environment): boolean => !isSet(env, "CI") && !isRemote(env);

/** Opens a URL that was printed as well, where the user has a browser on this machine. */
export async function openUrl(env: Environment, url: string): Promise<void> {
  if (!isRemote(env)) await openBrowser(env, url);
}

/** A program that opens URLs has failed by then, if it does. */
const SETTLE_MS = 2000;

/** Opens a URL in the user's browser; false when that was not possible. The browser may be what is started here, and stays open until its user closes it. */
export async function openBrowser(env: Environment, url: string): Promise<boolean> {
  const command = opener(env);
  if (!command) return false;
  const { launch } = await import("../base/spawn.ts");
  const [program, ...args] = command;
  try {
    const code = await launch(program, { args: [...args, url], env, settleMs: SETTLE_MS });
    return code === undefined || code === 0;
  } catch {
    return false;
  }
}
