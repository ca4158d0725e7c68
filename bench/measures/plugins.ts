import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { median, round } from "../stats.ts";
import type { Measure, Row } from "../row.ts";

const INSTALLED = 40;

/** A state folder with plugins as they are published: a package, a manifest with a schema, an entry that must never be read. */
function install(stateDir: string): void {
  for (let index = 0; index < INSTALLED; index += 1) {
    const id = `plugin-${String(index).padStart(2, "0")}`;
    const folder = join(stateDir, "extensions", id);
    mkdirSync(folder, { recursive: true });
    const properties = Object.fromEntries(Array.from({ length: 8 }, (_, key) => [`setting${key}`, { type: "string", description: `setting ${key} of ${id}` }]));
    const uiHints = Object.fromEntries(Object.keys(properties).map((key) => [key, { label: key, help: `what ${key} is for` }]));
    const configSchema = { type: "object", additionalProperties: false, properties };
    const manifest = { id, name: `Plugin ${index}`, description: "does something", channels: [`channel-${index}`], uiHints, configSchema };
    writeFileSync(join(folder, "openclaw.plugin.json"), JSON.stringify(manifest, null, 2));
    writeFileSync(join(folder, "package.json"), JSON.stringify({ name: `@bench/${id}`, version: "1.0.0", openclaw: { extensions: ["./index.ts"] } }, null, 2));
    writeFileSync(join(folder, "index.ts"), `throw new Error("listing must not load code");\n`);
  }
  const entries = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`plugin-0${index}`, { enabled: true, config: { setting1: "x" } }]));
  writeFileSync(join(stateDir, "openclaw.json"), JSON.stringify({ plugins: { allow: Object.keys(entries), entries } }, null, 2), { mode: 0o600 });
}

export const plugins: Measure = {
  name: "plugins",
  async run(context): Promise<readonly Row[]> {
    const stateDir = join(context.folder, "plugins-state");
    install(stateDir);
    const env = { PATH: process.env["PATH"], HOME: context.folder, OPENCLAW_STATE_DIR: stateDir, NO_COLOR: "1" };
    const time = (args: readonly string[]): number => {
      const started = performance.now();
      const result = spawnSync(context.node, args, { env, encoding: "utf8" });
      if (result.status !== 0) throw new Error(`${args.join(" ")} ended with ${result.status ?? result.signal}: ${result.stderr}`);
      return performance.now() - started;
    };
    const bare: number[] = [];
    const listed: number[] = [];
    for (let round = 0; round <= (context.quick ? 3 : 31); round += 1) {
      const samples = [time(["-e", "0"]), time([join(context.root, "bin/openclaw"), "plugins", "list"])] as const;
      // The first fills the compile cache.
      if (round === 0) continue;
      bare.push(samples[0]);
      listed.push(samples[1]);
    }
    return [
      {
        name: `plugins list, ${INSTALLED} installed / bare node`,
        value: round(median(listed) / median(bare)),
        unit: "×",
        bar: 2.5,
        better: "lower",
        facts: { "bare node ms": round(median(bare), 1), ms: round(median(listed), 1) },
      },
    ];
  },
};
