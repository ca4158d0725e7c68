import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { createIds } from "../../src/base/ids.ts";
import { systemRandom } from "../../src/base/random.ts";
import { mergePatch, valueAt, type Snapshot } from "../../src/config/index.ts";
import { loadInstall } from "../../src/plugins/index.ts";
import { LIMITS } from "../../src/plugins/install/limits.ts";
import { packFromRegistry } from "../../src/plugins/install/npm.ts";
import { unpack } from "../../src/plugins/install/unpack/index.ts";

/** A published plugin on the disk. */
export interface Fetched {
  readonly id: string;
  readonly path: string;
  /** Package and version. */
  readonly from: string;
  readonly integrity: string;
}

interface Where {
  readonly cache: string;
  readonly offline: boolean;
}

/** A package with what it needs, as `openclaw plugins install` would bring it in. */
export async function fetchPackage(spec: string, id: string, { cache, offline }: Where): Promise<Fetched> {
  const { installPath, resolvedSpec, integrity } = await install(`npm:${spec}`, id, { cache: join(cache, "packages"), offline });
  return { id, path: installPath!, from: resolvedSpec!, integrity: integrity! };
}

/** Installs what is not installed yet, and gives its record. */
async function install(spec: string, id: string, { cache: stateDir, offline }: Where): Promise<Readonly<Record<string, string>>> {
  const file = join(stateDir, "config.json");
  mkdirSync(stateDir, { recursive: true });
  let config: unknown = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
  const record = (): Record<string, string> | undefined => valueAt(config, ["plugins", "installs", id]) as Record<string, string> | undefined;
  const { installPlugin } = await loadInstall();
  if (!record() || !existsSync(record()!["installPath"]!)) {
    if (offline) throw new Error(`${spec} is not in ${stateDir}; run this once without --offline`);
    console.error(`fetching ${spec} …`);
    await installPlugin(
      { spec, force: true },
      {
        stateDir,
        config: () => config,
        edit: async (given) => {
          const edit = given.kind === "from" ? given.edit({ resolved: config } as Snapshot) : given;
          if (edit.kind === "patch") config = mergePatch(config, edit.value);
          writeFileSync(file, JSON.stringify(config, null, 2));
        },
        env: process.env,
        cwd: stateDir,
        home: stateDir,
        pid: process.pid,
        clock: systemClock,
        ids: createIds(systemRandom),
        confirm: async () => true,
      },
    );
  }
  return record()!;
}

/** The plugins that came with a release of the reference system: as they are there, or installed with the packages that they name. */
export async function fetchExtensions(
  spec: string,
  ids: readonly string[],
  { cache, offline, complete }: Where & { readonly complete: boolean },
): Promise<readonly Fetched[]> {
  const folder = join(cache, spec);
  const note = join(folder, "integrity");
  if (!existsSync(note)) {
    if (offline) throw new Error(`${spec} is not in ${folder}; run this once without --offline`);
    console.error(`fetching ${spec} …`);
    const fresh = `${folder}.new`;
    rmSync(fresh, { recursive: true, force: true });
    mkdirSync(join(fresh, "unpacked"), { recursive: true });
    const packed = await packFromRegistry(spec, fresh, { env: process.env });
    await unpack(packed.file, join(fresh, "unpacked"), { limits: { ...LIMITS, entries: 100_000 } });
    writeFileSync(join(fresh, "integrity"), packed.integrity);
    rmSync(packed.file);
    renameSync(fresh, folder);
  }
  const integrity = readFileSync(note, "utf8");
  const found: Fetched[] = [];
  for (const id of ids) {
    const bare = join(folder, "unpacked", "package", "extensions", id);
    const path = complete ? (await install(bare, id, { cache: join(cache, "complete"), offline }))["installPath"]! : bare;
    found.push({ id, path, from: spec, integrity });
  }
  return found;
}
