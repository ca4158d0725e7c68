import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tgzOf, type ArchiveEntry } from "./archives.ts";

export interface PackageVersion {
  readonly version: string;
  readonly entries: readonly ArchiveEntry[];
  /** More fields of its package.json, as the registry lists them. */
  readonly facts?: Readonly<Record<string, unknown>>;
}

/** A registry for npm on this machine. */
export interface Registry extends AsyncDisposable {
  readonly url: string;
  /** What npm needs to ask here and nowhere else, with a cache of its own. */
  env(cache: string): Record<string, string>;
  publish(name: string, version: PackageVersion): Promise<void>;
  /** Serves other bytes for a version than the ones that were announced. */
  tamper(name: string, version: string, content: Buffer): void;
}

export async function openRegistry(): Promise<Registry> {
  const packages = new Map<string, Map<string, { readonly facts: object; readonly tarball: Buffer; readonly dist: object }>>();
  const replaced = new Map<string, Buffer>();
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? "/", "http://x").pathname).slice(1);
    const [, tarballName, version] = /^(.+)\/-\/(.+)\.tgz$/.exec(path) ?? [];
    const found = tarballName === undefined ? packages.get(path) : packages.get(tarballName);
    const answer = (status: number, body: Buffer | string | undefined): void =>
      void response.writeHead(status, { "content-type": "application/json" }).end(body);
    if (!found) return answer(404, `{"error":"not found"}`);
    if (tarballName !== undefined) {
      const one = found.get(version!);
      return answer(one ? 200 : 404, replaced.get(path) ?? one?.tarball);
    }
    const versions = Object.fromEntries([...found].map(([number, { facts, dist }]) => [number, { name: path, version: number, ...facts, dist }]));
    return answer(200, JSON.stringify({ name: path, "dist-tags": { latest: [...found.keys()].at(-1) }, versions }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    env: (cache) => ({
      npm_config_registry: `${url}/`,
      npm_config_cache: cache,
      npm_config_userconfig: `${cache}/npmrc`,
      npm_config_prefer_online: "true",
      npm_config_fetch_retries: "0",
    }),
    async publish(name, { version, entries, facts = {} }) {
      const tarball = await tgzOf(entries);
      const dist = {
        tarball: `${url}/${name}/-/${version}.tgz`,
        shasum: createHash("sha1").update(tarball).digest("hex"),
        integrity: `sha512-${createHash("sha512").update(tarball).digest("base64")}`,
      };
      const known = packages.get(name) ?? new Map<string, never>();
      packages.set(name, new Map([...known, [version, { facts, tarball, dist }]]));
    },
    tamper: (name, version, content) => void replaced.set(`${name}/-/${version}.tgz`, content),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
