/**
 * Writes `.oxlintrc.json`: the rules of `lint.json`, and from `layers.json` the rule that a module imports only from lower layers, through their `index.ts`.
 * `npm run check` and `npm run fmt` write it first. It is not tracked; it has the name that editors look for, so they apply the same rules after the first run.
 */
import { readFileSync, writeFileSync } from "node:fs";

export interface Layer {
  readonly layer: number;
  readonly modules: readonly string[];
}

type Restriction = { readonly message: string; readonly allowTypeImports?: boolean } & ({ readonly regex: string } | { readonly group: readonly string[] });

/** Folders below a module that the rule reaches; a deeper file that imports from a parent folder fails instead of escaping the rule. */
const MAX_DEPTH = 4;

/** Every file of these modules except their `index.ts`. Written as globs: the linter's expressions cannot look ahead. */
function insideOf(modules: readonly string[], up: string): string[] {
  return [...modules.flatMap((name) => [`${up}${name}`, `${up}${name}/**`]), ...modules.map((name) => `!${up}${name}/index.ts`)];
}

/** Restrictions for a file `depth` folders below `src/<module>/` (0 = directly in it). */
function restrictionsFor(module: string, layers: readonly Layer[], depth: number): Restriction[] {
  const own = layers.find(({ modules }) => modules.includes(module));
  if (!own) throw new Error(`module ${module} is not in layers.json`);
  const up = `^(\\./)?${"\\.\\./".repeat(depth + 1)}`;
  const all = layers.flatMap(({ modules }) => modules);
  const lower = layers.filter(({ layer }) => layer < own.layer).flatMap(({ modules }) => modules);
  const forbidden = all.filter((name) => name !== module && !lower.includes(name));
  const withEntryPoint = lower.filter((name) => name !== "base");
  return [
    ...(forbidden.length > 0
      ? [
          {
            regex: `${up}(${forbidden.join("|")})(/|$)`,
            message: `${module} (layer ${own.layer}) imports modules in lower layers only: ${lower.join(", ") || "none"}`,
          },
        ]
      : []),
    ...(withEntryPoint.length > 0 ? [{ group: insideOf(withEntryPoint, "../".repeat(depth + 1)), message: "import another module through its index.ts" }] : []),
    { regex: `${up}${module}(/|$)`, message: "inside a module, import files by their own relative path" },
    { regex: `${up}\\.\\./`, message: "nothing in src/ imports from outside src/" },
    { regex: "^(node:)?https?$", allowTypeImports: true, message: "importing it costs 27 ms and 16 MB: use loadHttp() of base/builtin.ts" },
    { regex: "[^./]/\\.\\./|^/|^src/|^openclaw(/|$)", message: "write the shortest relative path" },
  ];
}

function overridesFor(module: string, layers: readonly Layer[], root: string): unknown[] {
  return Array.from({ length: MAX_DEPTH + 1 }, (_, depth) => ({
    files: [`${root}/${module}/${"*/".repeat(depth)}*.ts`],
    rules: { "no-restricted-imports": ["error", { patterns: restrictionsFor(module, layers, depth) }] },
  }));
}

/** The whole lint configuration as text. `root` is the folder that holds the modules. */
export function lintConfig(layers: readonly Layer[], base: { overrides?: readonly unknown[] }, root = "src"): string {
  const all = layers.flatMap(({ modules }) => modules);
  const tooDeep = { regex: "^\\.\\.", message: `files deeper than ${MAX_DEPTH} folders below their module cannot be checked: move them up` };
  const anywhere = { files: [`${root}/**/*.ts`], rules: { "no-restricted-imports": ["error", { patterns: [tooDeep] }] } };
  const overrides = [...(base.overrides ?? []), anywhere, ...all.flatMap((module) => overridesFor(module, layers, root))];
  return `${JSON.stringify({ ...base, overrides }, null, 2)}\n`;
}

if (import.meta.main) {
  const read = (name: string): unknown => JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), "utf8"));
  const text = lintConfig(read("layers.json") as Layer[], read("lint.json") as { overrides?: unknown[] });
  writeFileSync(new URL("../.oxlintrc.json", import.meta.url), text);
}
