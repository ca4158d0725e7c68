import { isObject } from "../../../config/index.ts";

/** A way to get what a skill lacks. */
export type InstallOption = { readonly id: string; readonly kind: string; readonly label: string; readonly bins: string[] };

const KINDS = ["brew", "node", "go", "uv", "download"] as const;
type Kind = (typeof KINDS)[number];
type Fields = Readonly<Record<string, unknown>>;

const textsOf = (value: unknown): string[] => (Array.isArray(value) ? value.filter((text) => typeof text === "string") : []);

function labelOf(kind: Kind, option: Fields, bins: readonly string[]): string {
  if (typeof option["label"] === "string" && option["label"].trim() !== "") return option["label"].trim();
  const named = (field: string): string => (typeof option[field] === "string" ? option[field] : bins.join(", ") || "it");
  if (kind === "brew") return `Install ${named("formula")} (brew)`;
  if (kind === "node") return `Install ${named("package")} (npm)`;
  if (kind === "go") return `Install ${named("module")} (go)`;
  if (kind === "uv") return `Install ${named("package")} (uv)`;
  return `Download ${named("url")}`;
}

/** The kinds in the order in which one is chosen. Brew is at home on macOS only. */
function order(platform: string, preferBrew: boolean): readonly Kind[] {
  const last: readonly Kind[] = ["uv", "node", "go", "download", "brew"];
  if (platform !== "darwin") return last;
  return preferBrew ? ["brew", "uv", "node", "go", "download"] : ["uv", "node", "brew", "go", "download"];
}

/** What is offered of a skill's `install` list: the best way for this machine, or every download when there is nothing else. */
export function installOptions(written: readonly unknown[], host: { readonly platform: string; readonly preferBrew: boolean }): InstallOption[] {
  const options = written.flatMap((option, index) => {
    const kind = isObject(option) ? KINDS.find((known) => known === option["kind"]) : undefined;
    if (!isObject(option) || kind === undefined) return [];
    const systems = textsOf(option["os"]);
    if (systems.length > 0 && !systems.includes(host.platform)) return [];
    const bins = textsOf(option["bins"]);
    const id = typeof option["id"] === "string" && option["id"].trim() !== "" ? option["id"].trim() : `${kind}-${index}`;
    return [{ id, kind, label: labelOf(kind, option, bins), bins }];
  });
  if (options.every(({ kind }) => kind === "download")) return options;
  const best = order(host.platform, host.preferBrew)
    .map((kind) => options.find((option) => option.kind === kind))
    .find((option) => option !== undefined);
  return best ? [best] : [];
}
