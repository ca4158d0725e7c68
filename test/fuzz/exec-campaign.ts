import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom } from "../../src/base/random.ts";
import { run } from "../../src/base/spawn.ts";
import { planCommand } from "../../src/tools/exec/plan.ts";
import { execLine, type ExecLine } from "./exec-lines.ts";

export interface ExecCampaignReport {
  readonly lines: number;
  readonly calls: number;
  /** Lines that were not understood, or ran other than they say. */
  readonly broken: readonly string[];
}

const BATCH = 100;
/** Writes its arguments, and its input when it has some, to a file named after the first two. */
const RECORDER = `#!/bin/sh
[ "$3" = input ] && cat > "$OUT/$1-$2.in"
printf '%s\\0' "$@" > "$OUT/$1-$2"
`;

/** Plans generated lines and runs both the plan and the line itself: the arguments that arrive have to be those the line was made of. */
export async function execCampaign({ lines, seed }: { readonly lines: number; readonly seed: number }): Promise<ExecCampaignReport> {
  const folder = mkdtempSync(join(tmpdir(), "exec-campaign-"));
  const program = join(folder, "record it");
  writeFileSync(program, RECORDER);
  chmodSync(program, 0o755);
  const random = seededRandom(seed);
  const broken: string[] = [];
  let calls = 0;
  try {
    for (let from = 0; from < lines; from += BATCH) {
      const batch = Array.from({ length: Math.min(BATCH, lines - from) }, (_, index) => execLine(random, program, from + index));
      const plans = batch.map(({ text }) => planCommand({ command: text, cwd: folder, host: "gateway", path: "/usr/bin:/bin" }));
      for (const plan of plans) if (!plan.analysable) broken.push(`not understood: ${JSON.stringify(plan.command)}`);
      for (const shell of ["/bin/sh", "/bin/bash"]) {
        const scripts = { planned: plans.map(({ script }) => script), written: batch.map(({ text }) => text) };
        // Each shell reads one of the two: they take turns.
        const which = (shell === "/bin/sh") === (from / BATCH) % 2 > 0 ? "written" : "planned";
        const out = join(folder, `${from}-${which}`);
        mkdirSync(out);
        await run(shell, {
          args: ["-c", scripts[which].join("\n")],
          cwd: folder,
          env: { PATH: "/usr/bin:/bin", OUT: out },
          timeoutMs: 120_000,
          maxOutputBytes: 1e6,
        });
        broken.push(...batch.flatMap((line, index) => differences(line, from + index, out).map((text) => `${shell}, ${which}: ${text}`)));
        rmSync(out, { recursive: true });
      }
      calls += batch.reduce((sum, line) => sum + line.calls.length, 0);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return { lines, calls, broken };
}

function differences(line: ExecLine, number: number, out: string): readonly string[] {
  const made = readdirSync(out).filter((name) => name.startsWith(`${number}-`) && !name.endsWith(".in"));
  const found = line.calls.filter(({ argv, input }) => {
    const path = join(out, `${argv[0]}-${argv[1]}`);
    const wanted = argv.map((word) => `${word}\0`).join("");
    return (
      !made.includes(`${argv[0]}-${argv[1]}`) || readFileSync(path, "utf8") !== wanted || (input !== undefined && readFileSync(`${path}.in`, "utf8") !== input)
    );
  });
  const count = made.length === line.calls.length ? [] : [`${made.length} calls instead of ${line.calls.length}: ${JSON.stringify(line.text)}`];
  return [...count, ...found.map(({ argv }) => `${JSON.stringify(argv)} did not arrive: ${JSON.stringify(line.text)}`)];
}
