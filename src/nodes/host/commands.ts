import { messageOf } from "../../base/errors.ts";
import { isRecord } from "../../base/records.ts";
import { run } from "../../base/spawn.ts";
import { clip } from "../../base/text.ts";
import { resolveExecutable } from "../../tools/index.ts";
import { browserCommands, type HostBrowser } from "./browser-proxy.ts";
import type { Device } from "./devices/devices.ts";
import { fileFolders, readHostFile, writeHostFile, type HostFilesDeps } from "./files.ts";
import { HostError } from "./host-error.ts";
import { runCommand, type HostCall, type RunCommandDeps } from "./run-command.ts";

export interface HostCommandDeps extends HostFilesDeps {
  readonly browser?: HostBrowser | undefined;
  /** What of this machine sees and hears. */
  readonly devices: readonly Device[];
}

type HostCommand = (call: HostCall) => unknown;

const MOST_BINS = 500;
const MOST_TEXT = 4000;
const NOTIFY_MS = 10_000;

/** Documented codes of what other kinds of nodes have. */
const CODES: readonly (readonly [RegExp, string])[] = [
  [/^camera\./, "CAMERA_DISABLED"],
  [/^location\./, "LOCATION_DISABLED"],
  [/^canvas\.|^screen\./, "NODE_BACKGROUND_UNAVAILABLE"],
];

export const notHere = (command: string): HostError =>
  new HostError(CODES.find(([pattern]) => pattern.test(command))?.[1] ?? "UNAVAILABLE", `${clip(command, 100)} is not available here`);

function which(params: unknown, path: string): Readonly<Record<string, unknown>> {
  const bins = isRecord(params) && Array.isArray(params["bins"]) ? params["bins"].slice(0, MOST_BINS) : undefined;
  if (!bins) throw new HostError("INVALID_REQUEST", "system.which takes bins: a list of names");
  const found = bins.flatMap((bin: unknown) => {
    const file = typeof bin === "string" && !bin.includes("/") ? resolveExecutable(bin, "/", path) : undefined;
    return file === undefined ? [] : [[bin, file]];
  });
  return { bins: Object.fromEntries(found) as Readonly<Record<string, string>> };
}

/** The program that shows a notification, and its arguments; undefined where there is none. */
function notifier(
  { env, platform }: RunCommandDeps,
  path: string,
): ((title: string, body: string, urgent: boolean) => readonly [string, ...string[]]) | undefined {
  const file = (name: string): string | undefined => resolveExecutable(name, "/", path);
  if (platform === "darwin") {
    const script = file("osascript");
    const lines = ["on run argv", "display notification (item 2 of argv) with title (item 1 of argv)", "end run"].flatMap((line) => ["-e", line]);
    return script === undefined ? undefined : (title, body) => [script, ...lines, title, body];
  }
  const send = platform === "linux" && (env["DISPLAY"] || env["WAYLAND_DISPLAY"] || env["DBUS_SESSION_BUS_ADDRESS"]) ? file("notify-send") : undefined;
  return send === undefined
    ? undefined
    : (title, body, urgent) => [send, "--app-name=OpenClaw", `--urgency=${urgent ? "critical" : "normal"}`, "--", title, body];
}

async function notify(show: NonNullable<ReturnType<typeof notifier>>, { params, signal, begin }: HostCall, env: RunCommandDeps["env"]): Promise<unknown> {
  const { title, body, priority } = isRecord(params) ? params : {};
  const text = (value: unknown): string => (typeof value === "string" ? clip(value.toWellFormed().replaceAll("\0", ""), MOST_TEXT) : "");
  if (text(title) === "" && text(body) === "") throw new HostError("INVALID_REQUEST", "system.notify takes a title, a body, or both");
  const [program, ...args] = show(text(title) || "OpenClaw", text(body), priority === "timeSensitive");
  begin();
  try {
    const { code, stderr } = await run(program, { args, env, timeoutMs: NOTIFY_MS, maxOutputBytes: 65_536, signal });
    if (code !== 0) throw new HostError("UNAVAILABLE", clip(stderr.trim() || `the notification program exited with code ${code}`, 300));
  } catch (error) {
    throw error instanceof HostError ? error : new HostError("UNAVAILABLE", messageOf(error));
  }
  return { ok: true };
}

/** Commands are planned for a POSIX shell: another shell would read the same text in another way than the plan that was judged. */
export const hasShell = (platform: NodeJS.Platform): boolean => platform !== "win32";

/** What this machine can do, by the names of commands. Commands that it cannot are not declared. */
export function hostCommands(deps: HostCommandDeps): ReadonlyMap<string, HostCommand> {
  const path = deps.env["PATH"] ?? "/usr/local/bin:/usr/bin:/bin";
  const show = notifier(deps, path);
  const commands: [string, HostCommand][] = [
    ...(hasShell(deps.platform) ? [["system.run", (call) => runCommand(call, deps)] as [string, HostCommand]] : []),
    ["system.which", ({ params }) => which(params, path)],
    ...browserCommands(deps.browser),
    ...deps.devices.flatMap((device) => [...device.commands] as [string, HostCommand][]),
    ["system.execApprovals.get", () => deps.rules.snapshot()],
    [
      "system.execApprovals.set",
      ({ params }) => {
        const { file, baseHash } = isRecord(params) ? params : {};
        return deps.rules.replace(file, typeof baseHash === "string" ? baseHash : undefined);
      },
    ],
  ];
  if (fileFolders(deps).length > 0) commands.push(["file.read", (call) => readHostFile(call, deps)]);
  if (fileFolders(deps).length > 0 && deps.config().nodeHost?.files?.write === true) commands.push(["file.write", (call) => writeHostFile(call, deps)]);
  return new Map(show ? [...commands, ["system.notify", (call) => notify(show, call, deps.env)]] : commands);
}
