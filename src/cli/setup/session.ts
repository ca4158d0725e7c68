import type { Asker } from "../../setup/index.ts";
import type { Io } from "../io.ts";
import { openPlace, type CommandPlace } from "./place.ts";

/** Runs `use` with the place where things are set up. Leaving a question is no failure: 0 is the exit code then. */
export async function inPlace(io: Io, use: (place: CommandPlace) => Promise<number>): Promise<number> {
  using place = await openPlace(io);
  const { isLeft } = await import("../../setup/index.ts");
  try {
    return await use(place);
  } catch (error) {
    if (!isLeft(error)) throw error;
    io.err(`${error instanceof Error ? error.message : String(error)}\n`);
    return 0;
  }
}

/** Who is asked at this terminal. */
export async function openAsker(io: Pick<Io, "runnable">): Promise<Asker> {
  return (await import("./terminal-asker.ts")).terminalAsker(io);
}
