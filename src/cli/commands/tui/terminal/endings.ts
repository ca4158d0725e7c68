import { constants } from "node:os";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** However the process ends, `leave` runs first: on signals and uncaught errors too. */
export function guardEndings(leave: () => void): Disposable {
  const stack = new DisposableStack();
  for (const name of SIGNALS) {
    const end = (): void => {
      leave();
      process.exit(128 + constants.signals[name]);
    };
    process.once(name, end);
    stack.defer(() => void process.off(name, end));
  }
  const crash = (error: unknown): void => {
    leave();
    process.stderr.write(`error: the terminal interface crashed. This is a bug in openclaw; please report it with these lines:\n`);
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exit(1);
  };
  process.once("uncaughtException", crash);
  process.once("unhandledRejection", crash);
  stack.defer(() => void process.off("uncaughtException", crash).off("unhandledRejection", crash));
  return stack;
}

/** Stops this process as its shell's Ctrl+Z does; `resumed` when it goes on. */
export function suspend(resumed: () => void): void {
  process.once("SIGCONT", resumed);
  process.kill(0, "SIGTSTP");
}
