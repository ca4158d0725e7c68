/**
 * Turns over `POST /v1/chat/completions`, one after the other or several at once.
 * `node bench/drivers/http-turns.ts --base http://127.0.0.1:PORT --token T [--turns 50] [--user NAME | --stateless] [--stream] [--concurrency 1]`
 */
import { round } from "../stats.ts";
import { parseOptions } from "./options.ts";
import { summary } from "./summary.ts";

const DEFAULTS = {
  base: "http://127.0.0.1:18789",
  token: "",
  turns: 50,
  warmup: 2,
  user: "",
  stateless: false,
  stream: false,
  model: "openclaw",
  concurrency: 1,
  message: "hello",
};

async function main(): Promise<void> {
  const options = parseOptions(DEFAULTS, process.argv.slice(2), process.env);
  const user = options.user || `bench-${Date.now().toString(36)}`;
  const errors: string[] = [];
  let last = "";

  async function turn(index: number, who: string): Promise<number> {
    const started = performance.now();
    const response = await fetch(`${options.base}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${options.token}` },
      body: JSON.stringify({
        model: options.model,
        stream: options.stream,
        messages: [{ role: "user", content: `${options.message} ${index}` }],
        ...(options.stateless ? {} : { user: who }),
      }),
    });
    const text = await response.text();
    if (!response.ok) errors.push(`${response.status} ${text.slice(0, 200)}`);
    last = text.slice(0, 300);
    return performance.now() - started;
  }

  for (let i = 0; i < options.warmup; i += 1) await turn(i, user);
  const times: number[] = [];
  const started = performance.now();
  let next = 0;
  const worker = async (index: number): Promise<void> => {
    while (next < options.turns) times.push(await turn(next++, options.concurrency > 1 ? `${user}-${index}` : user));
  };
  await Promise.all(Array.from({ length: options.concurrency }, (_, index) => worker(index)));
  const seconds = (performance.now() - started) / 1000;
  console.log(JSON.stringify({ turnMs: summary(times), turnsPerSecond: round(times.length / seconds), errors: errors.length, firstError: errors[0], last }));
}

if (import.meta.main) await main();
