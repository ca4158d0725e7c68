/**
 * Loads published plugins, unmodified, in a real host: downloads them from npm with our own installer (integrity checked, no scripts run) into a cache, loads each in
 * a process of its own, and prints what it registered. `--offline` uses the cache alone, `--complete` also installs
 * the packages that the reference system's own plugins name, `--json` prints data, names choose single plugins.
 *
 * Fails when a plugin neither loads nor gives exactly one error, when one registers less than is expected of it, or when nothing could be fetched.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { fetchExtensions, fetchPackage, type Fetched } from "./plugins-real/fetch.ts";
import { judge, type Expected, type Verdict } from "./plugins-real/judge.ts";
import { loadInChild } from "./plugins-real/load.ts";

interface Expectations {
  readonly extensions: { readonly package: string; readonly expected: Readonly<Record<string, Expected>> };
  readonly packages: Readonly<Record<string, Expected & { readonly id: string }>>;
}

const FILE = new URL("../test/fixtures/plugins/expected.json", import.meta.url);
const { extensions, packages } = JSON.parse(readFileSync(FILE, "utf8")) as Expectations;
const cache = fileURLToPath(new URL("../node_modules/.cache/plugins-real/", import.meta.url));
const flags = new Set(process.argv.slice(2).filter((word) => word.startsWith("--")));
const wanted = process.argv.slice(2).filter((word) => !word.startsWith("--"));
const offline = flags.has("--offline");

async function* candidates(): AsyncGenerator<Fetched & { readonly expected: Expected }> {
  for (const [spec, expected] of Object.entries(packages)) {
    if (wanted.length === 0 || wanted.includes(expected.id)) yield { ...(await fetchPackage(spec, expected.id, { cache, offline })), expected };
  }
  const ids = Object.keys(extensions.expected).filter((id) => wanted.length === 0 || wanted.includes(id));
  for (const one of ids.length === 0 ? [] : await fetchExtensions(extensions.package, ids, { cache, offline, complete: flags.has("--complete") })) {
    yield { ...one, expected: extensions.expected[one.id]! };
  }
}

const verdicts: Verdict[] = [];
for await (const { expected, ...plugin } of candidates()) {
  const verdict = judge(plugin, expected, await loadInChild(plugin));
  verdicts.push(verdict);
  if (!flags.has("--json")) console.log(`${verdict.ok ? "ok  " : "FAIL"} ${verdict.from.padEnd(30)} ${verdict.id.padEnd(24)} ${verdict.text}`);
}
const failed = verdicts.filter(({ ok }) => !ok);
const loaded = verdicts.filter(({ status }) => status === "loaded");
if (flags.has("--json")) console.log(JSON.stringify({ ok: failed.length === 0, verdicts }, null, 2));
else console.log(`${verdicts.length} plugins: ${loaded.length} load, ${verdicts.length - loaded.length} give one error, ${failed.length} are not as expected`);
process.exitCode = failed.length === 0 && verdicts.length > 0 ? 0 : 1;
