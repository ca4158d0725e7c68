/**
 * Makes `docs/plugins/api-report.md`: every sub-path of `openclaw/plugin-sdk` with the names it exports and their declarations, so that a
 * change of the plugin API is seen in review. With `--check` it writes nothing and fails when the report is stale.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { exportsOf, type Exported } from "./sdk/api.ts";
import { emitDeclarations } from "./sdk/declarations.ts";

const REPORT = fileURLToPath(new URL("../docs/plugins/api-report.md", import.meta.url));
/** Sub-paths whose sources are in another module. */
const ELSEWHERE: Readonly<Record<string, string>> = { testing: "plugin-testing/index.d.ts" };
const byName = (a: string, b: string) => (a < b ? -1 : 1);

function report(folder: string): string {
  const paths = join(folder, "plugins/sdk/paths");
  const declarations = new Map<string, Exported>();
  const sections = readdirSync(paths)
    .filter((file) => file.endsWith(".d.ts"))
    .map((file) => basename(file, ".d.ts"))
    .sort((a, b) => (a === "index" ? -1 : b === "index" ? 1 : byName(a, b)))
    .concat(Object.keys(ELSEWHERE))
    .map((name) => {
      const exported = [...exportsOf(ELSEWHERE[name] === undefined ? join(paths, `${name}.d.ts`) : join(folder, ELSEWHERE[name]))].sort(([a], [b]) =>
        byName(a, b),
      );
      const names = (kind: Exported["kind"]) =>
        exported.filter(([, entry]) => entry.kind === kind).map(([here, entry]) => (here === entry.name ? here : `${here} (${entry.name})`));
      for (const [, entry] of exported) declarations.set(`${relative(folder, entry.file)} ${entry.name}`, entry);
      const values = names("value");
      const types = names("type");
      return [
        `## openclaw/plugin-sdk${name === "index" ? "" : `/${name}`}`,
        ...(values.length > 0 ? [`Values: ${values.join(", ")}`] : []),
        ...(types.length > 0 ? [`Types: ${types.join(", ")}`] : []),
      ].join("\n\n");
    });
  const texts = [...declarations]
    .sort(([a], [b]) => byName(a, b))
    .map(([, entry]) => entry.text.replaceAll(/import\("[^"]*\/(\w[\w-]*)\.(?:js|ts|mjs)"\)/g, 'import("$1")'));
  const head = "# Plugin API\n\nMade by `node scripts/api-report.ts` from the sources. A change here is a change for plugin authors.";
  return `${[head, ...sections, `## Declarations\n\n\`\`\`ts\n${texts.join("\n")}\n\`\`\``].join("\n\n")}\n`;
}

const folder = mkdtempSync(join(tmpdir(), "sdk-types-"));
try {
  emitDeclarations(folder);
  const text = report(folder);
  if (!process.argv.includes("--check")) {
    mkdirSync(join(REPORT, ".."), { recursive: true });
    writeFileSync(REPORT, text);
  } else if (!existsSync(REPORT) || readFileSync(REPORT, "utf8") !== text) {
    console.error("docs/plugins/api-report.md does not say what the SDK exports: run node scripts/api-report.ts and look at what changed");
    process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
