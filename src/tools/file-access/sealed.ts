import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { isInside } from "../../base/files.ts";
import type { FileAccess } from "../../base/rooted-files.ts";
import { createHomeSeals, createMachinePatterns, LEFT_BESIDE, ofMachine, sealOfProcess, type SealedPlace } from "./places.ts";

/** Folders of the state that agents may read and, if they are asked about, write. */
const FOR_AGENTS = /^(?:workspace(?:-.*)?|skills|media|canvas|sandboxes)$/;

/** Places that only this gateway knows of. */
export interface OwnPlaces {
  readonly state: string;
  /** The configuration and every file that it would be read from, whether it exists or not. */
  readonly configFiles: readonly string[];
  /** Files and folders with secrets besides: the lock, key files, files that secrets are read from, folders of agents' logins. */
  readonly secrets: readonly string[];
  /** Folders of this program and its plugins, and programs that the gateway itself runs. */
  readonly programs: readonly string[];
  /** Folders that imports of this program and its plugins are looked up in. */
  readonly modules: readonly string[];
  /** Folders of the gateway's PATH. */
  readonly searched: readonly string[];
  /** The log. */
  readonly records: readonly string[];
  /** Folders of skills outside of the state and of workspaces. */
  readonly skills: readonly string[];
  readonly homes: readonly string[];
}

export interface SealedOptions {
  readonly agentId: string;
  /** Folders that are the session's own: a sealed place around one of them does not cover it. */
  readonly roots: readonly string[];
  /** `tools.fs.unseal`: absolute paths. */
  readonly unsealed: readonly string[];
  /** True while the skills in the state decide which programs run unasked. */
  readonly skillsDecide?: (() => boolean) | undefined;
}

/** Says of a real path why it is sealed for an access; undefined when it is not. */
export type Sealed = (path: string, access: FileAccess) => SealedPlace | undefined;

/** All places of one configuration, each by its written and its real path. Made once for it: that asks the disk about some hundred paths. */
export interface SealedTable {
  readonly same: (path: string) => string;
  readonly places: ReadonlyMap<string, SealedPlace>;
  /** Places that are found by the shape of a path. */
  readonly ofHome: (path: string) => readonly SealedPlace[];
  readonly byPattern: (path: string) => readonly SealedPlace[];
  readonly homes: readonly string[];
  readonly states: readonly string[];
  /** The configuration's files. */
  readonly configs: readonly string[];
  readonly skills: readonly string[];
}

/** `ignoreCase`: two spellings of a name are one file here. */
export function createSealedTable(own: OwnPlaces, ignoreCase: boolean): SealedTable {
  const same = ignoreCase ? (path: string): string => path.normalize("NFC").toLowerCase() : (path: string): string => path;
  const places = new Map<string, SealedPlace>();
  const add = (paths: readonly string[], place: Omit<SealedPlace, "path">): void => {
    for (const path of paths) for (const name of namesOf(path)) if (!places.has(same(name))) places.set(same(name), { ...place, path: name });
  };
  add(own.configFiles, { seal: "secret", because: "is part of the gateway's configuration" });
  add(own.secrets, { seal: "secret", because: "holds credentials that the gateway uses" });
  add(own.programs, { seal: "program", because: "is code that the gateway runs" });
  add(own.modules, { seal: "program", because: "is searched for code that the gateway imports" });
  for (const { path, ...place } of ofMachine()) add([path], place);
  add(own.searched, { seal: "program", because: "is on the gateway's PATH, so programs are started from it" });
  add(own.records, { seal: "program", because: "is the gateway's log, which has to stay true" });
  const homes = [...new Set(own.homes.flatMap(namesOf))].map(same);
  return {
    same,
    places,
    homes,
    ofHome: createHomeSeals(homes, same),
    byPattern: createMachinePatterns(same),
    states: namesOf(own.state).map(same),
    configs: own.configFiles.flatMap(namesOf).map(same),
    skills: own.skills.flatMap(namesOf).map(same),
  };
}

