import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { AppError } from "../../../base/errors.ts";
import { loadExport } from "../../../gateway/index.ts";
import type { MethodParams, MethodResult } from "../../../protocol/index.ts";
import { inspectStore } from "../../../store/index.ts";
import { defineCommand } from "../../command.ts";
import { loadFor } from "../../config-source.ts";

type Format = NonNullable<MethodParams<"sessions.export">["format"]>;

const FORMATS: Readonly<Record<string, Format>> = { md: "markdown", markdown: "markdown", json: "json", jsonl: "jsonl", html: "html" };

function formatOf(written: string | undefined): Format {
  const format = FORMATS[(written ?? "markdown").toLowerCase()];
  if (format) return format;
  throw new AppError("INVALID_INPUT", `--format takes markdown, html, json or jsonl, not "${written}"`);
}

export const exportCommand = defineCommand({
  positionals: "<session key>",
  options: {
    format: { type: "string", value: "format", help: "markdown (default), html, or json or jsonl with all branches" },
    output: { type: "string", short: "o", value: "file", help: "Output file (default: standard output)" },
    force: { type: "boolean", help: "Replace an existing file" },
  },
  examples: [],
  async run({ io, values, positionals }) {
    const [key, ...others] = positionals;
    if (key === undefined || others.length > 0) throw new AppError("INVALID_INPUT", "expected one session key: openclaw sessions export <session key>");
    const format = formatOf(values.format);
    const { snapshot, paths } = loadFor(io);
    using state = inspectStore(paths.state);
    if (!state) throw new AppError("NOT_FOUND", `no data in ${paths.state}; start the gateway first: openclaw gateway`);
    const { exportSession } = await loadExport();
    const store = { read: async (...asked: Parameters<typeof state.read>) => state.read(...asked) } as Parameters<typeof exportSession>[1]["store"];
    const deps = { config: { current: snapshot.config } as Parameters<typeof exportSession>[1]["config"], store };
    const parts: string[] = [];
    // A part may end in the middle of a character, whose other half begins the next one.
    let half = "";
    for (let after: number | undefined; ;) {
      const part: MethodResult<"sessions.export"> = await exportSession({ key, format, ...(after === undefined ? {} : { after }) }, deps);
      const text = half + part.text;
      const end = /[\ud800-\udbff]$/.test(text) ? text.length - 1 : text.length;
      half = text.slice(end);
      if (values.output === undefined) io.out(text.slice(0, end));
      else parts.push(text.slice(0, end));
      if (part.next === undefined) break;
      after = part.next;
    }
    if (values.output === undefined) return;
    const file = resolve(io.cwd, values.output);
    try {
      await writeFile(file, parts, { flag: values.force ? "w" : "wx", mode: 0o600 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST")
        throw new AppError("CONFLICT", `${file} already exists; use another name or --force`, { cause: error });
      throw error;
    }
    io.err(`Saved ${file}\n`);
  },
});
