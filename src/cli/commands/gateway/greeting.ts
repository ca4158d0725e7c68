import type { App } from "../../../app/index.ts";
import type { Io } from "../../io.ts";
import { createStyle } from "../../output/style.ts";

const LABEL = 8;

/** What a person at a terminal needs to begin: the address, a link that logs in, and who will answer. Programs and services get the log alone. */
export function greet(
  app: Pick<App, "url" | "consoleStyle" | "loginLink" | "answeringModel">,
  io: Pick<Io, "out" | "color" | "runnable">,
  terminal: boolean,
): void {
  if (!terminal || app.consoleStyle === "json") return;
  const style = createStyle(io.color);
  const line = (label: string, text: string, note = ""): void =>
    io.out(`  ${style.bold(label.padEnd(LABEL))} ${text}\n${note === "" ? "" : `  ${" ".repeat(LABEL)} ${style.dim(io.runnable(note))}\n`}`);
  const link = app.loginLink();
  io.out("\n");
  line("address", link?.replace(/#.*$/, "") ?? app.url);
  if (link !== undefined) line("log in", style.cyan(link), "this link works once, for 10 minutes; another: openclaw dashboard");
  // Which model it is takes a look at keys and at this machine: nobody waits for that.
  void app.answeringModel().then(({ model, why }) => line("model", model ?? "none", why));
}
