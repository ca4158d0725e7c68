import type { Asker } from "../../../setup/index.ts";
import type { Io } from "../../io.ts";

type Beginning = "page" | "tui" | "later";

/** A gateway answers: how the person wants to begin. */
export function askNext(ask: Asker, { runnable }: Pick<Io, "runnable">): Promise<Beginning> {
  return ask.select<Beginning>({
    message: "The gateway is running. How do you want to begin?",
    options: [
      { value: "page", label: "In the browser", hint: runnable("openclaw dashboard") },
      { value: "tui", label: "Here, in the terminal", hint: runnable("openclaw tui") },
      { value: "later", label: "Later" },
    ],
    initialValue: "page",
  });
}

/** Opens it. Gives the exit code. */
export async function begin(io: Io, how: Beginning): Promise<number> {
  if (how === "later") return 0;
  const { dashboard } = await import("../dashboard.ts");
  const command = how === "page" ? dashboard : (await import("../tui/index.ts")).tui;
  return (await command.run({ io, values: {}, positionals: [] })) ?? 0;
}
