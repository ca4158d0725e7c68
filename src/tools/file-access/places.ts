import { IN_HOME, OF_MACHINE, type KnownPlaces } from "./known-places.ts";

/** What a sealed place keeps away: `secret` is neither read nor written, `program` is read but not written. */
export type Seal = "secret" | "program";

export interface SealedPlace {
  readonly path: string;
  readonly seal: Seal;
  /** Completes the sentence "it is sealed because it …". */
  readonly because: string;
}

/** Below `/proc/<pid>`: what says nothing but how a process fares. Everything else there can hold secrets. */
const HARMLESS_OF_PROCESS = /^(?:stat|statm|status|comm|limits|cgroup|mounts|mountinfo|mountstats|loginuid|oom_score|sched|schedstat|wchan|io|net|ns)(?:\/|$)/;
const OF_PROCESS = /^\/proc\/(?:\d+|self|thread-self)(?:\/task\/\d+)?(?:\/(.*))?$/;

/** Homes of people who are not configured, also of a Windows system around this one. */
const SOME_HOME = /^(?:\/root|\/var\/root|\/(?:home|users|mnt\/[a-z]\/users)\/[^/]+)(?=\/|$)/i;
/** How the names of copies end that restoring and resetting leave beside a state folder or a configuration file. */
export const LEFT_BESIDE = /^\.(?:restore|before-restore|failed-restore|removed)-[^/]+/;
/** State folders of this and of other profiles and of earlier names, and what restoring left beside them. */
const SOME_STATE = new RegExp(`^\\.(?:openclaw(?:-[^/]+)?|clawdbot|moldbot|moltbot)(?:${LEFT_BESIDE.source.slice(1)})?$`);

function placesOf(known: readonly KnownPlaces[]): readonly SealedPlace[] {
  return known.flatMap(([seal, because, paths]) => paths.split(/\s+/).map((path) => ({ path: path.replaceAll("&", " "), seal, because })));
}

/** Whether a name has `*` in it. */
const isPattern = (path: string): boolean => path.includes("*");

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replace(/[.+?^${}()|[\]\\]/g, "\\$&").replaceAll("*", "[^/]*")}$`);
}

/** The places of the machine whose names are complete. */
export const ofMachine = (): readonly SealedPlace[] => placesOf(OF_MACHINE).filter(({ path }) => !isPattern(path));
/** Those that are secrets below a home folder, by their path from there. */
export const secretsInHome = (): readonly string[] => placesOf(IN_HOME).flatMap(({ path, seal }) => (seal === "secret" && !isPattern(path) ? [path] : []));

/** Every sealed place that a path lies in, or is. */
type FindPlaces = (path: string) => readonly SealedPlace[];

/** Places by name, in a tree whose names begin after `from`. */
function createNames(known: readonly SealedPlace[], same: (path: string) => string): (path: string, from: string) => readonly SealedPlace[] {
  const exact = new Map(known.filter(({ path }) => !isPattern(path)).map((place) => [same(place.path), place]));
  const patterns = known
    .filter(({ path }) => isPattern(path))
    .map((place) => ({ place, depth: place.path.split("/").length, matches: patternOf(same(place.path)) }));
  return (path, from) => {
    const found: SealedPlace[] = [];
    let at = "";
    for (const [depth, part] of path.slice(from.length).split("/").entries()) {
      at = depth === 0 ? part : `${at}/${part}`;
      const place = exact.get(at) ?? patterns.find((one) => one.depth === depth + 1 && one.matches.test(at))?.place;
      if (place) found.push({ ...place, path: `${from}${at}` });
    }
    return found;
  };
}

/** Finds places of the machine that are known by a pattern. */
export function createMachinePatterns(same: (path: string) => string): FindPlaces {
  const names = createNames(
    placesOf(OF_MACHINE).filter(({ path }) => isPattern(path)),
    same,
  );
  return (path) => names(path, "");
}

/** Finds the sealed places of a path below a home folder, whether or not it is in use. `same` makes two spellings of one name equal. */
export function createHomeSeals(homes: readonly string[], same: (path: string) => string): FindPlaces {
  const names = createNames(placesOf(IN_HOME), same);
  /** `home` ends with a slash. */
  function within(home: string, path: string): readonly SealedPlace[] {
    const [first = ""] = path.slice(home.length).split("/");
    if (SOME_STATE.test(first)) return [{ path: `${home}${first}`, seal: "secret", because: "holds the state and the secrets of a gateway" }];
    return names(path, home);
  }
  return (path) => {
    const some = SOME_HOME.exec(path)?.[0];
    const all = new Set([...homes, ...(some === undefined ? [] : [some])].map((home) => (home.endsWith("/") ? home : `${home}/`)));
    return [...all].flatMap((home) => (path.startsWith(home) ? within(home, path) : []));
  };
}

/** What a process keeps below `/proc`: its environment, its memory, its open files. */
export function sealOfProcess(path: string): readonly SealedPlace[] {
  const found = OF_PROCESS.exec(path);
  if (!found?.[1] || HARMLESS_OF_PROCESS.test(found[1])) return [];
  return [{ path, seal: "secret", because: "shows the environment, the memory or the open files of a process" }];
}

/** The place with credentials that a path lies in, or is, in one of these home folders or anybody's. */
export function knownSecret(path: string, homes: readonly string[]): SealedPlace | undefined {
  const found = [
    ...createHomeSeals(homes, (name) => name)(path),
    ...placesOf(OF_MACHINE).filter((place) => path === place.path || path.startsWith(`${place.path}/`)),
  ];
  return found.find(({ seal }) => seal === "secret");
}