export function createSealed({ same, places, ofHome, byPattern, states, configs, skills }: SealedTable, options: SealedOptions): Sealed {
  const roots = options.roots.flatMap(namesOf).map(same);
  const unsealed = options.unsealed.flatMap((path) => namesOf(resolve(path))).map(same);

  /** Every listed place that a path lies in, or is, the innermost first. */
  function listed(path: string): readonly SealedPlace[] {
    const found: SealedPlace[] = [];
    for (let at = path; ; at = dirname(at)) {
      const place = places.get(at);
      if (place) found.push(place);
      if (at === dirname(at)) return found;
    }
  }

  function ofState(path: string, access: FileAccess): readonly SealedPlace[] {
    const state = states.find((one) => isInside(one, path));
    if (state === undefined) return [];
    const [top = "", agent = "", kind = ""] = path.slice(state.length + 1).split("/");
    if (FOR_AGENTS.test(top) && !(top === "skills" && access === "write" && options.skillsDecide?.() === true)) return [];
    if (access === "read" && top === "agents" && agent.toLowerCase() === options.agentId.toLowerCase() && kind === "sessions") return [];
    return [{ path: state, seal: "secret", because: "is one of the gateway's own files" }];
  }

  /** Earlier states and configurations, which a restore or a reset left beside those in use. */
  function leftBeside(path: string): readonly SealedPlace[] {
    for (const base of [...states, ...configs]) {
      const ending = path.startsWith(base) ? LEFT_BESIDE.exec(path.slice(base.length))?.[0] : undefined;
      if (ending !== undefined) return [{ path: `${base}${ending}`, seal: "secret", because: "holds an earlier state of the gateway, with its secrets" }];
    }
    return [];
  }

  /** Skills that decide which programs run unasked are code. */
  function ofSkills(path: string, access: FileAccess): readonly SealedPlace[] {
    const folder = access === "write" ? skills.find((one) => isInside(one, path)) : undefined;
    if (folder === undefined || options.skillsDecide?.() !== true) return [];
    return [{ path: folder, seal: "program", because: "holds skills, which decide what programs run unasked" }];
  }

  const covers = (place: SealedPlace, path: string): boolean =>
    !roots.some((root) => root !== same(place.path) && isInside(same(place.path), root) && isInside(root, path));
  const inOwnState = (path: string): boolean => states.some((state) => isInside(state, path));

  return (real, access) => {
    const path = same(real);
    const own = inOwnState(path);
    const found = [
      ...listed(path),
      ...byPattern(path),
      ...ofState(path, access),
      ...leftBeside(path),
      ...ofSkills(path, access),
      ...(own ? [] : ofHome(path)),
      ...sealOfProcess(path),
    ].filter((place) => (access === "write" || place.seal === "secret") && covers(place, path));
    const [place] = found;
    if (!place || isUnsealed(path, found, unsealed, same)) return undefined;
    return place;
  };
}

/** The configuration names the path itself, or a folder around it that is in a sealed place as well: naming `/` opens nothing. */
function isUnsealed(path: string, places: readonly SealedPlace[], unsealed: readonly string[], same: (path: string) => string): boolean {
  return places.every((place) => unsealed.some((named) => isInside(named, path) && isInside(same(place.path), named)));
}

/** A path as it is written and as it really is. What is not there yet is real as far as it is there. */
function namesOf(path: string): readonly string[] {
  return [...new Set([path, realName(path)])];
}

export function realName(path: string): string {
  // Asked first: most places are not there, and an error costs more than the question.
  if (existsSync(path)) {
    try {
      return realpathSync.native(path);
    } catch {
      // It went away, or a folder on the way may not be entered.
    }
  }
  const folder = dirname(path);
  return folder === path ? path : join(realName(folder), basename(path));
}
