import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { median, round } from "../stats.ts";
import type { BenchContext, Measure, Row } from "../row.ts";

/** Wall time of commands against bare `node -e 0`, taken in turns in one loop so that both see the same machine. */
function compare(context: BenchContext, commands: Readonly<Record<string, readonly string[]>>): { bare: number; times: Record<string, number> } {
  const env = { PATH: process.env["PATH"], HOME: context.folder, OPENCLAW_STATE_DIR: join(context.folder, "cli-state"), NO_COLOR: "1" };
  const time = (args: readonly string[]): number => {
    const started = performance.now();
    const result = spawnSync(context.node, args, { env, stdio: "ignore" });
    if (result.status !== 0) throw new Error(`${args.join(" ")} ended with ${result.status ?? result.signal}`);
    return performance.now() - started;
  };
  const rounds = context.quick ? 3 : 31;
  const bare: number[] = [];
  const times: Record<string, number[]> = Object.fromEntries(Object.keys(commands).map((name) => [name, []]));
  for (let i = 0; i <= rounds; i += 1) {
    const first = time(["-e", "0"]);
    if (i > 0) bare.push(first);
    for (const [name, args] of Object.entries(commands)) {
      const ms = time(args);
      if (i > 0) times[name]!.push(ms);
    }
  }
  return { bare: median(bare), times: Object.fromEntries(Object.entries(times).map(([name, list]) => [name, median(list)])) };
}

export const cli: Measure = {
  name: "command line",
  async run(context): Promise<readonly Row[]> {
    const bin = join(context.root, "bin", "openclaw");
    const file = join(context.root, "test/fixtures/config/large-600.json5");
    const { bare, times } = compare(context, { version: [bin, "--version"], validate: [bin, "config", "validate", "--file", file] });
    const row = (name: string, key: string, bar: number): Row => ({
      name,
      value: round(times[key]! / bare),
      unit: "×",
      bar,
      better: "lower",
      facts: { "bare node ms": round(bare, 1), ms: round(times[key]!, 1) },
    });
    return [row("openclaw --version / bare node", "version", 1.4), row("config validate, 600 lines / bare node", "validate", 2.5)];
  },
};
