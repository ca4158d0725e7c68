/** Bounds of what may be installed. Real plugins are far below them. */
export interface InstallLimits {
  /** Files, folders and links of a plugin without its dependencies. */
  readonly entries: number;
  /** The same with its dependencies. */
  readonly entriesWithDependencies: number;
  /** Bytes of the archive. */
  readonly archiveBytes: number;
  /** Bytes when it is unpacked. */
  readonly bytes: number;
  /** Unpacked bytes for each packed one, once more than `ratioFromBytes` were unpacked. */
  readonly ratio: number;
  readonly ratioFromBytes: number;
  readonly pathLength: number;
  readonly depth: number;
}

const MB = 1024 * 1024;

export const LIMITS: InstallLimits = {
  entries: 20_000,
  entriesWithDependencies: 200_000,
  archiveBytes: 256 * MB,
  bytes: 512 * MB,
  ratio: 150,
  ratioFromBytes: 16 * MB,
  pathLength: 1024,
  depth: 64,
};
