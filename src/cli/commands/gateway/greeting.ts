/** What a user at a terminal reads when a gateway has started, or when one is running already. */
import type { App } from "../../../app/index.ts";
import { AppError } from "../../../base/errors.ts";
import type { Io } from "../../io.ts";
import { createStyle } from "../../output/style.ts";

const LABEL = 6;

const line = (io: Pick<Io, "color">, label: string, text: string, note = ""): string => {
  const style = createStyle(io.color);
  return `  ${style.bold(label.padEnd(LABEL))} ${text}${note === "" ? "" : `  ${style.dim(note)}`}\n`;
};

type Greeter = Pick<App, "url" | "consoleStyle" | "loginLink" | "answeringModel">;

export interface GreetingOptions {
  /** A user reads the output. Programs and services get the log alone. */
  readonly terminal: boolean;
  /** Open the Control UI where there is a desktop. */
  readonly opens: boolean;
}

/** Prints three lines: where the Control UI is, which model answers, and how to stop or go on. */
export function greet(app: Greeter, io: Pick<Io, "out" | "color" | "runnable" | "env">, { terminal, opens }: GreetingOptions): void {
  if (!terminal || app.consoleStyle === "json") return;
  const link = app.loginLink();
  const style = createStyle(io.color);
  io.out("\n");
  if (link === undefined) io.out(line(io, "URL", app.url));
  else io.out(io.runnable(line(io, "Open", style.cyan(link), "works once, within 10 minutes; new link: openclaw dashboard")));
  // Which model it is takes a look at keys and at this machine: that runs in the background.
  void app.answeringModel().then(({ model, offline, why }) => {
    if (offline) io.out(io.runnable(line(io, "Model", "Built-in offline model", "use another: openclaw configure --section model")));
    else io.out(io.runnable(line(io, "Model", model ?? "none", why)));
    io.out(io.runnable(line(io, "Stop", "Ctrl+C", "chat from your phone: openclaw channels add")));
  });
  if (opens && link !== undefined) void openPage(app, io.env);
}

/** A link works once: the browser gets one of its own, so that the printed one can still be used. */
async function openPage(app: Greeter, env: Io["env"]): Promise<void> {
  const { hasDesktop, openBrowser } = await import("../../open-browser.ts");
  const link = hasDesktop(env) ? app.loginLink() : undefined;
  if (link !== undefined) await openBrowser(env, link);
}

/** When another gateway holds the state folder: says where it runs and what to do. Gives the exit code; undefined for every other failure. */
export async function alreadyRunning(error: unknown, io: Io): Promise<number | undefined> {
  if (!(error instanceof AppError) || error.code !== "LOCKED") return undefined;
  const { findTarget } = await import("../../gateway-target.ts");
  const { url, holder } = await findTarget(io, {});
  if (holder?.port === undefined || holder.pid !== error.details["pid"]) return undefined;
  const style = createStyle(io.color);
  io.err(`${style.yellow("A gateway is already running")} at ${url.replace(/^ws/, "http")} (process ${holder.pid}, state ${holder.stateDir})\n`);
  io.err(line(io, "Open", "openclaw dashboard"));
  io.err(line(io, "Stop", "openclaw gateway stop"));
  return 1;
}
