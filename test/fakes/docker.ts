import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

/** A `docker` command that keeps its containers as files and runs what is to be executed in them on the spot. */
export interface FakeDocker {
  /** PATH that finds it first. */
  readonly path: string;
  /** Every call so far, word by word; those that only look are left out. */
  calls(): readonly (readonly string[])[];
  containers(): readonly string[];
  addImage(name: string): void;
  forgetImages(): void;
  stop(container: string): void;
  /** What `docker port` says about a port inside. */
  publish(inside: number, text: string): void;
  /** What the engine says instead of doing anything; nothing makes it well again. */
  breakDown(says: string | undefined): void;
}

const SCRIPT = (folder: string): string => `#!/bin/bash
D='${folder}'
for w in "$@"; do printf '%s\\0' "$w" >> "$D/calls"; done; printf '\\n\\0' >> "$D/calls"
if [ -e "$D/broken" ]; then cat "$D/broken" >&2; exit 1; fi
image() { echo "$D/images/\${1//[\\/:]/_}"; }
case "$1" in
  version) echo 28.0.0 ;;
  image) [ -e "$(image "$3")" ] || { echo "Error: No such image: $3" >&2; exit 1; } ;;
  pull) touch "$(image "$2")" ;;
  tag) touch "$(image "$3")" ;;
  inspect) n="\${@: -1}"; [ -e "$D/containers/$n" ] || { echo "Error: No such container: $n" >&2; exit 1; }; cat "$D/containers/$n" ;;
  create) [ -e "$D/containers/$3" ] && { echo "Conflict. The container name $3 is already in use" >&2; exit 1; }; echo false > "$D/containers/$3" ;;
  port) cat "$D/ports/\${3//[\\/]/_}" 2>/dev/null || { echo "Error: No public port '$3' published for $2" >&2; exit 1; } ;;
  start) echo true > "$D/containers/$2" ;;
  rm) rm -f "$D/containers/$3" ;;
  exec)
    shift
    while :; do
      case "$1" in
        -i) shift ;;
        -w) shift 2 ;;
        -e) case "$2" in *=*) export "$2" ;; esac; shift 2 ;;
        *) break ;;
      esac
    done
    [ "$(cat "$D/containers/$1" 2>/dev/null)" = true ] || { echo "Error: container $1 is not running" >&2; exit 1; }
    shift; cd "$D"; "$@" ;;
esac
`;

export function makeFakeDocker(): FakeDocker {
  const folder = mkdtempSync(join(tmpdir(), "fake-docker-"));
  for (const name of ["bin", "images", "containers", "ports"]) mkdirSync(join(folder, name));
  writeFileSync(join(folder, "bin/docker"), SCRIPT(folder));
  chmodSync(join(folder, "bin/docker"), 0o755);
  const broken = join(folder, "broken");
  return {
    path: `${join(folder, "bin")}${delimiter}${process.env["PATH"]}`,
    calls() {
      const text = existsSync(join(folder, "calls")) ? readFileSync(join(folder, "calls"), "utf8") : "";
      return text
        .split("\n\0")
        .map((call) => call.split("\0").slice(0, -1))
        .filter(([verb]) => verb !== undefined && verb !== "version" && verb !== "inspect" && verb !== "image");
    },
    containers: () => readdirSync(join(folder, "containers")),
    addImage: (name) => writeFileSync(join(folder, "images", name.replaceAll(/[/:]/g, "_")), ""),
    forgetImages: () => readdirSync(join(folder, "images")).forEach((name) => rmSync(join(folder, "images", name))),
    publish: (inside, text) => writeFileSync(join(folder, "ports", `${inside}_tcp`), `${text}\n`),
    stop: (container) => writeFileSync(join(folder, "containers", container), "false\n"),
    breakDown(says) {
      if (says === undefined) rmSync(broken, { force: true });
      else writeFileSync(broken, says);
    },
  };
}
