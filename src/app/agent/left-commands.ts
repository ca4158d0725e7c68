/** A chunk of its own: only a start after a gateway that was killed needs it before the first turn. */
export { endFormerCommands } from "../../tools/index.ts";
