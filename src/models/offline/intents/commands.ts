import { call } from "../tool-call.ts";
import type { Intent, Turn } from "../turn.ts";
import type { Reply } from "../reply.ts";
import { pathIn, unquoted } from "../user-text.ts";

/** Words that start an English phrase, not a command line. */
const NO_PROGRAM =
  /^(?:a|an|the|this|that|these|those|it|me|my|your|our|some|any|all|for|into|out|away|through|over|to|from|with|by|as|and|or|if|what|how|why|when|where|who|in|on|at|of|again)$/i;

const run = (turn: Turn, command: string): Reply => call(turn, "exec", [{ names: ["command", "cmd", "script"], value: command }]);

/** The requested command line; undefined when it may just as well be prose. */
export function commandIn(plain: string): string | undefined {
  const prompt = /^\$ +(\S[\s\S]*)$/.exec(plain)?.[1];
  if (prompt !== undefined) return prompt.trim();
  const asked = /^(?:run|execute|exec)\s*(?:the\s+)?(?:following\s+)?(?:shell\s+)?(?:command|program)?\s*(:)?\s*([\s\S]+)$/i.exec(plain);
  const line = asked?.[2]?.trim();
  if (line === undefined) return undefined;
  // Text after a quoted command is a remark about it.
  const ticked = /^`([^`]+)`[\s\S]{0,80}$/.exec(line)?.[1];
  const inside = ticked ?? unquoted(line);
  if (ticked !== undefined || inside !== line || asked?.[1] === ":") return inside.trim() === "" ? undefined : inside.trim();
  const [program = ""] = line.split(/\s/, 1);
  if (NO_PROGRAM.test(program) || !/^[\w./~+-]+$/.test(program)) return undefined;
  return line.replace(/(?<=[\w)"'])[.!?]+$/, "");
}

const runCommand: Intent = {
  name: "run",
  begin(turn) {
    const command = commandIn(turn.plain);
    return command === undefined ? undefined : run(turn, command);
  },
};

const listFiles: Intent = {
  name: "list-files",
  begin(turn) {
    const asked =
      /^(?:list|show)(?: me)?(?: all)?(?: the| my)? (?:files|folder|directory)(?: (?:in|of|inside|under) (?:the (?:folder|directory) )?(.+?))?[?.!]*$/i.exec(
        turn.plain,
      );
    if (!asked) return undefined;
    const folder = asked[1] === undefined || /^(?:here|this folder|the workspace|this directory)$/i.test(asked[1]) ? undefined : (pathIn(asked[1]) ?? asked[1]);
    return run(turn, folder === undefined ? "ls -la" : `ls -la ${shellWord(folder)}`);
  },
};

function shellWord(text: string): string {
  return /^[\w./-]+$/.test(text) && !text.startsWith("-") ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

export const commands: readonly Intent[] = [listFiles, runCommand];
