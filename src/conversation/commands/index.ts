/** Commands and directives: recognised, authorised, carried out. */
export { createCommands } from "./create-commands.ts";
export type { CommandCall, Commands, CommandVerdict, TurnHints } from "./commands.ts";
export type * from "./ports.ts";
