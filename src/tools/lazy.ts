/** Parts of this module that are loaded when they are first needed. */
import type * as explainFile from "./file-access/explain-file.ts";
import type * as formerCommands from "./process/former-commands.ts";

/** Ending commands that a killed gateway left running. Loaded when there are any. */
export async function loadFormerCommands(): Promise<typeof formerCommands> {
  return import("./process/former-commands.ts");
}

/** What tools may do with a file, without a gateway. Loaded by the command that explains it. */
export async function loadExplainFile(): Promise<typeof explainFile> {
  return import("./file-access/explain-file.ts");
}
