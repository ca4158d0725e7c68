import { AppError } from "../../../base/errors.ts";
import { parseDocument, type Config, type ConfigEdit, type EditOptions, type LocatedIssue } from "../../../config/index.ts";
import { currentSnapshot } from "./shown.ts";

/** The value of a JSON5 text. */
function parsed(raw: string): unknown {
  const { root, value, issues } = parseDocument(raw);
  if (root) return value;
  throw new AppError("INVALID_INPUT", issues[0]?.message ?? "the text is not JSON5");
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The edit that a method's text stands for, checked as far as it can be without the file. */
export function editOf(method: "config.set" | "config.apply" | "config.patch", raw: string): ConfigEdit {
  const value = parsed(raw);
  if (!isObject(value)) throw new AppError("INVALID_INPUT", `${method} raw must be an object`);
  return method === "config.patch" ? { kind: "patch", value } : { kind: "text", text: raw };
}

/** The issues of a configuration that was refused, as clients get them. */
export function shownIssues({ issues = [] }: { readonly issues?: readonly LocatedIssue[] }): { path: string; message: string }[] {
  return issues.map(({ path, message }) => ({ path, message }));
}

/** A broken file cannot be merged into. */
function checkPatchable(config: Config): void {
  const snapshot = currentSnapshot(config);
  if (snapshot.exists && !snapshot.valid)
    throw new AppError("INVALID_INPUT", "invalid config; fix before patching", { details: { issues: shownIssues(snapshot) } });
}

/** Writes the file, and takes it in use. The errors are the documented ones. */
export async function changeFile(config: Config, edit: ConfigEdit, options: EditOptions): Promise<void> {
  if (edit.kind === "patch") checkPatchable(config);
  try {
    await config.edit(edit, { ...options, requireBaseHash: true });
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "CONFIG_INVALID") throw error;
    const fixFirst = error.message.startsWith("invalid config; fix");
    throw new AppError("INVALID_INPUT", fixFirst ? "invalid config; fix before patching" : "invalid config", {
      cause: error,
      details: { issues: shownIssues(error.details) },
    });
  }
}
