import { isObject } from "../../config/index.ts";
import { readInventory } from "../../plugins/index.ts";

export interface Places {
  readonly stateDir: string;
  readonly workspaceDir: string;
  readonly home: string;
}

const child = (value: unknown, key: string): Readonly<Record<string, unknown>> => (isObject(value) && isObject(value[key]) ? value[key] : {});

/** The configuration of a test: the one that was given, with the plugins to test found, enabled and, for memory, in their slot. */
export async function testSettings(
  given: Readonly<Record<string, unknown>>,
  paths: readonly string[],
  { stateDir, workspaceDir, home }: Places,
): Promise<object> {
  const plugins = child(given, "plugins");
  const looking = { config: { plugins: { load: { paths } } }, stateDir, env: {}, home, cwd: home, uid: undefined };
  const { entries: found } = await readInventory(looking);
  const memory = found.find(({ manifest }) => [manifest.kind ?? []].flat().includes("memory"))?.id;
  const named = child(plugins, "entries");
  const entries = Object.fromEntries(found.map(({ id }) => [id, { enabled: true, ...child(named, id) }]));
  const listed = child(plugins, "load")["paths"];
  const agents = child(given, "agents");
  return {
    ...given,
    agents: { ...agents, defaults: { workspace: workspaceDir, ...child(agents, "defaults") } },
    plugins: {
      ...plugins,
      entries: { ...named, ...entries },
      load: { ...child(plugins, "load"), paths: [...(Array.isArray(listed) ? (listed as unknown[]) : []), ...paths] },
      ...(memory !== undefined && plugins["slots"] === undefined ? { slots: { memory } } : {}),
    },
  };
}
