import type { SourceFile } from "./sources.ts";

/** Modules of one layer; the lowest layer comes first. */
export type Layer = readonly string[];

const [WIDTH, ROW, BOX, TOP] = [1080, 74, 44, 40] as const;
const MARGIN = 20;

interface Box {
  readonly name: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly lines: number;
  readonly files: number;
}

const moduleOf = (path: string): string | undefined => /^src\/([^/]+)\//.exec(path)?.[1];

/** Boxes as wide as their modules are large, the highest layer on top. */
function layOut(files: readonly SourceFile[], layers: readonly Layer[]): readonly Box[] {
  const largest = Math.max(...layers.flat().map((name) => linesOf(files, name)));
  return layers.flatMap((modules, layer) => {
    const y = TOP + (layers.length - 1 - layer) * ROW;
    const widths = modules.map((name) => 110 + Math.round((linesOf(files, name) / largest) * 190));
    let x = Math.round((WIDTH - widths.reduce((sum, width) => sum + width, 0) - (modules.length - 1) * 60) / 2);
    return modules.map((name, at): Box => {
      const box = { name, x, y, width: widths[at]!, lines: linesOf(files, name), files: files.filter(({ path }) => moduleOf(path) === name).length };
      x += widths[at]! + 60;
      return box;
    });
  });
}

const linesOf = (files: readonly SourceFile[], name: string): number =>
  files.reduce((sum, { path, lines }) => (moduleOf(path) === name ? sum + lines : sum), 0);

/** How many files of one module import from another. */
function arrowsOf(files: readonly SourceFile[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { path, imports } of files) {
    const from = moduleOf(path);
    const targets = new Set(imports.map(moduleOf).filter((to) => to !== undefined && to !== from));
    if (from !== undefined) for (const to of targets) counts.set(`${from} ${to}`, (counts.get(`${from} ${to}`) ?? 0) + 1);
  }
  return counts;
}

/** Imports of `base` and `protocol` are everywhere: drawn, they would hide the rest. */
const UNDRAWN = new Set(["base", "protocol"]);

function arrow(from: Box, to: Box, count: number): string {
  const [x1, y1, x2, y2] = [from.x + from.width / 2, from.y + BOX, to.x + to.width / 2, to.y];
  const bend = x1 === x2 ? (y2 - y1 > ROW ? 200 : 0) : 0;
  const path = `M${x1} ${y1} C${x1 + bend} ${y1 + 24}, ${x2 + bend} ${y2 - 24}, ${x2} ${y2}`;
  const width = (0.6 + Math.log2(count + 1) / 2).toFixed(1);
  return `<path d="${path}" stroke-width="${width}"><title>${from.name} → ${to.name}: ${count} files</title></path>`;
}

/** The modules in their layers, with their sizes and who imports whom, as SVG. */
export function drawModules(files: readonly SourceFile[], layers: readonly Layer[]): string {
  const boxes = layOut(files, layers);
  const byName = new Map(boxes.map((box) => [box.name, box]));
  const arrows = [...arrowsOf(files)].flatMap(([pair, count]) => {
    const [from, to] = pair.split(" ").map((name) => byName.get(name));
    return from && to && !UNDRAWN.has(to.name) ? [arrow(from, to, count)] : [];
  });
  const height = TOP + layers.length * ROW;
  const texts = boxes.map(
    ({ name, x, y, width, lines, files: count }) =>
      `<rect x="${x}" y="${y}" width="${width}" height="${BOX}" rx="6"/><text x="${x + width / 2}" y="${y + 19}" class="name">${name}</text>` +
      `<text x="${x + width / 2}" y="${y + 35}" class="size">${lines.toLocaleString("en")} lines · ${count} files</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" text-anchor="middle">
<title>Modules of src: a module imports from lower layers only</title>
<style>svg{background:#fff}path{fill:none;stroke:#94a3b8;stroke-opacity:.55}rect{fill:#f8fafc;stroke:#334155}.name{font-size:14px;font-weight:600;fill:#0f172a}.size{font-size:11px;fill:#475569}</style>
<text x="${WIDTH / 2}" y="${MARGIN}" class="size">Imports of base and protocol are left out; thicker lines are imports in more files.</text>
${arrows.join("\n")}
${texts.join("\n")}
</svg>
`;
}
