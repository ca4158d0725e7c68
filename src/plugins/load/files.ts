import { isRecord } from "../../base/records.ts";
import { readFileSync, realpathSync, statSync } from "node:fs";
import { extname, join } from "node:path";

const EXTENSIONS = [".ts", ".tsx", ".mts", ".cts", ".js", ".mjs", ".cjs", ".json"];
/** Extension as written to what the author may have had in mind. */
const TYPED: Readonly<Record<string, readonly string[]>> = { ".js": [".ts", ".tsx"], ".jsx": [".tsx"], ".mjs": [".mts"], ".cjs": [".cts"] };

function kindOf(path: string): "file" | "folder" | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat?.isFile() ? "file" : stat?.isDirectory() ? "folder" : undefined;
}

/** The file meant by a path as it stands in an import: itself, its TypeScript source, with an extension added, or a folder's index. */
export function findFile(path: string): string | undefined {
  let kind: ReturnType<typeof kindOf>;
  try {
    kind = kindOf(path);
    if (kind === "file") return realpathSync(path);
    const found = withOtherExtension(path) ?? (kind === "folder" ? indexOf(path) : undefined);
    return found === undefined ? undefined : realpathSync(found);
  } catch {
    return undefined;
  }
}

function withOtherExtension(path: string): string | undefined {
  const extension = extname(path);
  for (const typed of TYPED[extension] ?? []) {
    const candidate = path.slice(0, -extension.length) + typed;
    if (kindOf(candidate) === "file") return candidate;
  }
  return EXTENSIONS.map((added) => path + added).find((candidate) => kindOf(candidate) === "file");
}

function indexOf(folder: string): string | undefined {
  const main = mainOf(folder);
  const path = main === undefined ? undefined : join(folder, main);
  if (path !== undefined) {
    if (kindOf(path) === "file") return path;
    const found = withOtherExtension(path) ?? (kindOf(path) === "folder" ? withOtherExtension(join(path, "index")) : undefined);
    if (found !== undefined) return found;
  }
  return withOtherExtension(join(folder, "index"));
}

function mainOf(folder: string): string | undefined {
  try {
    const found: unknown = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    return isRecord(found) && typeof found["main"] === "string" ? found["main"] : undefined;
  } catch {
    return undefined;
  }
}
