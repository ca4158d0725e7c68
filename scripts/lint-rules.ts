/**
 * Makes `.oxlintrc.json` from `rooms.json` and `lint.json`: a room imports rooms on lower rows only, through their door.
 * `lint.json` holds every other rule; the generated file is committed so that editors see the same rules as CI.
 */
import { readFileSync, writeFileSync } from "node:fs";

export interface Row {
  readonly row: number;
  readonly rooms: readonly string[];
}

type Restriction = { readonly message: string; readonly allowTypeImports?: boolean } & ({ readonly regex: string } | { readonly group: readonly string[] });

/** Folders below a room that the rule reaches; a deeper file that imports anything above itself fails instead of escaping it. */
const MAX_DEPTH = 4;

/** Everything in these rooms but their doors. Written as globs: the linter's expressions cannot look ahead. */
function doorGroup(rooms: readonly string[], up: string): string[] {
  return [...rooms.flatMap((room) => [`${up}${room}`, `${up}${room}/**`]), ...rooms.map((room) => `!${up}${room}/index.ts`)];
}

/** Restrictions for a file `depth` folders below `src/<room>/` (0 = directly in it). */
function restrictionsFor(room: string, rows: readonly Row[], depth: number): Restriction[] {
  const own = rows.find((row) => row.rooms.includes(room));
  if (!own) throw new Error(`room ${room} is not in rooms.json`);
  const up = `^(\\./)?${"\\.\\./".repeat(depth + 1)}`;
  const all = rows.flatMap((row) => row.rooms);
  const lower = rows.filter((row) => row.row < own.row).flatMap((row) => row.rooms);
  const forbidden = all.filter((name) => name !== room && !lower.includes(name));
  const doors = lower.filter((name) => name !== "base");
  return [
    ...(forbidden.length > 0
      ? [{ regex: `${up}(${forbidden.join("|")})(/|$)`, message: `${room} (row ${own.row}) imports rooms on lower rows only: ${lower.join(", ") || "none"}` }]
      : []),
    ...(doors.length > 0 ? [{ group: doorGroup(doors, "../".repeat(depth + 1)), message: "a room is entered through its door: import its index.ts" }] : []),
    { regex: `${up}${room}(/|$)`, message: "inside a room, import files by their own relative path" },
    { regex: `${up}\\.\\./`, message: "nothing in src/ imports from outside src/" },
    { regex: "^(node:)?https?$", allowTypeImports: true, message: "importing it costs 27 ms and 16 MB: use loadHttp() of base/builtin.ts" },
    { regex: "[^./]/\\.\\./|^/|^src/|^openclaw(/|$)", message: "write the shortest relative path" },
  ];
}

function overridesFor(room: string, rows: readonly Row[], root: string): unknown[] {
  return Array.from({ length: MAX_DEPTH + 1 }, (_, depth) => ({
    files: [`${root}/${room}/${"*/".repeat(depth)}*.ts`],
    rules: { "no-restricted-imports": ["error", { patterns: restrictionsFor(room, rows, depth) }] },
  }));
}

/** The whole lint configuration as text. `root` is the folder that holds the rooms. */
export function lintConfig(rows: readonly Row[], base: { overrides?: readonly unknown[] }, root = "src"): string {
  const rooms = rows.flatMap((row) => row.rooms);
  const tooDeep = { regex: "^\\.\\.", message: `files deeper than ${MAX_DEPTH} folders below their room cannot be checked: move them up` };
  const anywhere = { files: [`${root}/**/*.ts`], rules: { "no-restricted-imports": ["error", { patterns: [tooDeep] }] } };
  const overrides = [...(base.overrides ?? []), anywhere, ...rooms.flatMap((room) => overridesFor(room, rows, root))];
  return `${JSON.stringify({ ...base, overrides }, null, 2)}\n`;
}

export function loadLintConfig(): string {
  const read = (name: string): unknown => JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), "utf8"));
  return lintConfig(read("rooms.json") as Row[], read("lint.json") as { overrides?: unknown[] });
}

if (import.meta.main) {
  const target = new URL("../.oxlintrc.json", import.meta.url);
  const next = loadLintConfig();
  if (process.argv.includes("--check")) {
    if (readFileSync(target, "utf8") !== next) {
      console.error(".oxlintrc.json is not what rooms.json and lint.json make: run `npm run fmt` and commit it");
      process.exit(1);
    }
  } else writeFileSync(target, next);
}
