/** Reads emitted declaration files: which names a module exports, and what each of them is. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

export interface Exported {
  readonly kind: "value" | "type";
  /** The file that declares it. */
  readonly file: string;
  /** Its name there. */
  readonly name: string;
  readonly text: string;
}

interface Module {
  readonly declared: Map<string, { kind: "value" | "type"; text: string }>;
  /** `export … from`: names as [name there, name here], or everything. */
  readonly from: { specifier: string; typeOnly: boolean; names: { there: string; here: string; typeOnly: boolean }[] | "all" }[];
}

/** Top-level statements of a declaration file, without comments. */
function statements(source: string): string[] {
  const text = source.replaceAll(/\/\*[\s\S]*?\*\//g, "").replaceAll(/^\s*\/\/.*$/gm, "");
  const found: string[] = [];
  let current = "";
  let depth = 0;
  for (const line of text.split("\n")) {
    if (!line.trim()) continue;
    current += current ? `\n${line}` : line;
    depth += (line.match(/[{([]/g) ?? []).length - (line.match(/[})\]]/g) ?? []).length;
    if (depth === 0 && /[;}]\s*$/.test(line)) {
      found.push(current);
      current = "";
    }
  }
  return found;
}

const DECLARATION = /^export (?:declare )?(?:abstract )?(function|const|let|class|interface|type|namespace|enum) (\w+)/;
const FROM = /^export (type )?(?:\*|\{([\s\S]*?)\}) from "([^"]+)";$/;

function readModule(file: string): Module {
  const module: Module = { declared: new Map(), from: [] };
  for (const text of statements(readFileSync(file, "utf8"))) {
    const from = FROM.exec(text);
    if (from) {
      const names = from[2]?.split(",").flatMap((part) => {
        const [, typeOnly, there, here] = /^\s*(type )?(\w+)(?: as (\w+))?\s*$/.exec(part) ?? [];
        return there ? [{ there, here: here ?? there, typeOnly: typeOnly !== undefined }] : [];
      });
      module.from.push({ specifier: from[3]!, typeOnly: from[1] !== undefined, names: names ?? "all" });
      continue;
    }
    const [, keyword, name] = DECLARATION.exec(text) ?? [];
    if (!name) continue;
    const before = module.declared.get(name);
    const kind = keyword === "interface" || keyword === "type" ? "type" : "value";
    module.declared.set(name, { kind: before?.kind ?? kind, text: before ? `${before.text}\n${text}` : text });
  }
  return module;
}

/** What a module exports, by name. */
export function exportsOf(file: string, modules = new Map<string, Module>()): Map<string, Exported> {
  const module = modules.get(file) ?? readModule(file);
  modules.set(file, module);
  const found = new Map<string, Exported>();
  for (const [name, { kind, text }] of module.declared) found.set(name, { kind, file, name, text });
  for (const { specifier, typeOnly, names } of module.from) {
    if (!specifier.startsWith(".")) continue;
    const there = exportsOf(join(dirname(file), specifier.replace(/\.(?:js|ts)$/, ".d.ts")), modules);
    const list = names === "all" ? [...there.keys()].map((name) => ({ there: name, here: name, typeOnly: false })) : names;
    for (const entry of list) {
      const target = there.get(entry.there);
      if (target) found.set(entry.here, typeOnly || entry.typeOnly ? { ...target, kind: "type" } : target);
      else if (names !== "all") found.set(entry.here, { kind: "type", file: specifier, name: entry.there, text: `// ${entry.there} of ${specifier}` });
    }
  }
  return found;
}
