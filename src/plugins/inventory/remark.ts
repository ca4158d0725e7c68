import type { Position, ValuePath } from "../../config/index.ts";
import type { PluginDiagnostic } from "../record.ts";

/** A diagnostic in the making: a place in the configuration is still a path. */
export interface Remark extends Omit<PluginDiagnostic, "path" | "column"> {
  readonly at?: ValuePath;
}

/** Finds file and line of a path of the configuration. */
export type Locate = (path: ValuePath) => Position & { readonly file: string };

/** The finished diagnostic: one about the configuration gets the file and line where it stands. */
export function placed({ at, ...remark }: Remark, locate: Locate | undefined): PluginDiagnostic {
  if (at === undefined) return remark;
  const path = at.join(".");
  if (!locate) return { ...remark, path };
  const { file, line, column } = locate(at);
  return { ...remark, path, source: file, line, column };
}
