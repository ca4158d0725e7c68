import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { ROOT } from "./gateway-process.ts";

/** The model of the bench, in a process of its own: it answers as instructed, in messages or beforehand. */
export interface MockModel extends Disposable {
  readonly url: string;
  /** Its next answers, whatever it is asked. */
  plan(...answers: readonly object[]): Promise<void>;
  /** Its next answers: a call of `exec`, and a word once it knows that approval is pending. */
  planCommand(command: string): Promise<void>;
  /** The last request that it got. */
  last(): Promise<string>;
}

export async function startMockModel(): Promise<MockModel> {
  const child = spawn(process.execPath, [join(ROOT, "bench/drivers/mock-model.ts")], { stdio: ["ignore", "pipe", "inherit"] });
  const [url] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  const plan = async (...answers: readonly object[]): Promise<void> => void (await fetch(`${url}/next`, { method: "POST", body: JSON.stringify(answers) }));
  return {
    url,
    plan,
    planCommand: (command) => plan({ tool: "exec", args: JSON.stringify({ command }) }, { say: "I asked." }),
    last: async () => (await fetch(`${url}/last`)).text(),
    [Symbol.dispose]: () => void child.kill(),
  };
}
