import { isObject } from "../../../config/index.ts";

export type NodeManager = "npm" | "pnpm" | "yarn" | "bun";

const KINDS = ["brew", "node", "go", "uv", "download"] as const;
export type InstallKind = (typeof KINDS)[number];

const ARCHIVES = ["tar.gz", "tar.bz2", "zip"] as const;
export type ArchiveKind = (typeof ARCHIVES)[number];

/** A file to fetch, and what to do with it. */
export interface DownloadSpec {
  readonly url: string;
  /** Undefined: a single file. */
  readonly archive?: ArchiveKind | undefined;
  /** False leaves an archive packed. */
  readonly extract: boolean;
  /** Leading folders of the archive's paths that are left out. */
  readonly stripComponents: number;
  /** Below the skill's folder of tools. */
  readonly targetDir?: string | undefined;
  /** Of the file, in hexadecimal digits. */
  readonly sha256?: string | undefined;
}

/** A way to install what a skill lacks, as its author wrote it down. */
export interface InstallWay {
  readonly id: string;
  readonly kind: InstallKind;
  readonly label: string;
  /** Programs that it brings. */
  readonly bins: readonly string[];
  /** Formula, package or module; empty for a download. */
  readonly name: string;
  readonly download?: DownloadSpec | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

/** Names only: what begins with a dash would be an option, and paths and addresses are not what a registry keeps. */
const FORMS: Readonly<Record<Exclude<InstallKind, "download">, readonly [field: string, form: RegExp, tool: string]>> = {
  brew: ["formula", /^[a-z\d][\w.+-]*(?:\/[a-z\d][\w.+-]*){0,2}(?:@[\w.]+)?$/i, "brew"],
  node: ["package", /^(?:@[a-z\d][\w.-]*\/)?[a-z\d][\w.-]*(?:@[\w.^~-]+)?$/i, "npm"],
  go: ["module", /^[a-z\d][\w-]*(?:\.[\w-]+)+(?:\/[\w.~-]+)+(?:@[\w.+-]+)?$/i, "go"],
  uv: ["package", /^[a-z\d][\w.-]*(?:\[[\w,-]+\])?(?:==[\w.]+)?$/i, "uv"],
};

const URL_FORM = /^https:\/\/[^\s"'`\\]+$/;
const SHA256 = /^[0-9a-f]{64}$/i;
const MOST_STRIPPED = 16;

const textsOf = (value: unknown): readonly string[] => (Array.isArray(value) ? value.filter((text) => typeof text === "string") : []);
const filled = (value: unknown): string | undefined => (typeof value === "string" && value.trim() !== "" ? value.trim() : undefined);

function archiveOf(option: Fields, url: string): ArchiveKind | undefined {
  const written = filled(option["archive"])?.toLowerCase().replace(/^\./, "");
  if (written !== undefined) return ARCHIVES.find((kind) => kind === (written === "tgz" ? "tar.gz" : written));
  const path = new URL(url).pathname
    .toLowerCase()
    .replace(/\.tgz$/, ".tar.gz")
    .replace(/\.tbz2?$/, ".tar.bz2");
  return ARCHIVES.find((kind) => path.endsWith(`.${kind}`));
}

/** Undefined for what has another form than it should. */
function downloadOf(option: Fields): DownloadSpec | undefined {
  const url = filled(option["url"]);
  if (url === undefined || !URL_FORM.test(url) || !URL.canParse(url)) return undefined;
  const archive = archiveOf(option, url);
  if (archive === undefined && filled(option["archive"]) !== undefined) return undefined;
  const strip = option["stripComponents"];
  if (strip !== undefined && !(typeof strip === "number" && Number.isInteger(strip) && strip >= 0 && strip <= MOST_STRIPPED)) return undefined;
  const sha256 = filled(option["sha256"]);
  if (option["sha256"] !== undefined && !SHA256.test(sha256 ?? "")) return undefined;
  return {
    url,
    archive,
    extract: archive !== undefined && option["extract"] !== false,
    stripComponents: typeof strip === "number" ? strip : 0,
    targetDir: filled(option["targetDir"]),
    sha256: sha256?.toLowerCase(),
  };
}

/** The ways that a skill's `install` list names for this platform. What is not known or has another form than it should is left out. */
export function waysOf(written: readonly unknown[], platform: string): readonly InstallWay[] {
  return written.flatMap((option, index): InstallWay[] => {
    if (!isObject(option)) return [];
    const kind = KINDS.find((known) => known === option["kind"]);
    const systems = textsOf(option["os"]);
    if (kind === undefined || (systems.length > 0 && !systems.includes(platform))) return [];
    const head = { id: filled(option["id"]) ?? `${kind}-${index}`, kind, bins: textsOf(option["bins"]) };
    if (kind === "download") {
      const download = downloadOf(option);
      return download ? [{ ...head, name: "", label: filled(option["label"]) ?? `Download ${download.url}`, download }] : [];
    }
    const [field, form, tool] = FORMS[kind];
    const name = filled(option[field]);
    if (name === undefined || !form.test(name)) return [];
    return [{ ...head, name, label: filled(option["label"]) ?? `Install ${name} (${tool})` }];
  });
}
