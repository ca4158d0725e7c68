/**
 * `npm run bench [-- --quick] [--only <parts of names, with commas>] [--json <file>] [--build <folder>]`: every bar in one run, each beside its calibration.
 * Exits 1 when a bar is missed, unless `--quick`.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { growth } from "./growth/index.ts";
import { app } from "./measures/app.ts";
import { automation } from "./measures/automation.ts";
import { browser } from "./measures/browser.ts";
import { channel } from "./measures/channel.ts";
import { channels } from "./measures/channels.ts";
import { cli } from "./measures/cli.ts";
import { gateway } from "./measures/gateway.ts";
import { hooks } from "./measures/hooks.ts";
import { memory } from "./measures/memory.ts";
import { models } from "./measures/models.ts";
import { nodes } from "./measures/nodes.ts";
import { page } from "./measures/page.ts";
import { pageCrowd } from "./measures/page-crowd.ts";
import { plugins } from "./measures/plugins.ts";
import { pluginStart } from "./measures/plugin-start.ts";
import { store } from "./measures/store.ts";
import { bigState } from "./measures/big-state.ts";
import { turns } from "./measures/turns.ts";
import { voice } from "./measures/voice.ts";
import { isMet, type Row } from "./row.ts";
import { storeLoader } from "./store-bundle.ts";

const { values } = parseArgs({ options: { quick: { type: "boolean" }, only: { type: "string" }, json: { type: "string" }, build: { type: "string" } } });
const only = values.only?.split(",");
const root = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "openclaw-bench-"));
const say = (text: string): void => void process.stderr.write(`${text}\n`);

const context = { root, folder, node: process.execPath, built: values.build ?? "dist-bench", quick: values.quick === true, say };
const loadStore = storeLoader(context);
const rows: Row[] = [];
try {
  for (const measure of [
    cli,
    plugins,
    pluginStart,
    hooks,
    models,
    store,
    bigState,
    app,
    gateway,
    turns,
    automation,
    channel,
    channels,
    memory,
    voice,
    nodes,
    browser,
    page,
    pageCrowd,
    ...growth,
  ]) {
    if (only && !only.some((part) => measure.name.includes(part))) continue;
    say(`measuring: ${measure.name} …`);
    rows.push(...(await measure.run({ ...context, loadStore })));
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

const shown = (row: Row, value: number): string => `${value} ${row.unit}`;
const facts = (row: Row): string =>
  Object.entries(row.facts)
    .map(([name, value]) => `${name} ${value}`)
    .join(", ");
const table = rows.map((row) => [
  row.name,
  shown(row, row.value),
  `${row.better === "lower" ? "≤" : "≥"} ${shown(row, row.bar)}`,
  isMet(row) ? "met" : "MISSED",
  facts(row),
]);
const widths = [0, 1, 2, 3].map((column) => Math.max(...table.map((line) => line[column]!.length)));
for (const line of table) console.log(line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  "));

const result = { node: process.version, at: new Date().toISOString(), quick: values.quick === true, rows: rows.map((row) => ({ ...row, met: isMet(row) })) };
const target = values.json ?? join(root, "bench/results/latest.json");
mkdirSync(dirname(target), { recursive: true });
writeFileSync(target, `${JSON.stringify(result, null, 2)}\n`);
console.log(JSON.stringify({ ...result, rows: result.rows.map(({ all: _all, ...row }) => row) }));
if (!values.quick && rows.some((row) => !isMet(row))) process.exitCode = 1;
